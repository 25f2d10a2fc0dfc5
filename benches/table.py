#!/usr/bin/env python3
"""Writes the results of the last run, from `target/bench`, between the markers in docs/performance.md.

    benches/table.py [--check]

With --check it also exits with 1 if a goal is missed.
"""
import json
import os
import platform
import re
import sys

from measure import OUT, ROOT, number

FILES = {
    "http.json": "Over HTTP",
    "peers.json": "Compared with Puppet, and commands",
    "instructions.json": "Instructions",
    "growth.json": "Instructions on 20,000 nodes vs. 20",
    "overload.json": "Beside dear requests",
    "scale.json": "Start, reload and memory on 20,000 files",
}
START, END = "<!-- figures: benches/table.py -->", "<!-- end of figures -->"


def main():
    text, missed = f"Measured on {machine()}.\n", []
    for file, title in FILES.items():
        path = os.path.join(OUT, file)
        if not os.path.exists(path):
            continue
        with open(path) as f:
            rows = json.load(f)
        text += f"\n### {title}\n| | measured | compared with | ratio | goal | |\n| --- | ---: | ---: | ---: | --- | --- |\n"
        text += "".join(line(it) for it in rows)
        missed += [it["name"] for it in rows if it["met"] is False]
    document = os.path.join(ROOT, "docs/performance.md")
    with open(document) as f:
        before, rest = f.read().split(START)
    after = rest.split(END)[1]
    with open(document, "w") as out:
        out.write(f"{before}{START}\n{text}\n{END}{after}")
    for name in missed:
        print(f"goal missed: {name}")
    if missed and "--check" in sys.argv:
        sys.exit(1)


def line(row):
    unit = row.get("unit", "")
    goal = row["goal"]
    if isinstance(goal, (int, float)):
        # A bare number does not say whether it is a minimum or a maximum, but the verdict does.
        is_least = row["value"] != goal and (row["value"] > goal) == row["met"]
        goal = f"at {'least' if is_least else 'most'} {number(goal) if goal % 1 else format(goal, ',.0f')} {unit}".rstrip()
    compared = row.get("floor", row.get("peer"))
    ratio = f"{number(row['ratio'])} ×" if row.get("ratio") is not None else ""
    if row.get("middle_half"):
        ratio += f" ({'–'.join(map(number, row['middle_half']))})"
    verdict = {True: "met", False: "**missed**", None: ""}[row["met"]]
    shown = "" if compared is None else number(compared)
    return f"| {row['name']} | {number(row['value'])} {unit} | {shown} | {ratio} | {goal or ''} | {verdict} |\n"


def machine():
    with open("/proc/cpuinfo") as f:
        name = re.search(r"model name\s*: (.*)", f.read())
    return f"{os.cpu_count()} cores of {name.group(1) if name else platform.machine()}, Linux {platform.release().split('-')[0]}"


if __name__ == "__main__":
    main()
