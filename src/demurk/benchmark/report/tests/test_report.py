"""Reports: four files, complete, escaped, without a request to the network."""

import re
from collections import Counter
from html.parser import HTMLParser

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from demurk.benchmark.engine._protocol import Protocol
from demurk.benchmark.engine._results import read_results, results_csv
from demurk.benchmark.report import _figure_style, _report
from demurk.benchmark.report._figure_curves import plot_curves
from demurk.benchmark.report._figure_style import figure_svg
from demurk.benchmark.report._figures import (
    plot_critical_difference,
    plot_heat_maps,
    plot_mean_scores,
)
from demurk.benchmark.report._markup import escape_latex, escape_markdown
from demurk.benchmark.report._page_figures import sweeps
from demurk.benchmark.report._report import write_report

pytest.importorskip("matplotlib")

# Names that mean something in HTML, Markdown, LaTeX, CSV or to matplotlib.
NASTY = ["<b>&_x", "a|b*c", "{$%#}", '_"q", ~^\\']
VOID = {"meta", "br"}


def make_protocol(**facts):
    defaults = {
        "name": "mine",
        "kind": "module.kind",
        "measures": ("AP", "loss"),
        "lower_is_better": ("loss",),
        "seeds": 3,
        "data_sets": {"x": {}, "y": {}, "z": {}},
        "methods": {"a": {}, "b": {}, "forest": {"group": "alternative"}},
        "title": "A title",
        "claim": "a is better.",
        "not_run": {"table 12": "no data"},
    }
    return Protocol(**defaults | facts)


def make_rows(protocol, seed=0):
    rng = np.random.RandomState(seed)
    return [
        {
            "protocol": protocol.name,
            "data_set": task.data_set,
            "setting": task.setting,
            "method": task.method,
            "seed": task.seed,
            "status": "done",
            "values": {m: float(rng.uniform()) for m in protocol.measures},
            "error": None,
            "cpu_s": float(rng.uniform()),
            "wall_s": 2.0,
            "peak_mb": 100.0,
            "code": "1.0+abc",
            "data": "0123456789abcdef" * 4,
            "versions": {"python": "3.13", "numpy": "2.3"},
            "finished": "2025-01-01T00:00:00+00:00",
            "key": f"{task.method} {task.seed}",
        }
        for task in protocol.tasks()
    ]


def write(protocol, rows, folder, published=None, **options):
    paths = write_report(protocol, rows, folder, published=published, **options)
    return {path.suffix[1:]: path.read_text(encoding="utf-8") for path in paths}


class Checker(HTMLParser):
    """Notes tags that are not closed, names used twice, and what is asked for."""

    def __init__(self, page):
        super().__init__()
        self.open, self.wrong, self.ids, self.links = [], [], Counter(), []
        self.texts = []
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        if tag not in VOID:
            self.open.append(tag)
        facts = dict(attributes)
        self.ids[facts.get("id")] += 1
        for key in ("src", "href", "xlink:href", "action", "srcset", "data"):
            if key in facts:
                self.links.append(facts[key])

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.wrong.append(tag)

    def handle_data(self, data):
        self.texts.append(data)


def check_page(page):
    checker = Checker(page)
    assert checker.open == [] and checker.wrong == []
    del checker.ids[None]
    assert max(checker.ids.values()) == 1
    assert all(link[1:] in checker.ids for link in checker.links if link[0] == "#")
    # Nothing leaves the page: every link stays in it, and no address stands in it.
    assert [link for link in checker.links if link[0] != "#"] == []
    assert "://" not in page
    assert not re.search(r"@import|url\((?!#)|<script|<link", page)
    return " ".join(checker.texts)


