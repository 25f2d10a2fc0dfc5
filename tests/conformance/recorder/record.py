#!/usr/bin/env python3
"""Ask the real Puppet every question of the case files and write down its answers.

    ./record.py [--check] [--new] [--cases DIR] [TOPIC[/CASE] ...]

--check  write nothing; tell which recorded answers the oracle no longer gives
--new    only questions that have no answer yet
"""

import argparse
import json
import sys
from collections import defaultdict
from pathlib import Path

import corpus


def tidy(answer, root):
    """What is kept of an answer: the tree's path replaced, nothing of the machine."""
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
                if ask.want is None or json.dumps(ask.want) != json.dumps(answer):
                    changed += 1
                    if options.check:
                        print(f"{case.label}: {corpus.compact(ask.request)}")
                        print(f"   recorded {corpus.compact(ask.want)[:300]}")
                        print(f"   now      {corpus.compact(answer)[:300]}")
                updates[case.path][ask.line] = answer
    oracle.close()
    if options.check:
        print(f"{total} asked, {changed} differ from what is recorded")
        return 1 if changed else 0
    for path, answers in updates.items():
        rewrite(path, answers)
    print(f"{total} asked, {changed} recorded anew")
    return 0


def rewrite(path, answers):
    """Put each answer on the line below its question, in place of the one that was there."""
    out, replaced = [], False
    for number, text in enumerate(path.read_text(encoding="utf-8").split("\n")):
        if replaced and text.startswith("@@want"):
            replaced = False
            continue
        out.append(text)
        replaced = number in answers
        if replaced:
            out.append(f"@@want {corpus.compact(answers[number])}")
    path.write_text("\n".join(out), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
