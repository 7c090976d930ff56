"""Kill commands while they write, and look at what is there afterwards.

    python tests/kill/run.py --kills 300 --seed 1

Every command runs over its own earlier output, again and again, each time with other
data, and is killed (SIGKILL) at a random moment, mostly while it writes. Its folder
must then hold all old files or all new ones, and what else the user keeps there. A
benchmark must end up with the results of a run that nobody disturbed. Linux and macOS.
"""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import argparse
import hashlib
import json
import os
import random
import re
import shutil
import signal
import sys
import tempfile
import time
import zipfile
from importlib import import_module
from pathlib import Path

import numpy as np
import pandas as pd

from demurk.benchmark import read_results
from demurk.cli import main

__all__ = ["COMMANDS", "run_kills"]

# A child is a copy of this process: what is loaded here is not loaded for every kill.
LOADED = (
    *("bokeh.embed", "bokeh.plotting", "bokeh.resources", "PIL.PngImagePlugin"),
    *("matplotlib.pyplot", "matplotlib.backends.backend_agg", "skops.io"),
    *("demurk.benchmark.report", "demurk.benchmark.engine", "demurk.cli._app"),
    *("demurk.cli._clean", "demurk.cli._map", "demurk.cli._predict"),
)

COMMANDS = {
    "clean": "clean IN -o OUT --force",
    "map": "map IN -o OUT --methods PCA,MDDM --force",
    "reduce": "reduce IN -o OUT -k 5 --force",
    "predict": "predict IN -o OUT/predictions.csv --method MLkNN --force",
    "bench": "bench IN --out OUT",
}
PROTOCOL = """
title = "Tiny"
kind = "kill_kind.kind"
measures = ["score"]
seeds = SEEDS
data_sets = {one = {base = 1}, two = {base = 2}}
methods = {good = {}, better = {}}
"""
KIND = """
def kind(data_set, method, seed, base=0):
    return {"score": base + seed}

kind.checksum = lambda data_set, options: "none"
"""
# Every step of writing waits so long, so that a kill falls between two of them.
SLOW = 0.002
PLACE = ".demurk-"
STEPS = ("os.", "shutil.", "ctypes.dlsym")


def run_kills(kills, seed, folder, say=print):
    """Kill each command so many times in turn; returns a list of what went wrong."""
    for module in LOADED:
        import_module(module)
    rng, folder = random.Random(seed), Path(folder)
    victims = [_Bench(folder)] + [_Writer(folder, n) for n in list(COMMANDS)[:-1]]
    wrong, counts = [], {victim.name: {} for victim in victims}
    for turn in range(kills):
        victim = victims[turn % len(victims)]
        found = victim.kill(rng)
        counts[victim.name][found] = counts[victim.name].get(found, 0) + 1
        if found not in ("old", "new"):
            wrong.append(f"kill {turn} of {victim.name}: {found}")
    for victim in victims:
        wrong += victim.finish()
        say(f"{victim.name}: {counts[victim.name]}")
    return wrong


class _Writer:
    """A command that writes a folder of files over those of its last run."""

    def __init__(self, folder, name):
        self.name, self.home = name, folder / name
        self.out = self.home / "out"
        (self.out / "mine").mkdir(parents=True)
        (self.out / "notes.txt").write_text("my notes")
        (self.out / "mine" / "deep.txt").write_text("my own folder")
        self.inputs = [_table(self.home / f"songs-{k}.csv", k) for k in (0, 1)]
        self.before = [path.read_bytes() for path in self.inputs]
        self.states, self.now = [None, None], 1
        for k in (0, 1):
            code, self.seconds = _run(self._arguments(k))
            assert code == 0, f"{name} ended with {code}"
            self.states[k] = state_of(self.out)
        assert not set(self.states[0].items()) & {
            item for item in self.states[1].items() if "mine" not in str(item[0])
        } - {item for item in self.states[0].items() if item[0] == "notes.txt"}

    def _arguments(self, k):
        words = COMMANDS[self.name].replace("OUT", str(self.out)).split()
        return [str(self.inputs[k]) if word == "IN" else word for word in words]

    def kill(self, rng):
        """What is there after a kill: "old", "new", or a description of the mixture."""
        other = 1 - self.now
        _run(self._arguments(other), rng, self.seconds)
        if [path.read_bytes() for path in self.inputs] != self.before:
            return "the input was changed"
        state = state_of(self.out)
        if state == self.states[self.now]:
            return "old"
        if state == self.states[other]:
            self.now = other
            return "new"
        return str({key: self._which(key, state) for key in self.states[0] | state})

    def _which(self, key, state):
        known = [old.get(key) for old in self.states]
        if key not in state:
            return "lost"
        return str(known.index(state[key])) if state[key] in known else "damaged"

    def finish(self):
        """The next run removes what the killed ones left."""
        _run(self._arguments(0))
        left = [str(path) for path in self.home.rglob(f"{PLACE}*")]
        return [f"{self.name} left {left}"] if left else []