def check_latex(text):
    """Balanced, with every special sign escaped and rows of equal length."""
    text = re.sub(r"(?m)^%.*$", "", text)
    bare = text.replace("\\\\", " ROW ")
    bare = re.sub(r"\\[&%$#_{}]", "", bare)
    depth = 0
    for sign in bare:
        depth += (sign == "{") - (sign == "}")
        assert depth >= 0
    assert depth == 0
    outside = re.sub(r"\$[^$]*\$", "", bare)
    assert not re.search(r"[_#$%^~]", outside)
    begun = re.findall(r"\\begin\{(\w+)\}", bare)
    assert Counter(begun) == Counter(re.findall(r"\\end\{(\w+)\}", bare))
    columns = re.findall(r"\\begin\{tabular\}\{([lr]+)\}", bare)
    bodies = re.findall(r"(?s)\\begin\{tabular\}(.*?)\\end\{tabular\}", outside)
    assert len(columns) == len(bodies)
    for wanted, body in zip(columns, bodies):
        rows = body.split(" ROW ")[:-1]
        assert {row.count("&") + 1 for row in rows} == {len(wanted)}
    labels = re.findall(r"\\label\{([^}]*)\}", bare)
    assert len(set(labels)) == len(labels)


def check_markdown(text):
    """Every row of a table has as many cells as its head."""
    for table in re.findall(r"(?m)(?:^\|.*\n)+", text):
        widths = {len(re.findall(r"(?<!\\)\|", line)) for line in table.splitlines()}
        assert len(widths) == 1


def check_all(texts):
    shown = check_page(texts["html"])
    check_latex(texts["tex"])
    check_markdown(texts["md"])
    return shown


def test_a_whole_report(tmp_path):
    protocol = make_protocol()
    rows = make_rows(protocol)
    rows[0].update(status="memory", values={}, error="MemoryError: 9 GB")
    command = "demurk bench mine --jobs 2"
    texts = write(protocol, rows, tmp_path, lambda *_: 0.5, command=command)
    shown = check_all(texts)
    parts = ["A title", "a is better.", "table 12: no data", command, "too large"]
    parts += ["2/3 seeds", "1.0+abc", "3.13", "0123456789ab", "CPU seconds"]
    for form in ("html", "md"):
        text = shown if form == "html" else texts["md"].replace("\\", "")
        assert [part for part in parts if part not in text] == []
    assert texts["html"].count("<svg") >= 3
    assert texts["html"].count("prefers-color-scheme: dark") == 1
    assert "\\toprule" in texts["tex"] and "\\textbf{" in texts["tex"]
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "mine.csv",
        "mine.html",
        "mine.md",
        "mine.tex",
    ]


def test_best_and_ties_are_marked(tmp_path):
    protocol = make_protocol(methods={"a": {}, "b": {}, "c": {}}, seeds=4)
    rows = make_rows(protocol)
    for row in rows:
        wobble = 0.01 * (-1) ** row["seed"]
        value = {"a": 0.8, "b": 0.799 + wobble, "c": 0.2 + wobble}[row["method"]]
        row["values"] = {"AP": value, "loss": value}
    texts = write(protocol, rows, tmp_path)
    page = texts["html"]
    assert '<td class="best"><b>0.800</b>' in page
    assert '<td class="tie">0.799<sup class="tie">=</sup>' in page
    assert '<td class="best"><b>0.200</b>' in page
    assert "| **0.800** ±0.000 |" in texts["md"] and "| 0.799⁼ ±" in texts["md"]
    assert "\\textbf{0.800} " in texts["tex"] and "0.799$^{=}$" in texts["tex"]


def test_differences_are_readable_without_colour(tmp_path):
    protocol = make_protocol(methods={"a": {}, "b": {}}, data_sets={"x": {}, "y": {}})
    rows = make_rows(protocol)
    for row in rows:
        row["values"] = {"AP": 0.5, "loss": 0.5}
    printed = {"x": 0.45, "y": 0.505}
    page = write(protocol, rows, tmp_path, lambda p, d, *_: printed[d])["html"]
    assert '<small class="change better s2">▲\u2009+0.050</small>' in page
    assert '<small class="change worse s2">▼\u2009+0.050</small>' in page
    assert '<small class="change same">≈\u2009−0.005</small>' in page
    assert "▲ better by 0.03 to 0.1" in page


