"""How long the review keeps its person waiting, on a large table.

    python benchmarks/review_latency.py --rows 100000 --seconds 60

A server in a process of its own, ten decisions a second, while the suspects are ranked
anew in the background all the time. Prints the seconds until the first card after the
audit, and the median and 99th percentile of the time until a decision is answered.
"""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import argparse
import os
import signal
import tempfile
import threading
import time
from contextlib import closing
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import numpy as np
import pandas as pd

from demurk.datasets import Table
from demurk.review._keys import row_keys
from demurk.review._ranking import Ranking
from demurk.review._rerank import Reranker
from demurk.review._server import serving
from demurk.review._session import Session
from demurk.review._store import Store

__all__ = ["measure"]

TOKEN = "bench"
N_FEATURES, N_LABELS = 50, 20


def large_table(n_rows, seed=0):
    """A table with 50 features and 20 labels, a tenth of them wrong."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, N_FEATURES)).round(4)
    truth = X[:, :N_LABELS] + 0.3 * rng.normal(size=(n_rows, N_LABELS)) > 0.5
    labels = truth ^ (rng.random(truth.shape) < 0.1)
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(N_FEATURES)])
    names = [f"label:{j}" for j in range(N_LABELS)]
    return Table(frame.join(pd.DataFrame(labels.astype(int), columns=names)))


def serve(table, folder, tell):
    """Run the server; says when the audit would be done, and the address."""
    store = Store(folder / "table.review.sqlite")
    keys = row_keys(table, store)
    rng = np.random.default_rng(0)
    wrong = rng.random(table.labels.values.size)
    ranking = Ranking(np.argsort(-wrong), wrong)
    with closing(Reranker(table.features)) as reranker:
        begun = time.time()
        session = Session(table, store, ranking, keys=keys, on_decision=reranker)
        with serving(session, token=TOKEN) as (server, listener, address):
            os.write(tell, f"{begun} {address}".encode())
            server.run(sockets=[listener])


def measure(n_rows, seconds, per_second=10):
    """Measure; returns a dict of figures."""
    table = large_table(n_rows)
    # Read before the audit, like the names of the rows.
    assert table.features.shape == (n_rows, N_FEATURES)
    with tempfile.TemporaryDirectory() as place:
        heard, tell = os.pipe()
        pid = os.fork()
        if pid == 0:
            try:
                serve(table, Path(place), tell)
            finally:
                os._exit(1)
        begun, address = os.read(heard, 1000).decode().split(" ", 1)
        try:
            return _ask(address, float(begun), seconds, per_second)
        finally:
            os.kill(pid, signal.SIGINT)
            os.waitpid(pid, 0)


def _ask(address, begun, seconds, per_second):
    parts = urlsplit(address)
    home = f"http://{parts.netloc}"
    with httpx.Client(base_url=home, trust_env=False, timeout=60) as http:
        cookie = f"demurk-{parts.netloc.rpartition(':')[2]}"
        http.cookies.set(cookie, TOKEN, domain="127.0.0.1")
        card = http.get("/api/card").json()["card"]
        first = time.time() - begun
        spent, end = [], time.perf_counter() + seconds
        threading.Thread(target=_watch, args=(http, end), daemon=True).start()
        while time.perf_counter() < end:
            body = {"answers": [{"question": card["question"], "action": "accept"}]}
            asked = time.perf_counter()
            answer = http.post("/api/decide", json=body, headers={"origin": home})
            spent.append(time.perf_counter() - asked)
            card = answer.json()["card"]
            time.sleep(max(0.0, asked + 1 / per_second - time.perf_counter()))
        version = http.get("/api/state").json()["version"]
    median, late = np.percentile(spent, [50, 99]) * 1000
    return {
        "first card, s": round(first, 2),
        "decisions": len(spent),
        "median, ms": round(median, 1),
        "99th percentile, ms": round(late, 1),
        "ranked anew": version,
    }


def _watch(http, end):
    """Ask how far one has come, all the time, as the page does."""
    while time.perf_counter() < end:
        http.get("/api/state").raise_for_status()
        time.sleep(0.05)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--seconds", type=float, default=60)
    options = parser.parse_args()
    for name, value in measure(options.rows, options.seconds).items():
        print(f"{name}: {value}")
