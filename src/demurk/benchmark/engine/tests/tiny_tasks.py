"""Small tasks for the tests of the engine; copied beside their protocols."""

import hashlib
import os
import random
import subprocess
import sys
import time
from importlib import import_module


def tiny(data_set, method, seed, log=None, pause=0.0):
    """Write down that it runs, wait, and return a number that tasks do not share."""
    name = f"{data_set}/{method['name']}/{seed}"
    if log is not None:
        with open(log, "ab", buffering=0) as file:
            file.write(f"{name}\n".encode())
    time.sleep(pause)
    digest = hashlib.sha256(name.encode()).hexdigest()
    return {"score": int(digest[:12], 16) / 7, "drawn": random.random()}


def _crash(signal_number):
    os.kill(os.getpid(), signal_number)
    time.sleep(60)


def _fail(_):
    print("a stray line")
    raise KeyError("no such thing")


def _spawn(log):
    """Start a process that outlives its parent if nobody takes care."""
    process = subprocess.Popen(["sleep", "60"])
    with open(log, "w") as file:
        file.write(str(process.pid))
    process.wait()


DEEDS = {
    "count": lambda by: {"score": by},
    "crash": _crash,
    "exit": os._exit,
    "fail": _fail,
    "fill": lambda megabytes: {"score": len(bytearray(megabytes << 20))},
    "leave": sys.exit,
    "load": lambda name: {"score": bool(import_module(name))},
    "print": lambda times: print("no answer\n" * times) or {"score": times},
    "skip": lambda why: {"skipped": why},
    "spawn": _spawn,
    "sleep": lambda seconds: time.sleep(seconds) or {"score": seconds},
    "text": lambda text: {"score": text},
    "threads": lambda name: {"score": os.environ[name]},
}


def trouble(data_set, method, seed):
    """Do what the method says."""
    return DEEDS[method["do"]](method["what"])


def _no_files(data_set, options):
    return f"{data_set} needs no file"


tiny.checksum = trouble.checksum = _no_files
