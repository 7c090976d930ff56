"""LabelAudit for one class per sample against cleanlab with a forest in folds."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import time
from importlib.util import find_spec

from benchmarks.common import CpuBenchmark, size
from demurk.audit import LabelAudit
from demurk.benchmark import load_protocol
from demurk.benchmark.rivals._classes import CleanlabClasses
from demurk.benchmark.tasks._wrong_classes import _spoiled

SETS = load_protocol("wrong-classes").data_sets


class Classes(CpuBenchmark):
    """A tenth of the classes replaced by any other; both in one run, one thread."""

    params = size(list(SETS), ["digits"])
    param_names = ("data set",)

    def setup(self, name):
        if find_spec("cleanlab") is None:
            raise NotImplementedError("needs the extra peers")  # asv skips it
        try:
            rows = _spoiled(name, 5, "symmetric", 0.1, size(2000, 100))
        except (OSError, ValueError) as error:
            raise NotImplementedError(str(error)) from error  # asv skips it
        self.X, _, self.given = rows

    def track_times_cleanlab(self, name):
        """CPU time of the audit divided by that of cleanlab."""
        seconds = []
        for model in (LabelAudit(random_state=0), CleanlabClasses(random_state=0)):
            start = time.process_time()
            model.fit(self.X, self.given)
            seconds.append(time.process_time() - start)
        return seconds[0] / seconds[1]

    track_times_cleanlab.unit = "ratio"
