#!/usr/bin/env python3
"""Judge a hierad binary by the recorded cases.

    ./run.py PATH/TO/hierad [options] [TOPIC[/CASE] ...]

Starts `hierad serve --codedir DIR [--hiera-config FILE] --listen 127.0.0.1:PORT`
on trees made from the cases, asks every recorded question over HTTP, compares,
and prints passed/total per topic and, last, `N passed, M failed`. The exit code
is 0 when nothing failed. Every case is asked twice: with `strict` at `warning`, for
the answers of Puppet 7, and at `error`, for those of Puppet 8.
"""

import argparse
import contextlib
import http.client
import json
import os
import shlex
import shutil
import socket
import subprocess
import sys
import threading
import time
import urllib.parse
from collections import Counter, defaultdict
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import corpus
from corpus import ROOT_SHOWN, Obj, exact, same_exact

START_SECONDS = 15
STRICT = ("warning", "error")


# --- the server ---------------------------------------------------------------


class Server:
    """One hierad on one code directory."""

    def __init__(self, binary, codedir, config, log, strict):
        self.port = free_port()
        command = [*binary, "serve", "--codedir", str(codedir), "--listen", f"127.0.0.1:{self.port}"]
        if config:
            command += ["--hiera-config", config]
        self.log = open(log, "wb")
        env = {k: v for k, v in os.environ.items() if not k.startswith("HIERAD_")}
        env["HIERAD_STRICT"] = strict
        self.process = subprocess.Popen(command, stdout=self.log, stderr=self.log, stdin=subprocess.DEVNULL, env=env)
        self.ready = self.wait()
        self.local = threading.local()

    def wait(self):
        """Until /readyz says yes; a server that lives but is not ready is used all the same after a while."""
        end = time.monotonic() + START_SECONDS
        alive_since = None
        pause = 0.005
        while time.monotonic() < end:
            if self.process.poll() is not None:
                return False
            with contextlib.suppress(OSError, http.client.HTTPException):
                connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=2)
                connection.request("GET", "/readyz")
                status = connection.getresponse().status
                connection.close()
                if status == 200:
                    return True
                alive_since = alive_since or time.monotonic()
                if time.monotonic() - alive_since > 3:
                    return False
            time.sleep(pause)
            pause = min(pause * 1.5, 0.1)
        return False

    def send(self, method, path, body=None, accept="application/json"):
        headers = {"Accept": accept}
        if body is not None:
            headers["Content-Type"] = "application/json"
        for attempt in (1, 2):
            connection = getattr(self.local, "connection", None)
            if connection is None:
                connection = self.local.connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
            try:
                connection.request(method, path, body=body, headers=headers)
                response = connection.getresponse()
                raw = response.read()
                return response.status, response.headers.get_content_type(), raw
            except (OSError, http.client.HTTPException) as error:
                connection.close()
                self.local.connection = None
                if attempt == 2:
                    return 0, "", str(error).encode()

    def stop(self):
        self.process.terminate()
        try:
            self.process.wait(5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.log.close()


def start(binary, root, config, strict="warning"):
    """A server on the tree that answers as Puppet 7 does, or with `error` as Puppet 8; once more where it ended at once (its port may have been taken)."""
    for _ in range(2):
        server = Server(binary, root / "code", config, root / "hierad.log", strict)
        if server.process.poll() is None:
            break
        server.stop()
    return server


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


# --- comparing ------------------------------------------------------------------


class Wrong(Exception):
    """What is not as it should be."""


def parse_body(raw):
    try:
        return corpus.loads_exact(raw.decode("utf-8"))
    except ValueError as error:
        raise Wrong(f"the body is not JSON: {error}: {raw[:200]!r}") from error


def check(ask, response, shown):
    """Compare one answer with what is recorded. `shown` makes paths comparable."""
    status, _, raw = response
    want, flags = ask.want, ask.flags
    if status == 0:
        raise Wrong(f"no answer: {raw.decode(errors='replace')}")
    body = parse_body(raw)
    if not isinstance(body, Obj):
        raise Wrong("the body is not an object")
    problem = str(body.get("type", ""))
    if ask.request.get("explain") == "options" and want["status"] != "error":
        if status not in (200, 404):
            raise Wrong(f"HTTP {status} {problem}; an explanation was asked for")
        check_explanation(want, body, shown)
        return
    if want["status"] == "found":
        if status != 200:
            raise Wrong(f"HTTP {status} {problem} {body.get('detail')}; found by Puppet: {corpus.compact(want['value'])[:300]}")
        if not body.has("value"):
            raise Wrong("no value in the body")
        value = shown(body.get("value"))
        if not same_exact(value, exact(want["value"])):
            raise Wrong(f"value {show(value)}; Puppet: {corpus.compact(want['value'])[:600]}")
        if bool(body.get("sensitive", False)) != bool(want.get("sensitive")):
            raise Wrong(f"sensitive is {body.get('sensitive')!r}; should be {want.get('sensitive')}")
        check_explanation(want, body, shown)
    elif want["status"] == "not_found":
        if status == 200:
            raise Wrong(f"found {show(body.get('value'))}; Puppet finds nothing")
        if status != 404 or not problem.endswith("/key-not-found"):
            raise Wrong(f"HTTP {status} {problem}; should be 404 key-not-found")
        check_explanation(want, body, shown)
    elif "unknown_env" in flags:
        if status != 404 or not problem.endswith("/unknown-environment"):
            raise Wrong(f"HTTP {status} {problem}; should be 404 unknown-environment")
    else:
        if status == 400 and "badreq" in flags:
            return
        if status == 200:
            raise Wrong(f"found {show(body.get('value'))}; Puppet fails: {want.get('message', '')[:300]}")
        if status != 422 or not problem.endswith("/lookup-failed"):
            raise Wrong(f"HTTP {status} {problem}; should be 422 lookup-failed ({want.get('message', '')[:200]})")
        if want.get("told"):
            check_explanation(want, body, shown)


def check_explanation(want, body, shown):
    if "explain_json" not in want:
        return
    if not body.has("explanation"):
        raise Wrong("no explanation in the body")
    got = shown(body.get("explanation"))
    wanted = [want["explain_json"]] + ([want["explain_json_cli"]] if "explain_json_cli" in want else [])
    differences = [first_difference(exact(w), got, "explanation") for w in wanted]
    if all(differences):
        raise Wrong(differences[0])


def check_text(ask, response, shown):
    """The same, asked for as text/plain."""
    status, kind, raw = response
    want = ask.want
    text = shown(raw.decode("utf-8", "replace"))
    if want.get("told") is False:
        if kind == "text/plain":
            raise Wrong(f"HTTP {status} {kind} {text[-300:]!r}; Puppet explains nothing and fails: {want['message'][:300]}")
        return
    if "explain_text" not in want:
        return
    if kind != "text/plain" or (want["status"] == "found" and status != 200 and ask.request.get("explain") != "options"):
        raise Wrong(f"HTTP {status} {kind}; should be text/plain ({want.get('message', '')[:300]}): {text[:300]!r}")
    wanted = [want["explain_text"]] + ([want["explain_text_cli"]] if "explain_text_cli" in want else [])
    if text.rstrip("\n") not in [w.rstrip("\n") for w in wanted]:
        raise Wrong("text: " + first_line_difference(wanted[0], text))


def first_difference(want, got, where):
    """None when alike. Objects of the explanation may order their keys freely, values may not."""
    if isinstance(want, Obj):
        if not isinstance(got, Obj):
            return f"{where}: {show(got)}; should be an object"
        missing = [k for k, _ in want if not got.has(k)]
        extra = [k for k, _ in got if not want.has(k)]
        if missing or extra:
            return f"{where}: keys missing {missing}, keys extra {extra}"
        for key, value in want:
            if key == "value":
                if not same_exact(value, got.get(key)):
                    return f"{where}.value: {show(got.get(key))}; should be {show(value)}"
            elif found := first_difference(value, got.get(key), f"{where}.{key}"):
                return found
        return None
    if isinstance(want, list):
        if not isinstance(got, list) or isinstance(got, Obj) or len(want) != len(got):
            return f"{where}: {show(got)}; should be {show(want)}"
        for number, (left, right) in enumerate(zip(want, got)):
            if found := first_difference(left, right, f"{where}[{number}]"):
                return found
        return None
    return None if same_exact(want, got) else f"{where}: {show(got)}; should be {show(want)}"


def first_line_difference(want, got):
    left, right = want.rstrip("\n").split("\n"), got.rstrip("\n").split("\n")
    for number in range(max(len(left), len(right))):
        a = left[number] if number < len(left) else "(end)"
        b = right[number] if number < len(right) else "(end)"
        if a != b:
            return f"line {number + 1} is {b!r}; should be {a!r}"
    return "alike"


def plain(value):
    if isinstance(value, Obj):
        return {k: plain(v) for k, v in value}
    if isinstance(value, list):
        return [plain(v) for v in value]
    return value


def show(value):
    return corpus.compact(plain(value))[:600]


# --- running ----------------------------------------------------------------------


class Tally:
    def __init__(self):
        self.lock = threading.Lock()
        self.passed, self.failed, self.faults = Counter(), Counter(), []

    def add(self, topic, label, request, fault=None):
        with self.lock:
            if fault is None:
                self.passed[topic] += 1
            else:
                self.failed[topic] += 1
                self.faults.append({"case": label, "topic": topic, "request": request, "fault": fault})


def shower(root, env):
    """Replaces the tree's path, and its environment's, by what was recorded."""
    here, there = f"{root}/code/environments/{env}", f"{ROOT_SHOWN}/code/environments/{corpus.ENV}"
    return lambda value: corpus.substitute(corpus.substitute(value, here, there), str(root), ROOT_SHOWN)


def run_case(server, case, root, env, tally, forms):
    shown = shower(root, env)
    for ask in case.asks:
        request = corpus.request_for(ask, root)
        if env != corpus.ENV:
            request = {**request, "environment": env}
        body = json.dumps(request).encode()
        topic = case.topic
        try:
            check(ask, server.send("POST", "/lookup", body), shown)
            tally.add(topic, case.label, ask.request)
        except Wrong as wrong:
            tally.add(topic, case.label, ask.request, str(wrong))
        if ask.request.get("explain"):
            try:
                check_text(ask, server.send("POST", "/lookup", body, accept="text/plain"), shown)
                tally.add(topic + "-text", case.label, ask.request)
            except Wrong as wrong:
                tally.add(topic + "-text", case.label, ask.request, str(wrong))
        if forms and (query := as_query(request)):
            try:
                check(ask, server.send("GET", query), shown)
                tally.add("form-get", case.label, {"GET": query})
            except Wrong as wrong:
                tally.add("form-get", case.label, {"GET": query}, str(wrong))
    if forms:
        run_batches(server, case, root, env, shown, tally)


def as_query(request):
    """The request as `GET /lookup/{key}?…`, where that can say it."""
    if set(request) - {"key", "environment", "node", "merge", "facts"} or not isinstance(request["key"], str):
        return None
    if not isinstance(request.get("merge", ""), str) or not request["key"] or "/" in request["key"]:
        return None
    query = [(k, request[k]) for k in ("environment", "node", "merge") if k in request]

    def flatten(prefix, value):
        if isinstance(value, dict) and value:
            for key, inner in value.items():
                if "." in key:
                    raise ValueError(key)
                flatten(f"{prefix}.{key}", inner)
        elif isinstance(value, str):
            query.append((prefix, value))
        else:
            raise ValueError(prefix)

    try:
        flatten("facts", request["facts"]) if request.get("facts") else None
    except ValueError:
        return None
    path = "/lookup/" + urllib.parse.quote(request["key"], safe="")
    return path + ("?" + urllib.parse.urlencode(query, quote_via=urllib.parse.quote) if query else "")


def run_batches(server, case, root, env, shown, tally):
    """Questions that differ in the key alone, again as one batch."""
    groups = defaultdict(list)
    for ask in case.asks:
        request = ask.request
        if isinstance(request["key"], str) and not ask.flags and "explain" not in request:
            rest = {k: v for k, v in request.items() if k != "key"}
            groups[json.dumps(rest, sort_keys=True)].append(ask)
    for rest, asks in groups.items():
        unique = list({a.request["key"]: a for a in asks}.values())
        if len(unique) < 2:
            continue
        request = {**corpus.substitute(json.loads(rest), corpus.ROOT_MARK, str(root)), "keys": [a.request["key"] for a in unique]}
        if env != corpus.ENV:
            request["environment"] = env
        response = server.send("POST", "/lookup", json.dumps(request).encode())
        try:
            check_batch(unique, response, shown)
            tally.add("form-batch", case.label, request)
        except Wrong as wrong:
            tally.add("form-batch", case.label, request, str(wrong))


def check_batch(asks, response, shown):
    status, _, raw = response
    if status != 200:
        raise Wrong(f"HTTP {status} {raw[:300]!r}")
    results = parse_body(raw).get("results")
    if not isinstance(results, Obj) or [k for k, _ in results] != [a.request["key"] for a in asks]:
        raise Wrong("results do not name the keys in the order asked")
    for ask in asks:
        entry = shown(results.get(ask.request["key"]))
        if not isinstance(entry, Obj):
            raise Wrong(f"{ask.request['key']}: {show(entry)}")
        if ask.want["status"] == "found":
            if not entry.has("value") or not same_exact(entry.get("value"), exact(ask.want["value"])):
                raise Wrong(f"{ask.request['key']}: {show(entry)}; Puppet: {corpus.compact(ask.want['value'])[:300]}")
        else:
            ending = "/key-not-found" if ask.want["status"] == "not_found" else "/lookup-failed"
            error = entry.get("error")
            if not isinstance(error, Obj) or not str(error.get("type", "")).endswith(ending):
                raise Wrong(f"{ask.request['key']}: {show(entry)}; should be an error of type …{ending}")


def plan(cases, isolate):
    """Groups of cases that share a server: packed ones, clean and faulty apart; the rest alone."""
    clean, faulty, alone = [], [], []
    for case in cases:
        if isolate or not case.packable():
            alone.append([case])
        elif case.expects_error():
            faulty.append(case)
        else:
            clean.append(case)
    return [g for g in (clean, faulty) if g] + alone


def run_group(binary, number, group, scratch, tally, forms, stops, strict):
    root = scratch / f"{strict}-{number:04}"
    packed = len(group) > 1
    envs = []
    for index, case in enumerate(group):
        env = f"p{index:04}" if packed else corpus.ENV
        corpus.write_tree(case, root, env)
        envs.append(env)
    config = None if packed else corpus.hiera_config(group[0], root)
    server = start(binary, root, config, strict)
    if not server.ready:
        stops.append(f"{group[0].label}{' and others' if packed else ''}: /readyz did not answer 200")
    try:
        if packed:
            with ThreadPoolExecutor(4) as pool:
                list(pool.map(lambda job: run_case(server, job[0], root, job[1], tally, forms), zip(group, envs)))
        else:
            run_case(server, group[0], root, envs[0], tally, forms)
    finally:
        server.stop()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary", help="the hierad binary (or a command line in quotes)")
    parser.add_argument("only", nargs="*", help="topics or topic/case to run")
    parser.add_argument("--cases", type=Path, default=corpus.CASES, help="directory of case files")
    parser.add_argument("--strict", choices=STRICT, action="append", help="only with this setting")
    parser.add_argument("--isolate", action="store_true", help="one server for every case")
    parser.add_argument("--forms", action="store_true", help="also ask by GET and in batches")
    parser.add_argument("--jobs", type=int, default=4, help="servers at a time")
    parser.add_argument("--failures", type=Path, help="write all failures to this file, as JSON")
    parser.add_argument("--show", type=int, default=10, help="failures to print")
    parser.add_argument("--keep", type=Path, help="keep the trees and the servers' logs here")
    options = parser.parse_intermixed_args()

    def load():
        return [c for c in corpus.load(options.only, options.cases) if c.asks]

    cases = {"warning": load(), "error": corpus.as_puppet_8(load())}
    missing = [c.label for c in cases["warning"] for a in c.asks if a.want is None]
    if missing:
        sys.exit(f"no answer is recorded for {missing[0]} (and {len(missing) - 1} more): run record.py")
    binary = shlex.split(options.binary)
    if not shutil.which(binary[0]):
        sys.exit(f"no such program: {binary[0]}")
    tally, stops, began = Tally(), [], time.monotonic()
    with corpus.scratch(options.keep) as scratch:
        groups = [(strict, group) for strict in options.strict or STRICT for group in plan(cases[strict], options.isolate)]
        with ThreadPoolExecutor(options.jobs) as pool:
            jobs = [
                pool.submit(run_group, binary, n, group, scratch, tally, options.forms, stops, strict)
                for n, (strict, group) in enumerate(groups)
            ]
            for job in jobs:
                job.result()
    report(tally, stops, options, time.monotonic() - began)
    return 1 if tally.faults else 0


def report(tally, stops, options, seconds):
    tally.faults.sort(key=lambda f: (f["topic"], f["case"]))
    if options.failures:
        options.failures.write_text(json.dumps(tally.faults, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    for stop in stops[:10]:
        print(f"not ready: {stop}")
    for fault in tally.faults[: options.show]:
        print(f"FAIL {fault['case']} {corpus.compact(fault['request'])[:200]}\n     {fault['fault'][:700]}")
    if len(tally.faults) > options.show:
        print(f"… and {len(tally.faults) - options.show} more" + (f" in {options.failures}" if options.failures else ""))
    topics = sorted(set(tally.passed) | set(tally.failed))
    for topic in topics:
        good, bad = tally.passed[topic], tally.failed[topic]
        print(f"{topic:24} {good:5}/{good + bad}")
    print(f"in {seconds:.1f} s")
    print(f"{sum(tally.passed.values())} passed, {sum(tally.failed.values())} failed")


if __name__ == "__main__":
    sys.exit(main())
