"""Protocol files, their tasks and the keys of these."""

import shutil
from pathlib import Path

import pytest

from demurk.benchmark.engine._keys import data_checksum, keyed_tasks
from demurk.benchmark.engine._protocol import (
    Protocol,
    Task,
    load_protocol,
    protocol_title,
)

BASE = """
title = "A base"
kind = "tiny_tasks.tiny"
measures = ["score", "loss"]
lower_is_better = ["loss"]
seeds = 2
[options]
pause = 0
[data_sets]
one = {}
two = {pause = 1}
[settings]
"a=1" = {log = "x"}
[methods.A]
name = "A"
params = {depth = 3}
[methods.B]
name = "B"
group = "alternative"
[not_run]
three = "secret"
[quick]
seeds = 1
data_sets = {toy = {}}
methods = ["B"]
"""


@pytest.fixture
def write(tmp_path):
    """Write a protocol file beside the module with its function."""
    shutil.copy(Path(__file__).with_name("tiny_tasks.py"), tmp_path)

    def write(text=BASE, name="base"):
        path = tmp_path / f"{name}.toml"
        path.write_text(text, encoding="utf-8")
        return path

    return write


def test_a_file_becomes_ordered_tasks(write):
    protocol = load_protocol(write())
    assert protocol.title == "A base" and protocol.paper is None
    assert protocol.not_run == {"three": "secret"}
    assert (protocol.measures, protocol.lower_is_better) == (
        ("score", "loss"),
        ("loss",),
    )
    tasks = protocol.tasks()
    assert [(t.data_set, t.setting, t.seed, t.method) for t in tasks] == [
        (d, "a=1", s, m) for d in ("one", "two") for s in (0, 1) for m in "AB"
    ]
    # Data sets override options, settings override both; the group is not passed on.
    assert tasks[-1].arguments == {
        "data_set": "two",
        "pause": 1,
        "log": "x",
        "method": {"name": "B"},
        "seed": 1,
    }


def test_without_settings_there_is_one_without_a_name(write):
    text = BASE.replace('[settings]\n"a=1" = {log = "x"}\n', "")
    tasks = load_protocol(write(text)).tasks()
    assert len(tasks) == 8 and {task.setting for task in tasks} == {""}


def test_quick_replaces_what_it_names(write):
    protocol = load_protocol(write(), quick=True)
    assert list(protocol.data_sets) == ["toy"] and list(protocol.methods) == ["B"]
    assert protocol.seeds == 1 and list(protocol.settings) == ["a=1"]


def test_extends_merges_tables_and_replaces_the_rest(write):
    write()
    mine = write(
        'extends = "base.toml"\nseeds = 5\n[options]\nlog = "y"\n'
        '[data_sets]\nthree = {}\n[methods.C]\nname = "C"\n',
        "mine",
    )
    protocol = load_protocol(mine)
    assert protocol.name == "mine" and protocol.seeds == 5
    assert protocol.title == "A base" == protocol_title(mine)
    assert list(protocol.data_sets) == ["one", "two", "three"]
    assert list(protocol.methods) == ["A", "B", "C"]
    assert protocol.options == {"pause": 0, "log": "y"}
    # A method that was added is part of the quick run, unless the file says otherwise.
    assert list(load_protocol(mine, quick=True).methods) == ["B", "C"]
    again = write('extends = "mine.toml"\n[quick]\nmethods = ["A"]\n', "again")
    assert list(load_protocol(again, quick=True).methods) == ["A"]


def test_an_extending_protocol_shares_the_results_of_its_base(write):
    base = load_protocol(write())
    mine = write('extends = "base.toml"\n[methods.C]\nname = "C"\n', "mine")
    assert set(keyed_tasks(base)) < set(keyed_tasks(load_protocol(mine)))


def test_a_protocol_that_extends_itself_is_refused(write):
    write('extends = "b.toml"', "a")
    with pytest.raises(ValueError, match=r"'extends' is 'b.toml', which extends this"):
        load_protocol(write('extends = "a.toml"', "b"))


def test_keys_do_not_depend_on_the_order_in_the_file(write):
    head, rest = BASE.split("[options]\npause = 0\n")
    swapped = f"{head}{rest}[options]\npause = 0\n".replace(
        'name = "A"\nparams = {depth = 3}', 'params = {depth = 3}\nname = "A"'
    )
    assert swapped != BASE
    first = keyed_tasks(load_protocol(write()))
    assert set(keyed_tasks(load_protocol(write(swapped)))) == set(first)
    assert len(first) == 8


