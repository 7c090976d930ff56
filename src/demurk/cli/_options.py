"""Options that all commands share, said once."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import functools
import inspect
from importlib import import_module
from pathlib import Path
from typing import Annotated

import typer

from demurk.datasets._table_form import NoLabelsError

__all__ = ["LISTS", "Force", "Source", "flag_of", "option", "runs_file"]


def option(kind, help, *flags, **more):
    """An option of a command, as the annotation of a parameter."""
    return Annotated[kind, typer.Option(*flags, help=help, **more)]


Force = option(bool, "Replace existing files.", "--force")
Source = Annotated[
    str,
    typer.Argument(
        metavar="IN",
        help="A table (CSV, TSV, Excel, Parquet, Feather, JSON lines, Label Studio, "
        "doccano, .h5ad), '-' for the standard input, an ARFF, .mat, .npz or libsvm "
        "file, or a data set name.",
    ),
]
# Options of reading, by their heading in the help.
READING = {
    "Which labels": {
        "labels": "Columns of 0 and 1: names, a prefix, or how many at the end. "
        "'label:' is found by itself.",
        "class_": "Column of classes. class, label, target, y, category are found by "
        "themselves.",
        "tags": "Column of tags: 'dog;dry' or a list.",
        "candidates": "Column of candidates, one true: 'cat|lynx'.",
        "annotator": "Column that says who answered, in a table with a line per "
        "answer. class@anna, class@ben are found by themselves.",
        "row": "Column that says about which sample.",
        "tag_sep": "What separates tags; seen if not given.",
        "none": "Word for no tag at all ('none').",
    },
    "Which columns": {
        "drop": "Leave out.",
        "keep": "Use, though it looks like an id.",
        "text": "Read as text; shown on pages.",
        "categorical": "Read as categories.",
        "image": "Paths of pictures; shown on pages.",
        "features": "File with features of the rows (.npy, .npz, a table), such as "
        "embeddings; for .h5ad a part of obsm.",
        "key": "Column that joins --features with the table.",
    },
    "How the file is written": {
        "sep": "Separator; seen if not given.",
        "decimal": "Decimal mark; seen if not given.",
        "encoding": "Encoding; seen if not given.",
        "data_home": "Folder of data sets; see `demurk datasets`.",
    },
}
# Those that name any number of columns.
LISTS = ("labels", "drop", "keep", "text", "categorical", "image")


def flag_of(name):
    """How an option of reading is written in the shell."""
    return f"--{name.rstrip('_').replace('_', '-')}"


def _parameter(name, help, panel):
    kind = Path if name == "data_home" else str
    if name in LISTS:
        kind, help = list[str], f"{help} Repeat, or use commas."
    kind = option(kind | None, help, flag_of(name), rich_help_panel=panel)
    keyword = inspect.Parameter.KEYWORD_ONLY
    return inspect.Parameter(name, keyword, default=None, annotation=kind)


def runs_file(command):
    """Let `NAME_file` of the module `_NAME` do what a command of this name is to do.

    It gets all options by their names, those of reading too, and is imported only when
    it is called.
    """
    name = command.__name__.removesuffix("_command")
    signature = inspect.signature(command)
    parameters = [p.replace(kind=p.KEYWORD_ONLY) for p in signature.parameters.values()]
    for panel, options in READING.items():
        parameters += [_parameter(*option, panel) for option in options.items()]

    @functools.wraps(command)
    def run(**options):
        module = import_module(f"demurk.cli._{name}")
        try:
            getattr(module, f"{name}_file")(**options)
        except NoLabelsError as error:
            text = str(error).replace("demurk COMMAND", f"demurk {name}")
            raise ValueError(text) from error

    run.__signature__ = signature.replace(parameters=parameters)
    run.__annotations__ = {p.name: p.annotation for p in parameters}
    return run
