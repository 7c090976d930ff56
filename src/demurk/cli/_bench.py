"""``demurk bench``: run protocols of the benchmark and write their reports."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import shlex
import time
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Group
from rich.live import Live
from rich.padding import Padding
from rich.progress_bar import ProgressBar
from rich.text import Text

from demurk.cli._console import console, note, say, show_table
from demurk.cli._options import option
from demurk.utils._files import check_outputs

__all__ = ["bench"]

PLAIN_SECONDS = 10
MAX_SHOWN = 8


class BenchProgress:
    """What runs, what is left and how long it will take.

    On a terminal as a display that changes, else as a line now and then.
    """

    def __enter__(self):
        self._live = None
        return self

    def __exit__(self, *_):
        if self._live is not None:
            self._live.stop()

    def begin(self, protocol, tasks, kept, n_jobs):
        from demurk.benchmark.engine._runner import Pace

        self._name, self._total, self._kept = protocol.name, len(tasks), kept
        self._pace = Pace(tasks, n_jobs)
        self._done, self._failed, self._running = 0, 0, {}
        self._shown = time.monotonic()
        if console.is_terminal:
            self._live = Live(
                get_renderable=self._render, console=console, transient=True
            )
            self._live.start()
        else:
            self._print(f"{self._total} tasks to do, {kept} in the store")

    def start(self, task):
        self._running[id(task)] = (task, time.monotonic())

    def finish(self, task, outcome):
        self._running.pop(id(task), None)
        self._pace.finish(task, outcome.wall_s or 0.0)
        self._done += 1
        if outcome.status not in ("done", "skipped"):
            self._failed += 1
            self._print(f"{task}: {outcome.status}: {last_line(outcome.error)}")
        due = time.monotonic() - self._shown > PLAIN_SECONDS
        if self._live is None and (due or self._done == self._total):
            self._shown = time.monotonic()
            self._print(self._line())

    def _print(self, text):
        show = note if self._live is None else say
        show(f"{self._name}: {text}")

    def _line(self):
        text = f"{self._done} of {self._total} done, {self._failed} failed"
        left = self._pace.seconds_left()
        return text if left is None else f"{text}, about {duration(left)} left"

    def _render(self):
        now = time.monotonic()
        running = [
            f"  {task} ({duration(now - begun)})"
            for task, begun in list(self._running.values())
        ]
        more = [f"  and {len(running) - MAX_SHOWN} more"] * (len(running) > MAX_SHOWN)
        bar = ProgressBar(total=max(self._total, 1), completed=self._done, width=60)
        head = f"{self._name}: {self._line()}, {self._kept} kept from before"
        below = "\n".join(running[:MAX_SHOWN] + more)
        # The bar itself does not end its line; the padding does.
        return Group(Text(head), Padding(bar), Text(below))


def duration(seconds):
    """A time in the unit a person would use."""
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"


def last_line(error):
    """The line of a traceback that says what happened."""
    return (error or "").strip().rpartition("\n")[2]


def _only(what):
    return option(list[str] | None, f"{what} to run, or a pattern; may be given again.")


def bench(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[NAME]...",
            help="Protocols or TOML files; all for every protocol, none to list them.",
        ),
    ] = None,
    quick: option(bool, "Small built-in data, to see that it runs.", "--quick") = False,
    jobs: option(int, "Tasks at the same time; -1 for all.", "--jobs", "-j") = 1,
    dask: option(str | None, "Dask scheduler, as tcp://host:8786.") = None,
    out: option(Path, "Folder of results and reports.") = Path("bench"),
    time_limit: option(float | None, "Seconds that a task may take.") = None,
    memory_limit: option(float | None, "Megabytes that a task may take.") = None,
    retry_failed: option(bool, "Run failed tasks again.", "--retry-failed") = False,
    stale: option(
        bool,
        "Run only what the reports in the folder have from other code or data; without "
        "a name, list it.",
        "--stale",
    ) = False,
    seeds: option(int | None, "Number of seeds instead of the file's.", min=1) = None,
    only_data: _only("Data set") = None,
    only_settings: _only("Setting") = None,
    only_methods: _only("Method") = None,
) -> None:
    """Run protocols of the benchmark; a stopped run goes on where it was."""
    from demurk.benchmark.engine._protocol import (
        list_protocols,
        load_protocol,
        protocol_title,
    )
    from demurk.benchmark.engine._stale import as_reported, read_report

    if stale and not names:
        show_stale(out)
        return
    if not names:
        rows = [[name, protocol_title(name)] for name in list_protocols()]
        show_table("Protocols", ["name", "title"], rows)
        return
    names = list_protocols() if "all" in names else list(dict.fromkeys(names))
    whole = [load_protocol(name, quick=quick).select(seeds=seeds) for name in names]
    if stale and seeds is None:
        whole = [as_reported(p, read_report(p, out)) for p in whole]
    refuse_inputs(names, whole, out)
    only = {"data_sets": only_data, "settings": only_settings, "methods": only_methods}
    only = {table: patterns for table, patterns in only.items() if patterns}
    command = ["demurk", "bench", *names] + ["--quick"] * quick
    if seeds is not None:
        command += ["--seeds", str(seeds)]
    run_all(
        whole,
        only,
        out,
        shlex.join(command),
        quick=quick,
        stale=stale,
        n_jobs=jobs,
        dask=dask,
        time_limit=time_limit,
        memory_limit=memory_limit,
        retry_failed=retry_failed,
    )


def refuse_inputs(names, protocols, out):
    """Raise if a report would replace a protocol or data that a protocol names."""
    read = [Path(name) for name in names]
    for protocol in protocols:
        facts = (v for options in protocol.data_sets.values() for v in options.values())
        words = [fact for fact in facts if isinstance(fact, str)]
        read += [Path(protocol.folder or "") / word for word in words]
    endings = ("html", "md", "csv", "tex")
    files = [out / f"{p.name}.{ending}" for p in protocols for ending in endings]
    check_outputs(files, read=[path for path in read if path.is_file()], force=True)


def run_all(protocols, only, out, command, *, quick=False, stale=False, **options):
    """Run the chosen part of every protocol and report on all results there are.

    What an earlier report has is not run again if nothing has changed since, and kept
    until it is.
    """
    from demurk.benchmark.engine._runner import protocol_rows, run_protocol
    from demurk.benchmark.engine._stale import (
        as_reported,
        mark_stale,
        merged_rows,
        read_report,
    )
    from demurk.benchmark.engine._store import ResultStore
    from demurk.benchmark.report._report import write_report

    chosen = choose(protocols, only)
    n_failed = 0
    with ResultStore(out / "results.sqlite") as store:
        for whole, part in zip(protocols, chosen):
            # A quick run has other data under the same names.
            found = [] if quick else read_report(whole, out)
            # Seeds that are not asked for now stay in the report, which names them.
            fewer = as_reported(whole, found).seeds > whole.seeds
            whole = as_reported(whole, found) if fewer else whole
            earlier = mark_stale(whole, found)
            if not part.tasks() or (stale and not earlier):
                continue
            store.adopt([row for row in earlier if not row["stale"]])
            keys = {row["now"] for row in earlier if row["stale"]} if stale else None
            with BenchProgress() as progress:
                summary = run_protocol(
                    part, store, only=keys, progress=progress, **options
                )
            # The report also shows what earlier runs did on other data or methods.
            rows = merged_rows(whole, earlier, protocol_rows(whole, store))
            shown = whole.select(
                data_sets={row["data_set"] for row in rows},
                settings={row["setting"] for row in rows} if whole.settings else None,
                methods={row["method"] for row in rows},
            )
            said = f"demurk bench {whole.name} --seeds {whole.seeds}"
            said = said if stale or fewer else command
            paths = write_report(shown, rows, out, command=said)
            n_failed += show_summary(part, rows, summary, paths)
    if n_failed:
        raise typer.Exit(1)


def show_stale(folder):
    """How much of the reports in a folder comes from other code or data."""
    from demurk.benchmark.engine._stale import count_stale

    counts = count_stale(folder)
    if not counts:
        raise ValueError(
            f"There is no report of a protocol in {folder}: give its folder by --out."
        )
    rows = [[*names, str(n), str(of)] for names, (n, of) in counts.items() if n]
    if rows:
        head = ["protocol", "method", "stale", "rows"]
        show_table(f"Stale results in {folder}", head, rows)
    n, of = map(sum, zip(*counts.values()))
    say(f"{n:,} of {of:,} rows in {folder} are stale ({100 * n / of:.1f} %).")


def choose(protocols, only):
    """Parts of the protocols; a pattern must fit a name in one of them."""
    for table, patterns in only.items():
        known = {name for p in protocols for name in getattr(p, table)}
        for pattern in patterns:
            if not fitting(known, [pattern]):
                raise ValueError(
                    f"{pattern!r} is not among the {table.replace('_', ' ')} of "
                    f"{', '.join(p.name for p in protocols)}: choose "
                    f"{', '.join(map(repr, sorted(known)))}."
                )
    return [
        p.select(**{table: fitting(getattr(p, table), only[table]) for table in only})
        for p in protocols
    ]


def fitting(names, patterns):
    """Those of some names that fit a pattern."""
    return {n for n in names if any(fnmatchcase(n, pattern) for pattern in patterns)}


def show_summary(part, rows, summary, paths):
    """Say what was run, what failed and where the reports are."""
    failed = [
        row
        for row in rows
        if row["status"] not in ("done", "skipped")
        and row["data_set"] in part.data_sets
        and row["method"] in part.methods
    ]
    text = (
        f"{part.name}: {summary.done} tasks done, {summary.skipped} skipped, "
        f"{summary.kept} kept from before, in {duration(summary.seconds)}."
    )
    if failed:
        first = failed[0]
        place = f"{first['method']} on {first['data_set']}, seed {first['seed']}"
        text += (
            f"\n{len(failed)} tasks have failed, the first one {place}: "
            f"{first['status']}: {last_line(first['error'])} (--retry-failed runs them "
            "again)"
        )
    text += f"\nReports: {', '.join(map(str, paths))}"
    say(text)
    return len(failed)
