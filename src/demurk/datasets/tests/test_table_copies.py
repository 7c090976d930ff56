"""Tests of copies of tables: only the labels that changed are other than before."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import datetime
import json
import re
import zipfile

import numpy as np
import pytest

from demurk.datasets import read_table

pd = pytest.importorskip("pandas")
pytest.importorskip("pyarrow")


@pytest.fixture
def write(tmp_path):
    def write(text, name="toy.csv"):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return write


# Spelling


def test_a_class_is_spelled_as_it_mostly_is(write, tmp_path):
    table = read_table(write("x,class\n1, cat\n2,cat\n3,cat\n4,Dog\n5, \n"))
    copy = table.with_labels(["cat", "cat", "Dog", "cat", "Dog"])
    written = copy.to(tmp_path / "copy.csv").read_text().splitlines()
    assert written[1:] == ["1, cat", "2,cat", "3,Dog", "4,cat", "5,Dog"]


def test_of_two_spellings_the_first_decides(write, tmp_path):
    table = read_table(write("x,class\n1,b\n2, a\n3,a\n"))
    written = table.with_labels(["a", "a", "a"]).to(tmp_path / "copy.csv").read_text()
    assert written.splitlines()[1] == "1, a"


def test_a_truth_is_spelled_as_it_mostly_is(write, tmp_path):
    table = read_table(write("x,l\n1,Yes\n2,yes\n3,yes\n4,no\n5,No\n"), labels="l")
    copy = table.with_labels(np.array([[0], [1], [1], [1], [0]]))
    written = copy.to(tmp_path / "copy.csv").read_text().splitlines()
    assert written[1:] == ["1,no", "2,yes", "3,yes", "4,yes", "5,No"]


# Workbooks


@pytest.fixture
def book(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "Pets"
    sheet.append(["code", "size", "twice", "seen", "n", "grade"])
    for i, grade in enumerate([1, 2, None, 2, 1, 2]):
        day = datetime.datetime(2020, 1, 1 + i)
        n = None if i == 1 else i
        sheet.append([f"00{i}", i / 2, f"=B{i + 2}*2", day, n, grade])
    sheet["B3"].number_format = "0.00"
    sheet["F3"].font = openpyxl.styles.Font(bold=True)
    sheet.column_dimensions["A"].width = 33
    book.create_sheet("Notes").append(["keep me", "=1+1"])
    path = tmp_path / "pets.xlsx"
    book.save(path)
    return path


def sheet_cells(path):
    """Contents and looks of all cells, by sheet and place."""
    book = pytest.importorskip("openpyxl").load_workbook(path)
    return {
        (sheet.title, cell.coordinate): (
            cell.value,
            cell.data_type,
            cell.number_format,
            cell.font.b,
        )
        for sheet in book.worksheets
        for row in sheet.iter_rows()
        for cell in row
    }


def test_text_in_a_workbook_stays_text(book):
    table = read_table(book, class_="grade")
    assert table.frame["code"].tolist() == [f"00{i}" for i in range(6)]
    assert (
        table.frame["size"].dtype.kind == "f" and table.frame["seen"].dtype.kind == "M"
    )
    # Text that is a number in every row is a feature, as in other formats.
    table = read_table(book, class_="grade", keep=["code"], drop=["seen", "twice"])
    assert table.features[:, 0].tolist() == [0, 1, 2, 3, 4, 5]


def test_a_copy_of_a_workbook_differs_in_labels_only(book, tmp_path):
    before = book.read_bytes()
    table = read_table(book, class_="grade")
    copy = table.with_labels([1, 1, 2, 2, None, 2]).to(tmp_path / "copy.xlsx")
    old, new = sheet_cells(book), sheet_cells(copy)
    assert old.keys() == new.keys()
    changed = {place: new[place] for place in old if old[place] != new[place]}
    assert changed == {
        ("Pets", "F3"): (1, "n", "General", True),
        ("Pets", "F4"): (2, "n", "General", False),
        ("Pets", "F6"): (None, "n", "General", False),
    }
    width = pytest.importorskip("openpyxl").load_workbook(copy)["Pets"]
    assert width.column_dimensions["A"].width == 33
    assert book.read_bytes() == before
    assert read_table(copy, class_="grade").y.tolist() == [1, 1, 2, 2, -1, 2]


def test_formulas_keep_the_values_they_gave(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.active.append(["n", "word", "truth", "day", "wrong", "never", "class"])
    for i in range(2):
        book.active.append(
            [f"={i}+1.5", '="<b>"', "=1>0", "=B1", "=1/0", "=A1", "ab"[i]]
        )
        book.active.cell(i + 2, 4).number_format = "yyyy-mm-dd"
    book.save(tmp_path / "bare.xlsx")
    # What a spreadsheet adds when it computes.
    values = {"A": ("n", "2.5"), "B": ("str", "&lt;b&gt;"), "C": ("b", "1")}
    values |= {"D": ("n", "43831"), "E": ("e", "#DIV/0!")}
    with (
        zipfile.ZipFile(tmp_path / "bare.xlsx") as bare,
        zipfile.ZipFile(tmp_path / "t.xlsx", "w") as full,
    ):
        for name in bare.namelist():
            content = bare.read(name).decode()
            if name == "xl/worksheets/sheet1.xml":
                content = re.sub(
                    r'<c r="([A-E])(\d)"([^>]*)>(<f>[^<]*</f>)<v ?(?:/>|></v>)',
                    lambda cell: _computed(cell, *values[cell[1]]),
                    content,
                )
            full.writestr(name, content)
    table = read_table(tmp_path / "t.xlsx")
    assert table.frame["n"].tolist() == [2.5, 2.5]
    copy = table.with_labels(["b", "b"]).to(tmp_path / "copy.xlsx")
    expected = table.frame.assign(**{"class": ["b", "b"]})
    pd.testing.assert_frame_equal(read_table(copy, class_="class").frame, expected)
    old, new = sheet_cells(tmp_path / "t.xlsx"), sheet_cells(copy)
    assert [place for place in old if old[place] != new[place]] == [("Sheet", "G2")]


def _computed(cell, kind, value):
    column, row, looks, formula = cell.groups()
    return f'<c r="{column}{row}"{looks} t="{kind}">{formula}<v>{value}</v>'


def test_further_columns_stand_behind_those_of_the_workbook(book, tmp_path):
    table = read_table(book, class_="grade").with_columns({"sure": np.arange(6) / 8})
    new = sheet_cells(table.to(tmp_path / "more.xlsx"))
    assert [new["Pets", f"G{i}"][0] for i in range(1, 4)] == ["sure", 0, 0.125]
    assert new["Pets", "C2"][0] == "=B2*2" and ("Notes", "A1") in new


def test_labels_never_become_formulas(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in (["x", "class"], [1, "=a"], [2, "b"], [3, "b"]):
        book.active.append(row)
    book.active["B2"].data_type = "s"
    book.save(tmp_path / "t.xlsx")
    table = read_table(tmp_path / "t.xlsx").with_labels(["=a", "=a", "b"])
    new = sheet_cells(table.to(tmp_path / "copy.xlsx"))
    assert [new["Sheet", place][:2] for place in ("B2", "B3")] == [("=a", "s")] * 2


def test_labels_in_merged_cells_can_be_filled_in(book, tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    merged = openpyxl.load_workbook(book)
    merged["Pets"].merge_cells("F3:F4")
    merged.save(book)
    table = read_table(book, class_="grade").with_labels([1, 2, 1, 2, 1, 2])
    copy = read_table(table.to(tmp_path / "copy.xlsx"), class_="grade")
    assert copy.y.tolist() == [1, 2, 1, 2, 1, 2]


def test_a_workbook_with_other_rows_is_written_anew(tmp_path):
    pytest.importorskip("openpyxl")
    rows = [
        ("a", "anna", "u"),
        ("a", "ben", "u"),
        ("b", "anna", "v"),
        ("b", "ben", "v"),
    ]
    frame = pd.DataFrame(rows, columns=["item", "who", "class"])
    frame.to_excel(tmp_path / "long.xlsx", index=False)
    table = read_table(tmp_path / "long.xlsx", annotator="who")
    copy = pd.read_excel(table.to(tmp_path / "copy.xlsx"))
    assert copy.to_numpy().tolist() == [["a", "u"], ["b", "v"]]


# JSON


RECORDS = [
    {"age": 0, "big": 12345678901234567, "kind": "cat", "meta": {"k": None}},
    {"age": None, "big": 1, "kind": "dog", "none": None},
    {"kind": "cat", "age": 2, "big": 2},
    {"age": 3.5, "big": 2, "kind": None},
    {"age": 1, "big": 3},
    {"age": 1, "big": 3, "kind": "dog"},
]


@pytest.mark.parametrize("name", ["t.jsonl", "t.json"])
def test_a_copy_of_records_differs_in_labels_only(write, tmp_path, name):
    lines = name == "t.jsonl"
    texts = [json.dumps(record) for record in RECORDS]
    text = "\n".join(texts) if lines else json.dumps(RECORDS)
    table = read_table(write(text, name), class_="kind")
    same = table.with_labels(table.y).to(tmp_path / f"same-{name}").read_text()
    found = map(json.loads, same.splitlines()) if lines else json.loads(same)
    # Texts tell 0 from 0.0 and show the order of the keys.
    assert [json.dumps(record) for record in found] == texts
    copy = table.with_labels(["dog", None, "cat", "cat", "dog", "dog"])
    text = copy.to(tmp_path / f"copy-{name}").read_text()
    found = [*map(json.loads, text.splitlines())] if lines else json.loads(text)
    expected = [dict(record) for record in RECORDS]
    expected[0]["kind"], expected[1]["kind"] = "dog", None
    expected[3]["kind"], expected[4]["kind"] = "cat", "dog"
    assert found == expected


def test_whole_labels_of_records_stay_whole(write, tmp_path):
    rows = [{"x": 1.5, "y": 3}, {"x": 2, "y": None}, {"x": 4, "y": 2}, {"x": 5, "y": 3}]
    text = "\n".join(map(json.dumps, rows))
    table = read_table(write(text, "t.jsonl")).with_labels([2, 3, 2, -1])
    table = table.with_columns({"sure": [1.0, 0.5, 1.0, None]})
    written = table.to(tmp_path / "copy.jsonl").read_text().splitlines()
    assert written == [
        '{"x": 1.5, "y": 2, "sure": 1.0}',
        '{"x": 2, "y": 3, "sure": 0.5}',
        '{"x": 4, "y": 2, "sure": 1.0}',
        '{"x": 5, "y": null}',
    ]


def test_lines_of_people_become_the_record_of_their_sample(write, tmp_path):
    rows = [
        {"item": "a", "who": "anna", "class": "u", "n": 1},
        {"item": "a", "who": "ben", "class": "u", "n": 1},
        {"item": "b", "who": "anna", "class": "v", "n": None},
        {"item": "b", "who": "ben", "class": "v", "n": None},
    ]
    text = "\n".join(map(json.dumps, rows))
    table = read_table(write(text, "t.jsonl"), annotator="who")
    written = table.to(tmp_path / "copy.jsonl").read_text().splitlines()
    assert [json.loads(line) for line in written] == [
        {"item": "a", "class": "u", "n": 1},
        {"item": "b", "class": "v", "n": None},
    ]


def test_doccano_keeps_lists(write, tmp_path):
    rows = [
        {"id": 1, "text": "sun all day", "label": ["happy", "calm"], "by": None},
        {"id": 2, "text": "rain all day", "label": ["sad"], "by": 7},
    ]
    text = "\n".join(map(json.dumps, rows))
    table = read_table(write(text, "d.jsonl"))
    copy = table.with_labels(np.array([[-1, -1, -1], [0, 0, 1]]))
    written = copy.to(tmp_path / "copy.jsonl").read_text().splitlines()
    rows[0]["label"] = []
    assert [json.loads(line) for line in written] == rows


def test_other_tables_leave_out_what_is_missing(write, tmp_path):
    path = tmp_path / "t.parquet"
    frame = pd.DataFrame({"x": [1.0, None], "class": ["a", "b"], "l": [["u"], None]})
    frame.to_parquet(path)
    written = read_table(path, class_="class").to(tmp_path / "t.jsonl").read_text()
    assert written == '{"x": 1.0, "class": "a", "l": ["u"]}\n{"class": "b"}\n'