@pytest.mark.parametrize("seeds", [1, 2])
def test_names_are_escaped_everywhere(tmp_path, seeds):
    names = {name: {} for name in NASTY}
    protocol = make_protocol(
        methods=names,
        data_sets={f"{name} set": {} for name in NASTY[:3]},
        settings={name: {"n": i} for i, name in enumerate(NASTY[:2])},
        measures=("A_P <1>", "10% & more"),
        lower_is_better=(),
        title="<i>T&_</i>",
        claim="x_1 < {y} & <script>alert(1)</script>",
        not_run={"<u>": "a_b & {c}"},
        seeds=seeds,
    )
    rows = make_rows(protocol)
    rows[0].update(status="failed", values={}, error='T\n<img src="x"> & {_}\n')
    texts = write(protocol, rows, tmp_path, lambda *_: 0.5, command="x <y> && {z}_")
    shown = check_all(texts)
    for name in (*NASTY, "<i>T&_</i>", "<script>alert(1)</script>", "x <y> && {z}_"):
        assert name in shown
    assert "<i>" not in texts["md"] and "<script" not in texts["md"]
    assert read_results(tmp_path / "mine.csv")[0]["error"] == rows[0]["error"]


def test_template_marks_in_texts_stay_texts(tmp_path):
    protocol = make_protocol(title="{{style}} {{nothing}}")
    page = write(protocol, make_rows(protocol), tmp_path)["html"]
    assert "<h1>{{style}} {{nothing}}</h1>" in page


@pytest.mark.parametrize("status", ["done", "failed", "memory", "timeout", "skipped"])
def test_one_method_one_data_set_one_seed(tmp_path, status):
    protocol = make_protocol(methods={"a": {}}, data_sets={"x": {}}, seeds=1)
    rows = make_rows(protocol)
    words = {"memory": "too large", "timeout": "over the time limit", "done": "done"}
    if status != "done":
        rows[0].update(status=status, values={}, error=None, cpu_s=None)
    texts = write(protocol, rows, tmp_path)
    shown = check_all(texts)
    word = words.get(status, status)
    for text in (shown, texts["md"]):
        assert word in text
    assert "nan" not in shown.lower()
    assert read_results(tmp_path / "mine.csv") == rows


@pytest.mark.parametrize("settings_", [{}, {"s": {"n": 1}, "t": {"n": 2}}])
def test_everything_failed_or_nothing_ran(tmp_path, settings_):
    protocol = make_protocol(settings=settings_)
    rows = make_rows(protocol)
    for row in rows:
        row.update(status="failed", values={}, error="ValueError: no")
    shown = check_all(write(protocol, rows, tmp_path))
    n = len(rows)
    assert f"0 done, {n} failed." in shown and "Ranks need two methods" in shown
    shown = check_all(write(protocol, [], tmp_path))
    assert f"0 done, {n} not run." in shown
    assert read_results(tmp_path / "mine.csv") == []


def test_results_come_back_from_the_csv(tmp_path):
    protocol = make_protocol(settings={"1": {}, "2": {}})
    rows = make_rows(protocol)
    rows[1].update(status="failed", values={}, error='a "b",\\n\nc\\\n\\d')
    rows[2]["values"] |= {"AP": np.nan, "extra": 3, "seed": 1e-300}
    rows[3].update(cpu_s=None, peak_mb=None, wall_s=None)
    first = write(protocol, rows[::-1], tmp_path)
    again = read_results(tmp_path / "mine.csv")
    assert np.isnan(again[2]["values"].pop("AP")) and rows[2]["values"].pop("AP")
    assert again == rows
    # The report of what was read is the report.
    rows[2]["values"]["AP"] = again[2]["values"]["AP"] = np.nan
    assert write(protocol, again, tmp_path) == first
    lines = first["csv"].splitlines()
    assert len(lines) == 1 + len(rows)


values = st.dictionaries(
    st.text(min_size=1, max_size=5),
    st.floats(allow_nan=False) | st.integers(-(10**9), 10**9),
    max_size=3,
)
words = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)


@settings(max_examples=60)
@given(values, words, words, st.none() | st.floats(0, 1e6))
def test_any_row_survives_the_csv(tmp_path_factory, values, name, error, cpu):
    row = make_rows(make_protocol())[0] | {"values": values, "method": name}
    row |= {"error": error.replace("/", "") or None, "cpu_s": cpu}
    path = tmp_path_factory.mktemp("any") / "r.csv"
    path.write_text(results_csv([row]), encoding="utf-8", newline="")
    assert read_results(path) == [row]


