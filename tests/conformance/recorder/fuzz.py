#!/usr/bin/env python3
"""Compares hierad with the real Puppet on random trees and lookups.

    ./fuzz.py PATH/TO/hierad [--seed N] [--cases N | --seconds S] [--out DIR]
    ./fuzz.py --oracle-only [--cases N]

Generates random trees (layers, levels, collisions, interpolation, options), asks
the oracle and hierad the same questions, compares the answers, reduces each
difference and writes it to --out as a case file. The same seed gives the same cases.
"""

import argparse
import copy
import json
import random
import re
import shlex
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import corpus
import server as hierad

BATCH = 40  # environments in one code directory
ENVIRONMENT_FACTS = [
    {"f0": "one", "f1": "a", "num": 7, "flag": True, "h": {"x": "hx", "y": {"z": "deep"}}, "l": ["l0", "l1"]},
    {"f0": "two", "f1": "", "num": 0, "flag": False, "h": {"x": 5}, "l": ["only"]},
    {},
]
NODES = ["n1.example.com", "n2", None]
WORDS = ["a", "b", "c", "dd", "e f", "", "Ü", "1", "true", "x.y"]
SUBKEYS = ["a", "b", "c", "x.y", "s p"]
TYPES = [
    "Integer", "String", "Array", "Boolean", "Float", "Sensitive", "Numeric", "Hash",
    ["Array", True], ["String", "%p"], ["Integer", 10], "Optional[Integer]", "Array[String]", "Enum['a','b']",
    ["String", "%#x"], ["String", {"Array": {"format": "%(a", "separator": ";"}}], "Integer[0,50]", "String[1]",
    "Struct[{a=>Any}]", "Tuple[Any,Any]", "Variant[Integer,String]", "SemVer", "Timestamp", "Timespan", "Binary",
    ["Binary", "%s"], "URI", "Regexp", "NotUndef", "Data", "Pattern[/a/]", "Init[Integer]", "Iterable", "Nope", "Type",
    ["Integer", 16, True], ["Float", True], "Numeric", "Sensitive[String]", "Hash[String,Integer]", "Any", "Undef",
]  # fmt: skip
ASSERTS = [
    "String", "Integer", "Array", "Hash", "Array[String]", "Hash[String,Any]", "Optional[String]", "Scalar", "Data",
    "Variant[String,Array]", "Array[Data,1]", "Boolean", "Any", "NotUndef", "String[1]", "Struct[{a=>Any}]",
    "Tuple[String,1,3]", "Hash[String,Data,1,2]", "Enum['a',true]", "Pattern[/^[a-c]/]", "Integer[0,10]", "Float",
    "Optional[Array[Optional[Scalar]]]", "RichData", "Collection[1]", "Iterable[String]", "Undef", "Sensitive",
    "Struct[{Optional[a]=>Integer,b=>NotUndef}]", "Callable", "Type", "Timestamp", "Variant[Undef,Hash[String,Array]]",
]  # fmt: skip
# Parts of unusual locations, and the directories and names of files there.
ODD_PARTS = [
    "a", "b", "c", "ab", "/", "/", "../", "./", "//", "%{facts.fx}", "%{fy}", "%{facts.fz}", "%{environment}",
    "%{::environment}", "%{nope}", "*", "?", "**/", "{a,b}", "[ab]", "{%{facts.list}}", "{a,%{fy}}", "[%{facts.fx}]",
    "linked/", "loop/",
]  # fmt: skip
ODD_LOCATIONS = [
    "%{facts.fx}.yaml", "%{facts.fx}/%{fy}.yaml", "a/%{facts.fx}.yaml", "*.yaml", "**/*.yaml", "{%{facts.list}}.yaml",
    "c.yaml", "[%{fy}]*.yaml", "%{facts.fx}/../%{fy}.yaml", "linked/%{fy}.yaml", "loop/%{facts.fx}.yaml", "a/{b,%{fy}}*.yaml",
    "%{environment}/*.yaml", "?.yaml", "%{facts.fx}%{fy}.yaml", "../%{environment}/%{facts.fz}.yaml", "a.%{ext}", "a/../c.yaml",
]  # fmt: skip
ODD_DATADIRS = ["data", "data/%{facts.fx}", "%{environment}", "data/%{environment}", "other", "data/../data", "d%{ata}"]
ODD_DIRECTORIES = ["", "", "a/", "b/", "a/b/", "<ENV>/", "ab/"]
ODD_NAMES = ["a", "b", "c", "ab", ".a", "<ENV>"]
ODD_VALUES = ["", "a", "b", "ab", "a/b", "a.", "c"]  # none that forms a `..`: hierad finds nothing there, intentionally
ODD_LINKS = [("a", "linked"), (".", "loop"), ("..", "a/loop"), ("a.yaml", "c.yaml"), ("nowhere", "b.yaml")]
BREAKERS = ["[", "]", "{", "}", ",", ":", '"', "'", "\\", "\n", "x", "1", "@", "NaN", "#", "/", "\\u12", "${", " "]
MISTAKES = [
    {"pth": "x"}, {"glob": "*.yaml"}, {"data_hash": "nope"}, {"lookup_key": "m::nope"}, {"options": {"path": "x"}},
    {"options": {"a": "b"}}, {"name": ""}, {"name": 5}, {"path": "%{a..b}.yaml"}, {"path": "%{lookup('k0')}.yaml"},
    {"path": "%{facts.f0.x}.yaml"}, {"path": "%{0.x}"}, {"paths": []}, {"name": "Level l0"}, {"data_dig": "yaml_data"},
    {"mapped_paths": ["facts.num", "a", "b"]}, {"path": ["x"]}, {"hiera3_backend": "x"}, {"datadir": "%{literal('x')}"},
]  # fmt: skip
NO_MERGES = ["nope", {"strategy": "hash", "x": 1}, {"x": 1}, 5, {"strategy": "deep", "merge_debug": 1}]
SHAPES = ["scalar", "array", "hash", "hash", "deep", "array", "mixed"]
FITTING = {
    "scalar": ["first", "unique", "deep"],
    "array": ["unique", "deep", "first"],
    "hash": ["hash", "deep", "deep"],
    "deep": ["deep", "deep", "hash"],
}


