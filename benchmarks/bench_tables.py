"""Reading tables: time beside pandas, and the largest memory."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

from demurk.datasets import read_table


class ReadTable:
    """100,000 rows and 100 columns of CSV, five of them labels."""

    timeout = 120

    def setup_cache(self):
        path = Path(tempfile.mkdtemp()) / "big.csv"
        rng = np.random.default_rng(0)
        frame = pd.DataFrame(rng.normal(size=(100_000, 95)).round(6)).add_prefix("x")
        for j in range(5):
            frame[f"label:{j}"] = rng.integers(0, 2, 100_000)
        frame.to_csv(path, index=False)
        return str(path)

    def time_demurk(self, path):
        read_table(path).features.sum()

    def time_pandas(self, path):
        pd.read_csv(path)

    def peakmem_demurk(self, path):
        read_table(path).features.sum()

    def peakmem_pandas(self, path):
        pd.read_csv(path)
