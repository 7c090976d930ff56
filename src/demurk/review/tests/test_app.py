"""Who may ask, what is served, and what hostile input does: nothing."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import json
from urllib.parse import urlsplit

import numpy as np
import pandas as pd
import pytest

from demurk.cli import main
from demurk.datasets import read_table
from demurk.review._guard import check_host
from demurk.review._images import find_image
from demurk.review._session import Session
from demurk.review._store import Store, store_path
from demurk.review.tests.cases import emotions_file, known_ranking, open_session
from demurk.review.tests.live import live
from demurk.viz.tests.browser import open_browser

httpx = pytest.importorskip("httpx")
pytest.importorskip("uvicorn")


class Client:
    """A browser's requests, made by hand."""

    def __init__(self, address):
        parts = urlsplit(address)
        self.home, self.token = f"http://{parts.netloc}", parts.query[6:]
        self.plain = httpx.Client(base_url=self.home, trust_env=False)
        self.http = httpx.Client(base_url=self.home, trust_env=False)
        self.http.get("/", params={"token": self.token})

    def post(self, path, body, **headers):
        headers = {"origin": self.home} | headers
        return self.http.post(path, json=body, headers=headers)


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    path, wrong = emotions_file(tmp_path_factory.mktemp("served"))
    session = open_session(path, wrong, reviewer="anna")
    with live(session) as address:
        yield session, Client(address)
    session.store.close()


PATHS = ("/", "/web/review.js", "/api/start", "/api/card", "/api/map", "/image/0/0")


@pytest.mark.parametrize("path", PATHS)
def test_without_the_token_nothing_is_told(served, path):
    _, client = served
    for cookie in ({}, {client_cookie(client): "guess"}):
        answer = httpx.get(client.home + path, cookies=cookie, trust_env=False)
        assert answer.status_code == 403 and "song" not in answer.text
    assert client.plain.get("/", params={"token": "guess"}).status_code == 403


def client_cookie(client):
    return f"demurk-{client.home.rpartition(':')[2]}"


def test_the_token_becomes_a_strict_cookie(served):
    _, client = served
    answer = client.plain.get("/", params={"token": client.token})
    assert answer.status_code == 303 and answer.headers["location"] == "/"
    cookie = answer.headers["set-cookie"].lower()
    assert "httponly" in cookie and "samesite=strict" in cookie
    client.plain.cookies.clear()


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1", "localhost.evil:80", ""])
def test_another_host_is_refused(served, host):
    _, client = served
    answer = client.http.get("/api/start", headers={"host": host})
    assert answer.status_code == 421
    assert client.http.get("/api/start").status_code == 200


def test_another_origin_is_refused_and_writes_nothing(served):
    session, client = served
    question, _ = session.next()
    body = {"answers": [{"question": question, "action": "accept"}]}
    before = len(session.store.since())
    for origin in ("http://evil.example", "null", client.home.replace("http", "https")):
        assert client.post("/api/decide", body, origin=origin).status_code == 403
    bare = client.http.post("/api/decide", json=body)
    assert bare.status_code == 403
    crossed = client.post("/api/decide", body, **{"sec-fetch-site": "cross-site"})
    assert crossed.status_code == 403
    form = client.http.post(
        "/api/decide",
        content=json.dumps(body),
        headers={"origin": client.home, "content-type": "text/plain"},
    )
    assert form.status_code == 415
    assert client.http.put("/api/decide", json=body).status_code == 405
    assert len(session.store.since()) == before
    assert client.post("/api/decide", body).status_code == 200
    assert len(session.store.since()) == before + 1


def test_the_policy_allows_no_inline_script(served):
    _, client = served
    for path in PATHS[:4]:
        headers = client.http.get(path).headers
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy and "script-src 'self';" in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["cache-control"] == "no-store"
    page = client.http.get("/").text
    assert page.count("<script") == page.count("<script src=") + page.count(
        '<script type="module" src='
    )


