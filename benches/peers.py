#!/usr/bin/env python3
"""Compares hierad with Puppet by CPU time, on the same tree and the same lookups.

    benches/peers.py [--quick]

Puppet in process (`puppet_driver.rb`), requests over HTTP, the resolver alone (`cargo bench --bench timings`) and the
two commands run in turn; the result is the median of the rounds. Writes `target/bench/peers.json`. Without Puppet, only
the measurements that do not need it run.
"""
import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request

from measure import (HERE, KINDS, OUT, bodies, cpu_per_request, hierad, median, print_rows, program, ratio, row, timings, tree,
                     write_rows)

CPU, MS = "CPU-µs", "CPU-ms"
HOW_TO_INSTALL = "apt-get install puppet-agent"


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--quick", action="store_true", help="a third of the rounds")
    rounds = 3 if arguments.parse_args().quick else 9
    rows = threads_rows(rounds)
    print_rows("without sockets", rows)
    if shutil.which("puppet"):
        lookups = lookup_rows(rounds)
        print_rows("compared with Puppet in process", lookups)
        rows += lookups
    else:
        print(f"SKIPPED: comparison with Puppet, which is not installed: {HOW_TO_INSTALL}")
    commands = command_rows(rounds)
    print_rows("commands", commands)
    write_rows("peers.json", rows + commands)


def threads_rows(rounds):
    """Requests without sockets on two threads compared with one: only the contention between threads."""
    results = [timings() for _ in range(rounds)]
    ours, theirs = (median(2 * it[what]["1"] / it[what]["2"] for it in results) for what in ("request", "nothing shared"))
    return [
        row("a request without a socket", median(it["request"]["1"] for it in results), CPU),
        row("two threads vs. one, from CPU time (floor: nothing shared)", ours, "×", "at least 1.8 ×", ours >= 1.8,
            floor=theirs),
    ]


def lookup_rows(rounds):
    """Every kind of lookup: over HTTP vs. Puppet with a fresh node, and the resolver vs. Puppet with a warm one.

    The resolver gets another node every time, which is more work than Puppet does; the last rows compare the same work.
    """
    path = tree("medium")
    server = hierad("medium")
    driver = subprocess.Popen(["ruby", os.path.join(HERE, "puppet_driver.rb"), path], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, text=True)
    http, resolver, same_node, fresh, warm = ({kind: [] for kind in KINDS} for _ in range(5))
    try:
        insist_on_equal_answers(server, json.loads(driver.stdout.readline()))
        for _ in range(rounds):
            driver.stdin.write("round\n")
            driver.stdin.flush()
            puppet, ours = json.loads(driver.stdout.readline()), timings()["resolver"]
            for kind in KINDS:
                http[kind].append(cpu_per_request(server, "/lookup", bodies("medium", kind), is_found=kind != "miss"))
                resolver[kind].append(ours["fresh"][kind])
                same_node[kind].append(ours["warm"][kind])
                fresh[kind].append(puppet[kind]["fresh"])
                warm[kind].append(puppet[kind]["warm"])
    finally:
        driver.stdin.close()
        driver.wait()
        server.stop()
    rows = []
    for what, ours, theirs, goal in (("request over HTTP, Puppet with a fresh node", http, fresh, 50),
                                     ("resolver, Puppet with a warm node", resolver, warm, 40),
                                     ("resolver with a warm node, Puppet too", same_node, warm, None)):
        for kind in KINDS:
            times = ratio(theirs[kind], ours[kind])
            word, met = (f"at least {goal} × less", times >= goal) if goal else (None, None)
            rows.append(row(f"{what}: {kind}", median(ours[kind]), CPU, word, met, peer=median(theirs[kind]),
                            ratio=times))
    return rows


