"""Serving a review on this machine until somebody stops it."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import secrets
import socket
from contextlib import contextmanager

from demurk.review._app import make_app
from demurk.utils._optional import import_optional

__all__ = ["bound_socket", "serving"]


def bound_socket(host, port):
    """A socket that listens, so that the port is known before the server starts."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except OSError as error:
        listener.close()
        raise ValueError(
            f"Nothing can listen on {host}, port {port} ({error.strerror}); choose "
            "another with --port, or leave it out."
        ) from error
    listener.listen(64)
    return listener


@contextmanager
def serving(session, *, host="127.0.0.1", port=0, token=None, **options):
    """The server of a session, and the address to open.

    Parameters
    ----------
    session : Session
        What is reviewed.
    host, port : str and int
        Where to listen; port 0 takes a free one.
    token : str, default=None
        The secret in the address; None makes one.
    **options
        Further parameters of :func:`make_app`.

    Yields
    ------
    server : uvicorn.Server
        Runs with ``server.run(sockets=[listener])``.
    listener : socket
        The socket.
    address : str
        What to open in a browser.
    """
    uvicorn = import_optional("uvicorn", "review")
    token = token or secrets.token_urlsafe(24)
    with bound_socket(host, port) as listener:
        port = listener.getsockname()[1]
        app = make_app(session, token=token, host=host, port=port, **options)
        config = uvicorn.Config(
            app,
            log_level="warning",
            lifespan="off",
            server_header=False,
            proxy_headers=False,
            timeout_graceful_shutdown=2,
        )
        shown = f"[{host}]" if ":" in host else host
        address = f"http://{shown}:{port}/?token={token}"
        yield uvicorn.Server(config), listener, address