# --- generating -------------------------------------------------------------------------


class Maker:
    """Everything about one case comes from one random generator."""

    def __init__(self, rng, has_global, knockout, mistakes=0.0, explains=0.15, odd=0.0):
        self.rng = rng
        self.odd, self.has_tokens = odd, True
        self.mistakes, self.explains = mistakes, explains
        self.knockout = knockout
        self.modules = [m for m in ("m", "n") if rng.random() < 0.45]
        self.keys = [f"k{i}" for i in range(rng.randint(2, 4))]
        self.keys += [f"{m}::k{i}" for m in self.modules for i in range(2)]
        self.shape = {k: rng.choice(SHAPES) for k in self.keys}
        self.has_global = has_global

    def chance(self, p):
        return self.rng.random() < p

    def case(self, asks):
        env = self.layer(self.rng.randint(1, 4), self.keys)
        mods = {}
        for m in self.modules:
            own = [k for k in self.keys if k.startswith(m + "::")]
            mods[m] = self.layer(self.rng.randint(1, 2), own, module=m)
        return {"env": env, "modules": mods, "asks": [self.ask() for _ in range(asks)]}

    def odd_location(self):
        if self.chance(0.5):
            return self.rng.choice(ODD_LOCATIONS)
        parts = (self.rng.choice(ODD_PARTS) for _ in range(self.rng.randint(1, 5)))
        text = "".join(parts) + self.rng.choice(["", ".yaml", ".yaml"])
        # From the root directory, or from far above the tree, a glob would take forever.
        text = text.replace("../", "", max(0, text.count("../") - 2))
        # After a link, hierad refuses `..`, intentionally.
        text = re.sub(r"(linked|loop|[*?\]}])((/|\./)+\.\.)+/", r"\1/", text)
        return "a" + text if re.match(r"(%\{[^}]*\}|\.)*/", text) else text

    def odd_level(self, name):
        """A level with up to eighty locations of every kind."""
        level = {"name": f"Level {name}"}
        count = self.rng.randint(1, 80 if self.chance(0.1) else 4)
        locations = [self.odd_location() for _ in range(count)]
        kind = self.rng.choice(["paths", "paths", "globs", "globs", "path", "glob", "mapped_paths"])
        level[kind] = {
            "mapped_paths": ["facts.l", "fy", locations[0]], "path": locations[0], "glob": locations[0],
        }.get(kind, locations)  # fmt: skip
        if self.chance(0.3):
            level["datadir"] = self.rng.choice(ODD_DATADIRS)
        return level

    def odd_layer(self, count, keys, module=None):
        """A layer with unusual locations, and the files and links that they name."""
        files, links = {}, {}
        # Nested lookups in eighty files each are too much for Puppet.
        self.has_tokens = False
        for directory in ("data/", "other/", "<ENV>/", "data/<ENV>/"):
            for _ in range(self.rng.randint(1, 8)):
                files[directory + self.rng.choice(ODD_DIRECTORIES) + self.rng.choice(ODD_NAMES) + ".yaml"] = self.data(keys, module)
        for target, link in ODD_LINKS:
            if self.chance(0.15) and not any(f"{path}/".startswith(f"data/{link}/") for path in files):
                links[f"data/{link}"] = target
        self.has_tokens = True
        levels = [self.odd_level(f"l{i}") for i in range(count)]
        return {"levels": levels, "files": files, "links": links, "prefix": "."}

    def layer(self, count, keys, module=None):
        if self.chance(self.odd):
            return self.odd_layer(count, keys, module)
        levels, files = [], {}
        for i in range(count):
            levels.append(self.level(f"l{i}", files, keys, module))
        out = {"levels": levels, "files": files}
        if module and self.chance(0.2):
            out["default_levels"] = [self.level("d0", files, keys, module)]
        if self.chance(0.1):
            out["datadir"] = self.rng.choice(["hieradata", "d/%{facts.f0}"])
            if "%" in out["datadir"]:
                out["files"] = {f"one/{p}" if self.chance(0.7) else f"two/{p}": v for p, v in files.items()}
                out["prefix"] = "d"
        return out

    def level(self, name, files, keys, module):
        kind = self.rng.choices(["path", "fact", "node", "paths", "glob", "mapped", "missing"], [58, 12, 5, 10, 7, 5, 3])[0]
        ending, level = ".yaml", {"name": f"Level {name}"}
        if self.chance(0.15):
            ending, level["data_hash"] = ".json", "json_data"
        elif self.chance(0.06):
            ending, level["data_hash"] = ".conf", "hocon_data"

        def put(path):
            files[path + ending] = self.broken(self.data(keys, module), ending)

        if kind == "path":
            put(name)
            level["path"] = name + ending
        elif kind == "fact":
            where = self.rng.choice(["facts.f0", "::f0", "f0", "facts.h.x", "facts.l.0", "var0"])
            for value in ("one", "hx", "l0", "v0"):
                put(f"{name}/{value}")
            level["path"] = f"{name}/%{{{where}}}{ending}"
        elif kind == "node":
            put(f"{name}/n1.example.com")
            level["path"] = f"{name}/%{{trusted.certname}}{ending}"
        elif kind == "paths":
            for i in range(2):
                put(f"{name}p{i}")
            level["paths"] = [f"{name}p0{ending}", f"{name}none{ending}", f"{name}p1{ending}"]
        elif kind == "glob":
            for i in self.rng.sample(["b", "a", "c"], 2):
                put(f"{name}g/{i}")
            level["glob"] = f"{name}g/*{ending}"
        elif kind == "mapped":
            for i in ("l0", "l1", "only"):
                put(f"{name}m/{i}")
            level["mapped_paths"] = ["facts.l", "item", f"{name}m/%{{item}}{ending}"]
        else:
            level["path"] = f"{name}-missing{ending}"
        if self.chance(self.mistakes * 0.3):
            level.update(copy.deepcopy(self.rng.choice(MISTAKES)))
        return level

    def broken(self, data, ending):
        """The file, sometimes with a mistake in its text."""
        if not self.chance(self.mistakes * 0.3):
            return data
        text = file_text(data, ending)
        for _ in range(self.rng.randint(1, 2)):
            place = self.rng.randrange(len(text) + 1)
            kept = place + self.rng.choice([0, 0, 1, 2])
            text = text[:place] + self.rng.choice([*BREAKERS, ""]) + text[kept:]
        return text if self.chance(0.9) else self.rng.choice(["", "[]", "5", "null", "text"])

    def data(self, keys, module):
        out = {}
        for key in keys:
            if self.chance(0.7):
                shape = self.shape[key] if self.chance(0.88) else self.rng.choice(SHAPES)
                out[key] = self.value(shape, 0, key)
        if self.chance(0.25):
            out["lookup_options"] = self.options(keys, module)
        if self.has_tokens and self.chance(0.05):
            out["unrelated"] = "%{lookup('k0')}"
        items = list(out.items())
        self.rng.shuffle(items)
        return dict(items)

    def options(self, keys, module):
        out = {}
        for key in keys:
            if self.chance(0.4):
                name = key
                if self.chance(0.25):
                    name = "^" + (re.escape(key)[:-1] if not module else f"{module}::k") + self.rng.choice(["", ".*", ".*$"])
                entry = {}
                if self.chance(0.85):
                    entry["merge"] = self.merge(key) if not self.chance(self.mistakes * 0.1) else self.rng.choice(NO_MERGES)
                if self.chance(0.2):
                    entry["convert_to"] = self.rng.choice(TYPES)
                out[name] = entry
        return out

    def merge(self, key=None):
        kind = self.rng.choice(["first", "unique", "hash", "deep", "deep"])
        if self.chance(0.75):  # mostly a valid one
            kind = self.rng.choice(FITTING.get(self.shape.get(key), [kind]))
        if kind == "deep" and self.chance(0.4):
            out = {"strategy": "deep"}
            if self.chance(0.4):
                out["sort_merged_arrays"] = self.chance(0.8)
            if self.chance(0.5):
                out["merge_hash_arrays"] = self.chance(0.8)
            if self.knockout and self.chance(0.5):
                out["knockout_prefix"] = "--"
            return out
        return {"strategy": kind} if self.chance(0.2) else kind

    def value(self, shape, depth, key):
        if shape == "scalar":
            return self.scalar(key)
        if shape == "mixed":
            shape = self.rng.choice(["scalar", "array", "hash"])
            return self.value(shape, depth, key)
        size = self.rng.choice([0, 1, 1, 2, 2, 3])
        if shape == "array":
            return [self.inner(depth, key) for _ in range(size)]
        if shape == "deep" and depth < 2:
            return {self.subkey(): self.value(self.rng.choice(["hash", "array", "deep"]), depth + 1, key) for _ in range(size)}
        return {self.subkey(): self.inner(depth, key) for _ in range(size)}

    def inner(self, depth, key):
        if depth < 2 and self.chance(0.3):
            return self.value(self.rng.choice(["array", "hash"]), depth + 1, key)
        return self.scalar(key)

    def subkey(self):
        if self.chance(0.04):
            return "%{facts.f1}"
        return self.rng.choice(SUBKEYS)

    def scalar(self, key):
        rng = self.rng
        if self.chance(self.mistakes * 0.05):
            return rng.choice([":sym", "%{bad('x')}", "%{a..b}", "%{0.a}", "x%{alias('k0')}"])
        kind = rng.choices(["word", "int", "float", "bool", "null", "token"], [45, 15, 5, 8, 5, 22 * self.has_tokens])[0]
        if kind == "word":
            word = rng.choice(WORDS)
            return "--" + word if self.knockout and self.chance(0.15) else word
        if kind == "int":
            return rng.choice([0, 1, 2, -3, 42, 12345678901234567890])
        if kind == "float":
            return rng.choice([1.0, 2.5, -0.5, 1e-7])
        if kind == "bool":
            return self.chance(0.5)
        return None if kind == "null" else self.token(key)

    def token(self, key):
        rng = self.rng
        scope = rng.choice(
            ["facts.f0", "f1", "::f0", "facts.h.x", "facts.h", "facts.l.0", "facts.l", "num", "flag", "nope", "facts.nope",
             "trusted.certname", "var0", "h.y.z", " facts.f0 ", "environment"]
        )  # fmt: skip
        other = rng.choice([k for k in self.keys if k != key] or ["none"])
        target = other if self.chance(0.7) else f"{other}.{rng.choice(['a', 'b', '0', '1'])}"
        kind = rng.choices(
            ["scope", "mixed", "lookup", "alias", "literal", "empty", "scopefn", "two", "bad"], [25, 20, 22, 15, 4, 3, 4, 5, 2]
        )[0]
        return {
            "scope": f"%{{{scope}}}",
            "mixed": f"x-%{{{scope}}}-y",
            "lookup": rng.choice(["%{{lookup('{0}')}}", "<%{{hiera('{0}')}}>"]).format(target),
            "alias": f"%{{alias('{target}')}}" if self.chance(0.9) else f" %{{alias('{target}')}}",
            "literal": "%{literal('%')}(x)",
            "empty": rng.choice(["a%{}b", "%{::}", "%{''}"]),
            "scopefn": "%{scope('facts.f0')}",
            "two": f"%{{{scope}}}%{{lookup('{target}')}}",
            "bad": rng.choice(["%{bad('x')}", "%{a..b}", "%{unclosed", "%{'q}"]),
        }[kind]

    def ask(self):
        rng = self.rng
        key = self.asked_key()
        if self.chance(0.08):
            key = [self.asked_key() for _ in range(rng.randint(1, 3))]
        request = {"key": key}
        facts, node = rng.choices(ENVIRONMENT_FACTS, [6, 3, 1])[0], rng.choice(NODES)
        if facts:
            request["facts"] = copy.deepcopy(facts)
        if facts and self.odd:
            request["facts"].update({name: rng.choice(ODD_VALUES) for name in ("fx", "fy", "fz")})
            request["facts"]["list"] = rng.choice(["a,b", "b", "", "b,ab,a"])
        if node:
            request["node"] = node
        if self.chance(0.2):
            request["variables"] = {"var0": "v0", **({"f0": "shadow"} if self.chance(0.3) else {})}
        if self.chance(0.45):
            root = key.split(".")[0] if isinstance(key, str) else None
            request["merge"] = self.merge(root)
        if self.chance(0.1):
            request["default"] = rng.choice(["dflt", None, [], {"d": 1}])
        if self.chance(0.06):
            request["default_values"] = {rng.choice(self.keys): "dv", "nope": "dvn"}
        if self.chance(0.05):
            request["override"] = {rng.choice(self.keys): "ov"}
        if self.chance(0.07):
            request["type"] = rng.choice(ASSERTS)
        if self.chance(self.explains):
            request["explain"] = True
        return request

    def asked_key(self):
        rng = self.rng
        key = rng.choice(self.keys)
        kind = rng.choices(["root", "sub", "subsub", "index", "missing", "odd"], [68, 12, 6, 6, 5, 3])[0]
        if kind in ("sub", "subsub", "index") and self.chance(0.7):  # mostly where there is something to dig into
            kind = {"array": "index", "scalar": "root"}.get(self.shape[key], "sub" if kind == "index" else kind)
        if kind == "root":
            return key
        if kind == "sub":
            return f"{key}.{rng.choice(['a', 'b', 'c'])}"
        if kind == "subsub":
            return f"{key}.{rng.choice(['a', 'b'])}.{rng.choice(['a', 'b', '0'])}"
        if kind == "index":
            return f"{key}.{rng.randint(0, 3)}"
        if kind == "missing":
            return rng.choice(["gone", "m::gone", "gone.x", "lookup_options", "z::k"])
        return rng.choice([f"{key}.'x.y'", f"'{key}'", f"{key}.-1", f" {key} . a ", f"{key}.'s p'"])