def test_folders_of_the_machine_are_cut_from_errors(tmp_path):
    protocol = make_protocol()
    rows = make_rows(protocol)
    error = (
        'File "/home/me/lib/site-packages/sklearn/base.py", line 3, in fit\n'
        'File "/home/me/src/demurk/graph/_x.py", line 4\n'
        "FileNotFoundError: '/data/me/birds.arff', 3/4 of http:/ and a/b\n"
        r"File C:\Users\me\src\demurk\x.py, not \d\w"
    )
    rows[0].update(status="failed", values={}, error=error)
    texts = write(protocol, rows, tmp_path)
    assert not any(re.search(r"[/\\]me[/\\]", text) for text in texts.values())
    found = read_results(tmp_path / "mine.csv")[0]["error"]
    assert 'File "sklearn/base.py"' in found and 'File "demurk/graph/_x.py"' in found
    assert "FileNotFoundError: 'birds.arff', 3/4 of http:/ and a/b\n" in found
    assert found.endswith(r"File demurk/x.py, not \d\w")


def test_foreign_files_are_refused(tmp_path):
    path = tmp_path / "other.csv"
    path.write_text("a,b\n1,2\n")
    with pytest.raises(ValueError, match="Line 1 of"):
        read_results(path)
    path.write_text("")
    with pytest.raises(ValueError, match="Line 1 of"):
        read_results(path)
    text = results_csv(make_rows(make_protocol()))
    path.write_text(text.rsplit(",", 1)[0])
    with pytest.raises(ValueError, match=r"Line 28 of .* cells"):
        read_results(path)


def test_an_earlier_report_is_replaced_whole(tmp_path, monkeypatch):
    protocol = make_protocol()
    first = write(protocol, make_rows(protocol), tmp_path)
    second = write(protocol, make_rows(protocol, seed=1), tmp_path)
    assert first["md"] != second["md"]

    def broken(*_):
        raise RuntimeError("no")

    monkeypatch.setattr(_report, "results_csv", broken)
    with pytest.raises(RuntimeError):
        write(protocol, make_rows(protocol), tmp_path)
    assert (tmp_path / "mine.md").read_text(encoding="utf-8") == second["md"]
    assert len(list(tmp_path.iterdir())) == 4


def test_without_matplotlib_there_are_tables(tmp_path, monkeypatch):
    def absent(name, extra):
        raise ImportError(f"This needs {name}: install demurk[{extra}]")

    monkeypatch.setattr(_figure_style, "import_optional", absent)
    protocol = make_protocol()
    texts = write(protocol, make_rows(protocol), tmp_path)
    shown = check_all(texts)
    assert "install demurk[viz]" in shown and "<svg" not in texts["html"]
    assert "Average ranks" in shown


def test_no_figure_says_more_than_the_rows(tmp_path):
    """A single data set has no ranks and no mean over data sets."""
    protocol = make_protocol(data_sets={"x": {}})
    page = write(protocol, make_rows(protocol), tmp_path)["html"]
    assert "<svg" not in page and "All measures on x" in page


def test_sweeps_of_settings():
    # One factor.
    shares = {"10 %": {"share": 0.1}, "20 %": {"share": 0.2}}
    assert sweeps(shares) == [(["10 %", "20 %"], {"share": [0.1, 0.2]})]
    # Two in a grid.
    grid = {f"{a} {b}": {"a": a, "b": b} for a in (1, 2) for b in (3, 4)}
    (found,) = sweeps(grid)
    assert found[1] == {"a": [1, 1, 2, 2], "b": [3, 4, 3, 4]}
    # Several, inside tables, with constants; the setting alone is in none.
    mixed = {
        "as it is": {},
        "k=1": {"params": {"k": 1}},
        "k=2": {"params": {"k": 2}},
        "1 turn": {"params": {"turns": 1, "tol": 0.0}, "long": True},
        "5 turns": {"params": {"turns": 5, "tol": 0.0}, "long": True},
    }
    assert sweeps(mixed) == [
        (["k=1", "k=2"], {"k": [1, 2]}),
        (["1 turn", "5 turns"], {"turns": [1, 5]}),
    ]
    # No order at all.
    assert sweeps({"p": {"x": 1}, "q": {"y": 1}}) == [(["p", "q"], {})]
    assert sweeps({"p": {"x": 1}}) == [] and sweeps({}) == []


