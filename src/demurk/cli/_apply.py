"""``demurk apply``: the table with what was decided, and a list of what changed."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import getpass
from pathlib import Path

import pandas as pd

from demurk.cli._console import say
from demurk.cli._input import read_input
from demurk.cli._output import write_table
from demurk.cli._review import check_file
from demurk.review._agreement import agreements
from demurk.review._apply import apply_decisions
from demurk.review._exchange import (
    export_decisions,
    export_table,
    import_decisions,
)
from demurk.review._standing import Standing
from demurk.review._store import Store, store_path
from demurk.utils._amounts import amount
from demurk.utils._files import atomic_path, check_outputs

__all__ = ["apply_file"]

COLUMNS = ["row", "key", "label", "given", "decided"]
COLUMNS += ["reviewer", "time", "note", "what"]


def apply_file(source, output, *, export, import_, reviewer, force, **reading):
    """Write the corrected copy of a table and the list of changes beside it.

    Parameters
    ----------
    source : str
        The table; it is never changed.
    output : path-like or None
        The copy; None for ``table.reviewed.csv`` beside the table.
    export : path-like or None
        Write the decisions (``.csv``), or the corrected table for Label Studio
        (``.json``) or doccano (``.jsonl``), and nothing else.
    import_ : path-like or None
        First take over the decisions of such a file.
    reviewer : str or None
        Who annotated the imported file; None for the name of the account.
    force : bool
        Whether existing files may be replaced.
    **reading
        What is read how, as in `read_input`.
    """
    check_file(source)
    source, decisions = Path(source), store_path(source)
    if not decisions.is_file() and import_ is None:
        raise FileNotFoundError(
            f"There are no decisions about {source}: {decisions} is not there; make "
            f"some with `demurk review {source}`."
        )
    stem = decisions.name.removesuffix(".review.sqlite")
    ending = source.name.removeprefix(stem)
    output = Path(output or source.with_name(f"{stem}.reviewed{ending}"))
    changes = output.with_name(f"{stem}.changes.csv")
    files = [output, changes] if export is None else [_export_path(export)]
    read = [path for path in (source, decisions, import_) if path is not None]
    check_outputs(files, read=read, force=force)
    table = read_input(source, decided=False, **reading)
    with Store(decisions) as store:
        if import_ is not None:
            who = reviewer or getpass.getuser()
            added = import_decisions(import_, table, store, who)
            say(f"{amount(added, 'new decision')} taken from {import_}.")
        made = apply_decisions(table, store)
        if export is not None:
            _export(files[0], made.table, store, force)
            say(f"Written: {files[0]}.")
            return
        agreed = agreements(Standing(store.since()))
    lines = pd.DataFrame(made.changes, columns=COLUMNS)
    with atomic_path(output, force=force) as path:
        made.table.to(path)
    with atomic_path(changes, force=force) as path:
        write_table(lines, path)
    say("\n".join([made.sentence, *map(_agreed, agreed)]))
    say(f"Written: {output} and {changes}.")


def _export_path(path):
    if not str(path).endswith((".csv", ".json", ".jsonl")):
        raise ValueError(
            f"--export is '{path}'; end it in .csv for decisions, .json for Label "
            "Studio or .jsonl for doccano."
        )
    return Path(path)


def _export(path, table, store, force):
    with atomic_path(path, force=force) as temporary:
        if path.suffix == ".csv":
            export_decisions(store, temporary)
        else:
            export_table(table, temporary)


def _agreed(known):
    first, second = known["reviewers"]
    text = f"{first} and {second} both settled {known['both']:,}"
    if known["kappa"] is None:
        return f"{text}; too alike for a measure of agreement."
    interval = f"{known['low']:.2f} to {known['high']:.2f}"
    return f"{text}; Cohen's kappa is {known['kappa']:.2f} ({interval})."