def make_global(rng, options):
    maker = Maker(rng, True, options.knockout, odd=options.odd / 2)
    maker.modules, maker.keys = ["m"], ["k0", "k1", "m::k0"]
    maker.shape = {k: rng.choice(SHAPES) for k in maker.keys}
    return maker.layer(rng.randint(1, 2), maker.keys)


# --- writing ------------------------------------------------------------------------


def yaml_text(value, rng=None, indent=0):
    """YAML in block style; scalars are quoted unless they are plain words."""
    pad = "  " * indent
    if isinstance(value, dict) and value:
        out = ""
        for key, inner in value.items():
            name = key if isinstance(key, str) and re.fullmatch(r"[a-z]\w*(::\w+)?", key) and key not in WORDISH else json.dumps(key, ensure_ascii=False)
            if isinstance(inner, (dict, list)) and inner:
                out += f"{pad}{name}:\n{yaml_text(inner, rng, indent + 1)}"
            else:
                out += f"{pad}{name}: {scalar_text(inner)}\n"
        return out
    if isinstance(value, list) and value:
        out = ""
        for inner in value:
            if isinstance(inner, (dict, list)) and inner:
                out += f"{pad}-\n{yaml_text(inner, rng, indent + 1)}"
            else:
                out += f"{pad}- {scalar_text(inner)}\n"
        return out
    return f"{pad}{scalar_text(value)}\n"


