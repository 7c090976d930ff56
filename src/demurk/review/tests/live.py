"""A server of the review in a thread, for tests that talk to it."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import threading
import time
from contextlib import contextmanager

import numpy as np

from demurk.review._app import pack_world
from demurk.review._server import serving


@contextmanager
def live(session, **options):
    """Serve a session; gives the address with its token."""
    X = session.table.features
    world = pack_world({"map": np.asarray(X[:, :2])}, session.labels)
    with serving(session, world=world, **options) as (server, listener, address):
        thread = threading.Thread(
            target=server.run, kwargs={"sockets": [listener]}, daemon=True
        )
        thread.start()
        while not server.started:
            time.sleep(0.01)
        try:
            yield address
        finally:
            server.should_exit = True
            thread.join(10)
