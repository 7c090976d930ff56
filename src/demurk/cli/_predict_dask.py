"""``demurk predict --dask``: a saved model and a folder of Parquet files."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from pathlib import Path

from demurk.cli._console import say
from demurk.cli._output import table_of
from demurk.cli._predict import (
    load_classifier,
    model_predictions,
    prediction_columns,
)
from demurk.cluster._files import parquet_files
from demurk.datasets import Table
from demurk.utils._files import OutputFolder
from demurk.utils._optional import import_optional

__all__ = ["predict_folder"]

# Seconds to wait for the scheduler, and for a first worker.
WAIT = 30


def predict_folder(model, source, output, address, *, force=False):
    """Predict the rows of Parquet files on a Dask cluster, one task for a row group.

    Parameters
    ----------
    model : str
        Saved model.
    source : str
        Parquet file, or a folder of them. Workers read it and the model by the same
        names.
    output : path-like
        Folder to write; each row group becomes a file of its own, in their order.
    address : str
        Scheduler, as tcp://host:8786.
    force : bool, default=False
        Whether existing files may be replaced.
    """
    distributed = import_optional("distributed", "dask")
    output = Path(output)
    if output.suffix:
        raise ValueError(
            f"{output} is a name for a file, but --dask writes a folder of Parquet "
            f"files: name it, such as `-o {output.with_suffix('')}`."
        )
    groups = _row_groups(source)
    names = [f"part-{number:05}.parquet" for number in range(len(groups))]
    read = [Path(model), *{group[0] for group in groups}]
    folder = OutputFolder(output, names, read=read, force=force)
    n_rows = 0
    with _client(distributed, address) as client, folder.writing() as place:
        # Loaded anew by whoever needs it, should its worker be lost.
        loaded = client.submit(load_classifier, str(Path(model).resolve()))
        tasks = {
            client.submit(_predict, loaded, *group, pure=False): name
            for name, group in zip(names, groups)
        }
        for task in distributed.as_completed(list(tasks)):
            table = task.result()
            table.to_parquet(place / tasks.pop(task), index=False)
            n_rows += len(table)
            del table, task  # what has been written is not kept
    say(f"{n_rows:,} predictions written to {output} ({len(groups)} files)")


def _row_groups(source):
    """File, number and first row of each row group."""
    parquet = import_optional("pyarrow.parquet", "tables")
    found, first = [], 0
    for path in parquet_files(source):
        metadata = parquet.ParquetFile(path).metadata
        for number in range(metadata.num_row_groups):
            size = metadata.row_group(number).num_rows
            if size:
                found.append((path.resolve(), number, first))
            first += size
    if not found:
        raise ValueError(f"{source} holds no rows, so there is nothing to predict.")
    return found


def _client(distributed, address):
    """A client of a cluster that has workers."""
    try:
        client = distributed.Client(address, timeout=WAIT)
    except (OSError, ValueError) as error:
        raise ConnectionError(
            f"No Dask scheduler answers at {address}: start one with `dask scheduler`, "
            "or check the address."
        ) from error
    try:
        client.wait_for_workers(1, timeout=WAIT)
    except TimeoutError as error:
        client.close()
        raise ConnectionError(
            f"The Dask scheduler at {address} has no workers: start some with `dask "
            f"worker {address}`."
        ) from error
    return client


def _predict(model, path, number, first):
    """Predictions of one row group, on a worker."""
    parquet = import_optional("pyarrow.parquet", "tables")
    frame = parquet.ParquetFile(path).read_row_group(number).to_pandas()
    table = Table(frame.reset_index(drop=True), labels=0)
    predicted, proba = model_predictions(model, table)
    columns = prediction_columns(table, model.classes_, predicted, proba, first)
    return table_of(columns)
