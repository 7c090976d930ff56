"""A process that does one task after the other and can be killed without loss.

The file runs as a script, so that a process starts without loading the package. It
reads a task per line from its input and answers with lines of JSON. Linux and macOS.
"""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import contextlib
import faulthandler
import json
import os
import platform
import queue
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from importlib import import_module

__all__ = ["ChildPool"]

# Loading a function's modules is not its own time, but must end as well.
LOADING_SECONDS = 600
# A process that nobody needs leaves, so that a cluster keeps none of a killed run.
IDLE_SECONDS = 600
IDLE_EXIT = 75
ONE_THREAD = dict.fromkeys(
    (
        "OMP_NUM_THREADS",
        "OPENBLAS_NUM_THREADS",
        "MKL_NUM_THREADS",
        "BLIS_NUM_THREADS",
        "VECLIB_MAXIMUM_THREADS",
        "NUMBA_NUM_THREADS",
        "LOKY_MAX_CPU_COUNT",
    ),
    "1",
)
PACKAGES = ("demurk", "numpy", "scipy", "sklearn")
MB = 1 << 20


class Child:
    """The parent's side of one process."""

    def __init__(self):
        self._errors = tempfile.TemporaryFile("a+b")
        # One thread, so that neither values nor times depend on what else runs; a
        # fixed hash seed, so that sets of names have one order.
        self._process = subprocess.Popen(
            [sys.executable, "-P", os.path.abspath(__file__)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            env=os.environ | ONE_THREAD | {"PYTHONHASHSEED": "0"},
            # A group, so that processes which a task starts end with it.
            process_group=0,
        )

    def run(self, request, time_limit):
        """Do one task; returns the fields of an Outcome, None if it had left."""
        self._errors.truncate(0)
        begun = time.perf_counter()
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.write(json.dumps(request).encode() + b"\n")
            self._process.stdin.flush()
        answer, late = self._read(LOADING_SECONDS)
        if answer is None and not late and self._process.wait() == IDLE_EXIT:
            return None
        if answer == {"loaded": True}:
            begun = time.perf_counter()
            answer, late = self._read(time_limit)
        seconds = time.perf_counter() - begun
        if late:
            error = f"stopped at the time limit after {seconds:.1f} s"
            answer = {"status": "timeout", "error": error}
        elif answer is None:
            answer = self._death()
        return {"wall_s": seconds} | answer

    def _read(self, limit):
        """One answer, or None when the process died; and whether time ran out."""
        late = threading.Event()

        def stop():
            late.set()
            self.kill()

        timer = threading.Timer(limit or 0, stop)
        timer.daemon = True
        if limit is not None:
            timer.start()
        line = self._process.stdout.readline()
        timer.cancel()
        # An answer that came at the last moment counts.
        complete = line.endswith(b"\n")
        return (json.loads(line), False) if complete else (None, late.is_set())

    def _death(self):
        code = self._process.wait()
        self._errors.seek(0)
        printed = self._errors.read().decode(errors="replace")[-4000:]
        if code >= 0:
            text, status = f"the process ended with exit code {code}", "failed"
        elif -code == signal.SIGKILL:
            text = "the process was killed, as the system does when memory runs out"
            status = "memory"
        else:
            text, status = f"the process died of {signal.Signals(-code).name}", "failed"
        return {"status": status, "error": f"{printed}\n{text}".strip()}

    @property
    def alive(self):
        return self._process.poll() is None

    def kill(self):
        if self.alive:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)

    def close(self):
        self.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout, self._errors):
            with contextlib.suppress(OSError):
                stream.close()


class ChildPool:
    """Processes that are reused; as many as there are tasks at the same time."""

    def __init__(self):
        self._idle = []
        self._all = set()
        self._closed = False

    def run(self, kind, arguments, *, folder=None, time_limit=None, memory_limit=None):
        """Do a task in a process of its own.

        Parameters
        ----------
        kind : str
            Dotted path of a function.
        arguments : dict
            Its keyword arguments.
        folder : str, default=None
            Where to look for modules first.
        time_limit : float, default=None
            Seconds after which the process is killed.
        memory_limit : float, default=None
            Megabytes that the task may take beyond what the process has at its start.

        Returns
        -------
        outcome : dict
            Fields of an Outcome.
        """
        request = {
            "kind": kind,
            "arguments": arguments,
            "path": ([folder] if folder else []) + sys.path,
            "memory_limit": memory_limit,
            "idle_seconds": IDLE_SECONDS,
        }
        child = self._take()
        while (answer := child.run(request, time_limit)) is None:
            self._drop(child)
            child = self._take()
        if answer["status"] in ("timeout", "memory") or not child.alive:
            self._drop(child)
        else:
            self._idle.append(child)
        return answer

    def _take(self):
        with contextlib.suppress(IndexError):  # other threads take some too
            while True:
                child = self._idle.pop()
                if child.alive:
                    return child
                self._drop(child)
        if self._closed:
            raise RuntimeError("The pool is closed: make a new one.")
        child = Child()
        self._all.add(child)
        return child

    def _drop(self, child):
        self._all.discard(child)
        child.close()

    def close(self):
        """Kill all processes, also those at work."""
        self._closed = True
        self._idle.clear()
        for child in list(self._all):
            self._drop(child)


