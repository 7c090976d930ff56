"""LabelAudit against cleanlab, for one class per sample and for several labels."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from importlib import import_module
from importlib.util import find_spec
from itertools import count

from benchmarks.common import CpuBenchmark, best_times, size
from demurk.audit import LabelAudit
from demurk.benchmark import load_protocol
from demurk.benchmark.rivals import CleanlabAudit
from demurk.benchmark.rivals._classes import CleanlabClasses
from demurk.benchmark.tasks import _audit, _wrong_classes

CLASS_SETS = load_protocol("wrong-classes").data_sets
LABEL_SETS = load_protocol("wrong-labels").data_sets
SEEDS = count()


class Classes(CpuBenchmark):
    """One class per sample, a tenth wrong; cleanlab has a forest in folds."""

    params = size(list(CLASS_SETS), ["digits"])
    param_names = ("data set",)

    def setup(self, name):
        load = _wrong_classes._spoiled
        self.X, _, self.given = loaded(load, name, size(2000, 100))

    def track_times_cleanlab(self, name):
        """CPU time of the audit divided by that of one option of cleanlab."""
        return times_cleanlab(cleanlab_classes, self.X, self.given)

    track_times_cleanlab.unit = "ratio"


class Labels(CpuBenchmark):
    """Several labels, a tenth wrong; cleanlab has an out-of-bag forest."""

    params = size(list(LABEL_SETS), ["toy"])
    param_names = ("data set",)

    def setup(self, name):
        self.X, self.given, _ = loaded(_audit._spoiled, name, size(800, 100))

    def track_times_cleanlab(self, name):
        """CPU time of the audit divided by that of cleanlab; the goal is at most 1."""
        return times_cleanlab(cleanlab_labels, self.X, self.given)

    track_times_cleanlab.unit = "ratio"


def loaded(load, name, n_rows):
    """Data with a tenth of the labels wrong, unless asv is to skip them."""
    if find_spec("cleanlab") is None:
        raise NotImplementedError("needs the extra peers")
    try:
        return load(name, 5, "symmetric", 0.1, n_rows)
    except (OSError, ValueError) as error:
        raise NotImplementedError(str(error)) from error


def cleanlab_labels(X, y):
    """Probabilities anew each time: they are kept for other options."""
    CleanlabAudit(random_state=next(SEEDS)).fit(X, y)


def cleanlab_classes(X, y):
    """What a user calls: the protocol's class tries all of cleanlab's options."""
    rank, issues = (import_module(f"cleanlab.{name}") for name in ("rank", "filter"))
    p = CleanlabClasses(random_state=0)._proba(X, y)
    rank.get_label_quality_scores(y, p)
    issues.find_label_issues(y, p, n_jobs=1)


def times_cleanlab(rival, X, given):
    """Both in one run, on one thread."""
    ours, theirs = best_times(
        lambda: LabelAudit(random_state=0).fit(X, given), lambda: rival(X, given)
    )
    return ours / theirs
