"""Running the tasks of a protocol, here or on a cluster, and recording them."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import time
import uuid
import warnings
from collections import defaultdict
from concurrent.futures import CancelledError
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from joblib import Parallel, delayed, effective_n_jobs

from demurk.benchmark.engine._keys import code_version, keyed_tasks
from demurk.benchmark.engine._store import Outcome
from demurk.benchmark.engine._worker import ChildPool
from demurk.utils._optional import import_optional

__all__ = ["Pace", "Progress", "RunSummary", "protocol_rows", "run_protocol"]

FINAL = ("done", "skipped")
# Calls that went wrong on the way to a worker are made again so often.
RETRIES = 5
WAIT_FOR_WORKERS = 60


@dataclass(frozen=True)
class RunSummary:
    """What a run did.

    Attributes
    ----------
    done, failed, skipped : int
        Tasks that were run now, by what came of them; time and memory limits count as
        failures.
    kept : int
        Tasks whose results were in the store already, failures among them.
    seconds : float
        Elapsed time.
    """

    done: int
    failed: int
    skipped: int
    kept: int
    seconds: float


class Progress:
    """What a run reports; this one keeps silent, others override its methods.

    Examples
    --------
    >>> from demurk.benchmark import Outcome, Progress, Task
    >>> class Loud(Progress):
    ...     def finish(self, task, outcome):
    ...         print(task, outcome.status)
    >>> task = Task("mine", "module.kind", "digits", "", "MDDM", 0, {})
    >>> Loud().finish(task, Outcome("done"))
    MDDM on digits, seed 0 done
    """

    def begin(self, protocol, tasks, kept, n_jobs):
        """Hear that a run begins.

        Parameters
        ----------
        protocol : Protocol
            The comparison.
        tasks : list of Task
            What will be run.
        kept : int
            How many tasks are in the store already.
        n_jobs : int
            Tasks at the same time.
        """

    def start(self, task):
        """Hear that a task starts, in some thread; a cluster does not tell.

        Parameters
        ----------
        task : Task
            The task.
        """

    def finish(self, task, outcome):
        """Hear that a task has been recorded.

        Parameters
        ----------
        task : Task
            The task.
        outcome : Outcome
            What came of it.
        """


class Pace:
    """Estimate of the time left, from the tasks so far.

    A task is expected to take as long as those of the same method on the same data set
    did, else those of the same method, else all.
    """

    def __init__(self, tasks, n_jobs=1):
        self._left = {id(task): task for task in tasks}
        self._n_jobs = max(n_jobs, 1)
        self._times = defaultdict(lambda: (0, 0.0))

    def finish(self, task, seconds):
        """Take note of a task that took so long."""
        self._left.pop(id(task), None)
        for place in self._places(task):
            n, total = self._times[place]
            self._times[place] = (n + 1, total + seconds)

    def _places(self, task):
        return ((task.data_set, task.setting, task.method), task.method, None)

    def _expected(self, task):
        for place in self._places(task):
            if place in self._times:
                n, total = self._times[place]
                return total / n

    def seconds_left(self):
        """Seconds until the last task ends; None before the first one has ended."""
        if None not in self._times:
            return None
        return sum(map(self._expected, self._left.values())) / self._n_jobs


def run_protocol(
    protocol,
    store,
    *,
    n_jobs=1,
    dask=None,
    time_limit=None,
    memory_limit=None,
    retry_failed=False,
    only=None,
    progress=None,
):
    """Run the tasks that are not in the store yet.

    Every task runs in a process of its own, with one thread, so that its limits hold,
    a crash harms no other task, and its values do not depend on where it runs. Each is
    recorded as soon as it ends: a run that was stopped or killed goes on where it was.

    Parameters
    ----------
    protocol : Protocol
        The comparison.
    store : ResultStore
        Where results go. A task counts as done if the store has it for the same
        arguments, code and data.
    n_jobs : int, default=1
        Tasks at the same time; -1 takes all processors. Not used with `dask`.
    dask : str, default=None
        Address of the scheduler of a Dask cluster ("tcp://...") that does the work;
        its workers need the same version of demurk and the same data.
    time_limit : float, default=None
        Seconds after which a task is killed.
    memory_limit : float, default=None
        Megabytes of address space that a task may take beyond what its process has when
        it starts, which includes data kept from earlier tasks. Linux only.
    retry_failed : bool, default=False
        Whether tasks that failed before are run again.
    only : set of str, default=None
        Keys of the tasks to run; None runs all of them.
    progress : Progress, default=None
        Told about every task.

    Returns
    -------
    summary : RunSummary
        Numbers of tasks and elapsed time.

    Notes
    -----
    Time limits do not count the import of the function. Failures are recorded with
    their traceback and do not stop the rest.

    Examples
    --------
    >>> import tempfile
    >>> from demurk.benchmark import ResultStore, load_protocol, run_protocol
    >>> protocol = load_protocol("nmlsdr-tables", quick=True).select(methods=["MDDMp"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with ResultStore(f"{folder}/results.sqlite") as store:
    ...         first = run_protocol(protocol, store)
    ...         again = run_protocol(protocol, store)
    >>> first.done == again.kept, again.done
    (True, 0)
    """
    begun = time.perf_counter()
    limits = {"time_limit": time_limit, "memory_limit": memory_limit}
    for name, limit in limits.items():
        if limit is not None and not limit > 0:
            raise ValueError(f"{name} is {limit}, but must be positive or None.")
    if memory_limit is not None and not Path("/proc/self/statm").exists():
        raise ValueError("memory_limit needs Linux: leave it at None here.")
    keyed, known = keyed_tasks(protocol), store.keys()
    if only is not None:
        keyed = {key: facts for key, facts in keyed.items() if key in only}
    settled = {k for k, s in known.items() if s in FINAL or not retry_failed}
    left = {key: facts for key, facts in keyed.items() if key not in settled}
    kept = len(keyed) - len(left)
    tasks = {key: task for key, (task, _, _) in left.items()}
    progress = progress or Progress()
    begin = partial(progress.begin, protocol, list(tasks.values()), kept)
    counts = dict.fromkeys(("done", "failed", "skipped"), 0)
    if dask is None or not tasks:
        results = _run_here(tasks, n_jobs, limits, begin, progress.start)
    else:
        results = _run_on_cluster(tasks, dask, limits, begin)
    with closing(results):
        for key, outcome in results:
            task, code, data = left[key]
            store.add(task, key, outcome, code=code, data=data)
            counts[outcome.status if outcome.status in FINAL else "failed"] += 1
            progress.finish(task, outcome)
    return RunSummary(**counts, kept=kept, seconds=time.perf_counter() - begun)


def _run_here(tasks, n_jobs, limits, begin, start):
    """Pairs of key and outcome as they finish, from processes of this machine."""
    pool = ChildPool()

    def run(key, task):
        start(task)
        return key, _run_task(pool, task, limits)

    n_jobs = min(effective_n_jobs(n_jobs), max(len(tasks), 1))
    begin(n_jobs)
    # The threads only wait for the processes.
    parallel = Parallel(n_jobs, backend="threading", return_as="generator_unordered")
    answers = parallel(delayed(run)(key, task) for key, task in tasks.items())
    try:
        for key, answer in answers:
            yield key, Outcome(**answer)
    finally:
        # When the run is stopped: first what the threads wait for, then these, about
        # whose lost results joblib need not warn.
        pool.close()
        with warnings.catch_warnings(action="ignore"):
            answers.close()


def _run_task(pool, task, limits):
    return pool.run(task.kind, task.arguments, folder=task.folder, **limits)


def _run_on_cluster(tasks, address, limits, begin):
    """Pairs of key and outcome as they finish, from the workers of a Dask cluster."""
    distributed = import_optional("distributed", "dask")
    run_id = uuid.uuid4().hex
    with distributed.Client(address, timeout=WAIT_FOR_WORKERS) as client:
        client.wait_for_workers(1, timeout=WAIT_FOR_WORKERS)
        others = set(client.run(code_version).values()) - {code_version()}
        if others:
            raise ValueError(
                f"Workers of {address} have demurk {', '.join(sorted(others))}, but "
                f"here it is {code_version()}: install the same version."
            )
        begin(sum(client.nthreads().values()))
        submit = partial(client.submit, _run_remotely, run_id, retries=RETRIES)
        futures = {
            submit(task, limits, key=f"{key}-{run_id}"): key
            for key, task in tasks.items()
        }
        try:
            for future in distributed.as_completed(futures):
                yield futures.pop(future), _result(future, address)
        finally:
            client.cancel(list(futures))
            client.run(_close_pool, run_id, on_error="ignore")


def _result(future, address):
    """Outcome of a future, waiting again if its worker died with the result."""
    try:
        return Outcome(**future.result())
    except CancelledError as error:
        raise ConnectionError(
            f"The cluster at {address} has dropped the tasks: start it and the same "
            "run again, which goes on where it was."
        ) from error
    except Exception as error:  # dask gives up if workers die of a task every time
        return Outcome("failed", error=f"on the cluster: {error!r}")


# One pool for each run: its processes must not keep code that has changed since.
_POOLS = {}


def _run_remotely(run_id, task, limits):
    return _run_task(_POOLS.setdefault(run_id, ChildPool()), task, limits)


def _close_pool(run_id):
    pool = _POOLS.pop(run_id, None)
    if pool is not None:
        pool.close()


def protocol_rows(protocol, store):
    """Results of a protocol as it stands: its tasks with the code and data of now.

    Parameters
    ----------
    protocol : Protocol
        The comparison.
    store : ResultStore
        Where results are.

    Returns
    -------
    rows : list of dict
        As :meth:`ResultStore.rows` gives them, in the order of the tasks. Results that
        another protocol has brought for the same tasks are among them.

    Examples
    --------
    >>> import tempfile
    >>> from demurk.benchmark import ResultStore, load_protocol, protocol_rows
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with ResultStore(f"{folder}/results.sqlite") as store:
    ...         protocol_rows(load_protocol("nmlsdr-tables", quick=True), store)
    []
    """
    found = {row["key"]: row for row in store.rows()}
    return [
        found[key] | {"protocol": protocol.name}
        for key in keyed_tasks(protocol)
        if key in found
    ]