WORDISH = {"y", "n", "yes", "no", "on", "off", "true", "false", "null"}


def scalar_text(value):
    if isinstance(value, str) and re.fullmatch(r":?[a-z]{1,12}", value) and value not in WORDISH:
        return value  # with a colon it is a Symbol
    if isinstance(value, float):
        text = repr(value)
        return text if "e" not in text else re.sub(r"^(-?\d+)e", r"\1.0e", text)
    return json.dumps(value, ensure_ascii=False)


def layer_files(layer, base):
    """The files of one layer below `base`."""
    config = {"version": 5, "defaults": {"datadir": layer.get("datadir", "data"), "data_hash": "yaml_data"}}
    config["hierarchy"] = layer["levels"]
    if layer.get("default_levels"):
        config["default_hierarchy"] = layer["default_levels"]
    out = {f"{base}hiera.yaml": yaml_text(config).encode()}
    where = layer.get("prefix") or layer.get("datadir", "data")
    for path, data in layer["files"].items():
        text = data if isinstance(data, str) else file_text(data, path)
        out[f"{base}{where}/{path}"] = text.encode()
    return out


def layer_links(layer, base):
    return {base + path: target for path, target in layer.get("links", {}).items()}


def file_text(data, path):
    return json.dumps(data, ensure_ascii=False) if path.endswith((".json", ".conf")) else yaml_text(data)