@pytest.mark.parametrize(
    "old, new",
    [
        ("pause = 0", "pause = 0.5"),
        ("depth = 3", "depth = 4"),
        ('"a=1" = {', '"a=2" = {'),
        ('name = "B"', 'name = "b"'),
    ],
)
def test_keys_change_with_what_is_run(write, old, new):
    first = set(keyed_tasks(load_protocol(write())))
    assert set(keyed_tasks(load_protocol(write(BASE.replace(old, new))))) != first


@pytest.mark.parametrize(
    "old, new", [("A base", "Else"), ('"alternative"', '"demurk"'), ("secret", "gone")]
)
def test_keys_do_not_change_with_words(write, old, new):
    first = set(keyed_tasks(load_protocol(write())))
    assert set(keyed_tasks(load_protocol(write(BASE.replace(old, new))))) == first


def test_key_is_stable():
    task = Task("p", "m.f", "d", "", "A", 0, {"b": 1, "a": [1.5, "é"]})
    same = Task("q", "m.f", "d", "", "A", 0, {"a": [1.5, "é"], "b": 1}, "folder")
    assert task.key("c", "d") == same.key("c", "d")
    # Written down once: results of earlier runs must be found by later versions.
    assert task.key("c", "d").startswith("cc1f22003211")
    assert len({task.key("c", "d"), task.key("c", "e"), task.key("e", "d")}) == 3


@pytest.mark.parametrize("named", ["estimator", "reducer", "classifier"])
def test_a_users_changed_method_is_run_again(write, tmp_path, named):
    module = tmp_path / "my_method.py"
    module.write_text("class Mine:\n    pass\n")
    text = BASE.replace('name = "B"', f'name = "B"\n{named} = "my_method.Mine"')
    protocol = load_protocol(write(text))
    before = {key: task.method for key, (task, _, _) in keyed_tasks(protocol).items()}
    module.write_text("class Mine:\n    better = True\n")
    after = {key: task.method for key, (task, _, _) in keyed_tasks(protocol).items()}
    same = before.keys() & after.keys()
    assert {before[key] for key in same} == {"A"} and len(same) == 4


def test_select(write):
    protocol = load_protocol(write())
    part = protocol.select(data_sets=["two"], methods=["B", "A"], seeds=1)
    assert [(t.data_set, t.method) for t in part.tasks()] == [
        ("two", "A"),
        ("two", "B"),
    ]
    assert protocol.select() == protocol
    assert protocol.select(settings=["a=1"]) == protocol
    assert protocol.select(settings=[]).tasks() == []
    with pytest.raises(ValueError, match="base has no 'C' in methods; choose A, B"):
        protocol.select(methods=["C"])


BAD = {
    "unknown key 'sedes'; choose seeds": ("seeds = 2", "sedes = 2"),
    "unknown key 'quick.sedes'; choose seeds": ("seeds = 1", "sedes = 1"),
    "'seeds' is 0, but must be a whole number from 1 to": ("seeds = 2", "seeds = 0"),
    "'seeds' is True, but must be": ("seeds = 2", "seeds = true"),
    "'seeds' is '2', but must be": ("seeds = 2", 'seeds = "2"'),
    "'quick.seeds' is -1, but must be": ("seeds = 1", "seeds = -1"),
    "'kind' is missing": ('kind = "tiny_tasks.tiny"', ""),
    "'kind' is 3, but must be text": ('"tiny_tasks.tiny"', "3"),
    "'measures' is missing": ('measures = ["score", "loss"]\n', ""),
    "'measures' is 'score', but must be a list": ('["score", "loss"]', '"score"'),
    "'lower_is_better' names 'los', which is no measure; choose loss": (
        '["loss"]',
        '["los"]',
    ),
    "No module named 'tiny_talks'": ("tiny_tasks.tiny", "tiny_talks.tiny"),
    "has no attribute 'small'": ("tiny_tasks.tiny", "tiny_tasks.small"),
    "is no function": ("tiny_tasks.tiny", "tiny_tasks.DEEDS"),
    "package.module.function": ("tiny_tasks.tiny", "tiny"),
    "'quick.methods' names 'D', which is no method; choose A, B": (
        'methods = ["B"]',
        'methods = ["D"]',
    ),
    "'quick.methods' must be a list": ('methods = ["B"]', 'methods = "B"'),
    "'data_sets.one' must be a table": ("one = {}", "one = 1"),
    "'data_sets.one' must not set 'seed'": ("one = {}", "one = {seed = 1}"),
    "'options' must not set 'method'": ("pause = 0", "method = 0"),
    "'methods.B.group' is 'other'; choose paper, demurk": ("alternative", "other"),
    "'options' holds a date": ("pause = 0", "pause = 2020-01-01"),
    "no valid TOML file": ("seeds = 2", "seeds = "),
    "There is no protocol file": ("title =", 'extends = "no.toml"\ntitle ='),
}


