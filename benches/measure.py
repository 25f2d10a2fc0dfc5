"""Shared parts of the benchmarks over HTTP: trees, servers, load, CPU time, rows; standard library and wrk.

The benchmarks compare CPU time, not wall-clock time: the load generator, and maybe others, use the same cores.
"""
import http.client
import json
import os
import re
import resource
import signal
import socket
import statistics
import subprocess
import sys
import time
import urllib.error
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
TARGET = os.path.abspath(os.environ.get("CARGO_TARGET_DIR", os.path.join(ROOT, "target")))
OUT = os.path.join(TARGET, "bench")
KINDS = ("first_common", "first_node", "unique", "hash", "deep", "bigdeep", "interp", "module", "miss")

median = statistics.median


def program(name):
    """A program of the release build."""
    path = os.path.join(TARGET, "release", name)
    if not os.path.exists(path):
        sys.exit(f"{path} does not exist: cargo build --release --workspace, or scripts/bench")
    return path


def tree(size):
    """A generated tree, created if it does not exist; `cargo bench` uses the same."""
    path = os.path.join(OUT, f"tree-{size}")
    if not os.path.exists(os.path.join(path, "manifest.json")):
        subprocess.run([sys.executable, os.path.join(HERE, "gen_tree.py"), "--size", size, "--seed", "1", "--out", path],
                       check=True, stdout=subprocess.DEVNULL)
    return path


def bodies(size, kind):
    """The file with the lookups of one kind, one body per line."""
    return os.path.join(tree(size), f"lookups-{kind}.jsonl")


def derived_bodies(name, source, change):
    """A file with the bodies of another file, each changed by `change(index, body)`."""
    path = os.path.join(OUT, f"bodies-{name}.jsonl")
    with open(source) as lines, open(path, "w") as out:
        for index, line in enumerate(lines):
            out.write(json.dumps(change(index, json.loads(line)), separators=(",", ":")) + "\n")
    return path


class Server:
    """A server on a free port, pinned to the given cores, if any."""

    def __init__(self, command, ready, cores=None):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.address = "127.0.0.1:%d" % probe.getsockname()[1]
        command = [part.replace("ADDRESS", self.address) for part in command]
        if cores is not None:
            command = ["taskset", "-c", ",".join(map(str, cores)), *command]
        environment = {**os.environ, "HIERAD_DRAIN_DELAY_MS": "0"}
        self.process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.await_ready(ready)

    def await_ready(self, path):
        for _ in range(1200):
            try:
                urllib.request.urlopen(f"http://{self.address}{path}", timeout=1).close()
                return
            except urllib.error.HTTPError as error:
                if error.code != 503:  # the floor does not have this path, but it is listening
                    return
            except OSError:
                if self.process.poll() is not None:
                    break
            time.sleep(0.05)
        self.stop()
        sys.exit(f"{self.process.args[0]} does not get ready")

    def cpu_us(self):
        """CPU time of all threads so far, user and kernel, in microseconds."""
        total = 0
        tasks = f"/proc/{self.process.pid}/task"
        for thread in os.listdir(tasks):
            try:
                with open(f"{tasks}/{thread}/schedstat") as f:
                    total += int(f.read().split()[0])
            except OSError:
                pass  # the thread ended
        return total / 1e3

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def hierad(size, cores=None, under=()):
    command = [*under, program("hierad"), "serve", "--codedir", tree(size), "--listen", "ADDRESS"]
    return Server(command, "/readyz", cores)


def floor(cores=None, under=()):
    return Server([*under, program("floor"), "ADDRESS"], "/", cores)


def cpu_per_request(server, path, body_file, connections=8, seconds=1, is_found=True):
    """The server's CPU-µs per request under load from wrk."""
    before = server.cpu_us()
    result = subprocess.run(
        ["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "-s", os.path.join(HERE, "post.lua"),
         f"http://{server.address}{path}", "--", body_file],
        capture_output=True, text=True, timeout=seconds + 60)
    after = server.cpu_us()
    count = re.search(r"(\d+) requests in", result.stdout)
    if not count or int(count.group(1)) == 0:
        sys.exit(f"wrk failed: {result.stdout}{result.stderr}")
    failed = re.search(r"Non-2xx or 3xx responses: (\d+)|Socket errors: (.*)", result.stdout)
    if failed and is_found:
        sys.exit(f"{path} with {body_file}: {failed.group(0)}")
    return (after - before) / int(count.group(1))


