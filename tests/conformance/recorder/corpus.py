"""The case files, the trees they describe, and the oracle that answers them.

Standard library only. The format of a case file is described in ../README.md.
"""

import contextlib
import json
import os
import shutil
import subprocess
import tempfile
import threading
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent
CASES = HERE.parent / "cases"
ENV = "production"
ROOT_MARK = "@ROOT@"  # in a file of a tree: the tree's absolute path
ENV_MARK = "<ENV>"  # in a path: the name that the environment has
ROOT_SHOWN = "<ROOT>"  # in a recorded answer: the same
PREFIXES = {"E/": f"code/environments/{ENV}/", "C/": "code/", "G/": "global/", "R/": ""}


# --- JSON with everything that matters kept --------------------------------


class Obj(list):
    """A JSON object as the list of its (key, value) pairs: order and doubles stay."""

    def get(self, key, default=None):
        for name, value in self:
            if name == key:
                return value
        return default

    def has(self, key):
        return any(name == key for name, _ in self)


def loads_exact(text):
    """Parse JSON; objects become Obj; 1 and 1.0 differ; large integers stay exact."""
    return json.loads(text, object_pairs_hook=Obj)


def exact(value):
    """The same form for a value that is already Python data."""
    if isinstance(value, dict):
        return Obj((k, exact(v)) for k, v in value.items())
    if isinstance(value, Obj):
        return Obj((k, exact(v)) for k, v in value)
    if isinstance(value, list):
        return [exact(v) for v in value]
    return value


def same_exact(left, right):
    """Equal in type, value and order of keys."""
    if isinstance(left, Obj) != isinstance(right, Obj):
        return False
    if isinstance(left, Obj):
        return len(left) == len(right) and all(
            lk == rk and same_exact(lv, rv) for (lk, lv), (rk, rv) in zip(left, right)
        )
    if isinstance(left, list):
        return isinstance(right, list) and len(left) == len(right) and all(map(same_exact, left, right))
    return type(left) is type(right) and left == right


def compact(value):
    return json.dumps(value, ensure_ascii=False, separators=(", ", ": "))


# --- cases ------------------------------------------------------------------


@dataclass
class Ask:
    request: dict
    flags: set
    line: int  # of the @@ask in its file, from 0
    want: dict = None  # Puppet 7's answer
    want8: dict = None  # Puppet 8's, where it is another


@dataclass
class Case:
    topic: str
    name: str
    path: Path
    files: dict = field(default_factory=dict)  # path below the root -> bytes, or None for a directory
    links: dict = field(default_factory=dict)  # path below the root -> target
    asks: list = field(default_factory=list)

    @property
    def label(self):
        return f"{self.topic}/{self.name}"

    def has_global(self):
        return "global/hiera.yaml" in self.files

    def packable(self):
        """May it be one environment among others in a shared code directory?"""
        if self.links or not self.files:
            return False
        for path, content in self.files.items():
            if not path.startswith(f"code/environments/{ENV}/"):
                return False
            if content and (b"environment" in content or ROOT_MARK.encode() in content or b".." in content):
                return False
        return all(
            a.request.get("environment", ENV) == ENV and "alone" not in a.flags and "environment" not in compact(a.request)
            for a in self.asks
        )

    def expects_error(self):
        return any((a.want or {}).get("status") == "error" for a in self.asks)


def levels_yaml(names, datadir="data"):
    out = ["version: 5", "defaults:", f"  datadir: {datadir}", "  data_hash: yaml_data", "hierarchy:"]
    for name in names:
        out += [f'  - name: "{name}"', f"    path: {name}.yaml"]
    return ("\n".join(out) + "\n").encode()


def expand(path):
    for short, full in PREFIXES.items():
        if path.startswith(short):
            return full + path[len(short) :]
    raise ValueError(f"a path starts with E/, C/, G/ or R/: {path}")


