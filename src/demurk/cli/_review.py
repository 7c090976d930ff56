"""``demurk review``: a person decides about suspect labels in the browser."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import getpass
import webbrowser
from contextlib import ExitStack, closing
from functools import partial
from pathlib import Path

from scipy.sparse import issparse

from demurk.cli._console import note, say, shown_progress
from demurk.cli._input import read_input, tell
from demurk.cli._output import choose_trees
from demurk.review._store import Store, store_path
from demurk.utils._amounts import amount
from demurk.utils._optional import import_optional

__all__ = ["review_file"]


def review_file(
    source,
    *,
    reviewer=None,
    blind=False,
    noise="auto",
    seed=0,
    host="127.0.0.1",
    port=0,
    allow_remote=False,
    image_root=None,
    show=True,
    **reading,
):
    """Serve the review of a table until it is stopped.

    Parameters
    ----------
    source : str
        The table; it is never changed.
    reviewer : str, default=None
        Who decides; None for the name of the account.
    blind : bool, default=False
        Whether scores and reasons stay hidden.
    noise, seed : str and int
        As in :class:`demurk.audit.LabelAudit`.
    host, port, allow_remote : str, int and bool
        Where to listen, and whether that may be where others can reach it.
    image_root : path-like, default=None
        Folder of the pictures; None for that of the table.
    show : bool, default=True
        Whether to open the browser.
    **reading
        What is read how, as in `read_input`.
    """
    for package in ("starlette", "uvicorn", "bokeh"):
        import_optional(package, "review")
    from demurk.review._guard import check_host
    from demurk.review._server import bound_socket, serving

    check_host(host, allow_remote)
    with bound_socket(host, port):
        pass  # that nobody listens there is said before the audit
    check_file(source)
    table = read_input(source, decided=False, **reading)
    tell(table)
    image_root = Path(source).resolve().parent if image_root is None else image_root
    with ExitStack() as stack:
        # What takes time comes before the audit, so that the first card stands soon.
        world = _world(table, seed)
        session = _session(table, reviewer, blind, noise, seed, stack)
        server, listener, address = stack.enter_context(
            serving(session, host=host, port=port, image_root=image_root, world=world)
        )
        if allow_remote:
            note(
                "Whoever has this link can read the table and decide, and the network "
                "can read along."
            )
        say(f"Decisions go to {session.store.path}, one by one.\nOpen {address}")
        if show:
            webbrowser.open(address)
        server.run(sockets=[listener])


def check_file(source):
    """Decisions lie beside a file, so there must be one."""
    if not Path(source).is_file():
        raise FileNotFoundError(
            f"'{source}' is no file: decisions are kept beside the table, so give the "
            "path of one."
        )


def _session(table, reviewer, blind, noise, seed, stack):
    """Audit what is known by now, and begin."""
    from demurk.review._keys import row_keys
    from demurk.review._ranking import rank_labels
    from demurk.review._rerank import Reranker
    from demurk.review._session import Session
    from demurk.review._standing import decided_labels

    audit = {"noise": noise, "seed": seed}
    if table.labels.kind != "candidates":
        audit["n_estimators"] = choose_trees(int(table.labels.labeled.sum()))
    shown = {"n_jobs": -1, "watch": shown_progress}
    rank = partial(rank_labels, table.features, given=table.labels, **audit, **shown)
    path, ranking = store_path(table.source.path), None
    if not path.exists():
        # A table that cannot be audited leaves no decisions file behind.
        ranking = rank(table.labels)
    store = stack.enter_context(Store(path))
    keys = row_keys(table, store)
    now, settled, used, *_ = decided_labels(table, keys, store.since())
    if used:
        here = amount(len(used), "decision is", "decisions are")
        note(f"{here} here already; the review goes on.")
    if used or ranking is None:
        ranking = rank(now, trusted=settled)
    reranker = stack.enter_context(closing(Reranker(table.features, **audit)))
    return Session(
        table,
        store,
        ranking,
        reviewer=reviewer or getpass.getuser(),
        blind=blind,
        seed=seed,
        keys=keys,
        on_decision=reranker,
    )


def _world(table, seed):
    """A map of the rows, made fast."""
    from demurk.cli._map import plain_map, scaled
    from demurk.review._app import pack_world

    X = table.features
    if X.shape[1] < 3:
        Z = X.toarray() if issparse(X) else X
    else:
        Z = plain_map(scaled(X), seed)
    return pack_world({"PCA": Z}, table.labels)