def to_case(spec, name, root_global=None):
    case = corpus.Case("fuzz", name, Path(name))
    here = f"code/environments/{corpus.ENV}/"
    layers = [(spec["env"], here)]
    layers += [(layer, f"{here}modules/{module}/") for module, layer in spec["modules"].items()]
    if root_global:
        layers.append((root_global, "global/"))
    for layer, base in layers:
        case.files.update(layer_files(layer, base))
        case.links.update(layer_links(layer, base))
    case.asks = [corpus.Ask(r, set(), 0) for r in spec["asks"]]
    return case


def case_text(case):
    out = ["@@topic fuzz", f"@@case {case.name}"]
    for path, content in case.files.items():
        short = path
        for prefix, full in corpus.PREFIXES.items():
            if full and path.startswith(full):
                short = prefix + path[len(full) :]
                break
        out += [f"@@file {short}", content.decode().rstrip("\n")]
    out += [f"@@link {path} {target}" for path, target in case.links.items()]
    for ask in case.asks:
        out += [f"@@ask {corpus.compact(ask.request)}", f"@@want {corpus.compact(ask.want)}"]
    return "\n".join(out) + "\n"


# --- comparing ------------------------------------------------------------------------


SKIP = {"SystemStackError", "Unrepresentable", "JSON::GeneratorError"}


