"""What the command shows: sentences, tables, and progress as bars or plain lines.

Nothing that a user named is read as markup, and a reader that goes away (``| head``)
never stops the work.
"""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import os
import sys
import time
import warnings
from contextlib import contextmanager

from rich.console import Console
from rich.table import Table
from rich.text import Text

from demurk.utils._compat import ProgressBar

__all__ = ["console", "note", "say", "show_table", "shown_progress"]


class _Console(Console):
    def on_broken_pipe(self):
        _close(sys.stdout)


# Off a terminal rich would wrap tables at 80 columns and spoil them for `grep`.
console = _Console(width=None if sys.stdout.isatty() else 160, highlight=False)


def say(text):
    """Print text as it is on the standard output."""
    # A file name may hold what no text can, and an old terminal knows few letters.
    spelled = text.encode(console.encoding, "backslashreplace").decode(console.encoding)
    console.print(spelled, markup=False, emoji=False, soft_wrap=True)


def note(text):
    """Print a line about the work on the standard error."""
    try:
        print(text, file=sys.stderr, flush=True)
    except BrokenPipeError:
        _close(sys.stderr)


def _close(stream):
    """Let everything that follows go nowhere, also at the end of the program."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


class PlainProgress:
    """Callback that prints one line per finished stage, for logs and pipes."""

    max_propagation_depth = 1

    def setup(self, estimator, context):
        self._begun = {}

    def on_fit_task_begin(self, estimator, context, **_):
        self._begun[id(context)] = time.perf_counter()

    def on_fit_task_end(self, estimator, context, **_):
        begun = self._begun.pop(id(context), None)
        if context.parent is not None and context.max_subtasks == 0 and begun:
            seconds = time.perf_counter() - begun
            name = type(estimator).__name__
            note(f"{name}: {context.task_name} ({seconds:.1f} s)")
        return False

    teardown = setup


@contextmanager
def shown_progress(pipeline):
    """Show the progress of a fit: bars on a terminal, plain lines elsewhere.

    The callbacks are taken off at the end, so that a saved model holds none.
    """
    pipeline.set_callbacks(ProgressBar() if console.is_terminal else PlainProgress())
    try:
        with warnings.catch_warnings():
            # Some of scikit-learn's own steps report nothing, which is no news.
            warnings.filterwarnings("ignore", message=".*does not support callbacks.*")
            yield
    finally:
        pipeline.set_callbacks()


def show_table(title, columns, rows):
    """Print a table."""
    table = Table(title=Text(title), title_justify="left", title_style="bold")
    for column in columns:
        table.add_column(Text(column))
    for row in rows:
        table.add_row(*(Text(str(value)) for value in row))
    console.print(table)
