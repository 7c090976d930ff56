"""The app: a few addresses, each one thing that the page asks for."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import asyncio
import html
import json
import sqlite3
from functools import partial
from importlib.resources import files

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.responses import FileResponse, HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from demurk.datasets._table_labels import as_entries
from demurk.review._guard import Guard
from demurk.review._images import TYPES, find_image
from demurk.review._questions import KINDS, Filter
from demurk.review._session import QUEUES
from demurk.review._store import ACTIONS
from demurk.utils._nesting import parse_text
from demurk.utils._optional import import_optional
from demurk.viz._page import page_data, plot_item
from demurk.viz._report import web_text

__all__ = ["make_app", "pack_world"]

SCRIPTS = ("samples.js", "list.js", "map.js", "card.js")
OWN_SCRIPTS = ("world.js", "review.js", "panels.js", "keys.js")
MOST_NOTE = 10_000


def make_app(session, *, token, host="127.0.0.1", port=0, image_root=".", world=None):
    """The ASGI application of a review.

    Parameters
    ----------
    session : Session
        What is reviewed.
    token : str
        The secret in the address.
    host, port : str and int
        Where it listens; requests for other hosts are refused.
    image_root : path-like, default="."
        Pictures are served from below this folder only.
    world : dict, default=None
        The map as :func:`pack_world` packs it; None for no map.

    Returns
    -------
    app : ASGI application
        The app, guarded.
    """
    desk = _Desk(session, image_root, world)
    routes = [
        Route("/", desk.page),
        Route("/web/{name}", desk.web),
        Route("/api/start", _read(desk.start)),
        Route("/api/card", _read(desk.card)),
        Route("/api/list", _read(desk.list)),
        Route("/api/state", _read(desk.state)),
        Route("/api/map", _read(desk.map)),
        Route("/api/decide", _write(desk.decide), methods=["POST"]),
        Route("/api/undo", _write(desk.undo), methods=["POST"]),
        Route("/api/lasso", _write(desk.lasso), methods=["POST"]),
        Route("/image/{row:int}/{column:int}", desk.image),
    ]
    return Guard(Starlette(routes=routes), token, host, port)


def pack_world(maps, labels):
    """The map of a table, as its page unpacks it.

    Parameters
    ----------
    maps : dict of str to ndarray of shape (n_rows, 2)
        The map of the rows, by its name.
    labels : LabelData
        Labels as they were given.

    Returns
    -------
    world : dict
        Ready for JSON.
    """
    given = as_entries(labels)
    names = [str(name) for name in labels.classes]
    return {"data": page_data(maps, given, names=names), "plot": plot_item(len(given))}


def _read(answer):
    async def endpoint(request):
        return await _answered(answer, dict(request.query_params))

    return endpoint


def _write(answer):
    async def endpoint(request):
        try:
            asked = parse_text((await request.body()).decode(), "json")
        except ValueError:
            asked = None
        if not isinstance(asked, dict):
            return JSONResponse({"error": "Send a JSON object."}, 400)
        return await _answered(answer, asked)

    return endpoint


async def _answered(answer, asked):
    try:
        # Once begun it is ended, also if the browser has gone.
        made = await asyncio.shield(run_in_threadpool(answer, asked))
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        return JSONResponse({"error": str(error)[:500]}, 400)
    except (sqlite3.Error, OSError) as error:
        # A full disk, or a file that somebody else holds: nothing was written.
        return JSONResponse({"error": f"Nothing could be written: {error}"}, 503)
    # Half a letter has no place in UTF-8; its number has.
    return Response(json.dumps(made), media_type="application/json")


class _Desk:
    """What each address answers; methods run in threads."""

    def __init__(self, session, image_root, world):
        self.session, self.image_root, self.world = session, image_root, world
        self._files = _web_files(session)

    async def page(self, request):
        return HTMLResponse(self._files["review.html"][0])

    async def web(self, request):
        name = request.path_params["name"]
        if name not in self._files or name == "review.html":
            return Response("Not found.", 404)
        content, kind = self._files[name]
        return Response(content, media_type=kind)

    async def image(self, request):
        row, column = (request.path_params[key] for key in ("row", "column"))
        images = list(self.session.cards.images.values())
        if column >= len(images) or row >= len(images[column]):
            return Response("Not found.", 404)
        path = find_image(images[column][row], self.image_root)
        if path is None:
            return Response("Not found.", 404)
        return FileResponse(path, media_type=TYPES[path.suffix.lower()])

    # Reading

    def start(self, asked):
        session = self.session
        return {
            "name": session.table.name,
            "source": str(session.table.source.path),
            "reviewer": session.reviewer,
            "blind": session.blind,
            "form": session.questions.form,
            "names": session.questions.names,
            "rows": len(session.table),
            "map": self.world is not None,
            "state": self.state(asked),
        }

    def state(self, asked):
        self.session.refresh()
        return self.session.state()

    def map(self, asked):
        return self.world

    def card(self, asked):
        """One card: that of a question, or the next one."""
        self.session.refresh()
        if "question" in asked:
            question = int(asked["question"])
            self.session.questions.check([question])
            return {"card": self.session.card(question)}
        return self._next(asked)

    def _next(self, asked):
        after = asked.get("after")
        after = int(after) if after not in (None, "") else None
        queue, chosen = _queue(asked), _filter(asked)
        question, random = self.session.next(queue, chosen, after)
        if question is None:
            return {"card": None}
        return {"card": self.session.card(question, random)}

    def list(self, asked):
        self.session.refresh()
        found = self.session.listed(_queue(asked), _filter(asked))
        return {"items": [self.session.item(question) for question in found]}

    # Writing

    def decide(self, asked):
        """Write what one key said, and give the next card."""
        answers = [
            (
                each["question"],
                _one_of(ACTIONS, "action", each.get("action")),
                each.get("decided"),
            )
            for each in asked["answers"]
        ]
        if not answers:
            raise ValueError("There is nothing to decide.")
        batch = self.session.decide(
            answers,
            card=asked.get("card"),
            random=asked.get("random", False),
            queue=_queue(asked),
            note=str(asked.get("note", ""))[:MOST_NOTE],
        )
        return {"batch": batch, **self._next(asked)}

    def undo(self, asked):
        question = self.session.undo()
        if question is None:
            return {"undone": False}
        return {"undone": True, "card": self.session.card(question)}

    def lasso(self, asked):
        return {"name": self.session.rows.lasso(asked["rows"])}


def _queue(asked):
    return _one_of(QUEUES, "queue", asked.get("queue", "suspects"))


def _one_of(known, name, said):
    if said not in known:
        raise ValueError(f"{name} is one of {', '.join(known)}.")
    return said


def _filter(asked):
    parts = {
        key: str(asked.get(key, "")) for key in ("label", "kind", "search", "lasso")
    }
    if parts["kind"] not in KINDS:
        raise ValueError("kind is given, missing or empty.")
    return Filter(**parts)


def _web_files(session):
    """Everything the page is made of, by name."""
    own = partial(web_text, package="demurk.review")
    title = html.escape(f"{session.table.name}: review")
    page = own("review.html").replace("{{title}}", title)
    script = f"{web_text(*SCRIPTS)}\n{own(*OWN_SCRIPTS)}"
    style = f"{web_text('page.css')}\n{own('review.css')}"
    return {
        "review.html": (page, "text/html"),
        "review.js": (script, "text/javascript"),
        "review.css": (style, "text/css"),
        **_plot_library(),
    }


def _plot_library():
    """The library that draws the map, from its own package; nothing is fetched."""
    static = files(import_optional("bokeh", "viz")) / "server" / "static" / "js"
    names = {"plot.js": "bokeh.min.js", "plot-gl.js": "bokeh-gl.min.js"}
    return {
        name: ((static / file).read_text("utf-8"), "text/javascript")
        for name, file in names.items()
    }
