#!/usr/bin/env python3
"""The server's cost of a request over HTTP, compared with requests that are only read and answered (`floor/`).

    benches/over_http.py [--quick]

Each round measures a figure and its floor directly after each other, in a changing order, so that noise affects both. The
result is the median of the rounds. Writes `target/bench/http.json`.
"""
import argparse
import functools
import json
import os
import random
import re
import subprocess
import sys

from measure import (OtherLoad, bodies, cpu_per_request, derived_bodies, floor, hierad, instructions_per_request, median,
                     middle_half, print_rows, program, ratio, row, timings, tree, write_rows)

CPU = "CPU-µs per request"


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--quick", action="store_true", help="a third of the rounds")
    rounds = 5 if arguments.parse_args().quick else 15
    counted = instruction_rows()
    print_rows("instructions in user space", counted)
    rows = cost_rows(rounds)
    print_rows("one request", rows)
    scaling = scaling_rows(rounds)
    print_rows("cores", scaling)
    latency = latency_rows(rounds)
    print_rows("latency", latency)
    write_rows("http.json", rows + counted + scaling + latency)


def instruction_rows():
    """The servers' own work without the kernel: the reproducible part of a request.

    With 69 files, which load quickly under callgrind.
    """
    first = bodies("small", "first_common")
    small = derived_bodies("small-no-facts", first, without_facts)
    count = {path: instructions_per_request(floor, path, first) for path in ("/noop", "/pick", "/parse")}
    ours = functools.partial(hierad, "small")
    measured = [
        ("first found", instructions_per_request(ours, "/lookup", first), "/pick", count["/pick"]),
        ("without facts", instructions_per_request(ours, "/lookup", small), "/noop",
         instructions_per_request(floor, "/noop", small)),
    ]
    unit = "instructions per request"
    return [row(f"floor: {path}, counted", value, unit) for path, value in count.items()] + [
        row(f"{name}, counted (floor: {below})", value, unit, floor=beside, ratio=value / beside)
        for name, value, below, beside in measured]


def without_facts(_, body):
    return {"key": body["key"], "trusted": body["trusted"]}


def cost_rows(rounds):
    """All kinds of requests with 8 connections."""
    first = bodies("medium", "first_common")
    small = derived_bodies("no-facts", first, without_facts)
    keys = first_found_keys()
    one, hundred = (derived_bodies(f"batch-{size}", first, batch_of(keys, size)) for size in (1, 100))
    ours, theirs = hierad("medium"), floor()
    try:
        cost = interleaved(rounds, [
            {"noop": (theirs, "/noop", first), "pick": (theirs, "/pick", first), "first": (ours, "/lookup", first),
             "parse": (theirs, "/parse", first)},
            {"small noop": (theirs, "/noop", small), "no facts": (ours, "/lookup", small)},
            {"one": (ours, "/lookup", one), "hundred": (ours, "/lookup", hundred)},
        ])
    finally:
        ours.stop()
        theirs.stop()
    lookup = median(timings()["without facts"] for _ in range(3))
    cost["small noop and lookup"] = [noop + lookup for noop in cost["small noop"]]

    def compare(name, key, under, below, goal):
        value = ratio(cost[key], cost[below])
        word = f"at most {goal} × {under}" if goal else None
        return row(name, median(cost[key]), CPU, word, value <= goal if goal else None, floor=median(cost[below]),
                   ratio=value, middle_half=middle_half(cost[key], cost[below]))

    return [
        row("floor: /noop, body with facts", median(cost["noop"]), CPU),
        row("floor: /pick", median(cost["pick"]), CPU),
        row("floor: /parse", median(cost["parse"]), CPU),
        compare("first found", "first", "/noop", "noop", None),
        compare("first found vs. /pick", "first", "/pick", "pick", 1.15),
        compare("first found vs. /parse", "first", "/parse", "parse", 0.5),
        compare("without facts vs. /noop with the same body", "no facts", "/noop", "small noop", None),
        compare("without facts vs. /noop plus the lookup", "no facts", "both, within noise", "small noop and lookup",
                1.05),
        compare("batch of 100 keys vs. a batch of one", "hundred", "one key", "one", 15),
    ]


def first_found_keys():
    """Distinct keys without merges: a batch looks up a repeated key only once."""
    with open(os.path.join(tree("medium"), "lookups.jsonl")) as lines:
        keys = {json.loads(line)["key"] for line in lines}
    # The generator names scalars `profile::APP::WORD_PARAMETER`.
    return sorted(it for it in keys if re.fullmatch(r"profile::\w+::[a-z0-9]+_(?!url$)\w+", it))


def batch_of(keys, size):
    """One node and the given number of keys."""
    def batch(place, body):
        del body["key"]
        return {**body, "keys": [keys[(place + nth) % len(keys)] for nth in range(size)]}
    return batch


