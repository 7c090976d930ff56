"""``demurk clean``: suspects, a cleaned copy and a page from a file."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import io
import json
import re
import sys
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import demurk.cli._audit as auditing
import demurk.cli._clean as module
from demurk.cli._audit import UNKNOWN_REVIEW
from demurk.cli._clean import FILES, clean_file
from demurk.labels import flip_labels
from demurk.viz.tests.browser import open_browser

NAMES = ["happy", "fast", "calm <b>"]
LISTS = ["given but probably wrong", "missing but probably right"]


def make_songs(path, n_samples=400, rate=0.1, seed=0):
    """A table with names, gaps, text columns and wrong labels; returns the truth."""
    rng = np.random.RandomState(seed)
    X = rng.normal(size=(n_samples, 4))
    scores = [X[:, 0] + 0.3 * X[:, 1], X[:, 1] - X[:, 3], X[:, 2] + X[:, 0] - 0.7]
    truth = (np.column_stack(scores) > 0).astype(int)
    noisy = flip_labels(truth, rate, random_state=seed).labels
    frame = pd.DataFrame(X.round(3), columns=["tempo", "loudness", "key", "length"])
    frame.loc[3:9, "key"] = np.nan
    frame.insert(0, "title", [f'song "{i}", live' for i in range(n_samples)])
    frame.insert(3, "genre", rng.choice(["jazz", "007", "NA"], n_samples))
    for name, column in zip(NAMES, noisy.T):
        frame[f"label:{name}"] = column.astype(object)
    frame["label:fast"] = np.where(noisy[:, 1] == 1, "yes", "no")
    frame.loc[:20, "label:happy"] = ""
    frame["loudness"] = frame["loudness"].map("{:.4f}".format)
    frame.to_csv(path, index=False)
    return truth


# The title is shown and no feature, the genre neither.
FEATURES = ["title", "genre", "tempo", "loudness", "key", "length"]
SHOWN = {"text": "title", "drop": ["title", "genre"]}


def cells(path):
    """A table as text, cell by cell."""
    return pd.read_csv(path, dtype=str, keep_default_na=False)


def read_labels(frame):
    """0, 1 and -1 of the label columns of such a table."""
    values = {"": -1, "no": 0, "yes": 1, "0": 0, "1": 1}
    return frame[[f"label:{name}" for name in NAMES]].map(values.get).to_numpy()


@pytest.fixture(scope="module")
def audited(tmp_path_factory):
    """One run that most tests look at."""
    folder = tmp_path_factory.mktemp("songs")
    path, out = folder / "songs.csv", folder / "out"
    truth = make_songs(path)
    before = path.read_bytes()
    errors = io.StringIO()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "stderr", errors)
        clean_file(str(path), out, **SHOWN)
    assert path.read_bytes() == before
    return SimpleNamespace(
        path=path,
        out=out,
        truth=truth,
        errors=errors.getvalue(),
        given=read_labels(cells(path)),
        suspects=pd.read_csv(out / "suspects.csv", keep_default_na=False),
        summary=json.loads((out / "summary.json").read_text()),
    )


def check_complete(out, n_samples):
    """Every file there is whole; returns their names."""
    there = {path.name for path in out.glob("[!.]*")} if out.exists() else set()
    for name in there:
        text = (out / name).read_text()
        if name == "suspects.csv":
            table = pd.read_csv(io.StringIO(text))
            assert text.endswith("\n") and set(table["list"]) == set(LISTS)
        elif name.endswith(".csv"):
            assert len(pd.read_csv(io.StringIO(text))) == n_samples
        elif name == "audit.html":
            assert text.rstrip().endswith("</html>")
        else:
            assert json.loads(text)["n_samples"] == n_samples
    if "summary.json" in there:
        assert there == set(FILES)
    return there


def test_all_files_are_there(audited):
    assert check_complete(audited.out, 400) == set(FILES)
    assert not list(audited.out.glob(".*"))
    soft = pd.read_csv(audited.out / "label_distributions.csv")
    assert list(soft) == ["row", *NAMES] and soft["happy"].isna().sum() == 21
    values = soft[NAMES].to_numpy()
    assert ((values >= 0) & (values <= 1))[audited.given != -1].all()


def test_wrong_labels_are_found(audited):
    suspects = audited.suspects
    columns = suspects["label"].map(NAMES.index)
    wrong = audited.given != audited.truth
    found = wrong[suspects["row"] - 1, columns]
    first = suspects["wrong_proba"].sort_values(ascending=False).index[:20]
    assert found[first].mean() > 0.8
    assert found.sum() > 0.5 * (wrong & (audited.given != -1)).sum()
    # What was not observed is no error.
    assert (audited.given[suspects["row"] - 1, columns] == suspects["given"]).all()


def test_suspects_come_in_two_lists_with_evidence(audited):
    suspects = audited.suspects
    assert list(suspects["list"].unique()) == LISTS
    for (_, part), given in zip(suspects.groupby("list"), [1, 0]):
        assert set(part["given"]) == {given}
        assert part["score"].is_monotonic_decreasing
    assert suspects["reason"].str.contains("nearest rows").all()
    assert suspects["sample"][0] == f'song "{suspects["row"][0] - 1}", live'


def test_cleaned_copy_is_the_table_with_other_labels(audited):
    before, after = cells(audited.path), cells(audited.out / "cleaned.csv")
    assert list(before) == list(after)
    rest = [name for name in before if not name.startswith("label:")]
    assert "genre" in rest and "title" in rest
    pd.testing.assert_frame_equal(before[rest], after[rest])
    changed = np.argwhere(read_labels(before) != read_labels(after))
    corrected = audited.suspects[audited.suspects["corrected"] == 1]
    expected = zip(corrected["row"] - 1, corrected["label"].map(NAMES.index))
    assert sorted(map(tuple, changed)) == sorted(expected)
    assert len(changed) == audited.summary["corrected"] > 10
    assert (corrected["wrong_proba"] > 0.8).all()
    right = read_labels(after)[tuple(changed.T)] == audited.truth[tuple(changed.T)]
    assert right.mean() > 0.8
    assert set(after["label:fast"]) == {"yes", "no"}
    assert (after["label:happy"] == "").sum() == 21


def test_messages_name_what_was_not_used(audited):
    lines = audited.errors.splitlines()
    assert sum("genre: left out, as you said" in line for line in lines) == 1
    assert any(line.startswith("Gaps in 1 column filled") for line in lines)
    assert any(line.startswith("LabelAudit: forest (") for line in lines)


def test_summary(audited):
    summary = audited.summary
    assert summary["n_features"] == 4
    assert summary["entries"] == 1200 - 21 and summary["not_observed"] == 21
    assert "genre: left out, as you said" in summary["columns"]
    assert any("7 gaps filled with" in column for column in summary["columns"])
    assert summary["maps"] == ["NMLSDR", "PCA"]
    assert [label["label"] for label in summary["labels"]] == NAMES
    assert sum(summary["listed"].values()) == len(audited.suspects)
    wrong = sum(x["expected_wrong"] + x["expected_missing"] for x in summary["labels"])
    np.testing.assert_allclose(wrong, summary["expected_wrong"], atol=0.6)
    given = (audited.given == 1).sum(axis=0)
    assert [label["given"] for label in summary["labels"]] == given.tolist()


def test_same_seed_same_files(audited, tmp_path):
    clean_file(str(audited.path), tmp_path, **SHOWN)
    # Bokeh numbers the parts of the page anew each time.
    for name in set(FILES) - {"audit.html"}:
        assert (tmp_path / name).read_bytes() == (audited.out / name).read_bytes()


def test_review_only(audited, tmp_path, capsys):
    clean_file(str(audited.path), tmp_path, flip=None, review=6)
    pd.testing.assert_frame_equal(
        cells(tmp_path / "cleaned.csv"), cells(audited.path), check_dtype=False
    )
    assert len(pd.read_csv(tmp_path / "suspects.csv")) == 6
    shown = capsys.readouterr()
    assert "Nothing was corrected" in shown.out
    assert shown.err.count("filled with the median") == 1


def test_corrected_entries_are_always_listed(audited, tmp_path):
    clean_file(str(audited.path), tmp_path, review=1, **SHOWN)
    suspects = pd.read_csv(tmp_path / "suspects.csv")
    assert suspects["corrected"].sum() == len(suspects) == audited.summary["corrected"]


def test_without_a_rate_the_lists_stay_apart(tmp_path, capsys):
    path = tmp_path / "songs.csv"
    make_songs(path, n_samples=150, rate=0.0)
    clean_file(str(path), tmp_path / "out")
    assert "No noise rate could be estimated" in capsys.readouterr().out
    page = (tmp_path / "out" / "audit.html").read_text()
    assert "No noise rate could be estimated" in page and ">P(wrong)<" not in page
    assert page.count(">how unlikely<") == 2
    count = pd.read_csv(tmp_path / "out" / "suspects.csv")["list"].value_counts()
    assert count.to_dict() == dict.fromkeys(LISTS, UNKNOWN_REVIEW)
    clean_file(str(path), tmp_path / "out", noise="none", review=7, force=True)
    assert "No kind of noise was assumed" in capsys.readouterr().out
    count = pd.read_csv(tmp_path / "out" / "suspects.csv")["list"].value_counts()
    assert count.to_dict() == dict.fromkeys(LISTS, 7)
    copy = cells(tmp_path / "out" / "cleaned.csv")
    np.testing.assert_array_equal(read_labels(copy), read_labels(cells(path)))


@pytest.mark.parametrize(
    "kind, estimated, review, expected",
    [
        ("symmetric", True, None, 9),
        ("symmetric", True, 4, 4),
        ("uncertain", True, None, {1: 3, 0: 1}),
        ("uncertain", True, 4, {1: 4, 0: 4}),
        ("uncertain", False, None, {1: UNKNOWN_REVIEW, 0: UNKNOWN_REVIEW}),
        ("none", False, 4, {1: 4, 0: 4}),
    ],
)
def test_how_many_are_listed(kind, estimated, review, expected):
    wrong = np.array([[0.9, 0.8], [np.nan, 0.6], [0.8, 0.5]])
    audit = SimpleNamespace(noise_=kind, n_suspects_=9, wrong_proba_=wrong)
    given = np.array([[True, False], [False, True], [True, True]])
    assert auditing._limits(audit, given, review, estimated) == expected


def test_uncertain_kind_is_said(audited, tmp_path, monkeypatch, capsys):
    class Unsure(auditing.LabelAudit):
        def fit(self, X, y):
            super().fit(X, y)
            self.noise_ = "uncertain"
            self.message_ = "The kind of noise cannot be told: read the lists apart."
            return self

    monkeypatch.setattr("demurk.review._ranking.LabelAudit", Unsure)
    clean_file(str(audited.path), tmp_path, review=15)
    page = (tmp_path / "audit.html").read_text()
    for text in (capsys.readouterr().out, page):
        assert "The kind of noise cannot be told" in text and "best guess" in text
    count = pd.read_csv(tmp_path / "suspects.csv")["list"].value_counts()
    assert count[LISTS].min() >= 15


def test_parquet_keeps_types(tmp_path):
    pytest.importorskip("pyarrow")
    csv = tmp_path / "songs.csv"
    truth = make_songs(csv, n_samples=300)
    frame = pd.read_csv(csv)
    frame["label:calm <b>"] = frame["label:calm <b>"] == 1
    frame["length"] = (100 * frame["length"]).astype(int)
    frame["heard"] = pd.Timestamp("2026-01-01") + pd.to_timedelta(frame.index, "D")
    path = tmp_path / "songs.parquet"
    frame.to_parquet(path)
    before = path.read_bytes()
    clean_file(str(path), tmp_path / "out", drop=["title", "genre"])
    assert path.read_bytes() == before
    expected = cells(io.StringIO(frame.to_csv(index=False)))
    copy = pd.read_parquet(tmp_path / "out" / "cleaned.parquet")
    assert copy.dtypes.tolist() == frame.dtypes.tolist()
    after = cells(io.StringIO(copy.to_csv(index=False)))
    rest = [name for name in expected if not name.startswith("label:")]
    pd.testing.assert_frame_equal(expected[rest], after[rest])
    assert set(after["label:calm <b>"]) == {"True", "False"}
    changed = (after["label:calm <b>"] != expected["label:calm <b>"]).to_numpy()
    values = (after["label:calm <b>"] == "True").to_numpy()
    assert (values == truth[:, 2])[changed].mean() > 0.7 and changed.any()
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert "heard: date (4 features)" in summary["columns"]


def test_noise_of_several_labels_is_refused_before_anything_is_fitted(
    tmp_path, monkeypatch
):
    path = tmp_path / "pets.csv"
    path.write_text("size,species\n" + "1,cat\n2,dog\n" * 20)
    monkeypatch.setattr(auditing.LabelAudit, "fit", None)
    with pytest.raises(ValueError, match=r"--noise is extra, but .* one class per row"):
        clean_file(str(path), tmp_path / "out", class_="species", noise="extra")
    assert not (tmp_path / "out").exists()


def test_one_class_per_sample(tmp_path):
    rng = np.random.RandomState(0)
    X = rng.normal(size=(400, 4))
    y = X[:, :3].argmax(axis=1)
    noisy = np.where(rng.rand(400) < 0.12, (y + rng.randint(1, 3, 400)) % 3, y)
    noisy[:9] = -1
    path = tmp_path / "classes.npz"
    np.savez(path, X=X, y=noisy)
    clean_file(str(path), tmp_path / "out")
    copy = pd.read_csv(tmp_path / "out" / "cleaned.csv")
    np.testing.assert_allclose(copy.iloc[:, :4], X)
    cleaned = copy["class"].fillna(-1).to_numpy()
    assert (cleaned[:9] == -1).all()
    changed = cleaned != noisy
    assert changed.sum() > 10 and (cleaned == y)[changed].mean() > 0.9
    suspects = pd.read_csv(tmp_path / "out" / "suspects.csv")
    corrected = suspects[suspects["corrected"] == 1]
    # A class is given up, another one takes its place: one line for both.
    assert corrected["row"].nunique() == changed.sum() == len(corrected)
    rows = corrected["row"].to_numpy() - 1
    assert (corrected["given"] == noisy[rows]).all()
    assert (corrected["suggested"] == cleaned[rows]).all()


def test_overlapping_classes_list_what_is_worth_a_second_opinion(tmp_path, capsys):
    rng = np.random.RandomState(0)
    X = rng.normal(size=(300, 4))
    y = (X[:, :3] + 0.9 * rng.normal(size=(300, 3))).argmax(axis=1)
    np.savez(tmp_path / "classes.npz", X=X, y=y)
    clean_file(str(tmp_path / "classes.npz"), tmp_path / "out")
    (count,) = re.findall(r"about (\d+) of 300 rows .* second", capsys.readouterr().out)
    suspects = pd.read_csv(tmp_path / "out" / "suspects.csv")
    assert len(suspects) == int(count) > UNKNOWN_REVIEW
    assert not suspects["corrected"].any()


def test_sparse_features_leave_row_numbers(tmp_path):
    X = sparse.random_array((200, 40), density=0.2, random_state=0).toarray()
    Y = (X[:, :2] > 0).astype(int)
    lines = [
        ",".join(str(j) for j in np.flatnonzero(y))
        + "".join(f" {j}:{x[j]:.3f}" for j in np.flatnonzero(x))
        for x, y in zip(X, Y)
    ]
    path = tmp_path / "words.svm"
    path.write_text("\n".join(lines) + "\n")
    clean_file(str(path), tmp_path / "out", flip=None)
    copy = pd.read_csv(tmp_path / "out" / "cleaned.csv")
    assert list(copy) == ["row", "label:0", "label:1"]
    np.testing.assert_array_equal(copy.to_numpy()[:, 1:], Y)


@pytest.mark.parametrize(
    "X, Y",
    [
        (np.arange(40.0)[:, None], (np.arange(40) > 20).astype(int)[:, None]),
        (np.random.RandomState(0).rand(40, 4), np.zeros((40, 2), dtype=int)),
        (np.random.RandomState(0).rand(3, 4), np.eye(3, 2, dtype=int)),
    ],
    ids=["one feature, one label", "constant labels", "three samples"],
)
def test_small_data(tmp_path, X, Y):
    np.savez(tmp_path / "small.npz", X=X, Y=Y)
    clean_file(str(tmp_path / "small.npz"), tmp_path / "out")
    copy = cells(tmp_path / "out" / "cleaned.csv").astype(float)
    np.testing.assert_array_equal(copy.to_numpy(), np.hstack([X, Y]))


@pytest.mark.parametrize(
    "options, message",
    [
        ({"noise": "random"}, "give one of auto, symmetric"),
        ({"flip": 0.3}, "from 0.5 to 1"),
        ({"review": 0}, "number of suspects"),
        ({"text": "composer"}, "no column 'composer' named in --text"),
        ({"drop": ["composer"]}, "no column 'composer' named in --drop"),
        ({"labels": "tag:"}, "no column 'tag:' named in --labels"),
        ({"labels": "0"}, "no label column"),
        ({"labels": "genre,label:fast"}, "line 2: column 'genre' holds"),
        ({"drop": FEATURES}, "no column beside the labels that could be a feature"),
        ({"source": "absent.csv"}, "neither a file nor a known data set"),
        (
            {"source": "digits", "text": "title"},
            "--text is about the columns of a table",
        ),
    ],
)
def test_errors_are_one_sentence_before_any_file(audited, tmp_path, options, message):
    options = {"source": str(audited.path), "output": tmp_path / "out"} | options
    with pytest.raises((ValueError, OSError), match=message) as error:
        clean_file(**options)
    assert "\n" not in str(error.value)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("text", ["1\n\n1\n", "-1\n1\n1\n"])
def test_empty_cells_are_not_zeros(tmp_path, text):
    path = tmp_path / "marks.csv"
    rows = zip("abc", [1, 2, 3], text.split("\n"))
    path.write_text("name,x,label:a\n" + "".join(f"{a},{x},{y}\n" for a, x, y in rows))
    with pytest.raises(ValueError, match="write 0 where a sample does not have"):
        clean_file(str(path), tmp_path / "out")


def test_nothing_is_overwritten(audited, tmp_path):
    (tmp_path / "label_distributions.csv").write_text("mine")
    with pytest.raises(FileExistsError, match="--force"):
        clean_file(str(audited.path), tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["label_distributions.csv"]
    # Not even by force: the original.
    source = tmp_path / "cleaned.csv"
    source.write_bytes(audited.path.read_bytes())
    with pytest.raises(ValueError, match="is the data itself"):
        clean_file(str(source), tmp_path, force=True)
    assert source.read_bytes() == audited.path.read_bytes()
    assert (tmp_path / "label_distributions.csv").read_text() == "mine"
    clean_file(str(audited.path), tmp_path / "out")
    clean_file(str(audited.path), tmp_path / "out", flip=None, force=True)
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert summary["corrected"] == 0


def test_a_full_disk_leaves_the_last_run(audited, tmp_path, monkeypatch):
    clean_file(str(audited.path), tmp_path / "out", flip=None)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*.*")}
    write_text = module.write_text

    def full(path, text):
        if path.name == "audit.html":
            write_text(path, text[:100])
            raise OSError("disk full")
        write_text(path, text)

    monkeypatch.setattr(module, "write_text", full)
    with pytest.raises(OSError, match="disk full"):
        clean_file(str(audited.path), tmp_path / "out", force=True)
    assert {path: path.read_bytes() for path in tmp_path.rglob("*.*")} == before


def test_columns_that_cannot_be_features(tmp_path, capsys):
    path = tmp_path / "table.csv"
    make_songs(path, n_samples=60)
    frame = cells(path).drop(columns=["title", "genre"])
    frame.insert(0, "", [str(i) for i in range(60)])
    frame.insert(2, "note", "")
    frame.insert(3, "width", [*map(str, range(30)), "1,5", *map(str, range(29))])
    frame.to_csv(path, index=False)
    clean_file(str(path), tmp_path / "out")
    said = capsys.readouterr().err
    assert "(no name): id, names the row" in said and "note: left out, is empty" in said
    assert cells(tmp_path / "out" / "cleaned.csv").shape == frame.shape
    clean_file(str(path), tmp_path / "used", categorical=["width"])
    summary = json.loads((tmp_path / "used" / "summary.json").read_text())
    assert summary["n_features"] == 4 + 31


def test_page_in_a_browser_without_network(audited):
    with open_browser() as browser:
        browser.requests()
        browser.open(audited.out / "audit.html")
        browser.wait("demurk.state.by === 'change'")
        n_rows = audited.suspects["row"].nunique()
        assert f"{n_rows} with suspect labels" in browser.find("#facts")[0].text
        assert browser.find("#groups .group")[0].text.split() == [
            "suspect",
            str(n_rows),
        ]
        text = browser.find(".report")[0].text
        assert audited.summary["message"] in text and "genre: left out" in text
        for name in NAMES:
            assert name in browser.find(".chart")[0].text
        widths = [bar.rect["width"] for bar in browser.find(".chart .bar i")]
        assert len(widths) == 6 and min(widths) > 0
        tables = browser.find(".list[role=region] table")
        for table, name in zip(tables, LISTS, strict=True):
            shown = audited.suspects[audited.suspects["list"] == name]
            assert len(table.text.splitlines()) >= len(shown)
            assert shown["reason"].iloc[0] in table.text
        line = audited.suspects.iloc[1]
        link = browser.find(".report a.find")[1]
        assert link.get_attribute("href").endswith(f"#sample-{line['row'] - 1}")
        browser.driver.execute_script("arguments[0].click()", link)
        browser.wait(f"demurk.state.selected === {line['row'] - 1}")
        card = browser.find("#card")[0].text
        # The words of the review.
        given = "Given" if line["given"] else "Not given"
        assert line["sample"] in card and f"{given} '{line['label']}'; of its" in card
        assert f"P(wrong) {line['wrong_proba']:.2f}" in card
        assert len(browser.find("#card .neighbors li")) == 5
        assert browser.find("#marker")[0].is_displayed()
        assert browser.run("scrollY") == 0
        for width in (1366, 620):
            browser.driver.set_window_size(width, 800)
            assert browser.run("document.body.scrollWidth <= innerWidth")
        # On a small screen the card is in sight wherever one tapped.
        other = browser.find(".report a.find")[0]
        browser.click("#close")
        scroll = "arguments[0].scrollIntoView({block: 'center'})"
        browser.driver.execute_script(scroll, other)
        other.click()
        browser.wait(f"demurk.state.selected === {audited.suspects['row'][0] - 1}")
        box = browser.run("document.getElementById('card').getBoundingClientRect()")
        assert 0 <= box["top"] and box["bottom"] <= browser.run("innerHeight")
        # Other rows of the card are links, too.
        browser.driver.execute_script(
            "arguments[0].click()", browser.find(".neighbors button")[0]
        )
        browser.wait(f"demurk.state.selected !== {audited.suspects['row'][0] - 1}")
        assert browser.requests() == [(audited.out / "audit.html").as_uri()]
        assert browser.errors() == []
