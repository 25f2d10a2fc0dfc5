"""The recorded cases, their trees, the oracle that answers them, and the judge that compares answers.

Standard library only. The case files (../README.md has the format) are read, and answers are compared, by the
crate `recorded-cases`, which the tests of hierad use as well.
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
REPOSITORY = HERE.parents[2]
CASE_TOOL = ["cargo", "run", "--quiet", "--locked", "--package", "recorded-cases", "--"]
ENV = "production"
ROOT_MARK = "@ROOT@"  # in a file of a tree: the tree's absolute path
ENV_MARK = "<ENV>"  # in a path: the name of the environment
ROOT_SHOWN = "<ROOT>"  # in a recorded answer: the same
PREFIXES = {"E/": f"code/environments/{ENV}/", "C/": "code/", "G/": "global/", "R/": ""}


def compact(value):
    return json.dumps(value, ensure_ascii=False, separators=(", ", ": "))


# --- cases ------------------------------------------------------------------


@dataclass
class Ask:
    request: dict
    flags: set
    line: int  # of the @@ask in its file, from 0
    want: dict = None  # Puppet 7's answer
    want8: dict = None  # Puppet 8's, if it differs


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


def expand(path):
    for short, full in PREFIXES.items():
        if path.startswith(short):
            return full + path[len(short) :]
    raise ValueError(f"a path starts with E/, C/, G/ or R/: {path}")


def load(only=None, directory=CASES):
    """Every case, or those whose topic/name starts with one of `only`."""
    command = [*CASE_TOOL, "list", str(directory)]
    listed = subprocess.run(command, cwd=REPOSITORY, check=True, stdout=subprocess.PIPE).stdout
    cases = [from_listed(json.loads(line), directory) for line in listed.splitlines()]
    if only:
        cases = [c for c in cases if any(c.label.startswith(o) for o in only)]
    return cases


def from_listed(case, directory):
    def content(text):
        return None if text is None else text.encode("utf-8", "surrogateescape")

    return Case(
        case["topic"],
        case["name"],
        directory / f"{case['topic']}.case",
        {expand(path): content(text) for path, text in case["files"]},
        {expand(path): target for path, target in case["links"]},
        [Ask(a["request"], set(a["flags"]), a["line"] - 1, a["want"], a["want8"]) for a in case["asks"]],
    )


def write_tree(case, root, env=ENV):
    """Write the files of the case below root, with env as the name of its environment."""
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
    """The request as it is sent, with the path of the tree filled in."""
    return substitute(ask.request, ROOT_MARK, str(root))


def substitute(value, old, new):
    """Replace text in every string (keys too) of JSON data."""
    if isinstance(value, str):
        return value.replace(old, new)
    if isinstance(value, list):
        return [substitute(v, old, new) for v in value]
    if isinstance(value, dict):
        return {substitute(k, old, new): substitute(v, old, new) for k, v in value.items()}
    return value


# --- the oracle and the judge -----------------------------------------------------


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


class Judge:
    """One process of `recorded-cases judge`, shared by threads."""

    def __init__(self):
        self.process = subprocess.Popen(
            [*CASE_TOOL, "judge"], cwd=REPOSITORY, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        self.lock = threading.Lock()

    def difference(self, ask, reply, accept, replace):
        """How a reply (status, content type, body) differs from the recorded answer; None if it does not.

        replace: pairs of texts, replaced in the reply before it is compared.
        """
        status, kind, body = reply
        line = {
            "question": {"request": ask.request, "flags": sorted(ask.flags), "want": ask.want},
            "reply": {"accept": accept, "status": status, "type": kind, "body": body.decode("utf-8", "replace")},
            "replace": replace,
        }
        with self.lock:
            self.process.stdin.write(json.dumps(line).encode() + b"\n")
            self.process.stdin.flush()
            answer = self.process.stdout.readline()
        if not answer:
            raise RuntimeError("the judge ended")
        return json.loads(answer)["difference"]

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