def replacements(root, env):
    """The path of the tree, and of its environment, replaced by what is recorded."""
    here, there = f"{root}/code/environments/{env}", f"{corpus.ROOT_SHOWN}/code/environments/{corpus.ENV}"
    return [(here, there), (str(root), corpus.ROOT_SHOWN)]


def difference(judge, server, oracle_answer, request, root, env):
    """None if hierad and the oracle agree, otherwise what differs."""
    if oracle_answer.get("class") in SKIP or "explain_error" in oracle_answer:
        return None
    ask = corpus.Ask(request, {"badreq"}, 0, want=tidy(oracle_answer, root, env))
    explained = json.dumps(ask.want.get("explain_json", "")) + ask.want.get("explain_text", "")
    # Intentional differences: secrets are redacted, interpolated text is not interpolated again, and some messages of
    # the HOCON library contain its internals.
    if any(part in explained for part in ("Sensitive", "%{unclosed", "Cannot concatenate", "#<StringIO", "cycle of subst")):
        ask.want = {k: v for k, v in ask.want.items() if not k.startswith("explain_")}
    body = json.dumps(request).encode()
    forms = ["application/json"]
    if request.get("explain") and (ask.want.get("told") is False or "explain_text" in ask.want):
        forms.append("text/plain")
    for accept in forms:
        reply = server.send("POST", "/lookup", body, accept=accept)
        fault = judge.difference(ask, reply, accept, replacements(root, env))
        if fault is not None:
            return None if "since the data has secrets" in fault else fault
    return None


def tidy(answer, root, env):
    for old, new in replacements(root, env):
        answer = corpus.substitute(answer, old, new)
    answer.pop("id", None)
    if "#<Puppet::Pops" in answer.get("explain_text", ""):
        answer.pop("explain_text")
    return answer


class Both:
    """Asks both sides about one small case (for shrinking)."""

    def __init__(self, binary, oracle, judge, scratch):
        self.binary, self.oracle, self.judge, self.scratch, self.count = binary, oracle, judge, scratch, 0

    def __call__(self, spec, root_global):
        self.count += 1
        root = self.scratch / f"s{self.count:05}"
        case = to_case(spec, "x", root_global)
        corpus.write_tree(case, root)
        config = corpus.hiera_config(case, root)
        request = spec["asks"][0]
        answer = self.oracle.ask(root / "code", config, request)
        server = hierad.start(self.binary, root, config)
        try:
            fault = difference(self.judge, server, answer, request, root, corpus.ENV)
        finally:
            server.stop()
        return fault, tidy(answer, root, corpus.ENV)


# --- shrinking -------------------------------------------------------------------------


