"""The commands and their options."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from pathlib import Path
from typing import Annotated

import typer

import demurk
from demurk.cli._bench import bench
from demurk.cli._console import say, show_table
from demurk.cli._options import Force, Source, option, runs_file

__all__ = ["app"]

app = typer.Typer(
    name="demurk",
    help="Learn from murky labels: noisy, missing, or hidden in candidate sets.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

# Groups of commands in the help.
TABLES, LISTS = "Tables", "What there is"

Scale = option(bool, "Standardise the features first.")
Neighbors = option(int | None, "Graph neighbours.", "--neighbors", "-k", min=1)
Folder = option(Path, "Folder to write to.", "--output", "-o")
Noise = option(str, "What may be wrong: auto, symmetric, extra, missing or none.")
Seed = option(int, "Seed of the audit.")
DataHome = option(Path | None, "Folder of data sets; see `demurk datasets`.")


def _version(value: bool) -> None:
    if value:
        say(f"demurk {demurk.__version__}")
        raise typer.Exit()


def _words(value: str) -> list[str]:
    return value.split(",")


def _numbers(value: str) -> list[float]:
    try:
        return [float(word) for word in _words(value)]
    except ValueError:
        raise ValueError(
            f"--weights is '{value}'; give numbers separated by commas, such as 1,0.5."
        ) from None


@app.callback()
def _options(
    version: option(
        bool, "Version.", "--version", callback=_version, is_eager=True
    ) = False,
    debug: option(bool, "Show tracebacks of errors.", "--debug") = False,
) -> None:
    pass


@app.command(rich_help_panel=TABLES)
def demo(
    output: option(Path, "Folder to write to.") = Path("demurk-demo"),
    seed: option(int, "Seed: which digits are wrong.") = 0,
    force: Force = False,
) -> None:
    """Write a table with wrong and missing classes; clean it, predict, draw it."""
    from demurk.cli._demo import run_demo

    run_demo(output, seed, force)


@app.command(rich_help_panel=LISTS)
def methods() -> None:
    """List the methods."""
    from demurk.registry import METHODS

    columns = ["name", "task", "labels", "source", "import from"]
    rows = [[m.name, m.task, m.labels, m.source, f"demurk.{m.room}"] for m in METHODS]
    show_table("Methods", columns, rows)


@app.command(rich_help_panel=LISTS)
def datasets(data_home: DataHome = None) -> None:
    """List the data sets known by name, and which of them are here."""
    from demurk.datasets import list_datasets

    columns = ["name", "task", "samples", "features", "labels", "here"]
    keys = ("name", "task", "n_samples", "n_features", "n_labels")
    rows = [
        [*(entry[key] for key in keys), "yes" if entry["available"] else "no"]
        for entry in list_datasets(data_home=data_home)
    ]
    show_table("Data sets", columns, rows)
    say("Files are looked for in --data-home, in $DEMURK_DATA and in the cache folder.")


@app.command(rich_help_panel=TABLES)
@runs_file
def describe(source: Source) -> None:
    """Say what a table holds: what becomes of each column, and its labels."""


@app.command(rich_help_panel=TABLES)
@runs_file
def reduce(
    source: Source,
    output: Folder = Path("demurk-out"),
    method: option(
        str | None,
        "Reducer, see `demurk methods`; NMLSDR, or CENDA for candidates.",
    ) = None,
    n_components: option(int | None, "Dimensions.", "--components", "-d", min=1) = None,
    n_neighbors: Neighbors = None,
    scale: Scale = True,
    force: Force = False,
) -> None:
    """Reduce the dimension of a data set and clean its labels."""


@app.command(rich_help_panel=TABLES)
@runs_file
def predict(
    first: Annotated[
        str,
        typer.Argument(
            metavar="MODEL|IN",
            help="Samples to learn from and predict, as a file or a data set name; or "
            "a model written by this command or by `demurk reduce`.",
        ),
    ],
    second: Annotated[
        str | None,
        typer.Argument(metavar="IN", help="After a model, the samples to predict."),
    ] = None,
    output: option(Path, "Table to write.", "--output", "-o") = Path("predictions.csv"),
    train: option(
        str | None, "Learn from this file instead of IN.", metavar="FILE"
    ) = None,
    method: option(
        str | None, "Classifier (MurkyClassifier); see `demurk methods`."
    ) = None,
    noise: option(
        str | None,
        "What is wrong with the labels: symmetric (any entry), extra (only labels that "
        "are given), missing (only labels that are not; needs --rate) or none; "
        "symmetric if not given.",
    ) = None,
    noise_rate: option(
        float | None, "How often; estimated if not given.", "--rate", min=0, max=0.49
    ) = None,
    members: option(str | None, "Size of the stack: full, trees or fast.") = None,
    target: option(str | None, "What to predict well: f1 or hamming.") = None,
    n_jobs: option(
        int | None, "Threads; all cores if not given.", "--jobs", "-j"
    ) = None,
    seed: option(int | None, "Seed of the training; 0 if not given.") = None,
    dask: option(
        str | None,
        "Dask scheduler, as tcp://host:8786: predict a folder of Parquet files with a "
        "model, and write another folder.",
    ) = None,
    force: Force = False,
) -> None:
    """Learn from murky labels and predict those that are missing."""


@app.command("map", rich_help_panel=TABLES)
@runs_file
def map_command(
    source: Source,
    output: Folder = Path("demurk-map"),
    methods: option(
        str, "Maps, separated by commas.", callback=_words
    ) = "PCA,NMLSDR,SLE-ML",
    weights: option(
        str, "Feature weights of SLE-ML, separated by commas.", callback=_numbers
    ) = "1,0.9,0.5,0.1",
    n_neighbors: Neighbors = None,
    scale: Scale = True,
    clean: option(bool, "Compare with cleaned labels.") = True,
    force: Force = False,
) -> None:
    """Draw maps of a data set: an interactive page and a picture."""


@app.command(rich_help_panel=TABLES)
@runs_file
def clean(
    source: Source,
    output: Folder = Path("demurk-clean"),
    noise: Noise = "auto",
    review: option(
        int | None, "Suspects to list (all expected ones if not given).", min=1
    ) = None,
    flip: option(float, "Correct above this P(wrong).", min=0.5, max=1) = 0.8,
    review_only: option(bool, "Correct nothing.", "--review-only") = False,
    seed: Seed = 0,
    force: Force = False,
) -> None:
    """Find labels that are probably wrong or missing; write a cleaned copy."""


@app.command(rich_help_panel=TABLES)
@runs_file
def annotators(
    source: Source,
    output: Folder = Path("demurk-annotators"),
    seed: option(int, "Seed of the forest.") = 0,
    force: Force = False,
) -> None:
    """Weigh what several people say: their consensus, and how good each one is."""


@app.command()
@runs_file
def review(
    source: Source,
    reviewer: option(str | None, "Who decides (the name of the account).") = None,
    blind: option(bool, "Hide scores and reasons.", "--blind") = False,
    noise: Noise = "auto",
    seed: Seed = 0,
    host: option(str, "Address to listen on.") = "127.0.0.1",
    port: option(int, "Port; a free one if 0.", min=0, max=65535) = 0,
    allow_remote: option(
        bool, "Let others reach --host, with the link.", "--allow-remote"
    ) = False,
    image_root: option(
        Path | None, "Folder of the pictures (that of the table)."
    ) = None,
    show: option(bool, "Open the browser.", "--open/--no-open") = True,
) -> None:
    """Decide about suspect labels in the browser, key by key."""


@app.command("apply", rich_help_panel=TABLES)
@runs_file
def apply_command(
    source: Source,
    output: option(
        Path | None, "Copy to write (IN.reviewed, beside it).", "--output", "-o"
    ) = None,
    export: option(
        Path | None,
        "Write decisions (.csv), or the corrected table for Label Studio (.json) or "
        "doccano (.jsonl), instead.",
    ) = None,
    import_: option(
        Path | None, "First take over decisions of such a file.", "--import"
    ) = None,
    reviewer: option(str | None, "Who annotated the imported file.") = None,
    force: Force = False,
) -> None:
    """Write the table with what was decided in a review, and a list of changes."""


app.command(rich_help_panel=LISTS)(bench)