BAD = [
    {},
    {"answers": []},
    {"answers": 3},
    {"answers": ["a"]},
    {"answers": [{"question": 0}]},
    {"answers": [{"question": 0, "action": "explode"}]},
    {"answers": [{"question": "0", "action": "keep"}]},
    {"answers": [{"question": True, "action": "keep"}]},
    {"answers": [{"question": 10**9, "action": "keep"}]},
    {"answers": [{"question": 0, "action": "choose", "decided": "2"}]},
    {"answers": [{"question": 0, "action": "choose", "decided": [1]}]},
    {"answers": [{"question": 0, "action": "keep"}], "card": 10**9},
    {"answers": [{"question": 0, "action": "keep"}], "queue": "../x"},
    # One bad answer among good ones: none is written.
    {
        "answers": [
            {"question": 0, "action": "keep"},
            {"question": -1, "action": "keep"},
        ]
    },
]


@pytest.mark.parametrize("body", BAD)
def test_bad_requests_are_refused_in_words(served, body):
    session, client = served
    before = len(session.store.since())
    answer = client.post("/api/decide", body)
    assert answer.status_code == 400 and answer.json()["error"]
    assert len(session.store.since()) == before


@pytest.mark.parametrize("text", [b"[" * 100_000, b"\xff", b"{", b"[]", b""])
def test_what_is_no_json_object_is_refused_in_words(served, text):
    _, client = served
    headers = {"origin": client.home, "content-type": "application/json"}
    answer = client.http.post("/api/decide", content=text, headers=headers)
    assert answer.status_code == 400
    assert answer.json() == {"error": "Send a JSON object."}


@pytest.mark.parametrize("rows", [[-1], [10**9], ["a"], [1.5], [[0]], "no"])
def test_a_lasso_holds_rows(served, rows):
    _, client = served
    assert client.post("/api/lasso", {"rows": rows}).status_code == 400


def test_only_the_pages_own_files_are_served(served):
    _, client = served
    for name in ("../_store.py", "..%2f_store.py", "review.html", "%2e%2e/__init__.py"):
        assert client.http.get(f"/web/{name}").status_code == 404


def test_other_hosts_need_consent():
    check_host("127.0.0.1", False)
    check_host("localhost", False)
    check_host("192.0.2.7", True)
    with pytest.raises(ValueError, match="--allow-remote if that is meant"):
        check_host("192.0.2.7", False)
    for host in ("0.0.0.0", "::"):
        with pytest.raises(ValueError, match="every address at once"):
            check_host(host, True)
    assert main(["review", "missing.csv", "--host", "192.0.2.7"]) == 2


# Pictures

PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c489"
    "0000000d49444154789c6360f8cfc0f01f0005050102a5f0a3540000000049454e44ae426082"
)


@pytest.fixture
def gallery(tmp_path):
    """A folder with pictures, and secrets outside it."""
    inside = tmp_path / "inside"
    (inside / "deep").mkdir(parents=True)
    for path in (inside / "a.png", inside / "deep" / "b.PNG", tmp_path / "secret.png"):
        path.write_bytes(PNG)
    (inside / "notes.txt").write_text("private")
    (inside / "drawing.svg").write_text("<svg onload='alert(1)'/>")
    (inside / "link.png").symlink_to(tmp_path / "secret.png")
    (inside / "up").symlink_to(tmp_path)
    (inside / "fine.png").symlink_to(inside / "a.png")
    (inside / "loop.png").symlink_to(inside / "loop.png")
    return inside


REFUSED = (
    *("../secret.png", "deep/../../secret.png", "link.png", "up/secret.png"),
    *("notes.txt", "drawing.svg", "loop.png", "none.png", "deep", "", "."),
    *("a.png\0.txt", "/etc/passwd", "file:///etc/passwd", "http://evil.example/a.png"),
    "a" * 5000 + ".png",
)


