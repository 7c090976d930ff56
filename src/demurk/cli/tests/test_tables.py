"""Every form of labels and every format, through every command."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import io
import json
import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_digits, load_iris, load_wine

from demurk.cli import main
from demurk.datasets import load_dataset, read_table

pytest.importorskip("skrub")

COMMANDS = ("predict", "clean", "map", "reduce")
QUICK = {"predict": ["--members", "fast"], "map": ["--methods", "PCA,NMLSDR"]}
MADE = {
    "predict": ("predictions.csv", "predictions.skops"),
    "clean": ("suspects.csv", "label_distributions.csv", "audit.html", "summary.json"),
    "map": ("map.html", "map.png", "summary.json"),
    "reduce": ("embedding.csv", "labels.csv", "model.skops", "summary.json"),
}
N_ROWS = 60


def some(load, n_rows=N_ROWS):
    """Some rows of a set of scikit-learn, each class alike; one in six unlabelled."""
    data = load()
    order = np.argsort(np.random.default_rng(0).random(len(data.target)))[:n_rows]
    names = [f"x{j}" for j in range(data.data.shape[1])]
    frame = pd.DataFrame(data.data[order], columns=names)
    kind = np.array([str(name) for name in data.target_names])[data.target[order]]
    return frame, np.where(np.arange(n_rows) % 6 == 0, "", kind).astype(object)


def emotions(data_home):
    """Some rows of emotions; one in six unlabelled, and single gaps."""
    data = load_dataset("emotions", data_home=data_home, download=False)
    frame = pd.DataFrame(data.data[:N_ROWS, :20], columns=data.feature_names[:20])
    labels = pd.DataFrame(data.target[:N_ROWS], columns=data.target_names).astype(
        object
    )
    labels[::6] = ""
    return frame, labels


def tag_cells(labels, sep):
    rows = labels.to_numpy()
    names = np.array(labels.columns)
    return ["" if row[0] == "" else sep.join(names[row == 1]) or "none" for row in rows]


def as_labels(path, data_home):
    frame, labels = emotions(data_home)
    labels.iloc[1, 0] = ""
    frame.join(labels.add_prefix("label:")).to_csv(path / "t.csv", index=False)
    return [path / "t.csv"]


def as_words(path, data_home):
    frame, labels = emotions(data_home)
    words = labels.replace({1: "yes", 0: "no"}).add_prefix("label:")
    frame.join(words).to_csv(path / "t.csv", index=False)
    return [path / "t.csv"]


def as_one_label(path, data_home):
    frame, labels = emotions(data_home)
    frame.assign(spam=labels.iloc[:, 0]).to_csv(path / "t.csv", index=False)
    return [path / "t.csv", "--labels", "spam"]


def as_class(path, data_home):
    frame, kind = some(load_iris)
    frame.assign(species=kind).to_csv(path / "t.csv", index=False)
    return [path / "t.csv", "--class", "species"]


def as_found_class(path, data_home):
    frame, kind = some(load_wine)
    frame.assign(Target=kind).to_csv(path / "t.csv", index=False)
    return [path / "t.csv"]


def as_digits(path, data_home):
    frame, kind = some(load_digits, 100)
    frame.assign(y=kind).to_csv(path / "t.csv", index=False)
    return [path / "t.csv"]


def as_tags(path, data_home):
    frame, labels = emotions(data_home)
    frame.assign(mood=tag_cells(labels, "; ")).to_csv(path / "t.csv", index=False)
    return [path / "t.csv", "--tags", "mood"]


def as_extra_tags(path, data_home):
    return [*as_tags(path, data_home), "--noise", "extra"]


def as_json_tags(path, data_home):
    frame, labels = emotions(data_home)
    cells = [
        "" if cell == "" else json.dumps([] if cell == "none" else cell.split("|"))
        for cell in tag_cells(labels, "|")
    ]
    frame.assign(mood=cells).to_csv(path / "t.csv", index=False)
    return [path / "t.csv", "--tags", "mood"]


def as_parquet_lists(path, data_home):
    frame, labels = emotions(data_home)
    cells = [
        None if cell == "" else [] if cell == "none" else cell.split("|")
        for cell in tag_cells(labels, "|")
    ]
    frame.assign(mood=cells).to_parquet(path / "t.parquet")
    return [path / "t.parquet", "--tags", "mood"]


def as_candidates(path, data_home):
    lost = load_dataset("lost", data_home=data_home, download=False)
    rows = np.isin(lost.target, np.bincount(lost.target).argsort()[-4:])
    rows = np.flatnonzero(rows)[:80]
    names = np.array(lost.target_names)
    cells = ["|".join(names[row == 1]) for row in lost.candidates[rows]]
    cells[::8] = [""] * len(cells[::8])
    frame = pd.DataFrame(lost.data[rows, :30]).add_prefix("x")
    frame.assign(who=cells).to_csv(path / "t.csv", index=False)
    return [path / "t.csv", "--candidates", "who"]


def as_text(path, data_home):
    frame, kind = some(load_iris)
    words = [f"a {k or 'grey'} flower of day {i % 9}" for i, k in enumerate(kind)]
    frame = pd.DataFrame({"id": range(len(kind)), "note": words, "kind": kind})
    frame.to_csv(path / "t.csv", index=False)
    return [path / "t.csv", "--class", "kind", "--text", "note"]


def as_excel(path, data_home):
    pytest.importorskip("openpyxl")
    frame, kind = some(load_iris)
    frame.assign(species=kind).to_excel(path / "t.xlsx", index=False)
    return [path / "t.xlsx", "--class", "species"]


def as_semicolons(path, data_home):
    frame, kind = some(load_iris)
    frame.assign(species=kind).to_csv(path / "t.csv", index=False, sep=";", decimal=",")
    return [path / "t.csv", "--class", "species"]


def as_latin(path, data_home):
    frame, kind = some(load_iris)
    frame.assign(größe=np.char.add("é", kind.astype(str))).replace("é", "").to_csv(
        path / "t.csv", index=False, encoding="latin-1"
    )
    return [path / "t.csv", "--class", "größe"]


def as_tsv(path, data_home):
    frame, kind = some(load_wine)
    frame.assign(y=kind).to_csv(path / "t.tsv.gz", index=False, sep="\t")
    return [path / "t.tsv.gz"]


def as_feather(path, data_home):
    frame, kind = some(load_wine)
    frame.assign(y=kind).to_feather(path / "t.feather")
    return [path / "t.feather"]


def as_lines(path, data_home):
    frame, kind = some(load_wine)
    frame.assign(y=kind).to_json(path / "t.jsonl", orient="records", lines=True)
    return [path / "t.jsonl"]


def as_stdin(path, data_home):
    return ["-", *as_class(path, data_home)[1:]]


def as_label_studio(path, data_home):
    frame, kind = some(load_iris)
    tasks = []
    for i, (row, label) in enumerate(zip(frame.to_dict("records"), kind), 1):
        result = {
            "from_name": "species",
            "to_name": "text",
            "type": "choices",
            "value": {"choices": [label]},
        }
        made = [{"result": [result]}] if label else []
        data = row | {"text": f"flower of day {i % 9}"}
        tasks.append({"id": i, "data": data, "annotations": made})
    (path / "t.json").write_text(json.dumps(tasks))
    return [path / "t.json", "--class", "species"]


def as_doccano(path, data_home):
    _, kind = some(load_iris)
    lines = [
        json.dumps(
            {
                "id": i,
                "text": f"{label or 'grey'} {i % 9}",
                "label": [label][: bool(label)],
            }
        )
        for i, label in enumerate(kind)
    ]
    (path / "t.jsonl").write_text("\n".join(lines) + "\n")
    return [path / "t.jsonl"]


def as_anndata(path, data_home):
    anndata = pytest.importorskip("anndata")
    frame, kind = some(load_iris)
    kind = pd.Categorical(np.where(kind == "", None, kind))
    kind = kind.rename_categories(kind.categories.astype(object))
    names = pd.Index([f"c{i}" for i in range(len(frame))], dtype=object)
    cells = anndata.AnnData(frame.to_numpy(), obs=pd.DataFrame({"kind": kind}, names))
    cells.var_names = pd.Index(list(frame.columns), dtype=object)
    cells.write_h5ad(path / "t.h5ad")
    return [path / "t.h5ad", "--class", "kind"]


FORMS = [
    as_labels,
    as_words,
    as_one_label,
    as_class,
    as_found_class,
    as_digits,
    as_tags,
    as_extra_tags,
    as_json_tags,
    as_parquet_lists,
    as_candidates,
    as_text,
    as_excel,
    as_semicolons,
    as_latin,
    as_tsv,
    as_feather,
    as_lines,
    as_stdin,
    as_label_studio,
    as_doccano,
    as_anndata,
]


def run(command, arguments, folder, *more):
    """Run a command on a table; the folder it wrote to."""
    arguments = [str(argument) for argument in arguments]
    if command not in ("predict", "clean") and "--noise" in arguments:
        place = arguments.index("--noise")
        del arguments[place : place + 2]
    more = [*QUICK.get(command, ()), *more]
    if "--candidates" in arguments:
        more = [word for word in more if word not in ("--members", "fast")]
    out = folder / command
    goal = out / "predictions.csv" if command == "predict" else out
    assert main([command, *arguments, *more, "-o", str(goal)]) == 0
    return out


@pytest.mark.filterwarnings("ignore:.*infer_string:DeprecationWarning")
@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.__name__[3:])
def test_every_form_through_every_command(
    form, command, data_home, tmp_path, monkeypatch
):
    arguments = form(tmp_path, data_home)
    if arguments[0] == "-":
        content = (tmp_path / "t.csv").read_bytes()
        stdin = type("Stdin", (), {"buffer": io.BytesIO(content)})
        monkeypatch.setattr(sys, "stdin", stdin)
    out = run(command, arguments, tmp_path)
    for name in MADE[command]:
        assert (out / name).stat().st_size > 0
    if command == "predict":
        table = pd.read_csv(out / "predictions.csv", keep_default_na=False)
        assert table["row"].tolist() == list(range(1, len(table) + 1))
        assert (table["filled"] != "").sum() >= len(table) // 8
        shares = table.filter(like=": probability").to_numpy()
        assert ((shares >= 0) & (shares <= 1)).all()


# One number, everywhere


def test_one_number_of_suspects(tmp_path, data_home):
    arguments = as_labels(tmp_path, data_home)
    clean = json.loads((run("clean", arguments, tmp_path) / "summary.json").read_text())
    out = run("map", arguments, tmp_path)
    drawn = json.loads((out / "summary.json").read_text())
    assert drawn["listed"] == sum(clean["listed"].values())
    assert drawn["expected_wrong"] == clean["expected_wrong"]
    assert drawn["given"] == clean["entries"]
    suspects = pd.read_csv(tmp_path / "clean" / "suspects.csv")
    assert len(suspects) == drawn["listed"]
    assert suspects["wrong_proba"].notna().all() == clean["estimated"]
    assert suspects["corrected"].sum() == clean["corrected"]


def test_one_number_of_suspect_classes(tmp_path, data_home, capsys):
    """In what is said, in the files and on the page, and in the copy the corrected."""
    path, *options = as_class(tmp_path, data_home)
    frame = pd.read_csv(path, keep_default_na=False)
    frame.loc[[1, 7, 13, 19, 25, 31], "species"] = ["virginica", "setosa"] * 3
    frame.to_csv(path, index=False)
    out = run("clean", [path, *options], tmp_path)
    said = capsys.readouterr().out
    facts = json.loads((out / "summary.json").read_text())
    suspects = pd.read_csv(out / "suspects.csv")
    assert 0 < len(suspects) == facts["expected_wrong"]
    assert f"about {len(suspects)} of 50 rows" in said
    assert f"Listed: {len(suspects)} rows" in said
    # The number is how likely the other class is for the features alone.
    reasons = suspects["reason"].str.extract(r", (probably|perhaps) .*? \((\d\.\d\d)\)")
    assert ((reasons[0] == "perhaps") == (reasons[1].astype(float) < 0.5)).all()
    assert (out / "audit.html").read_text().count('<a class="find"') == len(suspects)
    copy = pd.read_csv(out / "cleaned.csv", keep_default_na=False)
    rows = np.flatnonzero(copy["species"] != frame["species"]) + 1
    corrected = suspects.loc[suspects["corrected"] == 1, "row"]
    assert sorted(corrected) == rows.tolist() and len(rows) == facts["corrected"]
    drawn = run("map", [path, *options], tmp_path) / "summary.json"
    drawn = json.loads(drawn.read_text())
    assert (drawn["listed"], drawn["given"]) == (len(suspects), 50)
    said = capsys.readouterr().out
    assert f"Suspects listed: {len(suspects)} of 50 rows with a class" in said


# Back to where it came from


@pytest.mark.filterwarnings("ignore:.*infer_string:DeprecationWarning")
@pytest.mark.parametrize(
    ("form", "ending"),
    [
        (as_label_studio, ".json"),
        (as_doccano, ".jsonl"),
        (as_anndata, ".h5ad"),
        (as_excel, ".xlsx"),
    ],
)
def test_blanks_are_filled_in_the_same_format(form, ending, data_home, tmp_path):
    path, *options = form(tmp_path, data_home)
    goal = tmp_path / f"filled{ending}"
    command = ["predict", str(path), *options, "--members", "fast", "-o", str(goal)]
    assert main(command) == 0
    reading = {"class_": options[1]} if options else {}
    before = read_table(path, **reading)
    if ending == ".json":
        tasks = json.loads(goal.read_text())
        filled = ["predictions" in task for task in tasks]
        assert filled == (~before.labels.labeled).tolist()
        return
    after = read_table(goal, **reading)
    assert after.labels.labeled.all()
    known = before.labels.labeled
    assert (after.y[known] == before.y[known]).all()


# Words


def test_help_and_refusals(tmp_path, capsys, data_home):
    assert main([]) == 0
    shown = capsys.readouterr()
    assert "describe" in shown.out and shown.err == ""
    for panel in ("Tables", "What there is"):
        assert panel in shown.out
    assert main(["clean", "--help"]) == 0
    text = capsys.readouterr().out
    for panel in ("Which labels", "Which columns", "How the file is written"):
        assert panel in text
    path, *_ = as_class(tmp_path, data_home)
    for command in COMMANDS:
        out = str(tmp_path / command / "o.csv")
        assert main([command, str(path), "-o", out]) == 2
        error = capsys.readouterr().err
        assert f"{path} --class species`" in error and error.count("\n") == 1
    twice = ["--class", "species", "--tags", "species"]
    assert main(["describe", str(path), *twice]) == 2
    assert "--class and --tags say two different things" in capsys.readouterr().err


def test_describe(tmp_path, capsys, data_home):
    path, *options = as_text(tmp_path, data_home)
    assert main(["describe", str(path), *options]) == 0
    text = capsys.readouterr().out
    for line in ("id: id, names the row", "note: text (30 features)", "kind: label"):
        assert line in text
    assert "10 rows without any" in text and "setosa" in text


def test_lists_by_comma_or_repetition(tmp_path, data_home, capsys):
    path, *options = as_class(tmp_path, data_home)
    texts = []
    for drop in (["--drop", "x0,x1"], ["--drop", "x0", "--drop", "x1"]):
        assert main(["describe", str(path), *options, *drop]) == 0
        texts.append(capsys.readouterr().out)
    assert texts[0] == texts[1] and "x1: left out, as you said" in texts[0]


def test_missing_packages_are_found_before_the_work(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("demurk.cli._input.find_spec", lambda name: None)
    assert main(["clean", "t.xlsx", "-o", str(tmp_path / "out")]) == 2
    assert "pip install demurk[" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_one_label_gives_the_numbers_it_gives_among_two(tmp_path, data_home):
    """A method that looks at labels one by one cannot tell the two tables apart."""
    frame, labels = emotions(data_home)
    labels = labels.iloc[:, :2].set_axis(["a", "b"], axis=1)
    found = {}
    for names in (["a"], ["a", "b"]):
        folder = tmp_path / "".join(names)
        folder.mkdir()
        frame.join(labels[names]).to_csv(folder / "t.csv", index=False)
        command = ["predict", str(folder / "t.csv"), "--labels", ",".join(names)]
        command += ["--method", "MLkNN", "-o", str(folder / "p.csv")]
        assert main(command) == 0
        found[len(names)] = pd.read_csv(folder / "p.csv")
    columns = ["row", "a", "a: probability", "a: given"]
    pd.testing.assert_frame_equal(found[1][columns], found[2][columns])


@pytest.mark.parametrize("command", ["predict", "reduce"])
def test_ids_in_a_column_called_row_stay_beside_our_numbers(tmp_path, command):
    names = [f"id{i:03d}" for i in range(40)]
    kinds, shift = ["x", "y"] * 19 + ["", ""], np.random.RandomState(0).normal(size=40)
    frame = pd.DataFrame({"row": names, "a": shift, "b": np.arange(40) % 2 + shift})
    frame.assign(kind=kinds).to_csv(tmp_path / "t.csv", index=False)
    out = tmp_path / "out"
    words = [command, str(tmp_path / "t.csv"), "--class", "kind", "-o"]
    if command == "predict":
        out = out.with_suffix(".csv")
        assert main([*words, str(out), "--members", "fast"]) == 0
    else:
        assert main([*words, str(out), "--method", "MDDM"]) == 0
        out = next(path for path in out.glob("*.csv") if "label" not in path.name)
    written = pd.read_csv(out)
    assert written["row"].tolist() == list(range(1, 41))
    assert written["row (2)"].tolist() == names