def parse(path):
    """The cases of one file."""
    topic, cases, case, pending, common = None, [], None, None, {}
    lines = path.read_text(encoding="utf-8").split("\n")

    def close():
        nonlocal pending
        if pending:
            name, start, end = pending
            case.files[expand(name)] = "".join(text + "\n" for text in lines[start:end]).encode()
            pending = None

    def fail(number, why):
        raise ValueError(f"{path.name}:{number + 1}: {why}")

    for number, text in enumerate(lines):
        if not text.startswith("@@"):
            if pending:
                pending[2] = number + 1
            elif text.strip() and not text.startswith("#"):
                fail(number, "text outside a file")
            continue
        close()
        word, _, rest = text[2:].partition(" ")
        word, _, flags = word.partition(":")
        if word == "topic":
            topic = rest.strip()
        elif word == "case":
            case = Case(topic, rest.strip(), path)
            common = {}
            if any(c.name == case.name for c in cases):
                fail(number, f"a second case named {case.name}")
            cases.append(case)
        elif word == "levels":
            case.files[expand("E/hiera.yaml")] = levels_yaml(rest.split())
        elif word == "global":
            case.files[expand("G/hiera.yaml")] = levels_yaml(rest.split())
        elif word == "module":
            module, *names = rest.split()
            case.files[expand(f"E/modules/{module}/hiera.yaml")] = levels_yaml(names)
        elif word == "file":
            pending = [rest.strip(), number + 1, number + 1]
        elif word == "json":
            name, _, content = rest.partition(" ")
            case.files[expand(name)] = json.loads(content).encode("utf-8", "surrogateescape")
        elif word == "dir":
            case.files[expand(rest.strip())] = None
        elif word == "link":
            name, target = rest.split()
            case.links[expand(name)] = target
        elif word == "with":
            common = json.loads(rest)
        elif word == "ask":
            ask = Ask({**common, **json.loads(rest)}, set(filter(None, flags.split(","))), number)
            case.asks.append(ask)
        elif word in ("want", "want8"):
            setattr(case.asks[-1], word, json.loads(rest))
        else:
            fail(number, f"unknown directive @@{word}")
    close()
    return cases


def load(only=None, directory=CASES):
    """Every case, or those whose topic/name starts with one of `only`."""
    cases = []
    for path in sorted(directory.glob("*.case")):
        cases += parse(path)
    if only:
        cases = [c for c in cases if any(c.label.startswith(o) for o in only)]
    return cases


def as_puppet_8(cases):
    """The same cases with the answers of Puppet 8."""
    for case in cases:
        for ask in case.asks:
            ask.want = ask.want8 or ask.want
    return cases


def write_tree(case, root, env=ENV):
    """Put the case's files below root; its environment is named env there."""
    root = Path(root)
    here = f"code/environments/{ENV}/"

    def place(path):
        if env != ENV and path.startswith(here):
            path = f"code/environments/{env}/" + path[len(here) :]
        return root / path.replace(ENV_MARK, env)

    (root / "code/environments" / env).mkdir(parents=True, exist_ok=True)
    for path, content in case.files.items():
        target = place(path)
        if content is None:
            target.mkdir(parents=True, exist_ok=True)
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content.replace(ROOT_MARK.encode(), str(root).encode()))
    for path, to in case.links.items():
        target = place(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        with contextlib.suppress(FileNotFoundError):
            target.unlink()
        target.symlink_to(to.replace(ROOT_MARK, str(root)))


def hiera_config(case, root):
    return str(Path(root) / "global/hiera.yaml") if case.has_global() else None


def request_for(ask, root):
    """The request as it is sent: the tree's path filled in."""
    return substitute(ask.request, ROOT_MARK, str(root))


def substitute(value, old, new):
    """Replace text in every string (keys too) of JSON data."""
    if isinstance(value, str):
        return value.replace(old, new)
    if isinstance(value, Obj):
        return Obj((substitute(k, old, new), substitute(v, old, new)) for k, v in value)
    if isinstance(value, list):
        return [substitute(v, old, new) for v in value]
    if isinstance(value, dict):
        return {substitute(k, old, new): substitute(v, old, new) for k, v in value.items()}
    return value


# --- the oracle ---------------------------------------------------------------


class Oracle:
    """One Ruby process. Use ask() for one request, many() for a batch."""

    def __init__(self, ruby="ruby", script=HERE / "oracle.rb"):
        env = {**os.environ, "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8"}
        self.errors = tempfile.TemporaryFile()
        self.process = subprocess.Popen(
            [ruby, str(script)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors, env=env
        )
        self.lock = threading.Lock()

    def many(self, jobs):
        """jobs: (codedir, hiera_config, request) each; the answers in order."""
        jobs = list(jobs)
        with self.lock:

            def feed():
                for codedir, config, request in jobs:
                    line = json.dumps({"codedir": str(codedir), "hiera_config": config, "request": request})
                    self.process.stdin.write(line.encode() + b"\n")
                self.process.stdin.flush()

            feeder = threading.Thread(target=feed, daemon=True)
            feeder.start()
            answers = []
            for _ in jobs:
                line = self.process.stdout.readline()
                if not line:
                    self.errors.seek(0)
                    raise RuntimeError("the oracle ended: " + self.errors.read()[-2000:].decode(errors="replace"))
                answers.append(json.loads(line))
            feeder.join()
            return answers

    def ask(self, codedir, config, request):
        return self.many([(codedir, config, request)])[0]

    def close(self):
        self.process.stdin.close()
        self.process.wait()


@contextlib.contextmanager
def scratch(keep=None):
    """A directory for trees, removed afterwards unless it was named."""
    if keep:
        Path(keep).mkdir(parents=True, exist_ok=True)
        yield Path(keep).resolve()
        return
    root = Path(tempfile.mkdtemp(prefix="hierad-conformance-")).resolve()
    try:
        yield root
    finally:
        shutil.rmtree(root, ignore_errors=True)