@pytest.mark.parametrize("message", BAD)
def test_wrong_files_are_explained_in_one_sentence(write, message):
    old, new = BAD[message]
    assert old in BASE
    path = write(BASE.replace(old, new))
    with pytest.raises((ValueError, OSError)) as caught:
        load_protocol(path, quick="quick" in message)
    text = str(caught.value)
    assert message in text and "\n" not in text and text.endswith(".")
    assert str(path.parent) in text


DEEP = {
    "lists": "options.a = " + "[" * 5000 + "]" * 5000,
    "tables": "options.a = " + "{a = " * 5000 + "1" + "}" * 5000,
    "keys": "options" + ".a" * 5000 + " = 1",
    "header": "[options" + ".a" * 5000 + "]\nb = 1",
}


@pytest.mark.parametrize("form", DEEP)
def test_deep_files_are_refused_in_one_sentence(write, form):
    path = write(DEEP[form] + "\n", "deep")
    with pytest.raises(ValueError, match="nested") as caught:
        load_protocol(path)
    text = str(caught.value)
    assert str(path) in text and text.endswith(".") and len(text) < 300


@pytest.mark.parametrize("digits", [20, 400, 5000])
@pytest.mark.parametrize("place", ["seeds = ", "[options]\na = ", "[quick]\nseeds = "])
def test_endless_numbers_are_refused_in_one_sentence(write, place, digits):
    """Without this a run would list its tasks for ever."""
    path = write(place + "9" * digits + "\n", "large")
    with pytest.raises(ValueError, match=r"more than 63 bits|no valid TOML") as caught:
        load_protocol(path)
    text = str(caught.value)
    assert str(path) in text and text.endswith(".") and len(text) < 300


@pytest.mark.parametrize("seeds", [0, -3, 10**7])
def test_more_seeds_than_can_be_listed_are_refused(write, seeds):
    with pytest.raises(ValueError, match="seeds must be from 1 to 100,000"):
        load_protocol(write()).select(seeds=seeds)


def test_unknown_names():
    with pytest.raises(
        ValueError, match=r"There is no protocol 'nothing'.*\.toml file"
    ):
        load_protocol("nothing")
    with pytest.raises(FileNotFoundError, match=r"no protocol file .*nothing\.toml"):
        load_protocol("nothing.toml")


def test_data_checksum_follows_the_files(tmp_path):
    def checksum():
        return data_checksum(print, "emotions", {"data_home": str(tmp_path)})

    missing = data_checksum(print, "lost", {"data_home": str(tmp_path)})
    assert data_checksum(print, "synthetic") == "builtin"
    assert data_checksum(print, "a set of one's own") == "builtin"
    (tmp_path / "emotions-train.arff.gz").write_bytes(b"1")
    first = checksum()
    (tmp_path / "emotions-train.arff.gz").write_bytes(b"other")
    assert checksum() != first and len(first) == 64
    assert missing == "missing" or len(missing) == 64  # where the data are installed


def test_a_kind_may_name_its_own_checksum():
    def kind():
        pass

    kind.checksum = lambda data_set, options: f"{data_set} {options['a']}"
    assert data_checksum(kind, "x", {"a": 1}) == "x 1"


def test_protocols_can_be_written_in_python():
    protocol = Protocol("p", "m.f", ("s",), 1, {"d": {}}, {"A": {}})
    assert [str(task) for task in protocol.tasks()] == ["A on d, seed 0"]