class _Bench:
    """A benchmark, which goes on where it was killed."""

    name = "bench"

    def __init__(self, folder):
        self.home = folder / "bench"
        self.home.mkdir()
        (self.home / "kill_kind.py").write_text(KIND)
        for n in (1, 3):
            (self.home / str(n)).mkdir()
            path = self.home / str(n) / "tiny.toml"
            path.write_text(PROTOCOL.replace("SEEDS", str(n)))
            shutil.copy(self.home / "kill_kind.py", path.parent)
        self.old, self.whole = self.home / "old", self.home / "whole"
        assert _run(self._arguments(1, self.old))[0] == 0
        shutil.copytree(self.old, self.whole)
        code, self.seconds = _run(self._arguments(3, self.whole))
        assert code == 0
        self.reports = [self._reports(self.old), self._reports(self.whole)]

    def _arguments(self, n, out):
        words = COMMANDS["bench"].replace("OUT", str(out)).split()
        protocol = str(self.home / str(n) / "tiny.toml")
        return [protocol if word == "IN" else word for word in words]

    def _reports(self, folder):
        """What the reports say, without the times."""
        read = read_results(folder / "tiny.csv")
        values = {
            (row["data_set"], row["method"], row["seed"]): row["values"] for row in read
        }
        return values, {path.name for path in folder.glob("tiny.*")}

    def kill(self, rng):
        out = self.home / "out"
        shutil.rmtree(out, ignore_errors=True)
        shutil.copytree(self.old, out)
        _run(self._arguments(3, out), rng, self.seconds)
        for path in (p for p in out.iterdir() if p.suffix == ".html"):
            if not path.read_text().rstrip().endswith("</html>"):
                return f"{path.name} is half written"
        try:
            found = ["old", "new"][self.reports.index(self._reports(out))]
        except ValueError:
            return "the table holds other results"
        code, _ = _run(self._arguments(3, out))
        if code or self._reports(out) != self.reports[1]:
            return f"the next run ended with {code} or with other results"
        left = [path.name for path in out.iterdir() if path.name.startswith(".")]
        return f"left {left}" if left else found

    def finish(self):
        return []


def _table(path, seed):
    rng = np.random.RandomState(seed)
    X = rng.normal(size=(60, 4))
    Y = (X[:, :2] + 0.5 * rng.normal(size=(60, 2)) > 0).astype(object)
    Y[50:] = ""
    labels = {f"label:{name}": Y[:, j] for j, name in enumerate(("sea", "sun"))}
    frame = pd.DataFrame(X.round(3), columns=list("abcd")).assign(**labels)
    frame.replace({True: 1, False: 0}).to_csv(path, index=False)
    return path


def state_of(folder):
    """What each file of a folder says, whatever differs between two equal runs."""
    if not folder.is_dir():
        return {}
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    return {str(path.relative_to(folder)): _fingerprint(path) for path in files}


def _fingerprint(path):
    content = path.read_bytes()
    if path.suffix == ".skops":
        with zipfile.ZipFile(path) as file:
            members = [m for m in file.infolist() if m.filename.endswith(".npy")]
            return str(file.testzip()) + str(sorted(m.CRC for m in members))
    if path.suffix == ".json":
        return json.dumps(json.loads(content) | {"seconds": None})
    if path.suffix == ".html":
        # Parts of the page are numbered at random.
        shown = re.findall(rb'<title>.*?</title>|id="data">.*?</script>', content)
        content = b"".join(shown) + content.rstrip()[-7:]
    return hashlib.sha256(content).hexdigest()


def _run(arguments, rng=None, seconds=None):
    """Run a command in a child and kill it if `rng` is given.

    Returns
    -------
    code : int
        Exit code, negative for a signal.
    seconds : tuple of float
        How long it took until it began to write, and from then on.
    """
    begun, said = time.perf_counter(), os.pipe()
    child = os.fork()
    if not child:
        _child(arguments, said[1])
    os.close(said[1])
    if rng is not None:
        if rng.random() < 0.9:
            os.read(said[0], 1)
            time.sleep(rng.random() * 1.1 * seconds[1])
        else:
            time.sleep(rng.random() * seconds[0])
        os.kill(child, signal.SIGKILL)
    os.read(said[0], 1)
    middle = time.perf_counter()
    _, status = os.waitpid(child, 0)
    os.close(said[0])
    code = os.waitstatus_to_exitcode(status)
    return code, (middle - begun, time.perf_counter() - middle)


def _child(arguments, say):
    writing = False

    def step(event, values):
        nonlocal writing
        if not writing:
            if PLACE not in repr(values):
                return
            writing = True
            os.write(say, b".")
        if event.startswith(STEPS) or (event == "open" and PLACE in str(values[0])):
            time.sleep(SLOW)

    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nowhere, stream)
    sys.addaudithook(step)
    try:
        code = main(arguments)
    except BaseException:
        code = 99
    os._exit(code)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=25)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        wrong = run_kills(chosen.kills, chosen.seed, folder)
    print("\n".join(wrong) or f"{chosen.kills} kills, nothing lost or mixed.")
    sys.exit(bool(wrong))
