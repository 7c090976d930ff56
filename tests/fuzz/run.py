"""Damage any number of files and read them, in processes that may die.

    python tests/fuzz/run.py --seed 1 --files 1000000
    python tests/fuzz/run.py --seed 1 --files 1000 --only mat,npz --keep findings

A finding is a process that dies or hangs, an exception that is not allowed or is not
one sentence, data that do not agree with their names, or a peak of memory above ten
times the file and a constant. The table at the end counts them; each is also printed
with its format and number, and `--only FORMAT --first NUMBER --files 1` repeats it.
"""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import argparse
import json
import mmap
import os
import struct
import subprocess
import sys
import tempfile
import time
import warnings
from collections import Counter, defaultdict
from importlib import import_module
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))
from tests.fuzz.outcome import check

# A child reads so many files before the next one takes over.
CHUNK = 20_000
# Seconds that a child may take to import everything.
STARTING = 600
# Compressed files may expand to this during the run, and memory may peak at 10 times
# the file and the constant.
ROOM = 2**26
CONSTANT = 2**28
ADDRESS_SPACE = 2**33
# Seconds of work for one file that are too many, however busy the machine is.
SLOW = 2
# How a child says that the harness itself does not work.
BROKEN = 77


def plan(arguments):
    """Formats in the order in which files take turns."""
    forms, only = import_module(arguments.formats).FORMATS, arguments.only
    names = only.split(",") if only else list(forms)
    for name in names:
        if name not in forms:
            raise SystemExit(f"There is no format {name!r}; choose among {[*forms]}.")
    if len(names) == 1:
        return names
    turns = [
        ((k + 0.5) / forms[name].share, name)
        for name in names
        for k in range(forms[name].share)
    ]
    return [name for _, name in sorted(turns)]


def child(arguments):
    """Read files one after the other; say the number of each before it is read."""
    import resource

    warnings.simplefilter("ignore")
    # What a library prints goes apart, and is a finding.
    report = os.fdopen(os.dup(1), "w")
    with Path(arguments.child, "printed").open("wb") as printed:
        os.dup2(printed.fileno(), 1)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))
    formats, folder = import_module(arguments.formats), arguments.child
    if "demurk.datasets" in sys.modules:
        import_module("demurk.datasets._room").ROOM = ROOM
    turns, counts = plan(arguments), Counter()
    paths = {
        name: Path(folder, "file" + formats.FORMATS[name].suffix) for name in set(turns)
    }
    for name, path in paths.items():  # imports and caches are no one file's fault
        for example in formats.FORMATS[name].examples():
            path.write_bytes(example)
            if (found := check(formats.FORMATS[name], path)) != "read":
                print(f"A valid {name} file was not read: {found}", file=sys.stderr)
                raise SystemExit(BROKEN)
    base = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    with Path(folder, "number").open("r+b") as stream:
        number = mmap.mmap(stream.fileno(), 8)
    last = arguments.first + arguments.files
    parent = os.getppid()
    for i in range(arguments.first, last):
        if os.getppid() != parent:  # it was killed, and nobody waits for the rest
            return
        struct.pack_into("<q", number, 0, i)
        name = turns[i % len(turns)]
        content = formats.damaged(name, arguments.seed, i)
        paths[name].write_bytes(content)
        start = time.process_time()
        found = check(formats.FORMATS[name], paths[name])
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 - base
        if peak > 10 * len(content) + CONSTANT:
            found = f"memory: {peak >> 20} MiB for {len(content)} bytes"
        elif found in ("read", "refused") and time.process_time() - start > SLOW:
            found = f"slow: {time.process_time() - start:.1f} s"
        counts[name, found.split(":")[0]] += 1
        if found not in ("read", "refused"):
            print(json.dumps([i, name, found]), file=report, flush=True)
        if found.startswith("memory"):  # the peak stays: a fresh child goes on
            last = i + 1
            break
    entries = [[*key, count] for key, count in counts.items()]
    print(json.dumps(["done", last, entries]), file=report, flush=True)


def watch(process, folder, timeout):
    """Wait for a child; kill it if it stays too long with one file."""
    first = seen = Path(folder, "number").read_bytes()
    since = time.monotonic()
    while process.poll() is None:
        time.sleep(0.2)
        number = Path(folder, "number").read_bytes()
        if number != seen:
            seen, since = number, time.monotonic()
        elif number == first and time.monotonic() - since < STARTING:
            continue
        elif time.monotonic() - since > timeout:
            process.kill()
            process.wait()
            return "timeout"
    if process.returncode == BROKEN:
        raise SystemExit("The harness is broken.")
    return "death" if process.returncode else None