def timings():
    """CPU-µs of lookups in the resolver, and of requests without a socket."""
    result = subprocess.run(["cargo", "bench", "--quiet", "--locked", "--bench", "timings"], cwd=ROOT,
                            stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(result.stdout)


def instructions_per_request(start, path, body_file):
    """Instructions of a server in user space, counted by callgrind: 600 requests minus 200."""
    with open(body_file) as lines:
        requests = [f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                    f"Content-Length: {len(line) - 1}\r\n\r\n{line[:-1]}".encode() for line in lines]
    few, many = 200, 600
    return (instructions(start, requests[:few]) - instructions(start, requests[:many])) / (few - many)


def instructions(start, requests):
    counts = os.path.join(OUT, "callgrind.out")
    server = start(under=["valgrind", "--quiet", "--tool=callgrind", f"--callgrind-out-file={counts}"])
    try:
        host, port = server.address.split(":")
        with socket.create_connection((host, int(port))) as stream:
            for request in requests:
                stream.sendall(request)
                response = http.client.HTTPResponse(stream)
                response.begin()
                response.read()
                if response.status != 200:
                    sys.exit(f"answered {response.status}")
    finally:
        server.stop()
    with open(counts) as f:
        return int(re.search(r"(?m)^totals: (\d+)", f.read()).group(1))


class OtherLoad:
    """A context manager that measures how much of the cores other processes use, in percent."""

    def __init__(self, *servers):
        self.servers = servers

    def __enter__(self):
        self.start = self.now()
        return self

    def __exit__(self, *_):
        others, everything = (after - before for before, after in zip(self.start, self.now()))
        self.percent = 100 * max(0.0, others) / everything

    def now(self):
        with open("/proc/stat") as f:
            # user, nice, system, idle, iowait, irq, softirq, steal
            ticks = [int(it) / os.sysconf("SC_CLK_TCK") for it in f.readline().split()[1:9]]
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        ours = used.ru_utime + used.ru_stime + sum(it.cpu_us() for it in self.servers) / 1e6
        return sum(ticks) - ticks[3] - ticks[4] - ours, sum(ticks)


def row(name, value, unit, goal=None, met=None, **compared):
    """A row of results. `compared` has `floor` or `peer`, the value to compare with, `ratio`, and `middle_half` of the ratios."""
    return {"name": name, "value": value, "unit": unit, **compared, "goal": goal, "met": met}


def write_rows(file, rows):
    os.makedirs(OUT, exist_ok=True)
    with open(os.path.join(OUT, file), "w") as out:
        json.dump(rows, out, indent=1, ensure_ascii=False)
        out.write("\n")


def print_rows(title, rows):
    print(f"\n{title:58} {'value':>11} {'floor/peer':>11} {'ratio':>8} {'middle half':>12}  goal")
    for it in rows:
        compared = it.get("floor", it.get("peer"))
        verdict = {True: "met", False: "MISSED", None: ""}[it["met"]]
        print(f"{it['name']:58} {number(it['value']):>11} {number(compared):>11} {number(it.get('ratio')):>8} "
              f"{'–'.join(map(number, it.get('middle_half', []))):>12}  "
              f"{it['goal'] or '-'} {verdict}")
    sys.stdout.flush()


def number(value):
    if value is None:
        return "-"
    if abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"


def ratio(over, under):
    """The median of the ratios of the rounds: noise in a round affects both sides."""
    return median(a / b for a, b in zip(over, under))


def middle_half(over, under):
    """The range of the ratios in the middle half of the rounds."""
    low, _, high = statistics.quantiles((a / b for a, b in zip(over, under)), n=4)
    return [low, high]