def _load(request):
    sys.path[:] = request["path"]
    module, _, name = request["kind"].rpartition(".")
    return getattr(import_module(module), name)


def _seed(seed):
    """Fix what a method may draw from the global generators."""
    random.seed(seed)
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed(seed)


@contextlib.contextmanager
def _memory(megabytes):
    """Allow so much more than the process has now."""
    if megabytes is None:
        yield
        return
    import resource

    old = resource.getrlimit(resource.RLIMIT_AS)
    with open("/proc/self/statm") as file:
        size = int(file.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (size + int(megabytes * MB), old[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, old)


def _peak(reset=False):
    """Largest resident memory so far in megabytes; the kernel can forget the past."""
    with contextlib.suppress(OSError):
        if reset:
            with open("/proc/self/clear_refs", "w") as file:
                file.write("5")
        with open("/proc/self/status") as file:
            for line in file:
                if line.startswith("VmHWM"):
                    return int(line.split()[1]) / 1024
    return None


def _versions(method):
    """Versions of Python, of what every task needs, and of what the method names."""
    needs, paths = method.get("needs", []), map(str, method.values())
    named = [path.partition(".")[0] for path in paths if "." in path]
    named += [needs] if isinstance(needs, str) else needs
    found = {"python": platform.python_version()}
    for name in dict.fromkeys([*PACKAGES, *named]):
        if name in sys.modules:
            found[name] = _version(sys.modules[name])
    return found


def _version(module):
    """Version of a package, which it may tell only where it is installed."""
    if hasattr(module, "__version__"):
        return str(module.__version__)
    from importlib import metadata

    names = metadata.packages_distributions().get(module.__name__, ())
    return next(map(metadata.version, names), "unknown")


def _call(function, request):
    """Call the function under its limits; returns the fields of an Outcome."""
    _seed(request["arguments"].get("seed", 0))
    _peak(reset=True)
    wall, cpu = time.perf_counter(), time.process_time()
    try:
        with _memory(request["memory_limit"]):
            values = dict(function(**request["arguments"]))
        reason = values.pop("skipped", None)
        values = {str(name): float(value) for name, value in values.items()}
        answer = {"status": "done", "values": values}
        if reason is not None:
            answer = {"status": "skipped", "error": str(reason)}
    except BaseException as error:
        status = "memory" if isinstance(error, MemoryError) else "failed"
        answer = {"status": status, "error": traceback.format_exc()}
    return answer | {
        "wall_s": time.perf_counter() - wall,
        "cpu_s": time.process_time() - cpu,
        "peak_mb": _peak(),
        "versions": _versions(request["arguments"].get("method", {})),
    }


def _work(lines, answers):
    idle_seconds = None
    while True:
        try:
            request = json.loads(lines.get(timeout=idle_seconds))
        except queue.Empty:
            os._exit(IDLE_EXIT)
        idle_seconds = request["idle_seconds"]
        try:
            function = _load(request)
        except BaseException:
            answer = {"status": "failed", "error": traceback.format_exc()}
        else:
            print('{"loaded": true}', file=answers, flush=True)
            answer = _call(function, request)
        print(json.dumps(answer), file=answers, flush=True)


def _main():
    # What a task prints must not mix with the answers.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    os.setpgid(0, 0)
    faulthandler.enable()
    lines = queue.SimpleQueue()

    def listen():
        # The end of the input means that the parent is gone, however it died.
        for line in sys.stdin.buffer:
            lines.put(line)
        os.killpg(0, signal.SIGKILL)

    threading.Thread(target=listen, daemon=True).start()
    _work(lines, answers)


if __name__ == "__main__":
    _main()
