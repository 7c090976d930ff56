"""Kill the server of a review while decisions come in, and look what is there.

    python tests/kill/review.py --kills 100 --seed 1

Two reviewers decide at once, each with a server of their own on the same decisions.
One server is killed (SIGKILL) at a random moment; between two kills the table is
shuffled, and rows are added and removed. Every decision that was acknowledged must be
there afterwards, about the same row, and the review must go on at the right card.
Linux and macOS.
"""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import argparse
import os
import random
import signal
import sys
import tempfile
import time
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pandas as pd

from demurk.datasets import read_table
from demurk.review._server import serving
from demurk.review._session import Session
from demurk.review._store import SETTLED, Store, store_path
from demurk.review.tests.cases import NAMES, emotions_file, known_ranking

__all__ = ["run_kills"]

REVIEWERS = ("anna", "bert")
LONGEST = 1.5
TOKEN = "kill"


def run_kills(kills, seed, folder, say=print):
    """Kill a server so many times; returns a list of what went wrong."""
    rng = random.Random(seed)
    case = _Case(Path(folder))
    wrong = []
    for turn in range(kills):
        case.edit(rng)
        case.turn(rng)
        wrong += [f"kill {turn + 1}: {problem}" for problem in case.problems()]
        if (turn + 1) % 10 == 0 or turn + 1 == kills:
            known = f"{len(case.acknowledged):,} decisions acknowledged"
            say(f"{turn + 1} kills, {known}, {case.cut} cut off, {len(wrong)} wrong")
    return wrong


class _Case:
    def __init__(self, folder):
        self.path, errors = emotions_file(folder, n_rows=1600, unlabelled=0)
        frame = pd.read_csv(self.path)
        self.errors = dict(zip(frame["id"], errors))
        self.spare = frame[1500:]
        frame[:1500].to_csv(self.path, index=False)
        self.acknowledged, self.cut = {}, 0

    def edit(self, rng):
        """Shuffle the table; a row goes and another comes."""
        frame = pd.read_csv(self.path).sample(frac=1, random_state=rng.randrange(9999))
        gone, frame = frame[:1], frame[1:]
        frame = pd.concat([frame, self.spare[:1]])
        self.spare = pd.concat([self.spare[1:], gone])
        frame.to_csv(self.path, index=False)

    def session(self, reviewer):
        table = read_table(self.path)
        errors = pd.DataFrame([self.errors[i] for i in table.frame["id"]]).to_numpy()
        store = Store(store_path(self.path))
        return Session(table, store, known_ranking(table, errors), reviewer=reviewer)

    def turn(self, rng):
        """Both decide until one server is killed."""
        servers = [self._serve(reviewer) for reviewer in REVIEWERS]
        clients = [_Client(address) for _, address in servers]
        victim = rng.randrange(2)
        killer = _kill_later(servers[victim][0], rng.uniform(0, LONGEST))
        try:
            alive = True
            while alive:
                for place, client in enumerate(clients):
                    alive = self._decide(client, place, rng) and alive
        finally:
            os.waitpid(killer, 0)
            for pid, _ in servers:
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)

    def _decide(self, client, place, rng):
        """One decision; False if the server has gone."""
        action = rng.choice(["accept", "keep"])
        try:
            card = client.card or client.get("/api/card")["card"]
            if card is None:
                return True  # all is decided
            body = {"answers": [{"question": card["question"], "action": action}]}
            answer = client.post("/api/decide", body)
        except httpx.TransportError:
            self.cut += 1
            return False
        client.card = answer["card"]
        has = card["column"] in card["labels"]
        decided = str(int(has != (action == "accept")))
        label = NAMES[card["column"]]
        row = (REVIEWERS[place], card["title"], label, decided)
        self.acknowledged[answer["batch"]] = row
        return True

    def _serve(self, reviewer):
        """A server in a process of its own; its number and address."""
        heard, tell = os.pipe()
        pid = os.fork()
        if pid == 0:
            try:
                os.close(heard)
                with serving(self.session(reviewer), token=TOKEN) as made:
                    server, listener, address = made
                    os.write(tell, address.encode())
                    os.close(tell)
                    server.run(sockets=[listener])
            finally:
                os._exit(1)
        os.close(tell)
        address = os.read(heard, 1000).decode()
        os.close(heard)
        return pid, address

    def problems(self):
        """What is not as it must be."""
        with Store(store_path(self.path)) as store:
            found = store.since()
        there = {d.batch: (d.reviewer, d.key, d.label, d.decided) for d in found}
        for batch, row in self.acknowledged.items():
            if there.get(batch) != row:
                yield f"{row} was acknowledged, but {there.get(batch)} is there"
        session = self.session("carl")
        settled = {(d.key, d.label) for d in found if d.action in SETTLED}
        frame = pd.read_csv(self.path)
        for question in session.ranking.order.tolist():
            row, column = divmod(question, len(NAMES))
            if (frame["id"][row], NAMES[column]) not in settled:
                break
        else:
            question = None
        if session.next()[0] != question:
            yield f"the review goes on at {session.next()[0]}, not at {question}"
        session.store.close()


class _Client:
    def __init__(self, address):
        parts = urlsplit(address)
        self.home, self.card = f"http://{parts.netloc}", None
        self._http = httpx.Client(base_url=self.home, trust_env=False, timeout=30)
        port = parts.netloc.rpartition(":")[2]
        self._http.cookies.set(f"demurk-{port}", TOKEN, domain="127.0.0.1")

    def get(self, path):
        return self._http.get(path).raise_for_status().json()

    def post(self, path, body):
        answer = self._http.post(path, json=body, headers={"origin": self.home})
        return answer.raise_for_status().json()


def _kill_later(victim, seconds):
    pid = os.fork()
    if pid == 0:
        time.sleep(seconds)
        os.kill(victim, signal.SIGKILL)
        os._exit(0)
    return pid


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        mistakes = run_kills(options.kills, options.seed, place)
    print("\n".join(mistakes) or "Nothing was lost.")
    sys.exit(bool(mistakes))