def insist_on_equal_answers(server, answers):
    """Lookups with different results cannot be compared."""
    for kind in KINDS:
        with open(bodies("medium", kind)) as lines:
            request = urllib.request.Request(f"http://{server.address}/lookup", lines.readline().encode(),
                                             {"Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request) as response:
                ours = {"value": json.load(response)["value"]}
        except urllib.error.HTTPError as error:
            ours = {} if error.code == 404 else {"error": error.code}
        if ours != answers[kind]:
            sys.exit(f"{kind}: hierad answers {ours}, Puppet {answers[kind]}")


def command_rows(rounds):
    """`hierad lookup` vs. `puppet lookup`, and with many files vs. few."""
    has_puppet = shutil.which("puppet") is not None
    sizes = ("small", "crowded", "medium", "large")
    cost = {name: [] for name in (*sizes, "puppet")}
    with tempfile.TemporaryDirectory() as scratch:
        for size in sizes:
            ask(size, scratch, 0)  # to warm up
        for place in range(rounds):
            for size in sizes:
                # Several in a row: the clock is too coarse for such a short process.
                cost[size].append(median(ask(size, scratch, place)[0] for _ in range(7)))
            if has_puppet:
                spent, answer = ask("medium", scratch, place, by_puppet=True)
                cost["puppet"].append(spent)
                ours = ask("medium", scratch, place)[1]
                if json.loads(answer) != json.loads(ours):
                    sys.exit(f"hierad lookup answers {ours}, puppet lookup {answer}")
    growth, crowd = (ratio(cost[size], cost["small"]) for size in ("large", "crowded"))
    rows = [
        row("hierad lookup, 69 files", median(cost["small"]), MS),
        row("hierad lookup, the same with 20,000 more nodes (floor: 69 files)", median(cost["crowded"]), MS,
            floor=median(cost["small"]), ratio=crowd),
        row("hierad lookup, 20,122 larger files (floor: 69 files)", median(cost["large"]), MS, "at most 2 × 69 files",
            growth <= 2, floor=median(cost["small"]), ratio=growth),
    ]
    if has_puppet:
        times = ratio(cost["puppet"], cost["medium"])
        rows.append(row("hierad lookup vs. puppet lookup, 1,122 files", median(cost["medium"]), MS,
                        "at least 100 × less", times >= 100, peer=median(cost["puppet"]), ratio=times))
    return rows


def crowded_tree():
    """The small tree with 20,000 more nodes: many files, but a lookup reads only as many as in the small one."""
    path = os.path.join(OUT, "tree-crowded")
    if not os.path.exists(path):
        shutil.copytree(tree("small"), f"{path}.new")
        nodes = f"{path}.new/environments/production/data/nodes"
        for number in range(20_000):
            with open(f"{nodes}/more-{number:05}.example.net.yaml", "w") as out:
                out.write(f"---\nserial: {number}\n")
        os.rename(f"{path}.new", path)
    return path


def ask(size, scratch, place, by_puppet=False):
    """One lookup by command: CPU-ms of the process, and its output."""
    path = crowded_tree() if size == "crowded" else tree(size)
    with open(os.path.join(path, "lookups-first_common.jsonl")) as lines:
        request = json.loads(lines.readlines()[place])
    facts = os.path.join(scratch, "facts.json")
    with open(facts, "w") as out:
        json.dump(request["facts"], out)
    command = ["lookup", request["key"], "--node", request["trusted"]["certname"], "--facts", facts, "--render-as", "json"]
    if by_puppet:
        command = ["puppet", *command, "--environmentpath", f"{path}/environments", "--codedir", f"{scratch}/code",
                   "--confdir", f"{scratch}/conf", "--vardir", f"{scratch}/var"]
    else:
        command = [program("hierad"), *command, "--codedir", path]
    process = subprocess.Popen(command, stdout=subprocess.PIPE)
    answer = process.stdout.read()
    process.stdout.close()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"{' '.join(command)} failed")
    return (usage.ru_utime + usage.ru_stime) * 1e3, answer


if __name__ == "__main__":
    main()
