"""Who may talk to the app: this machine's own browser, with the token, and nobody else.

A page elsewhere can send requests to an address of this machine. It knows no token, its
cookies are not ours (SameSite), its origin gives it away, and a name that was made to
point here (DNS rebinding) stands in the Host header.
"""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import ipaddress
import secrets

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse

__all__ = ["Guard", "check_host", "is_loopback"]

MOST_BYTES = 4_000_000
# Styles may be inline: the library that draws the map makes them. Scripts may not.
HEADERS = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; "
        "img-src 'self' data: blob:; connect-src 'self'; base-uri 'none'; "
        "form-action 'none'; frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cache-control": "no-store",
}


def is_loopback(host):
    """Whether an address is this machine's own, which nobody else can reach."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def check_host(host, allow_remote):
    """Refuse addresses that others can reach, unless that was asked for."""
    if host in ("", "0.0.0.0", "::", "*"):
        raise ValueError(
            f"--host is '{host}', which is every address at once; name the one address "
            "that the others will use."
        )
    if not is_loopback(host) and not allow_remote:
        raise ValueError(
            f"--host {host} can be reached by others, who could read the table and "
            "decide if they learn the link, and whoever listens on the network reads "
            "along; say --allow-remote if that is meant."
        )


class Guard:
    """Middleware that lets in only those who may.

    Parameters
    ----------
    app : ASGI application
        What is guarded.
    token : str
        The secret in the address.
    host : str
        Where the app listens.
    port : int
        On which port.
    """

    def __init__(self, app, token, host, port):
        self.app, self.token = app, token
        self.cookie = f"demurk-{port}"
        names = {host} | ({"127.0.0.1", "localhost"} if is_loopback(host) else set())
        names = {f"[{name}]" if ":" in name else name for name in names}
        self.hosts = {f"{name}:{port}" for name in names}
        self.hosts |= {name for name in names if port == 80}

    async def __call__(self, scope, receive, send):
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self.app(scope, receive, send)
            return

        async def guarded(message):
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        refused = self._refusal(Request(scope))
        await (refused or self.app)(scope, receive, guarded)

    def _refusal(self, request):
        """An answer for those who may not, or None."""
        headers, method = request.headers, request.method
        host = headers.get("host", "")
        if host not in self.hosts:
            return PlainTextResponse("This is not the host you asked for.", 421)
        if method not in ("GET", "POST"):
            return PlainTextResponse("Only GET and POST are known here.", 405)
        origin = headers.get("origin")
        if (origin is not None or method == "POST") and origin != f"http://{host}":
            return PlainTextResponse("Another page may not ask.", 403)
        if headers.get("sec-fetch-site", "none") not in ("none", "same-origin"):
            # A link from elsewhere may open the page, and nothing more.
            if request.url.path != "/":
                return PlainTextResponse("Another page may not ask.", 403)
        if method == "POST":
            return self._token_refusal(request) or _post_refusal(headers)
        given = request.query_params.get("token")
        if request.url.path == "/" and given and self._right(given):
            answer = RedirectResponse("/", 303)
            answer.set_cookie(
                self.cookie, self.token, httponly=True, samesite="strict", path="/"
            )
            return answer
        return self._token_refusal(request)

    def _token_refusal(self, request):
        if self._right(request.cookies.get(self.cookie, "")):
            return None
        return PlainTextResponse(
            "Open the link that the command printed: it holds the token.", 403
        )

    def _right(self, given):
        return secrets.compare_digest(given.encode(), self.token.encode())


def _post_refusal(headers):
    if headers.get("content-type", "").partition(";")[0] != "application/json":
        return PlainTextResponse("Only JSON is taken.", 415)
    length = headers.get("content-length", "")
    if not length.isdigit() or int(length) > MOST_BYTES:
        return PlainTextResponse(f"At most {MOST_BYTES:,} bytes are taken.", 413)
    return None
