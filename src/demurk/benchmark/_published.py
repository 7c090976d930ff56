"""The papers' printed numbers."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import json
from importlib.resources import files

__all__ = ["published_results"]


def published_results(paper):
    """Numbers printed in a paper, as data.

    Parameters
    ----------
    paper : {"cenda", "nmlsdr", "pml_lcom"}
        Short name of the paper.

    Returns
    -------
    results : dict
        Its tables; the key "source" names the paper.

    Examples
    --------
    >>> from demurk.benchmark import published_results
    >>> published_results("nmlsdr")["table_1"]["values"]["NMLSDR"][0]
    0.913
    """
    folder = files("demurk.benchmark") / "published"
    known = sorted(p.name.removesuffix(".json") for p in folder.iterdir())
    if paper not in known:
        raise ValueError(
            f"There are no published numbers for '{paper}': choose one of "
            f"{', '.join(known)}."
        )
    return json.loads((folder / f"{paper}.json").read_text(encoding="utf-8"))
