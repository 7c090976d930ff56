"""Data: generators, readers for common file formats, and known data sets."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from demurk.datasets._arff import read_arff
from demurk.datasets._arrays import read_libsvm, read_npz
from demurk.datasets._catalogue import list_datasets
from demurk.datasets._generators import make_multilabel_blocks
from demurk.datasets._health import make_health_records, paper_rules
from demurk.datasets._load import load_dataset
from demurk.datasets._manifold_generators import make_clusdat, make_torus
from demurk.datasets._mat import read_mat
from demurk.datasets._read import read_dataset
from demurk.datasets._table import Table
from demurk.datasets._table_features import Column, TableFeatures, table_features
from demurk.datasets._table_form import LabelForm
from demurk.datasets._table_read import read_table

__all__ = [
    "Column",
    "LabelForm",
    "Table",
    "TableFeatures",
    "list_datasets",
    "load_dataset",
    "make_clusdat",
    "make_health_records",
    "make_multilabel_blocks",
    "make_torus",
    "paper_rules",
    "read_arff",
    "read_dataset",
    "read_libsvm",
    "read_mat",
    "read_npz",
    "read_table",
    "table_features",
]
