"""``demurk map``: maps of a data set, as a page and as a picture."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import json
import time
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.sparse import issparse
from sklearn.decomposition import PCA
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from demurk.cli._console import console, note, say
from demurk.cli._input import TABLES, as_frame, read_input
from demurk.cli._output import files_read
from demurk.cli._reduce import _missing, _named_labels
from demurk.manifold import embed_weights
from demurk.projection import MDDM, NMLSDR
from demurk.propagation import NoisyLabelPropagation
from demurk.utils._files import OutputFolder, write_text
from demurk.viz import plot_embeddings, save_page
from demurk.viz._packing import align_embeddings, read_embeddings

__all__ = ["FILES", "MAPS", "WEIGHTS", "map_file"]

# The summary comes last: where it is, all files of its run are there.
FILES = ("map.html", "map.png", "summary.json")

# The paper recommends to look at several shares of the features.
WEIGHTS = (1.0, 0.9, 0.5, 0.1)


def _options(n_neighbors):
    threads = {"n_jobs": -1}
    return threads if n_neighbors is None else threads | {"n_neighbors": n_neighbors}


def _pca(X, y, n_neighbors, weights):
    solver = "arpack" if issparse(X) else "auto"
    return {"PCA": PCA(2, svd_solver=solver, random_state=0).fit_transform(X)}


def _mddm(X, y, n_neighbors, weights):
    return {"MDDM": MDDM(2).fit(X, y).transform(X)}


def _nmlsdr(X, y, n_neighbors, weights):
    return {"NMLSDR": NMLSDR(2, **_options(n_neighbors)).fit(X, y).transform(X)}


def _sleml(X, y, n_neighbors, weights):
    maps = embed_weights(X, y, weights, random_state=0, **_options(n_neighbors))
    return {f"SLE-ML {weight:g}": Z for weight, Z in maps.items()}


# What `--methods` can name. Each makes one map or several from features and labels.
MAPS = {"PCA": _pca, "MDDM": _mddm, "NMLSDR": _nmlsdr, "SLE-ML": _sleml}


def map_file(
    source,
    output,
    *,
    methods=("PCA", "NMLSDR", "SLE-ML"),
    weights=WEIGHTS,
    n_neighbors=None,
    scale=True,
    clean=True,
    text=None,
    force=False,
    drop=(),
    **reading,
):
    """Draw maps of a labelled data set; write a page, a picture and a summary.

    Parameters
    ----------
    source : str
        File or name of a data set.
    output : path-like
        Folder to write to.
    methods : sequence of str, default=("PCA", "NMLSDR", "SLE-ML")
        Keys of `MAPS`, whatever the case, in the order of the slider.
    weights : sequence of float, default=WEIGHTS
        Feature weights of SLE-ML, a map each.
    n_neighbors : int, default=None
        Neighbours of all graphs; None leaves it to each method.
    scale : bool, default=True
        Whether the features are standardised first.
    clean : bool, default=True
        Whether labels are cleaned by propagation and compared with the given ones.
    text : str, default=None
        Column of a table that says what a sample is; it is not a feature.
    force : bool, default=False
        Whether existing files may be replaced.
    drop : sequence of str, default=()
        Columns of a table to leave out.
    **reading
        Further options of `read_input`.
    """
    chosen = [_known(name) for name in methods]
    read = files_read(source, data_home=reading.get("data_home"))
    output = OutputFolder(output, FILES, read=read, force=force)
    drop = [*drop] if text is None else [*drop, text]
    data = read_input(source, drop=drop, **reading)
    samples = None if text is None else _texts(source, text, len(data.target))
    X, y = _features(data, scale), _named_labels(data)
    maps, seconds = {}, {}
    for name in chosen:
        with _timed(name, seconds):
            maps |= MAPS[name](X, y, n_neighbors, weights)
    maps = align_embeddings(read_embeddings(maps))
    cleaned = None
    if clean:
        with _timed("cleaning", seconds):
            model = NoisyLabelPropagation(**_options(n_neighbors))
            cleaned = model.fit(X, y).transduction_
    facts = _summary(data, maps, seconds, np.asarray(y), cleaned)
    figure = plot_embeddings(maps, y, title=data.name)
    with output.writing() as folder:
        page, picture, summary = (folder / name for name in FILES)
        save_page(page, maps, y, cleaned=cleaned, samples=samples, title=data.name)
        figure.savefig(picture, dpi=150)
        write_text(summary, json.dumps(facts, indent=1) + "\n")
    say(_report(facts, output.files[0]))


def _known(name):
    for known in MAPS:
        if known.lower() == name.strip().lower():
            return known
    raise ValueError(
        f"There is no map called '{name}': choose from {', '.join(MAPS)}, separated "
        "by commas."
    )


def _features(data, scale):
    """Features without gaps, on one scale."""
    X = as_frame(data)
    steps = []
    if np.isnan(X.data if issparse(X) else X.to_numpy()).any():
        steps.append(SimpleImputer())
    if scale:
        steps.append(StandardScaler(with_mean=not issparse(X)))
    X = make_pipeline(*steps, "passthrough").fit_transform(X)
    return X if issparse(X) else np.asarray(X)


def _texts(source, column, n_samples):
    """One column of a table as it stands in the file."""
    path = Path(source)
    name = path.name.lower().removesuffix(".gz")
    if not path.is_file() or not name.endswith(TABLES):
        raise ValueError(
            f"--text names a column of a table, but {source} is none: leave it out."
        )
    if name.endswith((".parquet", ".pq")):
        cells = pd.read_parquet(path, columns=[column])[column]
    else:
        cells = pd.read_csv(
            path,
            usecols=[column],
            sep="\t" if name.endswith(".tsv") else ",",
            dtype=str,
            keep_default_na=False,
            skipinitialspace=True,
        )[column]
    if len(cells) != n_samples:
        raise ValueError(
            f"{path} has {len(cells)} cells in column '{column}' but {n_samples} "
            "samples: quote texts that hold line breaks."
        )
    return cells.tolist()


@contextmanager
def _timed(name, seconds):
    """Say what is being computed, and keep how long it took."""
    begun = time.perf_counter()
    if console.is_terminal:
        with console.status(f"{name} ..."):
            yield
    else:
        yield
    seconds[name] = round(time.perf_counter() - begun, 3)
    note(f"{name} ({seconds[name]:.1f} s)")


def _summary(data, maps, seconds, given, cleaned):
    missing = _missing(given)
    facts = {
        "data": data.name,
        "n_samples": int(data.data.shape[0]),
        "n_features": int(data.data.shape[1]),
        "n_labels": len(data.target_names),
        "maps": list(maps),
        "seconds": seconds,
        "given": int((~missing).sum()),
    }
    if cleaned is not None:
        cleaned = np.asarray(cleaned)
        undecided = _missing(cleaned)
        overruled = ~missing & ~undecided & (cleaned != given)
        rows = overruled if overruled.ndim == 1 else overruled.any(axis=1)
        facts |= {
            "completed": int((missing & ~undecided).sum()),
            "overruled": int(overruled.sum()),
            "changed_samples": int(rows.sum()),
        }
    return facts


def _report(facts, page):
    lines = [
        f"{facts['data']}: {facts['n_samples']} samples, {len(facts['maps'])} maps "
        f"({', '.join(facts['maps'])})."
    ]
    if "overruled" in facts:
        lines.append(
            f"{facts['overruled']} of {facts['given']} given labels look wrong, in "
            f"{facts['changed_samples']} samples; the page lists them."
        )
    lines.append(f"Open {page} in a browser; the picture is beside it.")
    return "\n".join(lines)