def smaller(spec, root_global):
    """Every case that is one step simpler, the largest steps first."""
    if root_global:
        yield spec, None
    for module in spec["modules"]:
        new = copy.deepcopy(spec)
        del new["modules"][module]
        yield new, root_global
    layers = [("env",)] + [("modules", m) for m in spec["modules"]] + ([("global",)] if root_global else [])
    for where in layers:
        for step in smaller_layer(pick(spec, root_global, where)):
            new, new_global = copy.deepcopy(spec), copy.deepcopy(root_global)
            if where == ("global",):
                new_global = step
            elif where == ("env",):
                new["env"] = step
            else:
                new["modules"][where[1]] = step
            yield new, new_global
    request = spec["asks"][0]
    for name in list(request):
        if name != "key":
            new = copy.deepcopy(spec)
            del new["asks"][0][name]
            yield new, root_global
    for name in ("facts", "variables", "default_values", "override"):
        for key in request.get(name, {}):
            new = copy.deepcopy(spec)
            del new["asks"][0][name][key]
            yield new, root_global
    if isinstance(request["key"], list):
        for i in range(len(request["key"])):
            new = copy.deepcopy(spec)
            del new["asks"][0]["key"][i]
            if new["asks"][0]["key"]:
                yield new, root_global
        new = copy.deepcopy(spec)
        new["asks"][0]["key"] = request["key"][0]
        yield new, root_global
    if isinstance(request.get("merge"), dict):
        new = copy.deepcopy(spec)
        new["asks"][0]["merge"] = request["merge"]["strategy"]
        yield new, root_global


def pick(spec, root_global, where):
    return root_global if where == ("global",) else spec["env"] if where == ("env",) else spec["modules"][where[1]]


def smaller_layer(layer):
    if layer.get("default_levels"):
        new = copy.deepcopy(layer)
        del new["default_levels"]
        yield new
    for i in range(len(layer["levels"])):
        if len(layer["levels"]) > 1:
            new = copy.deepcopy(layer)
            del new["levels"][i]
            yield new
    for path in layer["files"]:
        new = copy.deepcopy(layer)
        del new["files"][path]
        yield new
    for path in layer.get("links", {}):
        new = copy.deepcopy(layer)
        del new["links"][path]
        yield new
    for i, level in enumerate(layer["levels"]):
        for kind in ("paths", "globs"):
            for j in range(len(level.get(kind, [])) if len(level.get(kind, [])) > 1 else 0):
                new = copy.deepcopy(layer)
                del new["levels"][i][kind][j]
                yield new
    for path, data in layer["files"].items():
        for step in smaller_value(data):
            if isinstance(step, dict):
                new = copy.deepcopy(layer)
                new["files"][path] = step
                yield new


def smaller_value(value):
    if isinstance(value, dict):
        for key in value:
            yield {k: v for k, v in value.items() if k != key}
        for key, inner in value.items():
            for step in smaller_value(inner):
                yield {k: (step if k == key else v) for k, v in value.items()}
    elif isinstance(value, list):
        for i in range(len(value)):
            yield value[:i] + value[i + 1 :]
        for i, inner in enumerate(value):
            for step in smaller_value(inner):
                yield value[:i] + [step] + value[i + 1 :]
    elif isinstance(value, str) and len(value) > 1 and "%{" not in value:
        yield value[0]


def shrink(spec, root_global, ask_both, budget):
    fault, answer = ask_both(spec, root_global)
    if fault is None:
        return None  # not reproducible in isolation
    progress = True
    while progress and budget > 0:
        progress = False
        for new, new_global in smaller(spec, root_global):
            budget -= 1
            if budget <= 0:
                break
            new_fault, new_answer = ask_both(new, new_global)
            if new_fault is not None:
                spec, root_global, fault, answer, progress = new, new_global, new_fault, new_answer, True
                break
    return spec, root_global, fault, answer


# --- the loop -----------------------------------------------------------------------------


def batch(seed, number, size, options):
    """Specs of one batch and the global layer they share."""
    rng = random.Random(f"{seed}/{number}")
    root_global = make_global(rng, options) if rng.random() < 0.4 else None
    specs = []
    for i in range(size):
        rng = random.Random(f"{seed}/{number}/{i}")
        maker = Maker(rng, bool(root_global), options.knockout, options.mistakes, options.explains, options.odd)
        specs.append(maker.case(options.asks))
    return specs, root_global


