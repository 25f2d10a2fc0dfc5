#!/usr/bin/env python3
"""Cheap requests beside the dearest legal ones, and the memory of many dear ones at once.

    benches/overload.py [--quick]

Four clients send requests that spend their whole budget, one after the other, while another client measures how long a
cheap lookup and `/livez` take. Then 64 clients send a dear request at the same time. Writes `target/bench/overload.json`.
"""
import argparse
import http.client
import json
import threading
import time

from measure import bodies, hierad, print_rows, row, write_rows

DEAR_CLIENTS = 4
AT_ONCE = 64


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--quick", action="store_true", help="a third of the time")
    seconds = 5 if arguments.parse_args().quick else 15
    server = hierad("medium")
    try:
        rows = latency_rows(server, seconds) + memory_rows(server)
    finally:
        server.stop()
    print_rows("overload", rows)
    write_rows("overload.json", rows)


def dear_bodies():
    """Requests that are legal and spend their budget, each in another way."""
    backtracking = r"Array[Pattern[/\A(?=(a+)+c)(\1a)*\z/]]"
    strings = ["a" * 15 + "b"] * 5000
    integers = ", ".join(f"Integer[{n * 10}, {n * 10 + 5}]" for n in range(4000))
    classes = ", ".join(f"/[[:alpha:]]{{20}}{n}/" for n in range(1200))
    missing = [f"missing{n}" for n in range(1000)]
    return [json.dumps(body) for body in (
        {"key": "no_such_key", "default": strings, "type": backtracking},
        {"key": "no_such_key", "default": {"a": [1, {"b": 2}]}, "type": f"Variant[{integers}]"},
        {"key": "no_such_key", "default": "text", "type": f"Pattern[{classes}]"},
        {"keys": missing, "default": "x" * 900_000},
    )]


def post(connection, body):
    connection.request("POST", "/lookup", body, {"Content-Type": "application/json"})
    response = connection.getresponse()
    response.read()
    return response.status


def get(connection, path):
    connection.request("GET", path)
    response = connection.getresponse()
    response.read()
    return response.status


def connect(server):
    return http.client.HTTPConnection(server.address, timeout=120)


def latency_rows(server, seconds):
    is_over = threading.Event()
    answered = []
    clients = [threading.Thread(target=send_until, args=(server, body, is_over, answered)) for body in dear_bodies()]
    with open(bodies("medium", "first_common")) as file:
        cheap = file.readline().strip()
    alone = measure(server, cheap, seconds / 3)
    for client in clients:
        client.start()
    beside = measure(server, cheap, seconds)
    is_over.set()
    for client in clients:
        client.join()
    unexpected = [status for status in answered if status not in (413, 422, 503)]
    if unexpected or not answered:
        raise SystemExit(f"dear requests were answered with {unexpected or 'nothing'}")
    rows = [row("dear requests answered per second, 4 clients", len(answered) / seconds, "requests/s")]
    for name in ("cheap lookup", "/livez"):
        for percent, goal in ((99, 20), (100, 100)):
            of = f"{percent}th percentile" if percent < 100 else "maximum"
            value, floor = percentile(beside[name], percent), percentile(alone[name], percent)
            rows.append(row(f"{name} beside 4 clients with dear requests, {of} (floor: alone)", value, "ms",
                            f"at most {goal} ms", value <= goal, floor=floor))
    return rows


def send_until(server, body, is_over, answered):
    connection = connect(server)
    while not is_over.is_set():
        answered.append(post(connection, body))


def measure(server, cheap, seconds):
    """Milliseconds of each cheap request."""
    connection = connect(server)
    taken = {"cheap lookup": [], "/livez": []}
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        for name, send in (("cheap lookup", lambda: post(connection, cheap)),
                           ("/livez", lambda: get(connection, "/livez"))):
            start = time.monotonic()
            status = send()
            taken[name].append((time.monotonic() - start) * 1000)
            if status != 200:
                raise SystemExit(f"{name} was answered with {status}")
        time.sleep(0.001)
    return taken


def percentile(values, percent):
    values = sorted(values)
    return values[min(len(values) - 1, len(values) * percent // 100)]


def memory_rows(server):
    before = memory(server, "VmRSS")
    sources = dear_bodies()
    threads = [threading.Thread(target=lambda body=sources[n % len(sources)]: post(connect(server), body))
               for n in range(AT_ONCE)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    above = memory(server, "VmHWM") - before
    return [row(f"memory of {AT_ONCE} dear requests at once, above that at rest", above, "MB",
                "at most 600 MB", above <= 600)]


def memory(server, field):
    with open(f"/proc/{server.process.pid}/status") as status:
        line = next(line for line in status if line.startswith(field))
    return int(line.split()[1]) / 1024


if __name__ == "__main__":
    main()
