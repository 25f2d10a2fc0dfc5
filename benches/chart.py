#!/usr/bin/env python3
"""Draws `docs/performance.svg` from the results in `target/bench`; standard library only.

    benches/chart.py

The colours are readable on light and dark pages. Missing measurements are left out.
"""
import json
import math
import os
from xml.sax.saxutils import escape

from measure import KINDS, OUT, ROOT, number

WIDTH, LEFT, RIGHT, LINE = 880, 280, 120, 24
TEXT, FAINT, OURS, OTHERS, GOAL = "#7d8590", "#7d859055", "#2f81f7", "#c9813a", "#e5484d"

KIND_NAMES = {"first_common": "first found, last level", "first_node": "first found, first level", "unique": "unique merge",
              "hash": "hash merge", "deep": "deep merge", "bigdeep": "deep merge, 4 × 200 entries",
              "interp": "three interpolations", "module": "module layer", "miss": "not found"}


def main():
    http, peers, instructions = (rows_of(file) for file in ("http.json", "peers.json", "instructions.json"))
    canvas = Canvas()
    if http:
        draw_requests(canvas, http)
    if "resolver, Puppet with a warm node: miss" in peers:
        draw_peers(canvas, peers)
    if instructions:
        draw_instructions(canvas, instructions)
    with open(os.path.join(ROOT, "docs/performance.svg"), "w") as out:
        out.write(canvas.svg())


def rows_of(file):
    path = os.path.join(OUT, file)
    if not os.path.exists(path):
        return {}
    with open(path) as f:
        return {it["name"]: it for it in json.load(f)}


def draw_requests(canvas, rows):
    bars = [
        ("/noop: read, not looked at", rows["floor: /noop, body with facts"]["value"], OTHERS),
        ("/pick: five variables kept", rows["floor: /pick"]["value"], OTHERS),
        ("hierad: first found of 6 levels", rows["first found"]["value"], OURS),
        ("/parse: a tree of all facts", rows["floor: /parse"]["value"], OTHERS),
    ]
    canvas.title("A request over HTTP, 5 KB of facts: CPU-µs of the server", "mark: 1.15 × /pick")
    scale = linear(max(value for _, value, _ in bars))
    for name, value, colour in bars:
        canvas.bar(name, scale(value), number(value), colour)
    canvas.mark(scale(1.15 * bars[1][1]), row=1)
    canvas.end()


def draw_peers(canvas, rows):
    canvas.title("A lookup, hierad (blue) and Puppet in process (orange): CPU-µs, logarithmic",
                 "filled: the resolver, Puppet warm; hollow: a request over HTTP, Puppet with a fresh node; right: Puppet / hierad")
    scale = logarithmic(0.1, 100_000)
    canvas.grid(scale, [10.0 ** power for power in range(-1, 6)], len(KINDS))
    for kind in KINDS:
        warm = rows[f"resolver, Puppet with a warm node: {kind}"]
        fresh = rows[f"request over HTTP, Puppet with a fresh node: {kind}"]
        canvas.dots(KIND_NAMES[kind], [(scale(warm["value"]), OURS, True), (scale(fresh["value"]), OURS, False),
                           (scale(warm["peer"]), OTHERS, True), (scale(fresh["peer"]), OTHERS, False)],
                    f"{warm['ratio']:.0f} ×, {fresh['ratio']:.0f} ×")
    canvas.end()


def draw_instructions(canvas, rows):
    shown = [it for it in rows.values() if it["name"].startswith(("resolver:", "request:"))]
    canvas.title("Instructions, logarithmic", "mark: the goal, where one is set")
    scale = logarithmic(100, 10_000_000)
    canvas.grid(scale, [10.0 ** power for power in range(2, 8)], len(shown))
    for it in shown:
        canvas.bar(it["name"], scale(it["value"]), f"{it['value']:,.0f}", OURS)
        if it["goal"]:
            canvas.mark(scale(it["goal"]))
    canvas.end()


def linear(most):
    return lambda value: value / most


def logarithmic(least, most):
    return lambda value: max(0.0, math.log10(value / least) / math.log10(most / least))


class Canvas:
    """Panels of rows, drawn from the top down; positions on a row range from 0 to 1."""

    def __init__(self):
        self.parts, self.y = [], 10

    def x(self, place):
        return LEFT + place * (WIDTH - LEFT - RIGHT)

    def text(self, x, y, text, anchor="start", size=13, weight="normal"):
        self.parts.append(f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}" '
                          f'font-weight="{weight}">{escape(text)}</text>')

    def line(self, x, top, bottom, colour, width):
        self.parts.append(f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{top}" y2="{bottom}" stroke="{colour}" '
                          f'stroke-width="{width}"/>')

    def title(self, title, remark):
        self.text(10, self.y + 16, title, size=15, weight="bold")
        self.text(10, self.y + 34, remark, size=12)
        self.y += 46

    def bar(self, name, place, label, colour):
        self.text(LEFT - 10, self.y + 16, name, anchor="end")
        length = max(1.0, self.x(place) - LEFT)
        self.parts.append(f'<rect x="{LEFT}" y="{self.y + 4}" width="{length:.1f}" height="{LINE - 8}" rx="2" '
                          f'fill="{colour}"/>')
        self.text(WIDTH - 10, self.y + 16, label, anchor="end", size=12)
        self.y += LINE

    def mark(self, place, row=0):
        """On the last row, or the given number of rows above it."""
        top = self.y - (row + 1) * LINE
        self.line(self.x(place), top + 1, top + LINE - 1, GOAL, 3)

    def dots(self, name, dots, label):
        self.text(LEFT - 10, self.y + 16, name, anchor="end")
        for place, colour, is_filled in dots:
            self.parts.append(f'<circle cx="{self.x(place):.1f}" cy="{self.y + 12}" r="5" stroke="{colour}" '
                              f'stroke-width="2" fill="{colour if is_filled else "none"}"/>')
        self.text(WIDTH - 10, self.y + 16, label, anchor="end", size=12)
        self.y += LINE

    def grid(self, scale, values, rows):
        for value in values:
            self.line(self.x(scale(value)), self.y, self.y + rows * LINE, FAINT, 1)
            self.text(self.x(scale(value)), self.y + rows * LINE + 14, f"{value:,.10g}", anchor="middle", size=11)

    def end(self):
        self.y += 36

    def svg(self):
        font = "font-family=\"system-ui, 'DejaVu Sans', sans-serif\""
        return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {self.y}" {font} fill="{TEXT}">\n'
                + "\n".join(self.parts) + "\n</svg>\n")


if __name__ == "__main__":
    main()