@pytest.mark.parametrize(
    "settings_",
    [
        {"10 %": {"share": 0.1}, "20 %": {"share": 0.2}},
        {f"{a}, {b}": {"a": a, "b": b} for a in (1, 2) for b in ("u", "v")},
        {"p": {"x": 1}, "q": {"y": 1}},
    ],
)
def test_settings_are_drawn(tmp_path, settings_):
    protocol = make_protocol(settings=settings_, data_sets={"x": {}}, seeds=2)
    page = write(protocol, make_rows(protocol), tmp_path)["html"]
    check_page(page)
    assert page.count("<svg") == 2 and "Over the settings" in page


def test_critical_difference_diagram():
    ranks = [2.9, 1.2, 2.4, 3.5]
    figure = plot_critical_difference(ranks, NASTY, 1.0, title="Ranks")
    (ax,) = figure.axes
    places = {text.get_text(): text for text in ax.texts}
    assert set(NASTY) <= set(places)
    # The better half stands on the left, best on top.
    assert places[NASTY[1]].get_ha() == "right" == places[NASTY[2]].get_ha()
    assert places[NASTY[0]].get_ha() == "left" == places[NASTY[3]].get_ha()
    assert places[NASTY[1]].get_position()[1] > places[NASTY[2]].get_position()[1]
    bars = [line for line in ax.lines if line.get_linewidth() == 4]
    ends = [np.round(line.get_xdata(), 2).tolist() for line in bars]
    assert ends == [[2.36, 2.94], [2.86, 3.54]]
    assert "critical difference 1.00" in places


def test_mean_scores_and_heat_maps():
    means = [[0.5, np.nan], [0.7, 0.9]]
    figure = plot_mean_scores(means, ["a", "_b"], ["AP", "$x"], highlight="_b")
    assert [label.get_text() for label in figure.axes[0].get_yticklabels()] == [
        "a",
        "_b",
    ]
    figure = plot_heat_maps({"m": [[0.5, np.nan]], "n": [[1.0, 2.0]]}, [1], [2, 3])
    assert [text.get_text() for text in figure.axes[0].texts] == ["0.500", "–"]


def test_curves():
    nothing = [np.nan, np.nan, np.nan]
    lines = {"a": ([0.1, 0.2, 0.4], [0.01, 0.02, np.nan]), "_b": (nothing, nothing)}
    figure = plot_curves([0.1, 1, 10], {"x": lines, "y": lines}, title="T")
    assert len(figure.axes) == 2
    assert figure.axes[0].get_xscale() == "log"
    assert [text.get_text() for text in figure.legends[0].get_texts()] == [
        "a",
        "\u200b_b",
    ]
    figure = plot_curves(["p", "q"], {n: {"a": ([1, 2], [0, 0])} for n in "wxyz"})
    assert len(figure.axes) == 4
    assert figure.axes[0].get_xticklabels()[1].get_text() == "q"


def test_svg_is_fit_for_a_page():
    figure = plot_critical_difference([1, 2, 2.5], ["a<b", "$c_d$", "e&f"], 0.7)
    svg = figure_svg(figure, "one")
    assert svg.startswith("<svg") and svg.endswith("</svg>")
    assert svg == figure_svg(figure, "one")
    assert "://" not in svg and "currentColor" in svg and "#1c2430" not in svg
    for name in ("a&lt;b", "$c_d$", "e&amp;f"):
        assert name in svg
    ids = set(re.findall(r' id="([^"]*)"', svg))
    assert not ids & set(re.findall(r' id="([^"]*)"', figure_svg(figure, "two")))
    used = set(re.findall(r'(?:href="#|url\(#)([^")]*)', svg))
    assert used <= ids


@settings(max_examples=100)
@given(words)
def test_escapes(text):
    check_latex(escape_latex(text).replace("\\\\", ""))
    assert "<" not in escape_markdown(text)
    assert not re.search(r"(?<!\\)(?:\\\\)*[|*_`]", escape_markdown(text))