def scaling_rows(rounds):
    """How much a second core helps.

    On two cores the load generator competes with the server, so throughput says little. CPU time per request does:
    contention between threads, by locks or writes to the same memory, makes requests on two cores more expensive than on
    one. Without it, two cores do twice the work: 2 × cost on one core / cost on two.
    """
    cores = sorted(os.sched_getaffinity(0))[:2]
    if len(cores) < 2:
        print("SKIPPED: the comparison of one and two cores needs two cores")
        return []
    first = bodies("medium", "first_common")
    servers = [hierad("medium", cores[:1]), hierad("medium", cores), floor(cores[:1]), floor(cores)]
    try:
        cost = interleaved(rounds, [
            {"ours 1": (servers[0], "/lookup", first), "ours 2": (servers[1], "/lookup", first),
             "pick 1": (servers[2], "/pick", first)},
            {"floor 1": (servers[2], "/noop", first), "floor 2": (servers[3], "/noop", first)},
        ], connections=64)
    finally:
        for server in servers:
            server.stop()
    ours, theirs = (2 * ratio(cost[f"{whose} 1"], cost[f"{whose} 2"]) for whose in ("ours", "floor"))
    return [
        row("first found on one core, 64 connections (floor: /pick)", median(cost["ours 1"]), CPU,
            floor=median(cost["pick 1"]), ratio=ratio(cost["ours 1"], cost["pick 1"]),
            middle_half=middle_half(cost["ours 1"], cost["pick 1"])),
        row("first found on one core, 64 connections (floor: /noop)", median(cost["ours 1"]), CPU,
            floor=median(cost["floor 1"])),
        row("first found on two cores, 64 connections (floor: /noop)", median(cost["ours 2"]), CPU,
            floor=median(cost["floor 2"])),
        row("two cores vs. one, from CPU time (floor: /noop)", ours, "×", "at least 1.8 ×", ours >= 1.8,
            floor=theirs, middle_half=[2 * it for it in middle_half(cost["ours 1"], cost["ours 2"])]),
    ]


def latency_rows(rounds):
    """Percentiles with 64 connections at a fixed rate, 70 % of the server's maximum; `/pick` at the same rate.

    The server has one core and the load generator the other: latencies mean nothing if the two wait for each other.
    """
    cores = sorted(os.sched_getaffinity(0))[:2]
    if len(cores) < 2:
        print("SKIPPED: latency needs one core for the server and one for the load")
        return []
    first = bodies("medium", "first_common")
    ours, theirs = hierad("medium", cores[:1]), floor(cores[:1])
    mine, its = [], []
    try:
        with OtherLoad(ours, theirs) as others:
            most = median(paced(ours, "/lookup", first, 0, cores[1])["requests_per_second"] for _ in range(rounds))
            for _ in range(8 * rounds):
                mine.append(paced(ours, "/lookup", first, 0.7 * most, cores[1]))
                its.append(paced(theirs, "/pick", first, 0.7 * most, cores[1]))
    finally:
        ours.stop()
        theirs.stop()
    fifty, ninety_nine = (
        row(f"{name} at 70 % load, 64 connections (floor: /pick)", median(it[key] for it in mine), "µs",
            floor=median(it[key] for it in its))
        for key, name in (("p50", "50th percentile"), ("p99", "99th percentile")))
    high, low = ([it[key] for it in mine] for key in ("p99", "p50"))
    spread = ratio(high, low)
    worst, its_worst = (sorted(it["p99"] / it["p50"] for it in all_of)[-len(all_of) // 10] for all_of in (mine, its))
    return [
        row("CPU time taken by other processes", others.percent, "%"),
        row("maximum requests per second, server on one core", most, "requests/s"),
        fifty,
        ninety_nine,
        row("99th percentile vs. the 50th (floor: /pick)", spread, "×", "at most 5 ×", spread <= 5,
            floor=ratio([it["p99"] for it in its], [it["p50"] for it in its]), middle_half=middle_half(high, low)),
        row("the same in the worst tenth of the rounds (floor: /pick)", worst, "×", floor=its_worst),
    ]


def paced(server, path, body_file, rate, core, seconds=0.1):
    """Runs are short, so that most of them miss the moments in which a virtual machine pauses: 1 ms, plus 2 ms to work off
    the backlog, are more than one percent of a quarter of a second.
    """
    result = subprocess.run(["taskset", "-c", str(core), program("paced"), server.address, path, body_file, "64",
                             str(seconds), str(rate)], capture_output=True, text=True, timeout=seconds + 60)
    if result.returncode:
        sys.exit(f"paced failed: {result.stderr}")
    return json.loads(result.stdout)


def interleaved(rounds, groups, connections=8):
    """CPU-µs per request of every target, by round. Targets that are compared are in one group and run together."""
    shuffle = random.Random(1).shuffle
    cost = {name: [] for group in groups for name in group}
    for group in groups:
        for server, path, file in group.values():
            cpu_per_request(server, path, file, connections)  # to warm up
    for _ in range(rounds):
        shuffle(groups)
        for group in groups:
            names = list(group)
            shuffle(names)
            for name in names:
                server, path, file = group[name]
                cost[name].append(cpu_per_request(server, path, file, connections))
    return cost


if __name__ == "__main__":
    main()
