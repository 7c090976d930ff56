"""The commands and their options."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from pathlib import Path
from typing import Annotated

import typer

import demurk
from demurk.cli._bench import bench
from demurk.cli._console import say, show_table
from demurk.cli._options import Force, Source, reads_table

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

Scale = Annotated[bool, typer.Option(help="Standardise the features first.")]
Neighbors = Annotated[
    int | None, typer.Option("--neighbors", "-k", min=1, help="Graph neighbours.")
]
Folder = Annotated[Path, typer.Option("--output", "-o", help="Folder to write to.")]
Noise = Annotated[
    str,
    typer.Option(help="What may be wrong: auto, symmetric, extra, missing or none."),
]
Seed = Annotated[int, typer.Option(help="Seed of the audit.")]
DataHome = Annotated[
    Path | None, typer.Option(help="Folder of data sets; see `demurk datasets`.")
]


def _version(value: bool) -> None:
    if value:
        say(f"demurk {demurk.__version__}")
        raise typer.Exit()


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Version."),
    ] = False,
    debug: Annotated[
        bool, typer.Option("--debug", help="Show tracebacks of errors.")
    ] = False,
) -> None:
    pass


@app.command(rich_help_panel=TABLES)
def demo(
    output: Annotated[Path, typer.Option(help="Folder to write to.")] = Path(
        "demurk-demo"
    ),
    seed: Annotated[int, typer.Option(help="Seed: which digits are wrong.")] = 0,
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
    rows = [
        [
            entry["name"],
            entry["task"],
            str(entry["n_samples"]),
            str(entry["n_features"]),
            str(entry["n_labels"]),
            "yes" if entry["available"] else "no",
        ]
        for entry in list_datasets(data_home=data_home)
    ]
    show_table("Data sets", columns, rows)
    say("Files are looked for in --data-home, in $DEMURK_DATA and in the cache folder.")


@app.command(rich_help_panel=TABLES)
@reads_table
def describe(source: Source, reading: dict | None = None) -> None:
    """Say what a table holds: what becomes of each column, and its labels."""
    from demurk.cli._describe import describe_file

    describe_file(source, **reading)


@app.command(rich_help_panel=TABLES)
@reads_table
def reduce(
    source: Source,
    output: Folder = Path("demurk-out"),
    method: Annotated[
        str | None,
        typer.Option(
            help="Reducer, see `demurk methods`; NMLSDR, or CENDA for candidates."
        ),
    ] = None,
    components: Annotated[
        int | None, typer.Option("--components", "-d", min=1, help="Dimensions.")
    ] = None,
    neighbors: Neighbors = None,
    scale: Scale = True,
    force: Force = False,
    reading: dict | None = None,
) -> None:
    """Reduce the dimension of a data set and clean its labels."""
    from demurk.cli._reduce import reduce_file

    reduce_file(
        source,
        output,
        method=method,
        n_components=components,
        n_neighbors=neighbors,
        scale=scale,
        force=force,
        **reading,
    )


@app.command(rich_help_panel=TABLES)
@reads_table
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
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Table to write.")
    ] = Path("predictions.csv"),
    train: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Learn from this file instead of IN."),
    ] = None,
    method: Annotated[
        str | None,
        typer.Option(help="Classifier (MurkyClassifier); see `demurk methods`."),
    ] = None,
    noise: Annotated[
        str | None,
        typer.Option(
            help="What is wrong with the labels: symmetric (any entry), extra (only "
            "labels that are given), missing (only labels that are not; needs --rate) "
            "or none; symmetric if not given."
        ),
    ] = None,
    rate: Annotated[
        float | None,
        typer.Option(min=0, max=0.49, help="How often; estimated if not given."),
    ] = None,
    members: Annotated[
        str | None, typer.Option(help="Size of the stack: full, trees or fast.")
    ] = None,
    target: Annotated[
        str | None, typer.Option(help="What to predict well: f1 or hamming.")
    ] = None,
    jobs: Annotated[
        int | None,
        typer.Option("--jobs", "-j", help="Threads; all cores if not given."),
    ] = None,
    seed: Annotated[
        int | None, typer.Option(help="Seed of the training; 0 if not given.")
    ] = None,
    dask: Annotated[
        str | None,
        typer.Option(
            help="Dask scheduler, as tcp://host:8786: predict a folder of Parquet "
            "files with a model, and write another folder."
        ),
    ] = None,
    force: Force = False,
    reading: dict | None = None,
) -> None:
    """Learn from murky labels and predict those that are missing."""
    from demurk.cli._predict import predict_file

    predict_file(
        [first] if second is None else [first, second],
        output,
        train=train,
        model={
            "method": method,
            "noise": noise,
            "noise_rate": rate,
            "members": members,
            "target": target,
            "n_jobs": jobs,
            "seed": seed,
        },
        dask=dask,
        force=force,
        **reading,
    )


@app.command("map", rich_help_panel=TABLES)
@reads_table
def map_command(
    source: Source,
    output: Folder = Path("demurk-map"),
    methods: Annotated[
        str, typer.Option(help="Maps, separated by commas.")
    ] = "PCA,NMLSDR,SLE-ML",
    weights: Annotated[
        str, typer.Option(help="Feature weights of SLE-ML, separated by commas.")
    ] = "1,0.9,0.5,0.1",
    neighbors: Neighbors = None,
    scale: Scale = True,
    clean: Annotated[bool, typer.Option(help="Compare with cleaned labels.")] = True,
    force: Force = False,
    reading: dict | None = None,
) -> None:
    """Draw maps of a data set: an interactive page and a picture."""
    from demurk.cli._map import map_file

    map_file(
        source,
        output,
        methods=methods.split(","),
        weights=[float(weight) for weight in weights.split(",")],
        n_neighbors=neighbors,
        scale=scale,
        clean=clean,
        force=force,
        **reading,
    )


@app.command(rich_help_panel=TABLES)
@reads_table
def clean(
    source: Source,
    output: Folder = Path("demurk-clean"),
    noise: Noise = "auto",
    review: Annotated[
        int | None,
        typer.Option(min=1, help="Suspects to list (all expected ones if not given)."),
    ] = None,
    flip: Annotated[
        float, typer.Option(min=0.5, max=1, help="Correct above this P(wrong).")
    ] = 0.8,
    review_only: Annotated[
        bool, typer.Option("--review-only", help="Correct nothing.")
    ] = False,
    seed: Seed = 0,
    force: Force = False,
    reading: dict | None = None,
) -> None:
    """Find labels that are probably wrong or missing; write a cleaned copy."""
    from demurk.cli._clean import clean_file

    clean_file(
        source,
        output,
        noise=noise,
        review=review,
        flip=None if review_only else flip,
        seed=seed,
        force=force,
        **reading,
    )


@app.command(rich_help_panel=TABLES)
@reads_table
def annotators(
    source: Source,
    output: Folder = Path("demurk-annotators"),
    seed: Annotated[int, typer.Option(help="Seed of the forest.")] = 0,
    force: Force = False,
    reading: dict | None = None,
) -> None:
    """Weigh what several people say: their consensus, and how good each one is."""
    from demurk.cli._annotators import annotators_file

    annotators_file(source, output, seed=seed, force=force, **reading)


@app.command()
@reads_table
def review(
    source: Source,
    reviewer: Annotated[
        str | None, typer.Option(help="Who decides (the name of the account).")
    ] = None,
    blind: Annotated[
        bool, typer.Option("--blind", help="Hide scores and reasons.")
    ] = False,
    noise: Noise = "auto",
    seed: Seed = 0,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Port; a free one if 0.")
    ] = 0,
    allow_remote: Annotated[
        bool,
        typer.Option("--allow-remote", help="Let others reach --host, with the link."),
    ] = False,
    image_root: Annotated[
        Path | None, typer.Option(help="Folder of the pictures (that of the table).")
    ] = None,
    show: Annotated[
        bool, typer.Option("--open/--no-open", help="Open the browser.")
    ] = True,
    reading: dict | None = None,
) -> None:
    """Decide about suspect labels in the browser, key by key."""
    from demurk.cli._review import review_file

    review_file(
        source,
        reviewer=reviewer,
        blind=blind,
        noise=noise,
        seed=seed,
        host=host,
        port=port,
        allow_remote=allow_remote,
        image_root=image_root,
        show=show,
        **reading,
    )


@app.command("apply", rich_help_panel=TABLES)
@reads_table
def apply_command(
    source: Source,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Copy to write (IN.reviewed, beside it)."),
    ] = None,
    export: Annotated[
        Path | None,
        typer.Option(
            help="Write decisions (.csv), or the corrected table for Label Studio "
            "(.json) or doccano (.jsonl), instead."
        ),
    ] = None,
    import_: Annotated[
        Path | None,
        typer.Option("--import", help="First take over decisions of such a file."),
    ] = None,
    reviewer: Annotated[
        str | None, typer.Option(help="Who annotated the imported file.")
    ] = None,
    force: Force = False,
    reading: dict | None = None,
) -> None:
    """Write the table with what was decided in a review, and a list of changes."""
    from demurk.cli._apply import apply_file

    apply_file(
        source,
        output,
        export=export,
        import_=import_,
        reviewer=reviewer,
        force=force,
        **reading,
    )


app.command(rich_help_panel=LISTS)(bench)
