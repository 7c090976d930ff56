"""Data sets whose features are numbers already, as tables."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import numpy as np

from demurk.datasets._table import Table
from demurk.datasets._table_form import LabelForm
from demurk.datasets._table_source import Source
from demurk.utils._optional import import_optional

__all__ = ["table_from_bunch"]


def table_from_bunch(bunch, path=None):
    """The table of a data set whose features are numbers already."""
    pd = import_optional("pandas", "tables")
    target, names = bunch.target, [str(name) for name in bunch.target_names]
    if bunch.get("candidates") is not None:
        sets = [
            "|".join(np.array(names)[row > 0]) if (row >= 0).all() else ""
            for row in np.asarray(bunch.candidates)
        ]
        frame = pd.DataFrame({"class": sets})
        form = LabelForm("candidates", ("class",), "|")
    elif target.ndim == 1:
        words = np.array([*names, ""], dtype=object)
        frame = pd.DataFrame({"class": words[target]})
        form = LabelForm("class", ("class",))
    else:
        columns = [f"label:{name}" for name in names]
        frame = pd.DataFrame(target, columns=columns)
        form = LabelForm("labels", tuple(columns))
    source = Source(str(path or bunch.name), "bunch")
    return Table(
        frame, form=form, given=(bunch.data, bunch.feature_names), source=source
    )
