#!/usr/bin/env python3
"""Ask the real Puppet every question of the case files and record its answers.

    ./record.py [--check] [--new] [--puppet8] [--cases DIR] [TOPIC[/CASE] ...]

--check    write nothing; report recorded answers that the oracle no longer gives
--new      only questions without an answer
--puppet8  the installed Puppet is version 8: record the answers that differ,
           as @@want8
"""

import argparse
import json
import sys
from collections import defaultdict
from pathlib import Path

import corpus


def tidy(answer, root):
    """The recorded form of an answer: the path of the tree replaced, nothing specific to the machine."""
    answer = corpus.substitute(answer, str(root), corpus.ROOT_SHOWN)
    answer.pop("id", None)
    answer.pop("class", None)
    if "message" in answer:
        answer["message"] = answer["message"].strip().split("\n")[0]
    for name in ("explain_text", "explain_text_cli"):
        if "#<Puppet::Pops" in answer.get(name, ""):  # Puppet prints the address of a Ruby object here
            del answer[name]
    return answer


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("only", nargs="*")
    parser.add_argument("--check", action="store_true", help="write nothing; show what differs")
    parser.add_argument("--new", action="store_true", help="only questions without an answer")
    parser.add_argument("--puppet8", action="store_true", help="record as @@want8 what differs from @@want")
    parser.add_argument("--cases", type=Path, default=corpus.CASES, help="directory of case files")
    options = parser.parse_intermixed_args()

    cases = corpus.load(options.only, options.cases)
    oracle = corpus.Oracle()
    changed, total, updates = 0, 0, defaultdict(dict)
    with corpus.scratch() as scratch:
        for number, case in enumerate(cases):
            root = scratch / f"t{number:04}"
            corpus.write_tree(case, root)
            asks = [a for a in case.asks if not (options.new and a.want)]
            answers = oracle.many(
                (root / "code", corpus.hiera_config(case, root), corpus.request_for(a, root)) for a in asks
            )
            for ask, answer in zip(asks, answers):
                total += 1
                answer = tidy(answer, root)
                recorded = ask.want
                if options.puppet8:
                    recorded = ask.want8
                    answer = answer if json.dumps(answer) != json.dumps(ask.want) else None
                if json.dumps(recorded) != json.dumps(answer):
                    changed += 1
                    if options.check:
                        print(f"{case.label}: {corpus.compact(ask.request)}")
                        print(f"   recorded {corpus.compact(recorded)[:300]}")
                        print(f"   now      {corpus.compact(answer)[:300]}")
                updates[case.path][ask.line] = answer
    oracle.close()
    if options.check:
        print(f"{total} asked, {changed} differ from the recorded answers")
        return 1 if changed else 0
    for path, answers in updates.items():
        rewrite(path, answers, "@@want8" if options.puppet8 else "@@want")
    print(f"{total} asked, {changed} recorded")
    return 0


def rewrite(path, answers, directive):
    """Write each answer below its question, replacing the previous one; None removes it."""
    lines, out, number = path.read_text(encoding="utf-8").split("\n"), [], 0
    while number < len(lines):
        out.append(lines[number])
        end, recorded = number + 1, {}
        if number in answers:
            while end < len(lines) and lines[end].startswith("@@want"):
                word, _, text = lines[end].partition(" ")
                recorded[word] = text
                end += 1
            recorded.pop(directive, None)
            if answers[number] is not None:
                recorded[directive] = corpus.compact(answers[number])
        out += [f"{word} {recorded[word]}" for word in ("@@want", "@@want8") if word in recorded]
        number = end
    path.write_text("\n".join(out), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
