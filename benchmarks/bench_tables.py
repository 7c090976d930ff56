"""Reading tables: time beside pandas, and the largest memory."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.common import size
from demurk.datasets import read_table


class ReadTable:
    """100,000 rows and 100 columns of CSV, five of them labels."""

    timeout = 120

    def setup(self):
        self.folder = tempfile.TemporaryDirectory()
        self.path = str(Path(self.folder.name) / "big.csv")
        n_rows, rng = size(100_000, 100), np.random.default_rng(0)
        frame = pd.DataFrame(rng.normal(size=(n_rows, 95)).round(6)).add_prefix("x")
        for j in range(5):
            frame[f"label:{j}"] = rng.integers(0, 2, n_rows)
        frame.to_csv(self.path, index=False)

    def teardown(self):
        self.folder.cleanup()

    def time_demurk(self):
        read_table(self.path).features.sum()

    def time_pandas(self):
        pd.read_csv(self.path)

    def peakmem_demurk(self):
        read_table(self.path).features.sum()

    def peakmem_pandas(self):
        pd.read_csv(self.path)
