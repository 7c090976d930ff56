"""``demurk annotators`` and the other commands on tables of several people."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import json
import shutil
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import demurk.cli._annotators as module
from demurk.annotators import Annotations, Consensus
from demurk.cli import main
from demurk.cli._annotators import FILES, annotators_file, further_rows
from demurk.cli._predict import _learned, _training
from demurk.datasets import read_table
from demurk.multilabel import MLkNN, MurkyClassifier
from demurk.viz.tests.accessibility import axe_findings, axe_script, resize
from demurk.viz.tests.browser import open_browser

SCRIPT = "<img src=x onerror=document.title='broken'>"
FORMULA = "=HYPERLINK('http://x')"
# How often each person is right; None always says fox.
PEOPLE = {"anna": 0.95, "ben@work.org": 0.85, SCRIPT: 0.6, FORMULA: 0.75, "one": None}
CLASSES = np.array(["cat", "dog", "fox <b>"])


def animals(path, n_rows=240, seed=0):
    """A table with the answers of five people; returns the truth."""
    rng = np.random.default_rng(seed)
    true = rng.integers(0, 3, n_rows)
    X = rng.normal(size=(n_rows, 4)) * 0.7 + 2 * np.eye(3, 4)[true]
    frame = pd.DataFrame(X.round(3), columns=list("abcd"))
    frame.insert(0, "id", [f"animal {k}" for k in range(n_rows)])
    frame.loc[3, "id"] = "=1+1"
    for person, right in PEOPLE.items():
        wrong = rng.random(n_rows) > (right or 0)
        said = np.where(wrong, (true + rng.integers(1, 3, n_rows)) % 3, true)
        said = CLASSES[said if right else np.full(n_rows, 2)].astype(object)
        said[rng.random(n_rows) < 0.4] = ""
        said[:5] = ""
        frame[f"class@{person}"] = said
    frame.to_csv(path, index=False)
    return CLASSES[true]


def as_lines(frame):
    """The same table with a line for each answer, in no order."""
    people = [column for column in frame if "@" in column]
    rest = [column for column in frame if column not in people]
    lines = frame.melt(rest, people, var_name="who", value_name="kind")
    lines["who"] = lines["who"].str.removeprefix("class@")
    return lines[lines["kind"] != ""].sample(frac=1, random_state=0)


def cells(path):
    return pd.read_csv(path, dtype=str, keep_default_na=False)


@pytest.fixture(scope="module")
def weighed(tmp_path_factory):
    """One run that most tests look at."""
    folder = tmp_path_factory.mktemp("animals")
    path, out = folder / "animals.csv", folder / "out"
    true = animals(path)
    before = path.read_bytes()
    annotators_file(str(path), out)
    assert path.read_bytes() == before
    summary = json.loads((out / "summary.json").read_text())
    return SimpleNamespace(path=path, out=out, true=true, summary=summary)


def test_all_files_are_there(weighed):
    assert {path.name for path in weighed.out.iterdir()} == set(FILES)
    summary = weighed.summary
    assert summary["n_people"] == 5 and summary["without_answer"] >= 5
    assert summary["alpha"][1] < summary["alpha"][0] < summary["alpha"][2]
    soft = pd.read_csv(weighed.out / "label_distributions.csv")
    np.testing.assert_allclose(soft[CLASSES].sum(axis=1), 1, atol=1e-4)


def test_the_consensus_is_a_table_to_go_on_with(weighed):
    before, after = cells(weighed.path), cells(weighed.out / "consensus.csv")
    assert list(after) == ["id", "a", "b", "c", "d", "class"]
    pd.testing.assert_frame_equal(before[after.columns[:5]], after[after.columns[:5]])
    answered = (before.filter(like="@") != "").any(axis=1).to_numpy()
    assert ((after["class"] != "") == answered).all()
    right = (after["class"] == weighed.true)[answered]
    said = before.filter(like="@").replace("", None)
    votes = said.mode(axis=1)[0]
    assert right.mean() > (votes == weighed.true)[answered].mean() + 0.05
    assert read_table(weighed.out / "consensus.csv").annotations is None


def test_quality_ranks_people_and_finds_who_says_one_thing(weighed):
    quality = pd.read_csv(weighed.out / "quality.csv", keep_default_na=False)
    order = ["anna", "ben@work.org", f"'{FORMULA}", SCRIPT, "one"]
    assert quality["person"].tolist() == order
    assert (quality["low"] <= quality["quality"]).all()
    assert (quality["quality"] <= quality["high"]).all()
    assert quality["only"].tolist() == ["", "", "", "", "fox <b>"]
    confusion = pd.read_csv(weighed.out / "confusion.csv")
    sums = confusion.groupby(["person", "true"])["share"].sum()
    np.testing.assert_allclose(sums, 1, atol=1e-4)
    own = confusion[confusion["person"] == "one"]
    assert (own[own["answered"] == "fox <b>"]["share"] > 0.9).all()


def test_disagreements_come_least_certain_first(weighed):
    found = cells(weighed.out / "disagreements.csv")
    assert len(found) == weighed.summary["disagreements"]
    chance = found["wrong_proba"].astype(float)
    assert chance.is_monotonic_decreasing
    said = cells(weighed.path).filter(like="@")
    differ = said.apply(lambda row: len(set(row) - {""}) > 1, axis=1)
    assert set(found["row"].astype(int) - 1) == set(np.flatnonzero(differ))
    row = int(found["row"][0]) - 1
    for column, answer in said.iloc[row].items():
        if answer:
            assert column.removeprefix("class@") in found["said"][0]
            assert f"'{answer}'" in found["said"][0]
    wrong = found["consensus"].to_numpy() != weighed.true[found["row"].astype(int) - 1]
    half = len(found) // 2
    assert wrong[:half].sum() > wrong[half:].sum()


def test_no_cell_of_ours_is_a_formula(weighed):
    for name in ("quality.csv", "confusion.csv", "disagreements.csv"):
        frame = cells(weighed.out / name)
        for column in frame:
            assert not frame[column].str.startswith(("=", "@", "+")).any(), (
                name,
                column,
            )


def test_a_line_for_each_answer_gives_the_same(weighed, tmp_path):
    path = tmp_path / "animals.csv"
    as_lines(cells(weighed.path)).to_csv(path, index=False)
    annotators_file(str(path), tmp_path / "out", annotator="who", class_="kind")
    first = pd.read_csv(weighed.out / "quality.csv").set_index("person")
    second = pd.read_csv(tmp_path / "out" / "quality.csv").set_index("person")
    assert (first["answers"] == second.loc[first.index, "answers"]).all()
    # Rows stand in another order, and so do the draws of the forest.
    gap = (first["quality"] - second.loc[first.index, "quality"]).abs()
    assert gap.max() < 0.1


def test_same_seed_same_files(weighed, tmp_path):
    annotators_file(str(weighed.path), tmp_path / "out")
    for name in FILES:
        assert (tmp_path / "out" / name).read_bytes() == (
            weighed.out / name
        ).read_bytes()


def test_several_labels_and_no_features(tmp_path, capsys):
    rng = np.random.default_rng(0)
    true = (rng.random((60, 2)) > 0.5).astype(int)
    frame = pd.DataFrame({"id": range(60)})
    for person, right in {"u": 0.95, "v": 0.9, "x": 0.9, "w": 0.6}.items():
        for j, label in enumerate(("wild", "tame")):
            wrong = rng.random(60) > right
            frame[f"label:{label}@{person}"] = np.where(wrong, 1, 0) ^ true[:, j]
    path = tmp_path / "t.csv"
    frame.to_csv(path, index=False)
    assert main(["annotators", str(path), "-o", str(tmp_path / "out")]) == 0
    said = capsys.readouterr().out
    assert "to judge by their answers, the consensus will be wrong about" in said
    after = cells(tmp_path / "out" / "consensus.csv")
    assert list(after) == ["id", "label:wild", "label:tame"]
    right = (after.iloc[:, 1:].astype(int).to_numpy() == true).mean()
    assert right > 0.9
    quality = pd.read_csv(tmp_path / "out" / "quality.csv")
    assert quality["person"].tolist()[-1] == "w"
    confusion = pd.read_csv(tmp_path / "out" / "confusion.csv")
    assert len(confusion) == 8 and {"extra", "missing"} < set(confusion)
    found = cells(tmp_path / "out" / "disagreements.csv")
    assert set(found["label"]) == {"wild", "tame"}
    assert found["said"].str.contains("say").all()
    page = (tmp_path / "out" / "annotators.html").read_text()
    assert "given though it does not hold" in page


def test_columns_may_be_called_as_ours_are(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("row,who,label\nr7,u,a\nr7,v,b\nr9,u,a\nr9,v,a\n")
    annotators_file(str(path), tmp_path / "out", annotator="who")
    found = cells(tmp_path / "out" / "disagreements.csv")
    assert list(found)[:2] == ["row", "row (2)"]
    assert found.iloc[0, :2].tolist() == ["1", "r7"]
    page = (tmp_path / "out" / "annotators.html").read_text()
    assert "row 1 · r7" in page


@pytest.mark.parametrize(
    "text",
    [
        "x,class@u,class@v\n1,a,\n2,,b\n3,a,\n",
        "x,class@u,class@v\n1,a,a\n2,b,b\n3,a,a\n",
        "x,class@u,class@v\n1,a,a\n2,a,a\n3,a,a\n",
        "x,label:l@u,label:l@v\n1,1,1\n2,0,\n3,,\n",
    ],
    ids=["no row twice", "all agree", "one class", "one label"],
)
def test_small_tables(tmp_path, text):
    path = tmp_path / "t.csv"
    path.write_text(text)
    annotators_file(str(path), tmp_path / "out")
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert summary["disagreements"] == 0
    assert (tmp_path / "out" / "annotators.html").read_text().endswith("</html>\n")


def test_errors_are_one_sentence_before_any_file(weighed, tmp_path, capsys):
    plain = tmp_path / "plain.csv"
    plain.write_text("x,class\n1,a\n2,b\n")
    for arguments, message in (
        ([str(plain)], "name a column for each person as in class@anna"),
        ([str(plain), "--annotator", "who"], "no column 'who' named in --annotator"),
        (["absent.csv"], "neither a file nor a known data set"),
        (
            ["digits", "--annotator", "who"],
            "--annotator is about the columns of a table",
        ),
    ):
        assert main(["annotators", *arguments, "-o", str(tmp_path / "out")]) == 2
        error = capsys.readouterr().err
        assert message in error and error.count("\n") == 1
        assert not (tmp_path / "out").exists()
    source = tmp_path / "consensus.csv"
    source.write_bytes(weighed.path.read_bytes())
    with pytest.raises(ValueError, match="is the data itself"):
        annotators_file(str(source), tmp_path, force=True)
    assert source.read_bytes() == weighed.path.read_bytes()


def test_a_full_disk_leaves_the_last_run(weighed, tmp_path, monkeypatch):
    shutil.copytree(weighed.out, tmp_path / "out")
    before = {path: path.read_bytes() for path in tmp_path.rglob("*.*")}

    def full(path, text):
        path.write_text(text[:100])
        raise OSError("disk full")

    monkeypatch.setattr(module, "write_text", full)
    with pytest.raises(FileExistsError, match="--force"):
        annotators_file(str(weighed.path), tmp_path / "out")
    with pytest.raises(OSError, match="disk full"):
        annotators_file(str(weighed.path), tmp_path / "out", force=True)
    assert {path: path.read_bytes() for path in tmp_path.rglob("*.*")} == before


# One more answer


def one_more(seed, several, shared, budget=0.1, n_rows=400, q=4):
    """Share of right labels before, and after more answers at random and as we say."""
    rng = np.random.default_rng(seed)
    shape = (n_rows, q) if several else (n_rows,)
    true = rng.integers(0, 2 if several else q, shape)
    base = 2 if several else q

    def slip(rate):
        return np.where(rng.random(shape) < rate, rng.integers(1, base, shape), 0)

    # Some rows look like others to everybody.
    hard = rng.random(n_rows) < 0.2
    trap = (true + rng.integers(1, base, shape)) % base
    said = []
    for right in (0.9, 0.8, 0.8, 0.7, 0.6, 0.55):
        own = (true + slip(1 - right)) % base
        fooled = hard & (rng.random(n_rows) < shared)
        said.append(np.where(fooled[:, None] if several else fooled, trap, own))
    said = np.stack(said, axis=1)
    order = rng.random((n_rows, 6)).argsort(axis=1)
    counts = rng.integers(1, 4, n_rows)

    def weighed(counts):
        given = order < counts[:, None]
        given = given[..., None] if several else given
        answers = Annotations.from_array(np.where(given, said, -1))
        return answers, Consensus("dawid-skene").fit(None, answers)

    def right(counts):
        return np.mean(weighed(counts)[1].labels_ == true)

    best = further_rows(*weighed(counts))[0][: int(budget * n_rows)]
    lots = rng.permutation(n_rows)[: len(best)]
    shares = [right(counts)]
    for rows in (lots, best):
        more = counts.copy()
        more[rows] += 1
        shares.append(right(more))
    return shares


@pytest.mark.parametrize("several", [False, True], ids=["classes", "labels"])
@pytest.mark.parametrize("shared", [0.0, 0.6], ids=["own errors", "shared errors"])
def test_one_more_answer_helps_more_than_at_random(several, shared):
    shares = np.array([one_more(seed, several, shared) for seed in range(8)])
    gain = shares[:, 2] - shares[:, 1]
    assert gain.mean() > 2 * gain.std(ddof=1) / np.sqrt(len(gain))
    assert shares[:, 2].mean() > shares[:, 0].mean() + 0.01


# The other commands


def test_describe_says_who_and_how_far_they_agree(weighed, capsys):
    assert main(["describe", str(weighed.path)]) == 0
    said = capsys.readouterr().out
    assert "5 people gave" in said and "Krippendorff's alpha is" in said
    assert "class@anna: label, what anna says" in said
    assert "only ever says" in said and "4 features." in said


def test_predict_fills_what_nobody_answered(tmp_path, capsys):
    path, out = tmp_path / "animals.csv", tmp_path / "p.csv"
    true = animals(path, n_rows=100)
    command = ["predict", str(path), "--members", "fast", "-o", str(out)]
    assert main(command) == 0
    assert "answers of 5 people" in capsys.readouterr().out
    made = pd.read_csv(out, keep_default_na=False)
    said = cells(path).filter(like="@")
    blank = (said == "").all(axis=1).to_numpy()
    assert ((made["filled"] == "class") == blank).all()
    assert (made["predicted"] == true).mean() > 0.85


def test_nobody_has_answered_about_new_rows(tmp_path):
    path, new = tmp_path / "animals.csv", tmp_path / "new.csv"
    animals(path, n_rows=30)
    rows = cells(path).iloc[:10]
    rows.drop(columns=rows.filter(like="@").columns).to_csv(new, index=False)
    data = _training(str(new), str(path), {})
    y = _learned(data, MurkyClassifier())
    assert y.n_rows == len(data.X) == 40 and y.rows.max() < 30
    assert not data.labels.labeled[30:].any() and data.asked.sum() == 10
    labels = _learned(data, MLkNN())  # which knows no people
    np.testing.assert_array_equal(labels.values, data.labels.values)


@pytest.mark.parametrize("command", ["clean", "map --methods PCA", "reduce"])
def test_other_commands_begin_with_the_consensus(command, weighed, tmp_path):
    out = tmp_path / "out"
    command, *options = command.split()
    assert main([command, str(weighed.path), "-o", str(out), *options]) == 0
    summary = json.loads((out / "summary.json").read_text())
    assert summary["n_samples"] == 240 and summary["n_features"] == 4
    if command == "clean":
        after = cells(out / "cleaned.csv")
        assert list(after) == ["id", "a", "b", "c", "d", "class"]
        answered = (after["class"] != "").to_numpy()
        assert (after["class"] == weighed.true)[answered].mean() > 0.85
        suspects = cells(out / "suspects.csv")
        assert suspects["reason"].str.contains("anna|ben|one|HYPERLINK|img").all()
        assert suspects["reason"].str.contains("the features").any()


# The page


def test_the_page_in_a_browser_without_network(weighed):
    with open_browser() as browser:
        browser.requests()
        browser.open(weighed.out / "annotators.html")
        assert browser.run("document.title") == "animals: several people"
        text = browser.find("main")[0].text
        # Names of people are text and nothing else.
        for person in PEOPLE:
            assert person in text
        assert not browser.find("main img")
        assert "Krippendorff's alpha is" in browser.find(".verdict")[0].text
        assert "never says anything but 'fox <b>'" in text
        bars = [bar.rect["width"] for bar in browser.find(".scale i")[:5]]
        assert bars[0] > bars[1] > bars[3] > bars[4]
        closed = browser.find("details:not([open])")
        assert len(browser.find("details")) == 5 and len(closed) == 2
        closed[0].find_element("css selector", "summary").click()
        assert closed[0].find_element("css selector", ".heat").is_displayed()
        found = cells(weighed.out / "disagreements.csv")
        lists = browser.find(".list[role=region]")
        # The table has an apostrophe before what a spreadsheet would run.
        assert found["said"][0].removeprefix("'") in lists[-2].text
        further = cells(weighed.out / "further.csv")
        assert further["id"][0] in lists[-1].text
        for size in ("desktop", "phone"):
            resize(browser, size)
            assert browser.run("document.body.scrollWidth <= innerWidth")
        assert browser.requests() == [(weighed.out / "annotators.html").as_uri()]
        assert browser.errors() == []


@pytest.mark.parametrize("dark", [False, True])
def test_nothing_to_stumble_over(weighed, dark):
    script = axe_script()
    with open_browser(dark=dark) as browser:
        browser.open(weighed.out / "annotators.html")
        for size in ("desktop", "phone"):
            resize(browser, size)
            assert axe_findings(browser, script) == []
