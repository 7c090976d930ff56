"""Options that all commands share, said once."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import functools
import inspect
from pathlib import Path
from typing import Annotated

import typer

from demurk.datasets._table_form import NoLabelsError

__all__ = ["Force", "Source", "reads_table"]

WHICH, COLUMNS, FILE = "Which labels", "Which columns", "How the file is written"

Force = Annotated[bool, typer.Option("--force", help="Replace existing files.")]
Source = Annotated[
    str,
    typer.Argument(
        metavar="IN",
        help="A table (CSV, TSV, Excel, Parquet, Feather, JSON lines, Label Studio, "
        "doccano, .h5ad), '-' for the standard input, an ARFF, .mat, .npz or libsvm "
        "file, or a data set name.",
    ),
]


def _names(*flags, help, panel=COLUMNS):
    return Annotated[
        list[str] | None,
        typer.Option(
            *flags, help=f"{help} Repeat, or use commas.", rich_help_panel=panel
        ),
    ]


def _text(*flags, help, panel):
    return Annotated[str | None, typer.Option(*flags, help=help, rich_help_panel=panel)]


READING = {
    "labels": _names(
        "--labels",
        help="Columns of 0 and 1: names, a prefix, or how many at the end. 'label:' is "
        "found by itself.",
        panel=WHICH,
    ),
    "class_": _text(
        "--class",
        help="Column of classes. class, label, target, y, category are found by "
        "themselves.",
        panel=WHICH,
    ),
    "tags": _text("--tags", help="Column of tags: 'dog;dry' or a list.", panel=WHICH),
    "candidates": _text(
        "--candidates", help="Column of candidates, one true: 'cat|lynx'.", panel=WHICH
    ),
    "annotator": _text(
        "--annotator",
        help="Column that says who answered, in a table with a line per answer. "
        "class@anna, class@ben are found by themselves.",
        panel=WHICH,
    ),
    "row": _text("--row", help="Column that says about which sample.", panel=WHICH),
    "tag_sep": _text(
        "--tag-sep", help="What separates tags; seen if not given.", panel=WHICH
    ),
    "none": _text("--none", help="Word for no tag at all ('none').", panel=WHICH),
    "drop": _names("--drop", help="Leave out."),
    "keep": _names("--keep", help="Use, though it looks like an id."),
    "text": _names("--text", help="Read as text; shown on pages."),
    "categorical": _names("--categorical", help="Read as categories."),
    "image": _names("--image", help="Paths of pictures; shown on pages."),
    "features": _text(
        "--features",
        help="File with features of the rows (.npy, .npz, a table), such as "
        "embeddings; for .h5ad a part of obsm.",
        panel=COLUMNS,
    ),
    "key": _text(
        "--key", help="Column that joins --features with the table.", panel=COLUMNS
    ),
    "sep": _text("--sep", help="Separator; seen if not given.", panel=FILE),
    "decimal": _text("--decimal", help="Decimal mark; seen if not given.", panel=FILE),
    "encoding": _text("--encoding", help="Encoding; seen if not given.", panel=FILE),
    "data_home": Annotated[
        Path | None,
        typer.Option(
            help="Folder of data sets; see `demurk datasets`.", rich_help_panel=FILE
        ),
    ],
}


def reads_table(command):
    """Give a command all options of reading, collected in its argument `reading`."""
    signature = inspect.signature(command)
    own = [p for p in signature.parameters.values() if p.name != "reading"]
    keyword = inspect.Parameter.KEYWORD_ONLY
    shared = [
        inspect.Parameter(name, keyword, default=None, annotation=kind)
        for name, kind in READING.items()
    ]

    @functools.wraps(command)
    def wrapped(**given):
        reading = {name: given.pop(name) for name in READING}
        try:
            return command(**given, reading=reading)
        except NoLabelsError as error:
            name = command.__name__.removesuffix("_command")
            text = str(error).replace("demurk COMMAND", f"demurk {name}")
            raise ValueError(text) from error

    own = [p.replace(kind=keyword) for p in own]
    wrapped.__signature__ = signature.replace(parameters=[*own, *shared])
    wrapped.__annotations__ = {p.name: p.annotation for p in (*own, *shared)}
    return wrapped
