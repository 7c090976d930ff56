"""``demurk map``: maps of a data set, as a page and as a picture."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import time
import warnings
from contextlib import contextmanager, nullcontext

import numpy as np
import pandas as pd
from scipy.sparse import issparse
from sklearn.decomposition import PCA
from sklearn.preprocessing import StandardScaler

from demurk.cli._audit import count_labels, find_suspects
from demurk.cli._console import console, note, say
from demurk.cli._input import labels_for, read_input, samples_of, tell
from demurk.cli._output import files_read, graph_options, write_summary
from demurk.datasets._table_labels import as_entries
from demurk.manifold import SLEML, embed_weights
from demurk.projection import MDDM, NMLSDR
from demurk.utils._amounts import amount
from demurk.utils._files import OutputFolder
from demurk.viz import plot_embeddings, save_page
from demurk.viz._packing import align_embeddings, read_embeddings

__all__ = ["FILES", "MAPS", "WEIGHTS", "map_file"]

# The summary comes last: where it is, all files of its run are there.
FILES = ("map.html", "map.png", "summary.json")

# The paper recommends to look at several shares of the features.
WEIGHTS = (1.0, 0.9, 0.5, 0.1)
FEWEST_ROWS = 4


def scaled(X):
    """Features on one scale; zeros of sparse ones stay."""
    return StandardScaler(with_mean=not issparse(X)).fit_transform(X)


def plain_map(X, seed=0):
    """The first two principal components, of narrow and sparse features too."""
    if issparse(X) and min(X.shape) < 3:
        X = X.toarray()
    solver = "arpack" if issparse(X) else "auto"
    pca = PCA(min(2, *X.shape), svd_solver=solver, random_state=seed)
    return pca.fit_transform(X)


def _pca(X, y, options, weights):
    return {"PCA": plain_map(X)}


def _mddm(X, y, options, weights):
    return {"MDDM": fitted(MDDM(2), X, y).transform(X)}


def _nmlsdr(X, y, options, weights):
    return {"NMLSDR": fitted(NMLSDR(2, **options), X, y).transform(X)}


def fitted(model, X, y):
    """A model of two dimensions, which may be more than labels point in."""
    with warnings.catch_warnings():
        # One label points in one direction.
        warnings.filterwarnings("ignore", message="n_components is 2")
        return model.fit(X, labels_for(y, model))


def _sleml(X, y, options, weights):
    y = labels_for(y, SLEML())
    maps = embed_weights(X, y, weights, random_state=0, **options)
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
    force=False,
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
        Whether suspects are looked for, as `demurk clean` does.
    force : bool, default=False
        Whether existing files may be replaced.
    **reading
        What is read how, as in `read_input`.
    """
    chosen = [_known(name) for name in methods]
    read = files_read(source, data_home=reading.get("data_home"))
    output = OutputFolder(output, FILES, read=read, force=force)
    table = read_input(source, **reading)
    tell(table)
    if len(table) < FEWEST_ROWS:
        raise ValueError(
            f"{source} has {amount(len(table), 'row')}, but a map needs {FEWEST_ROWS} "
            "or more."
        )
    X = scaled(table.features) if scale else table.features
    X = X if issparse(X) else np.asarray(X)
    options = graph_options(X, n_neighbors)
    maps, seconds = {}, {}
    for name in chosen:
        with timed(name, seconds):
            maps |= MAPS[name](X, table.labels, options, weights)
    maps = align_embeddings(read_embeddings(maps))
    found = None
    if clean:
        with timed("audit", seconds):
            found = find_suspects(table, flip=None)
        table = found.table
    facts = _summary(table, maps, seconds, found) | {"neighbors": options["neighbors"]}
    names = [str(name) for name in table.labels.classes]
    y = pd.DataFrame(as_entries(table.labels), columns=names)
    cleaned = None if found is None else found.after
    samples = samples_of(table)
    figure = plot_embeddings(maps, y, title=table.name)
    with output.writing() as folder:
        page, picture, summary = (folder / name for name in FILES)
        save_page(page, maps, y, cleaned=cleaned, samples=samples, title=table.name)
        figure.savefig(picture, dpi=150)
        write_summary(summary, facts)
    say(_report(facts, output.files[0]))


def _known(name):
    for known in MAPS:
        if known.lower() == name.strip().lower():
            return known
    raise ValueError(
        f"There is no map called '{name}': choose from {', '.join(MAPS)}, separated "
        "by commas."
    )


@contextmanager
def timed(name, seconds):
    """Say what is being computed, and keep how long it took."""
    begun = time.perf_counter()
    status = console.status(f"{name} ...") if console.is_terminal else nullcontext()
    with status:
        yield
    seconds[name] = round(time.perf_counter() - begun, 3)
    note(f"{name} ({seconds[name]:.1f} s)")


def _summary(table, maps, seconds, found):
    labels, form = table.labels, table.form.form
    given = labels.values > 0 if form == "candidates" else labels.observed
    facts = {
        "data": table.name,
        "n_samples": labels.n_samples,
        "n_features": int(table.features.shape[1]),
        "n_labels": labels.n_labels,
        "maps": list(maps),
        "seconds": seconds,
        "form": form,
        "one_class": labels.single,
        "given": count_labels(given, labels.single),
    }
    if found is not None:
        facts |= {
            "message": found.audit.message_,
            "expected_wrong": int(found.audit.n_suspects_),
            "listed": len(found.suspects),
            "suspect_samples": int(found.listed.any(axis=1).sum()),
        }
    return facts


def _report(facts, page):
    maps = facts["maps"]
    lines = [
        f"{facts['data']}: {amount(facts['n_samples'], 'sample')}, "
        f"{amount(len(maps), 'map')} ({', '.join(maps)})."
    ]
    if "listed" in facts:
        lines.append(facts["message"])
        among = "rows with a class"
        if not facts["one_class"]:
            what = "candidates" if facts["form"] == "candidates" else "entries"
            among = f"{what}, in {amount(facts['suspect_samples'], 'sample')}"
        lines.append(
            f"Suspects listed: {facts['listed']} of {facts['given']} {among}; `demurk "
            "clean` gives the reasons."
        )
    lines.append(f"Open {page} in a browser; the picture is beside it.")
    return "\n".join(lines)