def one_child(arguments, first, last, folder):
    """Run a child; counts, findings and the number to go on with."""
    Path(folder, "number").write_bytes(struct.pack("<q", -1))
    command = [sys.executable, __file__, "--child", folder, "--seed", arguments.seed]
    command += ["--first", str(first), "--files", str(last - first)]
    command += ["--only", arguments.only or "", "--formats", arguments.formats]
    with Path(folder, "out").open("w+") as out:
        process = subprocess.Popen(command, stdout=out)
        end = watch(process, folder, arguments.timeout)
        out.seek(0)
        lines = [json.loads(line) for line in out if line.endswith("\n")]
    findings = [line for line in lines if line[0] != "done"]
    printed = Path(folder, "printed").read_bytes()
    if printed:
        findings.append([first, "any", f"printed: {printed[:200]!r}"])
    if end is None:
        _, reached, entries = lines[-1]
        return Counter({(n, k): c for n, k, c in entries}), findings, reached
    (number,) = struct.unpack("<q", Path(folder, "number").read_bytes())
    turns, number = plan(arguments), max(number, first)
    name = turns[number % len(turns)]
    findings.append([number, name, f"{end}: code {process.returncode}"])
    # What it counted died with it; all but the findings were read or refused.
    counts = Counter((turns[i % len(turns)], "lost") for i in range(first, number + 1))
    for _, place, found in findings:
        counts[place, "lost"] -= 1
        counts[place, found.split(":")[0]] += 1
    return counts, findings, number + 1


def run(arguments):
    """Child after child until all files are read; 1 if there are findings."""
    damaged = import_module(arguments.formats).damaged
    counts, kinds, done = Counter(), defaultdict(list), arguments.first
    last, start = arguments.first + arguments.files, time.monotonic()
    shared = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=shared if shared.is_dir() else None) as folder:
        while done < last:
            if arguments.minutes and time.monotonic() - start > 60 * arguments.minutes:
                break
            step = min(last, done + CHUNK)
            more, findings, done = one_child(arguments, done, step, folder)
            counts += more
            for number, name, found in findings:
                kinds[name, found.split(":")[0]].append(number)
                if len(kinds[name, found.split(":")[0]]) <= 20:
                    print(f"{name} {number}: {found}", flush=True)
                if arguments.keep:
                    place = Path(arguments.keep)
                    place.mkdir(parents=True, exist_ok=True)
                    content = damaged(name, arguments.seed, number)
                    Path(place, f"{number}.{name}").write_bytes(content)
    report(counts, time.monotonic() - start)
    return 1 if kinds else 0


def report(counts, seconds):
    """The table: a row for every format, a column for every outcome."""
    columns = ["read", "refused"]
    columns += sorted({kind for _, kind in counts} - set(columns))
    names = list(dict.fromkeys(name for name, _ in counts))
    print("".join(f"{text:>14}" for text in ["format", "files", *columns]))
    rows = [(name, [counts[name, column] for column in columns]) for name in names]
    rows.append(("all", [sum(cells) for cells in zip(*(row for _, row in rows))]))
    for name, cells in rows:
        print("".join(f"{text:>14}" for text in [name, sum(cells), *cells]))
    print(f"{seconds:.0f} s")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", default="1")
    parser.add_argument("--files", type=int, default=10_000)
    parser.add_argument("--first", type=int, default=0, help="number of the first file")
    parser.add_argument("--only", help="formats, separated by commas")
    parser.add_argument("--minutes", type=float, help="stop after so many")
    parser.add_argument("--keep", help="folder for the files behind the findings")
    parser.add_argument("--timeout", type=float, default=120, help="seconds for a file")
    parser.add_argument(
        "--formats", default="tests.fuzz.formats", help=argparse.SUPPRESS
    )
    parser.add_argument("--child", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child:
        child(arguments)
        # Without clean-up: what a damaged file left behind should not be looked at.
        sys.stdout.flush()
        os._exit(0)
    raise SystemExit(run(arguments))


if __name__ == "__main__":
    main()
