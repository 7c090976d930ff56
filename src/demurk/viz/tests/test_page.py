"""The interactive page, in a real browser with the network off."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import numpy as np
import pytest

from demurk.viz import embedding_page, save_page
from demurk.viz._static import PALETTE
from demurk.viz.tests.browser import open_browser

CORNERS = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [0.5, 0.5]])
TITLES = ["wharf", "dune", "alley", "pier", "attic"]
NAMES = ["sea", "sun", "wall"]
GIVEN = [[1, 0, 0], [1, 1, 0], [0, 0, 1], [1, 0, 1], [-1, -1, -1]]
CLEANED = [[1, 0, 0], [1, 1, 0], [0, 0, 1], [1, 0, 0], [0, 0, 1]]


@pytest.fixture(scope="module")
def browser():
    with open_browser() as started:
        yield started


@pytest.fixture
def small(browser, tmp_path):
    """Five samples in the corners and the middle; the second map swaps two of them."""
    turned = CORNERS[[0, 1, 3, 2, 4]]
    path = save_page(
        tmp_path / "map.html",
        {"features": CORNERS, "both": turned},
        GIVEN,
        cleaned=CLEANED,
        names=NAMES,
        samples=TITLES,
    )
    browser.open(path)
    yield browser
    assert browser.errors() == []
    assert all(url.startswith("file:") for url in browser.requests())


def place(browser, i):
    """Where sample i is in the window, in pixels."""
    spot = browser.run(f"demurk.map.screen({i})")
    box = browser.find("#plot")[0].rect
    return round(box["x"] + spot["sx"]), round(box["y"] + spot["sy"])


def color_at(browser, x, y):
    """Colour of a pixel of the window, as 8-bit values."""
    browser.driver.execute_async_script(
        "requestAnimationFrame(() => requestAnimationFrame(arguments[0]))"
    )
    return np.rint(browser.pixels()[y, x] * 255).astype(int)


def drawn_color(code, alpha=0.85):
    """A colour of the palette on white."""
    rgb = np.array([int(code[k : k + 2], 16) for k in (1, 3, 5)])
    return 255 + alpha * (rgb - 255)


def test_points_are_painted_in_the_colour_of_their_first_label(small):
    for i, label in [(0, 0), (1, 0), (2, 2), (3, 0)]:
        painted = color_at(small, *place(small, i))
        np.testing.assert_allclose(painted, drawn_color(PALETTE[label]), atol=4)
    # The second label of sample 1 is a ring around it.
    x, y = place(small, 1)
    around = [color_at(small, x + dx, y) for dx in range(3, 10)]
    ring = drawn_color(PALETTE[1], 1)
    assert min(np.abs(color - ring).max() for color in around) < 40


def test_filter_hides_points(small):
    at = place(small, 2)
    small.click("#groups .group", "sea")
    assert small.run("demurk.map.visible") == 3
    assert "3 of 5" in small.find("#status")[0].text
    np.testing.assert_array_equal(color_at(small, *at), 255)
    small.click("#groups .group", "wall")
    assert small.run("demurk.map.visible") == 4  # any of the two
    small.click("#mode button", "all")
    assert small.run("[...demurk.map.layers[0].index]") == [3]
    small.click("#clear")
    assert small.run("demurk.map.visible") == 5
    np.testing.assert_allclose(color_at(small, *at), drawn_color(PALETTE[2]), atol=4)


def test_filter_by_label_set_and_by_change(small):
    small.click("#by button", "Label set")
    small.click("#groups .group", "sea + wall")
    assert small.run("[...demurk.map.layers[0].index]") == [3]
    small.click("#source button", "Cleaned")
    assert "sea + wall" not in small.find("#groups")[0].text
    small.click("#by button", "Change")
    small.click("#groups .group", "overruled")
    assert small.run("demurk.map.visible") == 1
    small.click("#clear")
    small.click("#only-changed")
    assert small.run("[...demurk.map.layers[1].index]") == [3]


def test_slider_moves_points(small):
    before, beside = place(small, 2), place(small, 3)
    small.driver.execute_script(
        "window.seen = []; const follow = demurk.map.onmove;"
        "demurk.map.onmove = () => { seen.push(demurk.map.x[2]); follow(); };"
    )
    small.find("#slider")[0].send_keys("\ue014")  # the key "arrow right"
    small.wait("seen.at(-1) === 1")
    seen = small.run("seen")
    assert sorted(seen) == seen and sum(0 < x < 1 for x in seen) >= 3
    assert place(small, 2) == beside and place(small, 3) == before
    np.testing.assert_allclose(
        color_at(small, *beside), drawn_color(PALETTE[2]), atol=4
    )
    assert small.find("#stops button")[1].get_attribute("aria-pressed") == "true"


def test_hover_shows_the_sample_and_its_labels(small):
    spot = small.run("demurk.map.screen(3)")
    small.point_at(spot["sx"] + 4, spot["sy"] - 3)
    small.wait("!document.getElementById('tip').hidden")
    lines = small.find("#tip")[0].text.split()
    assert lines == ["pier", "given", "sea", "wall", "cleaned", "wall", "sea"]
    assert small.find("#tip .taken")[0].text == "wall"
    spot = small.run("demurk.map.screen(4)")
    small.point_at(spot["sx"], spot["sy"])
    small.wait("document.getElementById('tip').textContent.includes('attic')")
    text = small.find("#tip")[0].text
    assert "not labelled" in text and small.find("#tip .filled")[0].text == "wall"
    small.point_at(spot["sx"] + 60, spot["sy"])
    small.wait("document.getElementById('tip').hidden")


def test_list_selects_a_point(small):
    rows = small.find("#changes .row")
    assert [row.text.split() for row in rows] == [["pier", "−", "wall"]]
    rows[0].click()
    assert small.run("demurk.state.selected") == 3
    assert "pier" in small.find("#card")[0].text
    box = small.find("#marker")[0].rect
    middle = (box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    np.testing.assert_allclose(middle, place(small, 3), atol=1)
    row = small.find("#changes .row")[0]
    assert row.get_attribute("aria-selected") == "true"
    # The marker stays with its sample.
    small.click("#stops button", "both")
    small.wait("demurk.map.x[3] === 0")
    np.testing.assert_allclose(small.find("#marker")[0].rect["x"], 236, atol=60)
    small.click("#close")
    assert not small.find("#marker")[0].is_displayed()


def test_marker_follows_the_view_and_the_view_the_selection(small):
    small.click("#changes .row")
    small.driver.execute_script("demurk.map.plot.x_range.setv({start: 0, end: 2})")
    box = small.find("#marker")[0].rect
    middle = (box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    np.testing.assert_allclose(middle, place(small, 3), atol=1)
    small.click("#close")
    small.driver.execute_script("demurk.map.plot.x_range.setv({start: 2, end: 3})")
    assert not small.run("demurk.map.screen(3).inside")
    small.click("#changes .row")
    assert small.run("demurk.map.screen(3).inside")
    assert small.find("#marker")[0].is_displayed()
    small.click("#groups .group", "sun")
    assert "Hidden by the filter" in small.find("#card")[0].text


def test_click_on_the_map_selects_and_list_follows_keys(browser, tmp_path):
    n = 500
    Z = np.random.RandomState(0).rand(n, 2)
    given = np.arange(n) % 2
    path = save_page(tmp_path / "map.html", Z, given, cleaned=1 - given)
    browser.open(path)
    assert len(browser.find("#changes .row")) < 40  # only those in sight
    spot = browser.run("demurk.map.screen(321)")
    nearest = browser.run("demurk.map.nearest(demurk.map.x[321], demurk.map.y[321])")
    assert nearest == 321
    browser.point_at(spot["sx"], spot["sy"])
    browser.wait("demurk.state.hovered === 321")
    from selenium.webdriver.common.action_chains import ActionChains

    ActionChains(browser.driver).click().perform()
    browser.wait("demurk.state.selected === 321")
    assert "Sample 321" in browser.find("#changes")[0].text
    browser.find("#changes")[0].send_keys("\ue015")  # the key "arrow down"
    assert browser.run("demurk.state.selected") == 322
    browser.find("#find")[0].send_keys("Sample 49")
    rows = [row.text.split("\n")[0] for row in browser.find("#changes .row")]
    assert rows == ["Sample 49", *(f"Sample {i}" for i in range(490, 500))]
    assert browser.errors() == []


def test_100_000_samples(browser, tmp_path):
    rng = np.random.RandomState(0)
    n, q = 100_000, 20
    centers = rng.normal(size=(q, 2))
    given = rng.rand(n, q) < 0.08
    cleaned = given ^ (rng.rand(n, q) < 0.002)
    maps = {
        w: given @ centers + w * rng.normal(size=(n, 2)) for w in (1, 0.9, 0.5, 0.1)
    }
    path = save_page(
        tmp_path / "map.html",
        maps,
        given,
        cleaned=cleaned,
        samples=[f"document {i}, page {rng.randint(1000)}" for i in range(n)],
    )
    assert path.stat().st_size < 15e6
    browser.requests()
    assert browser.open(path) < 10
    assert browser.run("demurk.map.webgl")
    assert browser.run("demurk.map.drawn") == n
    sizes = browser.run("demurk.map.sources.map((source) => source.data.x.length)")
    assert sum(sizes) == n
    before = browser.run("Array.from(demurk.map.x.slice(0, 50))")
    browser.click("#stops button", "0.1")
    browser.wait("demurk.map.shown === 3 && demurk.map.turn === null")
    after = browser.run("Array.from(demurk.map.x.slice(0, 50))")
    assert np.abs(np.subtract(before, after)).max() > 0.05
    browser.click("#groups .group", "3")
    assert browser.run("demurk.map.visible") == given[:, 3].sum()
    browser.click("#changes .row")
    first = np.flatnonzero((given != cleaned).any(axis=1) & given[:, 3])[0]
    assert browser.run("demurk.state.selected") == first
    assert f"document {first}" in browser.find("#card")[0].text
    assert browser.requests() == [path.as_uri()]
    assert browser.errors() == []


def test_without_webgl_a_sample_is_drawn(tmp_path):
    rng = np.random.RandomState(0)
    path = save_page(
        tmp_path / "map.html", rng.rand(30_000, 2), rng.randint(3, size=30_000)
    )
    with open_browser(webgl=False) as browser:
        browser.open(path)
        assert not browser.run("demurk.map.webgl")
        sizes = browser.run("demurk.map.sources.map((source) => source.data.x.length)")
        assert sum(sizes) == 20_000
        status = browser.find("#status")[0].text
        assert "30,000 of 30,000" in status and "random 20,000" in status
        box = browser.find("#plot")[0].rect
        top, left = round(box["y"]), round(box["x"])
        plot = browser.pixels()[top + 50 : top + 350, left + 50 : left + 550]
        assert (plot < 0.9).any(axis=2).mean() > 0.2
        browser.click("#groups .group", "2")
        assert browser.run("demurk.map.drawn") == browser.run("demurk.map.visible")
        assert browser.errors() == []


def test_texts_are_never_read_as_html(browser, tmp_path):
    bad = "</script><script>window.broken = 1</script><img src=x onerror='broken = 1'>"
    path = save_page(
        tmp_path / "map.html",
        {bad: np.eye(3), "b": np.eye(3)[::-1]},
        [0, 1, 1],
        cleaned=[1, 1, 1],
        names=[bad, "fine"],
        samples=[bad] * 3,
        title=bad,
    )
    browser.open(path)
    browser.click("#changes .row")
    assert bad in browser.find("#card")[0].text
    assert browser.find("h1")[0].text == bad and browser.driver.title == bad
    assert browser.run("window.broken === undefined")


def test_nothing_in_the_page_can_reach_out(browser, tmp_path):
    picture = "<img src='http://127.0.0.1:9/picture.png'>"
    plain = tmp_path / "plain.html"
    plain.write_text(f"<html data-ready=yes><body>{picture}")
    browser.open(plain)
    # The record of requests works: an ordinary page does ask for its picture.
    browser.wait("document.images[0].complete")
    assert "http://127.0.0.1:9/picture.png" in browser.requests()
    browser.errors()
    path = save_page(tmp_path / "map.html", np.eye(3), [0, 1, 1], report=picture)
    browser.open(path)
    assert browser.requests() == [path.as_uri()]
    assert "Content Security Policy" in browser.errors()[0]


def test_report_stands_below_the_map(browser, tmp_path):
    path = save_page(
        tmp_path / "map.html", np.eye(3), [0, 1, 1], report="<p>All is well.</p>"
    )
    browser.open(path)
    report, app = browser.find(".report")[0].rect, browser.find(".app")[0].rect
    assert report["y"] >= app["y"] + app["height"] - 1
    assert not browser.find("#changes")[0].is_displayed()


def test_page_fits_a_small_window(tmp_path):
    page = embedding_page({"a": CORNERS, "b": -CORNERS}, GIVEN, cleaned=CLEANED)
    (tmp_path / "map.html").write_text(page)
    for size in [(1280, 720), (600, 900)]:
        with open_browser(size=size) as browser:
            browser.open(tmp_path / "map.html")
            assert browser.run("document.body.scrollWidth <= innerWidth")
            plot = browser.find("#plot")[0].rect
            assert plot["width"] > 450 and plot["height"] > 350


def test_unlabelled_samples_are_not_those_without_a_label(browser, tmp_path):
    labels = [[1, 0], [0, 0], [-1, -1], [0, 0], [0, -1]]
    browser.open(save_page(tmp_path / "map.html", CORNERS, labels))
    rows = [row.text.split("\n") for row in browser.find("#groups .group")]
    assert rows[2:] == [["no label", "3"], ["not labelled", "1"]]
    browser.click("#groups .group", "not labelled")
    assert browser.run("demurk.map.visible") == 1
    assert "2 label sets" in browser.find("#facts")[0].text
    browser.click("#by [data-key=set]")
    rows = [row.text.split("\n") for row in browser.find("#groups .group")]
    assert rows == [["no label", "3"], ["0", "1"], ["not labelled", "1"]]
    browser.click("#groups .group", "not labelled")
    assert browser.run("demurk.map.visible") == 1


def test_a_link_opens_the_card_of_a_sample(browser, tmp_path):
    path = save_page(tmp_path / "map.html", CORNERS, GIVEN, samples=TITLES)
    browser.open(path)
    browser.driver.execute_script("location.hash = 'sample-3'")
    browser.wait("demurk.state.selected === 3")
    assert TITLES[3] in browser.find("#card")[0].text