@pytest.mark.parametrize("name", REFUSED)
def test_nothing_outside_the_folder_is_a_picture(gallery, name):
    assert find_image(name, gallery) is None


def test_pictures_below_the_folder_are_found(gallery):
    assert find_image("a.png", gallery) == gallery / "a.png"
    assert find_image("deep/b.PNG", gallery) == gallery / "deep" / "b.PNG"
    assert find_image("fine.png", gallery) == gallery / "a.png"
    assert find_image(str(gallery / "a.png"), gallery) == gallery / "a.png"
    assert find_image(str(gallery.parent / "secret.png"), gallery) is None


# Hostile text

EVIL = (
    "<script>window.pwned = 1</script>",
    "<img src=x onerror='window.pwned = 1'>",
    '"><svg onload=window.pwned=1>',
    "</script><script>window.pwned=1</script>",
    "{{constructor.constructor('window.pwned=1')()}}",
    "javascript:window.pwned=1",
    "\u202egnp.exe\u202c \u2066right to left\u2069 \u0000 \ufeff",
    '=HYPERLINK("http://evil.example","x")',
    "http://evil.example/pixel.png",
)


@pytest.fixture
def hostile(gallery):
    """A table with evil in every field, text of a megabyte, and pictures outside."""
    n_rows = 60
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(n_rows, 3)).round(3))
    frame.columns = [f"{EVIL[1]}{j}" for j in range(3)]
    words = [f"{EVIL[k % len(EVIL)]} {k}".replace("\0", "") for k in range(n_rows)]
    frame["words"] = words
    frame.loc[0, "words"] = f"{EVIL[0]} long " * 40_000
    frame["picture"] = [[*REFUSED[:6], "a.png"][k % 7] for k in range(n_rows)]
    for name in EVIL[:2]:
        frame[f"label:{name}"] = rng.integers(0, 2, n_rows)
    frame.loc[n_rows - 1, [c for c in frame if c.startswith("label:")]] = np.nan
    path = gallery / "table.csv"
    frame.to_csv(path, index=False)
    table = read_table(path, text=["words"], image=["picture"])
    wrong = np.zeros((n_rows, 2), dtype=bool)
    wrong[:8] = True
    store = Store(store_path(path))
    session = Session(table, store, known_ranking(table, wrong), reviewer=EVIL[1])
    yield session, path
    store.close()


def test_hostile_text_does_nothing(hostile, gallery):
    session, path = hostile
    with (
        live(session, image_root=gallery) as address,
        open_browser(webgl=False, loopback=True) as browser,
    ):
        browser.open(address)
        browser.wait("document.documentElement.dataset.mapped")
        assert "long" in browser.find("#card .text")[0].text
        for _ in range(9):
            browser.driver.find_element("css selector", "body").send_keys("k")
            browser.wait("!document.documentElement.dataset.busy")
        browser.driver.find_element("css selector", "body").send_keys("t")
        browser.wait("demurk.state.queue === 'unlabelled' && !demurk.state.busy")
        assert "Not labelled yet" in browser.find("#card")[0].text
        assert not browser.run("'pwned' in window")
        home = address.partition("?")[0]
        asked = browser.requests()
        assert all(url.startswith(home) for url in asked), asked
        # Pictures that are not there are refused and that is all that went wrong.
        assert all("404" in line for line in browser.errors())
        client = Client(address)
        found = [client.http.get(f"/image/{row}/0") for row in range(7)]
        assert [answer.status_code for answer in found] == [404] * 6 + [200]
        assert found[-1].content == PNG
        assert found[-1].headers["content-type"] == "image/png"
        assert client.http.get("/image/999/0").status_code == 404
    session.store.close()
    options = ["--text", "words", "--image", "picture", "--force"]
    assert main(["apply", str(path), *options]) == 0
    changes = path.with_name("table.changes.csv").read_text()
    assert "\n=" not in changes and ",=" not in changes