def run_batch(number, specs, root_global, oracle, judge, binary, scratch, stats, found):
    root = scratch / f"b{number:05}"
    config = None
    jobs = []
    for i, spec in enumerate(specs):
        case = to_case(spec, f"{number}-{i}", root_global if i == 0 else None)
        corpus.write_tree(case, root, f"e{i:03}")
        jobs += [(i, {**request, "environment": f"e{i:03}"}) for request in spec["asks"]]
    if root_global:
        config = str(root / "global/hiera.yaml")
    server = hierad.start(binary, root, config) if binary else None
    try:
        answers = oracle.many((root / "code", config, request) for _, request in jobs)
        for (i, request), answer in zip(jobs, answers):
            stats[answer["status"]] += 1
            if answer["status"] == "error":
                stats["  " + answer["class"]] += 1
            if not server:
                continue
            fault = difference(judge, server, answer, request, root, f"e{i:03}")
            stats["agree" if fault is None else "differ"] += 1
            if fault is not None:
                plain = {k: v for k, v in request.items() if k != "environment"}
                found.append(({**specs[i], "asks": [plain]}, root_global, fault, f"{number}-{i}"))
    finally:
        if server:
            server.stop()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary", nargs="?", help="the hierad binary (or a command line in quotes)")
    parser.add_argument("--oracle-only", action="store_true", help="only show what kind of cases are generated")
    parser.add_argument("--seed", default="1")
    parser.add_argument("--cases", type=int, default=400, help="number of trees")
    parser.add_argument("--seconds", type=float, help="run for this long instead")
    parser.add_argument("--asks", type=int, default=6, help="lookups per tree")
    parser.add_argument("--knockout", action="store_true", help="use knockout_prefix (with three levels hierad differs intentionally)")
    parser.add_argument("--mistakes", type=float, default=0.1, help="share of mistakes in files, configurations and values")
    parser.add_argument("--odd", type=float, default=0.25, help="share of layers with unusual locations")
    parser.add_argument("--explains", type=float, default=0.15, help="share of lookups that are explained")
    parser.add_argument("--out", type=Path, default=Path("fuzz-out"))
    parser.add_argument("--max-failures", type=int, default=5, help="differences to reduce and save")
    parser.add_argument("--budget", type=int, default=150, help="steps to reduce one of them")
    options = parser.parse_args()
    if not options.binary and not options.oracle_only:
        parser.error("give the path of a hierad binary, or --oracle-only")
    binary = shlex.split(options.binary) if options.binary and not options.oracle_only else None

    stats, found, began, number, made = Counter(), [], time.monotonic(), 0, 0
    oracles, judge = [corpus.Oracle(), corpus.Oracle()], corpus.Judge()
    with corpus.scratch() as scratch:

        def enough():
            if options.seconds:
                return time.monotonic() - began > options.seconds
            return made >= options.cases

        with ThreadPoolExecutor(2) as pool:
            while not enough() and len(found) < 20 * options.max_failures:
                jobs = []
                for oracle in oracles:
                    size = BATCH if options.seconds else min(BATCH, options.cases - made)
                    if size <= 0:
                        break
                    specs, root_global = batch(options.seed, number, size, options)
                    jobs.append(pool.submit(run_batch, number, specs, root_global, oracle, judge, binary, scratch, stats, found))
                    number, made = number + 1, made + size
                for job in jobs:
                    job.result()
        report(stats, made, began, found)
        written = 0
        if found:
            options.out.mkdir(parents=True, exist_ok=True)
            written = write_failures(found, Both(binary, oracles[0], judge, scratch), options)
    for oracle in oracles:
        oracle.close()
    judge.close()
    print(f"{stats['agree']} agree, {stats['differ']} differ" + (f"; {written} written to {options.out}" if written else ""))
    return 1 if found else 0


def report(stats, made, began, found):
    seconds = time.monotonic() - began
    print(f"{made} trees in {seconds:.1f} s ({sum(v for k, v in stats.items() if k in ('found', 'not_found', 'error')) / seconds:.0f} lookups/s)")
    for name, count in sorted(stats.items()):
        print(f"  {name:60} {count}")
    for spec, _, fault, name in found[:3]:
        print(f"DIFFERS {name}: {corpus.compact(spec['asks'][0])[:200]}\n        {fault[:400]}")


def write_failures(found, ask_both, options):
    written, seen = 0, set()
    for spec, root_global, fault, name in found:
        if written >= options.max_failures:
            break
        shape = re.sub(r"[\"'\[\]{}\w.-]*\d[\w.]*|\"[^\"]*\"", "", fault)[:60]
        if shape in seen:
            continue
        seen.add(shape)
        small = shrink(spec, root_global, ask_both, options.budget)
        if small is None:
            print(f"{name}: differs only among other environments: {fault[:300]}")
            continue
        spec, root_global, fault, answer = small
        case = to_case(spec, f"seed-{options.seed}-{name}-{written}", root_global)
        case.asks[0].want = answer
        path = options.out / f"fuzz-{options.seed}-{name}-{written}.case"
        path.write_text(f"# {fault[:1000]}\n".replace("\n", " ") + "\n" + case_text(case), encoding="utf-8")
        print(f"reduced to {path}: {fault[:300]}")
        written += 1
    return written


if __name__ == "__main__":
    sys.exit(main())
