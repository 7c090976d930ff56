"""
Compare a method of your own
============================

A protocol of the benchmark says which data, which noise, which methods and which
measures. Here the protocol of NMLSDR's table 1, on small data, is joined by a method
that is not in it: PCA, which knows nothing of labels. The second part asks of the
paper's own printed table whether the differences in it are more than luck.
"""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

# %%
# A protocol and one more method
# ------------------------------
#
# On the command line this is a file of four lines, see :ref:`benchmark`. A method is
# named by where it can be imported from.

import tempfile
from dataclasses import replace

import matplotlib.pyplot as plt
import numpy as np

from demurk.benchmark import ResultStore, load_protocol, published_results, run_protocol
from demurk.benchmark.report import plot_critical_difference, plot_mean_scores
from demurk.benchmark.statistics import friedman_test, nemenyi_difference

protocol = load_protocol("nmlsdr-table1", quick=True)
protocol = protocol.select(
    methods=["MDDMp", "MVMD", "NMLSDR", "Random forest"], seeds=5
)
mine = {"estimator": "sklearn.decomposition.PCA", "params": {"n_components": 3}}
protocol = replace(protocol, methods={"PCA": mine, **protocol.methods})

with tempfile.TemporaryDirectory() as folder:
    with ResultStore(f"{folder}/results.sqlite") as store:
        summary = run_protocol(protocol, store)
        rows = store.rows()
print(f"{summary.done} tasks done, {summary.failed} failed")

# %%
# What came out
# -------------
#
# Every finished task is a row with its measures, its time and its memory.

methods, measures = list(protocol.methods), ["HL'", "RL'", "AP", "MiF1"]
means = [
    [
        np.mean([r["values"][measure] for r in rows if r["method"] == method])
        for measure in measures
    ]
    for method in methods
]
plt.figure(plot_mean_scores(means, methods, measures, highlight="PCA"))

# %%
# More than luck?
# ---------------
#
# Average precision of ten methods on ten sets, as printed in the NMLSDR paper. Methods
# joined by a bar do not differ significantly in their average ranks: the table is too
# small to tell the first three from each other.

paper = published_results("nmlsdr")
scores = np.array(list(paper["tables_3_to_9"]["AP"].values()))
test = friedman_test(scores)
difference = nemenyi_difference(scores.shape[1], test.n_data_sets)
plt.figure(plot_critical_difference(test.average_ranks, paper["methods"], difference))
