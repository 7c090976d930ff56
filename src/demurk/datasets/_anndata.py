"""AnnData files: labels from `obs`, features from `X` or `obsm`, results into `obs`."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import warnings
from contextlib import contextmanager

import numpy as np
from scipy import sparse

from demurk.utils._optional import import_optional
from demurk.utils._text import one_line


@contextmanager
def _quiet():
    """Anndata asks pandas for an option that pandas 3 calls deprecated."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*infer_string.*")
        yield


def read_anndata(path, layer=None):
    """Observations as a frame, features with names, and all that the file holds.

    `layer` is a key of `obsm`; None takes `X`.
    """
    anndata = import_optional("anndata", "anndata")
    try:
        with _quiet():
            data = anndata.read_h5ad(path)
    except Exception as error:  # h5py and anndata raise their own kinds
        raise ValueError(
            f"{path} cannot be read as an .h5ad file ({one_line(error)}); write it "
            "anew."
        ) from error
    frame = data.obs.copy()
    frame.columns = [str(name) for name in frame.columns]
    if layer is None:
        features, names = data.X, [str(name) for name in data.var_names]
    elif layer in data.obsm:
        features = np.asarray(data.obsm[layer], dtype=np.float64)
        names = [f"{layer}_{j}" for j in range(features.shape[1])]
    else:
        raise ValueError(
            f"{path} has no '{layer}' in obsm; --features takes one of "
            f"{', '.join(data.obsm) or 'none, so leave it out'}."
        )
    if features is None:
        raise ValueError(
            f"{path} has no X; name a part of obsm with --features, one of "
            f"{', '.join(data.obsm)}."
        )
    if sparse.issparse(features):
        features = sparse.csr_array(features, dtype=np.float64)
    else:
        features = np.asarray(features, dtype=np.float64)
    return frame, (features, names), data


def write_anndata(table, path):
    """Write the file that was read with the columns of the table as its `obs`."""
    pd = import_optional("pandas", "tables")
    anndata = import_optional("anndata", "anndata")
    frame = table.frame.copy()
    # Text of pandas 3 is a type that older programs cannot read from the file.
    for name in frame.columns:
        if frame[name].dtype.name in ("str", "string", "object"):
            cells = frame[name].astype(object)
            gone = cells.isna().to_numpy()
            frame[name] = pd.Categorical(cells.where(~gone, None))
            plain = frame[name].cat.categories.astype(object)
            frame[name] = frame[name].cat.rename_categories(plain)
    frame.index = pd.Index([str(name) for name in frame.index], dtype=object)
    with _quiet(), anndata.settings.override(allow_write_nullable_strings=True):
        if table.source.format == "anndata":
            data = table.source.extra.copy()
        else:
            data = anndata.AnnData(X=table.features)
            data.var_names = pd.Index(map(str, table.feature_names), dtype=object)
        data.obs = frame
        data.var_names = pd.Index([str(n) for n in data.var_names], dtype=object)
        data.write_h5ad(path)
