"""``demurk predict``, run as a user runs it."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import dump_svmlight_file
from sklearn.impute import SimpleImputer

from demurk import io
from demurk.cli import _output, main
from demurk.cli._predict import choose_classifier
from demurk.datasets import read_table
from demurk.multilabel import MLkNN, MurkyClassifier

N_TREES = 40
FEATURES = ["tempo", "loudness", "key", "mode", "length"]
N_SONGS, N_LABELED = 90, 50


@pytest.fixture(autouse=True)
def small_forests(monkeypatch):
    """The same with fewer trees."""

    def smaller(**options):
        model = choose_classifier(**options)
        small = {"n_estimators": N_TREES} if hasattr(model, "n_estimators") else {}
        return model.set_params(**small)

    monkeypatch.setattr("demurk.cli._predict.choose_classifier", smaller)


@pytest.fixture(scope="module")
def songs():
    """A table with names, gaps, categories and labels, and the true labels."""
    rng = np.random.RandomState(0)
    X = rng.normal(size=(N_SONGS, 5))
    truth = (X[:, :2] + 0.3 * rng.normal(size=(N_SONGS, 2)) > 0).astype(int)
    frame = pd.DataFrame(X, columns=FEATURES)
    frame.loc[3, "key"] = np.nan
    frame.insert(0, "title", [f"song {i}" for i in range(N_SONGS)])
    frame["genre"] = rng.choice(["rock", "pop", ""], N_SONGS)
    for j, name in enumerate(["happy", "fast"]):
        frame[f"label:{name}"] = truth[:, j].astype(object)
    return frame, truth


@pytest.fixture
def folder(songs, tmp_path, monkeypatch):
    """Files of a user, in the working folder."""
    monkeypatch.chdir(tmp_path)
    frame, _ = songs
    murky = frame.copy()
    murky.loc[N_LABELED:, ["label:happy", "label:fast"]] = ""
    murky.loc[0, "label:fast"] = ""
    murky.to_csv("songs.csv", index=False)
    frame[:N_LABELED].to_csv("labelled.csv", index=False)
    frame[N_LABELED:].to_csv("rest.csv", index=False)
    frame.drop(columns=["label:happy", "label:fast"]).to_csv("new.csv", index=False)
    return tmp_path


def run(*arguments):
    return main([str(argument) for argument in arguments])


def predict(*arguments):
    assert run("predict", *arguments, "--members", "fast", "-j", 1) == 0


def test_one_file_with_labelled_and_unlabelled_samples(songs, folder, capsys):
    _, truth = songs
    predict("songs.csv", "--text", "title", "--drop", "title,genre")
    shown = capsys.readouterr()
    assert "learned from 50 labelled samples and predicted 40 others" in shown.out
    assert "title: left out, as you said; genre: left out" in shown.err
    assert "MurkyClassifier: rf (" in shown.err
    table = pd.read_csv("predictions.csv")
    names = ["happy", "fast"]
    assert list(table) == [
        "row",
        "title",
        *names,
        *(f"{name}: probability" for name in names),
        *(f"{name}: given" for name in names),
        "filled",
    ]
    assert table["row"].tolist() == list(range(1, N_SONGS + 1))
    assert table["filled"][0] == "fast" and table["filled"][1:N_LABELED].isna().all()
    assert (table["filled"][N_LABELED:] == "happy; fast").all()
    assert len(table) == N_SONGS
    given = table[["happy: given", "fast: given"]]
    assert given[N_LABELED:].isna().all().all() and pd.isna(given.iloc[0, 1])
    assert_array_equal(given[1:N_LABELED], truth[1:N_LABELED])
    assert (table[names].to_numpy() == truth)[N_LABELED:].mean() > 0.85
    # The saved model says the same of the samples that were not labelled.
    assert run("predict", "predictions.skops", "songs.csv", "-o", "again.csv") == 0
    again = pd.read_csv("again.csv")
    assert list(again) == ["row", *list(table)[2:6]]
    assert_allclose(again.iloc[N_LABELED:, 1:], table.iloc[N_LABELED:, 2:6], atol=1e-5)


def test_the_recommended_classifier_is_the_default():
    model = choose_classifier()
    assert type(model) is MurkyClassifier and model.members == "full"
    assert (model.n_jobs, model.random_state) == (-1, 0)


def test_own_labels_of_a_sample_have_no_part_in_its_row(songs, folder):
    frame, truth = songs
    predict("songs.csv", "--drop", "title,genre")
    table = pd.read_csv("predictions.csv").drop(columns="row")
    murky = np.where(np.arange(N_SONGS)[:, None] < N_LABELED, truth, -1)
    murky[0, 1] = -1
    X = SimpleImputer(strategy="median").fit_transform(frame[FEATURES])
    model = MurkyClassifier("fast", n_estimators=N_TREES, random_state=0)
    model.fit(X, murky)
    out_of_sample = model.out_of_sample_scores_[:N_LABELED]
    assert_array_equal(
        table.iloc[:N_LABELED, :2], out_of_sample > model.thresholds_["f1"]
    )
    proba = table.iloc[:N_LABELED, 2:4]
    assert_allclose(proba, model._probabilities(out_of_sample), atol=1e-5)


def test_learning_from_another_file(songs, folder):
    _, truth = songs
    # Labels of the new samples are not looked at.
    for name in ("rest", "blank"):
        table = pd.read_csv("rest.csv")
        table["label:happy"] = "nobody knows" if name == "blank" else 1
        table[table.columns[::-1]].to_csv(f"{name}.csv", index=False)
        names = ["--drop", "title,genre", "-o", f"{name}-out.csv"]
        predict(f"{name}.csv", "--train", "labelled.csv", *names)
    found = pd.read_csv("rest-out.csv")
    assert found.equals(pd.read_csv("blank-out.csv"))
    assert list(found)[-1] == "fast: probability"
    right = found[["happy", "fast"]].to_numpy() == truth[N_LABELED:]
    assert right.mean() > 0.85


def test_categories_are_found_again(songs, folder):
    columns = ["--categorical", "genre", "--drop", "title"]
    predict("songs.csv", *columns)
    model = io.load("predictions.skops")
    assert list(model[0].names_out_) == [*FEATURES, "genre=pop", "genre=rock"]
    table = pd.read_csv("predictions.csv").iloc[:, 1:5]
    new = pd.read_csv("rest.csv")
    new[new.columns[::-1]].to_csv("a-in.csv", index=False)
    assert run("predict", "predictions.skops", "a-in.csv", "-o", "a.csv") == 0
    assert_allclose(pd.read_csv("a.csv").iloc[:, 1:], table[N_LABELED:], atol=1e-5)
    # A value that the model does not know is none of those it knows.
    new.assign(genre="polka").to_csv("b-in.csv", index=False)
    assert run("predict", "predictions.skops", "b-in.csv", "-o", "b.csv") == 0
    zeros = np.column_stack([model[0].transform(new)[:, :-2], np.zeros((len(new), 2))])
    expected = model[1:].predict_proba(zeros)
    assert_allclose(pd.read_csv("b.csv").iloc[:, 3:], expected, atol=1e-5)


def test_other_methods(songs, folder, capsys):
    frame, truth = songs
    options = ["--method", "mlknn", "--labels", 2, "--drop", "title,genre"]
    assert run("predict", "songs.csv", *options) == 0
    assert "MLkNN learned from 50" in capsys.readouterr().out
    table = pd.read_csv("predictions.csv")
    names = ["happy", "fast"]
    assert (table[names][N_LABELED:] == truth[N_LABELED:]).to_numpy().mean() > 0.8
    # Candidate labels: one class comes out.
    frame = frame.assign(**{"label:other": 1}).replace({"genre": {"": "pop"}})
    frame.loc[N_LABELED:, [c for c in frame if c.startswith("label:")]] = -1
    frame.to_csv("candidates.csv", index=False)
    options = ["--method", "PLkNN", "-o", "class.csv"]
    assert run("predict", "candidates.csv", *options) == 0
    assert set(pd.read_csv("class.csv")["predicted"]) <= {"happy", "fast", "other"}


def test_one_class_per_sample(folder, rng):
    X = rng.normal(size=(60, 3))
    names = np.where(X[:, 0] > 0, "up", "down")
    np.savez("all.npz", X=X, y=names)
    np.savez("new.npz", X=X[:9], y=names[:9])
    predict("new.npz", "--train", "all.npz")
    table = pd.read_csv("predictions.csv")
    assert list(table) == ["row", "predicted", "down: probability", "up: probability"]
    assert (table["predicted"] == names[:9]).mean() > 0.8
    assert_allclose(table.iloc[:, 2:].sum(axis=1), 1, atol=1e-5)


def test_classes_of_labelled_rows_have_probabilities_as_those_of_others(folder, rng):
    kind = np.arange(90) % 3
    X = rng.normal(size=(90, 4)) + 6 * np.eye(3, 4)[kind]
    given = np.array(["ash", "elm", "oak"])[kind].astype(object)
    given[60:] = ""
    pd.DataFrame(X).add_prefix("x").assign(tree=given).to_csv("t.csv", index=False)
    predict("t.csv", "--class", "tree", "-o", "out.csv")
    table = pd.read_csv("out.csv", keep_default_na=False)
    surest = table.filter(like=": probability").max(axis=1)
    assert ((table["filled"] != "") == (given == "")).all()
    assert surest[:60].median() > 0.99 and surest[60:].median() > 0.99
    model = io.load("out.skops")[-1]
    scores = model.out_of_sample_scores_[:60]
    own = model._class_noise.true_proba(scores)
    own /= own.sum(axis=1, keepdims=True)
    assert_allclose(table.filter(like=": probability")[:60], own, rtol=1e-5)


def test_sparse_files(folder, rng):
    X = (rng.random_sample((60, 30)) < 0.1).astype(float)
    X[:, 29] = 1
    Y = np.column_stack([np.ones(60, int), X[:, :5].any(axis=1)])
    for name, part in (("a.svm", slice(50)), ("b.svm", slice(50, 60))):
        dump_svmlight_file(X[part], Y[part], name, multilabel=True)
    predict("b.svm", "--train", "a.svm")
    assert pd.read_csv("predictions.csv").shape == (10, 5)
    assert run("predict", "predictions.skops", "b.svm", "-o", "again.csv") == 0
    assert pd.read_csv("again.csv").equals(pd.read_csv("predictions.csv"))
    dump_svmlight_file(X[:, :20], Y, "narrow.svm", multilabel=True)
    assert run("predict", "predictions.skops", "narrow.svm", "-o", "c.csv") == 2


def test_noise_is_passed_on(folder, capsys):
    predict("songs.csv", "--noise", "extra", "--rate", 0.2, "--target", "hamming")
    assert "20% of the labels that do not apply are given" in capsys.readouterr().out
    model = io.load("predictions.skops")[-1]
    assert (model.noise, model.noise_rate_, model.target) == (
        "extra",
        0.2,
        "hamming",
    )
    assert model.members == "fast" and model.n_jobs == 1


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["labelled.csv"], "Every label of labelled.csv is given, so there is none"),
        (["new.csv"], "try `demurk predict new.csv --class genre`; or name"),
        (["new.csv", "--train", "new.csv"], "predict new.csv --class genre`."),
        (["empty.csv"], "has no labelled row: all cells of --labels label:"),
        (["one.csv"], "Only one sample is labelled"),
        (["absent.csv"], "neither a file nor a known data set"),
        (["narrow.csv", "--train", "songs.csv"], "no column 'key', but the model"),
        (["songs.csv", "--noise", "some"], "noise is 'some'; give one of symmetric"),
        (["songs.csv", "--rate", "0.7"], "'--rate'"),
        (["songs.csv", "--method", "NMLSDR"], "choose one of MurkyClassifier"),
        (["songs.csv", "--method", "MLkNN", "--rate", "0.1"], "MLkNN has no --rate"),
        (["model.skops"], "is a model: name the samples to predict behind it"),
        (["songs.csv", "-o", "m.skops"], "name the table, such as m.csv"),
        (["songs.csv", "-o", "songs.csv", "--force"], "is the data itself"),
        (["songs.csv", "-o", "old.csv"], "old.csv exists already"),
        (["songs.csv", "-o", "older.csv"], "older.skops exists already"),
        (["model.skops", "new.csv", "--seed", "1"], "is a trained model: leave it out"),
        (["model.skops", "new.csv"], "not a model file"),
        (["absent.skops", "new.csv"], "no model file"),
    ],
)
def test_errors_are_one_sentence_and_leave_nothing(folder, arguments, message, capsys):
    table = pd.read_csv("songs.csv")
    table[N_LABELED:].to_csv("empty.csv", index=False)
    table[N_LABELED - 1 :].to_csv("one.csv", index=False)
    table.drop(columns="key").to_csv("narrow.csv", index=False)
    for name in ("model.skops", "old.csv", "older.skops"):
        (folder / name).write_text("kept")
    before = {path: path.read_bytes() for path in folder.rglob("*")}
    assert run("predict", *arguments) == 2
    error = capsys.readouterr().err.splitlines()[-1]
    assert error.startswith("demurk: ") and message in error
    assert {path: path.read_bytes() for path in folder.rglob("*")} == before


def test_files_are_whole_or_not_there(folder, monkeypatch, capsys):
    def halting(path, text):
        path.write_text("happy,fast\n1,")
        raise OSError("No space left")

    monkeypatch.setattr(_output, "write_text", halting)
    before = set(folder.iterdir())
    assert run("predict", "songs.csv", "--members", "fast", "-j", 1) == 2
    assert "No space left" in capsys.readouterr().err
    assert set(folder.iterdir()) == before


def test_a_model_whose_parts_do_not_fit_is_one_sentence(folder, monkeypatch, capsys):
    assert run("predict", "songs.csv", "--method", "mlknn") == 0

    def broken(self, X):
        raise IndexError("index 7 is out of bounds")

    monkeypatch.setattr(MLkNN, "predict_proba", broken)
    before = set(folder.iterdir())
    assert run("predict", "predictions.skops", "songs.csv", "-o", "p.csv") == 2
    error = capsys.readouterr().err.splitlines()[-1]
    assert "predictions.skops cannot be used" in error and "IndexError" in error
    assert set(folder.iterdir()) == before


TABLES = ["tsv", "csv.gz", "xlsx", "parquet", "pq", "feather", "jsonl", "json"]


@pytest.mark.parametrize("ending", TABLES)
def test_predictions_have_the_format_of_their_name(folder, ending):
    predict("labelled.csv", "--train", "labelled.csv", "-o", "p.csv")
    assert run("predict", "p.skops", "new.csv", "-o", "wanted.csv") == 0
    assert run("predict", "p.skops", "new.csv", "-o", f"p.{ending}") == 0
    wanted = pd.read_csv("wanted.csv")
    found = read_table(f"p.{ending}", labels=["happy", "fast"]).frame
    assert list(found) == list(wanted)
    assert found["title"].tolist() == wanted["title"].tolist()
    for name in wanted.select_dtypes("number"):
        assert_allclose(found[name].astype(float), wanted[name], rtol=1e-5)


def test_predictions_are_no_annotated_matrix(folder, capsys):
    assert run("predict", "new.csv", "--train", "labelled.csv", "-o", "p.h5ad") == 2
    assert "p.h5ad cannot hold predictions" in capsys.readouterr().err


def test_labels_that_are_never_absent_teach_nothing(folder, capsys):
    frame = pd.read_csv("songs.csv", dtype=str, keep_default_na=False)
    labels = ["label:happy", "label:fast"]
    frame[labels] = frame[labels].replace("0", "")
    frame.to_csv("ones.csv", index=False)
    assert run("predict", "ones.csv") == 2
    assert "No label of ones.csv is 0" in capsys.readouterr().err


def test_a_file_behind_train_is_not_asked_for_another(folder, capsys):
    frame = pd.read_csv("labelled.csv")
    frame[["label:happy", "label:fast"]] = ""
    frame.to_csv("blank.csv", index=False)
    assert run("predict", "new.csv", "--train", "blank.csv") == 2
    said = capsys.readouterr().err
    assert "blank.csv" in said and "--train" not in said


def test_a_share_of_wrong_labels_that_rounds_to_none_is_not_told(songs, folder, capsys):
    frame, _ = songs
    plain = frame.drop(columns=["title", "genre"])
    X = plain[FEATURES[:2]].to_numpy()
    sides = (np.abs(X) > 0.5).all(axis=1)
    plain["label:happy"], plain["label:fast"] = (X > 0).astype(object).T
    plain = plain[sides].reset_index(drop=True)
    plain.loc[len(plain) - 5 :, ["label:happy", "label:fast"]] = ""
    plain.to_csv("clear.csv", index=False)
    predict("clear.csv")
    assert "predicted 5 others.\nPredictions are in" in capsys.readouterr().out
    predict("clear.csv", "--rate", 0.004, "--force")
    assert "About 0% of the labels are wrong (given)." in capsys.readouterr().out
    wrong = np.random.RandomState(0).random_sample((len(plain) - 5, 2)) < 0.2
    for j, name in enumerate(["label:happy", "label:fast"]):
        rows = np.flatnonzero(wrong[:, j])
        plain.loc[rows, name] = 1 - plain.loc[rows, name].astype(int)
    plain.to_csv("clear.csv", index=False)
    predict("clear.csv", "--force")
    assert "% of the labels are wrong (estimated)." in capsys.readouterr().out
