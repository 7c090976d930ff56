"""Ranking anew in the background, in a process of its own that steps aside for others.

    python -m demurk.review._rerank FOLDER

reads features, labels and what is settled from the folder and writes the order there.
"""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import json
import os
import subprocess
import sys
import tempfile
import threading
from contextlib import suppress
from pathlib import Path

import numpy as np
from scipy import sparse

from demurk.labels import LabelData
from demurk.review._ranking import Ranking, rank_labels

__all__ = ["Reranker"]

EVERY = 20
NICE = 10
ARRAYS = ("order", "wrong", "suggested", "chance", "unlikely")


class Reranker:
    """Ranks anew after every twenty decisions.

    Parameters
    ----------
    features : {ndarray, sparse matrix} of shape (n_rows, n_features)
        Features; written once to a folder that goes away at the end.
    noise : str, default="auto"
        What may be wrong.
    seed : int, default=0
        Seed of the audit.
    n_estimators : int, default=None
        Trees of a forest; None leaves that to the audit.
    every : int, default=20
        After how many decisions.

    Notes
    -----
    A forest in a thread of the server would hold up its answers; a process of lower
    priority does not, and if it crashes nothing is lost: the old order stays.
    """

    def __init__(
        self, features, *, noise="auto", seed=0, n_estimators=None, every=EVERY
    ):
        self._folder = tempfile.TemporaryDirectory(prefix="demurk-review-")
        self.folder = Path(self._folder.name)
        if sparse.issparse(features):
            sparse.save_npz(self.folder / "features.npz", features.tocsr())
        else:
            np.save(self.folder / "features.npy", features)
        self.settings = {"noise": noise, "seed": seed, "n_estimators": n_estimators}
        self.every, self._waiting = every, 0
        self._lock, self._process, self._thread = threading.Lock(), None, None
        self.failures = 0

    def __call__(self, session):
        """Hear of a decision; begins to rank when it is time."""
        with self._lock:
            self._waiting += 1
            running = self._thread is not None and self._thread.is_alive()
            if self._waiting < self.every or running:
                return
            self._waiting = 0
            self._write(session)
            self._process = subprocess.Popen(
                [sys.executable, "-m", "demurk.review._rerank", str(self.folder)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env=os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
            )
            self._thread = threading.Thread(
                target=self._finish, args=(session, self._process), daemon=True
            )
            self._thread.start()

    def _write(self, session):
        given = session.questions.given_values()
        known = {"values": session.values, "trusted": session.trusted}
        np.savez(self.folder / "labels.npz", given=given, **known)
        kind = {"kind": session.labels.kind, "single": bool(session.labels.single)}
        (self.folder / "settings.json").write_text(json.dumps(self.settings | kind))

    def _finish(self, session, process):
        done = process.wait() == 0
        with suppress(OSError, ValueError):
            if done:
                session.take_ranking(_load(self.folder))
                return
        self.failures += 1

    def wait(self, seconds=60):
        """Wait until no ranking is under way."""
        if self._thread is not None:
            self._thread.join(seconds)

    def close(self):
        """End what is under way and remove the folder."""
        with self._lock:
            if self._process is not None and self._process.poll() is None:
                self._process.kill()
                self._process.wait()
        self.wait()
        self._folder.cleanup()


def _load(folder):
    with np.load(folder / "ranking.npz") as found:
        return Ranking(**{name: found[name] for name in ARRAYS if name in found})


def _labels(values, kind, single):
    names = np.arange(values.shape[1])
    return LabelData((values > 0).astype(float), values >= 0, names, kind, single)


def main(folder):
    """Rank what lies in a folder."""
    with suppress(AttributeError, OSError):
        os.nice(NICE)
    folder = Path(folder)
    settings = json.loads((folder / "settings.json").read_text())
    kind, single = settings.pop("kind"), settings.pop("single")
    if (folder / "features.npz").exists():
        X = sparse.load_npz(folder / "features.npz")
    else:
        X = np.load(folder / "features.npy", mmap_mode="r")
    with np.load(folder / "labels.npz") as found:
        now, given = (
            _labels(found[name], kind, single) for name in ("values", "given")
        )
        trusted = found["trusted"]
    made = rank_labels(X, now, trusted=trusted, given=given, **settings)
    arrays = {name: getattr(made, name) for name in ARRAYS}
    np.savez(folder / "new.npz", **{k: v for k, v in arrays.items() if v is not None})
    os.replace(folder / "new.npz", folder / "ranking.npz")


if __name__ == "__main__":
    main(sys.argv[1])
