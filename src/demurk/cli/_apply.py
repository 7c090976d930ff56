"""``demurk apply``: the table with what was decided, and a list of what changed."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from pathlib import Path

import pandas as pd

from demurk.cli._console import say
from demurk.cli._input import read_input
from demurk.cli._output import write_table
from demurk.cli._review import check_file
from demurk.review._apply import apply_decisions
from demurk.review._store import Store, store_path
from demurk.utils._files import atomic_path, check_outputs

__all__ = ["apply_file"]


def apply_file(source, output=None, *, force=False, **reading):
    """Write the corrected copy of a table and the list of changes beside it.

    Parameters
    ----------
    source : str
        The table; it is never changed.
    output : path-like, default=None
        The copy; None for ``table.reviewed.csv`` beside the table.
    force : bool, default=False
        Whether existing files may be replaced.
    **reading
        What is read how, as in `read_input`.
    """
    check_file(source)
    source, decisions = Path(source), store_path(source)
    if not decisions.is_file():
        raise FileNotFoundError(
            f"There are no decisions about {source}: {decisions} is not there; make "
            f"some with `demurk review {source}`."
        )
    stem, dot, endings = source.name.partition(".")
    output = Path(output or source.with_name(f"{stem}.reviewed{dot}{endings}"))
    changes = output.with_name(f"{output.name.partition('.')[0]}.changes.csv")
    check_outputs([output, changes], read=[source, decisions], force=force)
    table = read_input(source, decided=False, **reading)
    with Store(decisions) as store:
        made = apply_decisions(table, store)
    lines = pd.DataFrame(made.changes, columns=list(COLUMNS))
    with atomic_path(output, force=force) as path:
        made.table.to(path)
    with atomic_path(changes, force=force) as path:
        write_table(lines, path)
    say("\n".join([made.sentence, f"Written: {output} and {changes}."]))


COLUMNS = (
    "row",
    "key",
    "label",
    "given",
    "decided",
    "reviewer",
    "time",
    "note",
    "what",
)
