"""Files appear whole, together, and never over what must stay."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from demurk.utils import _files, _staging
from demurk.utils._files import OutputFolder, atomic_path, check_outputs

NAMES = ("a.txt", "b.txt", "summary.json")


def write(path, text, **options):
    output = OutputFolder(path, NAMES, force=True, **options)
    with output.writing() as folder:
        for name in NAMES:
            (folder / name).write_text(text)


def content(folder):
    files = sorted(path for path in folder.rglob("*") if not path.is_dir())
    return {str(path.relative_to(folder)): path.read_text() for path in files}


def three(text):
    return dict.fromkeys(NAMES, text)


@pytest.fixture(params=["exchange", "two renames", "one by one"])
def way(request, monkeypatch):
    """Each way of putting a folder in place, whatever this system can do."""
    if request.param != "exchange":
        monkeypatch.setattr(_staging, "_exchange", lambda *_: False)
    if request.param == "one by one":
        monkeypatch.setattr(_files, "_must_stay", lambda folder: True)
    return request.param


def test_new_files_replace_old_ones_and_the_rest_stays(tmp_path, way):
    out = tmp_path / "deep" / "out"
    write(out, "old")
    assert content(out) == three("old")
    (out / "mine").mkdir()
    (out / "mine" / "notes.txt").write_text("kept")
    (out / "picture.png").write_text("kept")
    (out / "link").symlink_to("picture.png")
    inode = (out / "picture.png").stat().st_ino
    write(out, "new")
    kept = dict.fromkeys([os.path.join("mine", "notes.txt"), "picture.png"], "kept")
    assert content(out) == three("new") | kept | {"link": "kept"}
    assert (out / "link").is_symlink()
    assert (out / "picture.png").stat().st_ino == inode
    assert [path.name for path in out.parent.iterdir()] == ["out"]


def test_a_failure_leaves_everything_as_it_was(tmp_path, way):
    write(tmp_path / "out", "old")
    with pytest.raises(OSError, match="disk full"):
        with OutputFolder(tmp_path / "out", NAMES, force=True).writing() as folder:
            (folder / "a.txt").write_text("new")
            raise OSError("disk full")
    assert content(tmp_path) == {f"out{os.sep}{name}": "old" for name in NAMES}
    with pytest.raises(KeyboardInterrupt):
        with OutputFolder(tmp_path / "new", NAMES).writing():
            raise KeyboardInterrupt
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_a_file_that_was_not_written_is_noticed(tmp_path):
    write(tmp_path / "out", "old")
    with pytest.raises(FileNotFoundError):
        with OutputFolder(tmp_path / "out", NAMES, force=True).writing() as folder:
            (folder / "a.txt").write_text("new")
    assert content(tmp_path / "out") == three("old")


def test_rights_are_kept(tmp_path, way):
    out, single = tmp_path / "out", tmp_path / "single.txt"
    write(out, "old")
    single.write_text("old")
    (out / "a.txt").chmod(0o640)
    out.chmod(0o750)
    single.chmod(0o600)
    write(out, "new")
    with atomic_path(single, force=True) as temporary:
        temporary.write_text("new")
    rights = [
        stat.S_IMODE(path.stat().st_mode) for path in (out / "a.txt", out, single)
    ]
    assert rights == [0o640, 0o750, 0o600]
    assert single.read_text() == "new"


def test_new_files_have_the_usual_rights(tmp_path):
    mask = os.umask(0o027)
    try:
        write(tmp_path / "out", "new")
        with atomic_path(tmp_path / "single.txt") as temporary:
            temporary.write_text("new")
    finally:
        os.umask(mask)
    paths = [tmp_path / "out" / "a.txt", tmp_path / "single.txt", tmp_path / "out"]
    rights = [stat.S_IMODE(path.stat().st_mode) for path in paths]
    assert rights == [0o640, 0o640, 0o750]


def test_the_folder_we_are_in_stays(tmp_path, monkeypatch):
    (tmp_path / "sub").mkdir()
    for place in (tmp_path, tmp_path / "sub"):
        monkeypatch.chdir(place)
        inode = tmp_path.stat().st_ino
        write(tmp_path, f"from {place}")
        assert tmp_path.stat().st_ino == inode and Path.cwd() == place
        assert content(tmp_path) == three(f"from {place}")


def test_links_to_folders_and_files_stay_links(tmp_path):
    (tmp_path / "there").mkdir()
    (tmp_path / "out").symlink_to("there")
    write(tmp_path / "out", "new")
    assert (tmp_path / "out").is_symlink()
    assert content(tmp_path / "there") == three("new")
    (tmp_path / "one.txt").symlink_to(tmp_path / "there" / "a.txt")
    with atomic_path(tmp_path / "one.txt", force=True) as temporary:
        temporary.write_text("newer")
    assert (tmp_path / "one.txt").is_symlink()
    assert (tmp_path / "there" / "a.txt").read_text() == "newer"


def test_what_comes_while_we_write_is_kept(tmp_path, monkeypatch):
    out, swap = tmp_path / "out", _files.swap
    write(out, "old")

    def late(*args):
        (out / "late.txt").write_text("late")
        swap(*args)

    monkeypatch.setattr(_files, "swap", late)
    write(out, "new")
    assert content(out) == three("new") | {"late.txt": "late"}


def test_a_folder_that_cannot_be_linked_or_swapped(tmp_path, monkeypatch):
    out = tmp_path / "out"
    write(out, "old")
    (out / "mine.txt").write_text("kept")

    def refuse(*_, **__):
        raise PermissionError("not yours")

    with monkeypatch.context() as patch:
        patch.setattr(os, "link", refuse)
        write(out, "new")
    assert content(out) == three("new") | {"mine.txt": "kept"}
    monkeypatch.setattr(_files, "swap", refuse)
    write(out, "newer")
    assert content(out) == three("newer") | {"mine.txt": "kept"}


def test_one_by_one_the_summary_goes_first_and_comes_last(tmp_path, monkeypatch):
    monkeypatch.setattr(_files, "_must_stay", lambda folder: True)
    write(tmp_path, "old")
    replace = os.replace

    def fail(origin, goal):
        if Path(goal).name == "b.txt":
            raise OSError("disk gone")
        replace(origin, goal)

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="disk gone"):
        write(tmp_path, "new")
    assert content(tmp_path) == {"a.txt": "new", "b.txt": "old"}


KILLED = """
import os, sys, time
from pathlib import Path
from demurk.utils import _staging
from demurk.utils._files import OutputFolder

path, moment = Path(sys.argv[1]), sys.argv[2]
if moment != "swapped":
    _staging._exchange = lambda *_: False
rename = os.rename

def die(*_, **__):
    os.kill(os.getpid(), 9)

def renamed(origin, goal):
    rename(origin, goal)
    if moment == "aside" and Path(goal).name == "old":
        die()

if moment == "swapped":
    _staging._retire = die
os.rename = renamed
output = OutputFolder(path, ["a.txt", "b.txt", "summary.json"], force=True)
with output.writing() as folder:
    for name in output.names:
        (folder / name).write_text("new")
    if moment == "writing":
        die()
    if moment == "waiting":
        print("ready", flush=True)
        time.sleep(60)
"""


def child(path, moment):
    command = [sys.executable, "-c", KILLED, str(path), moment]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


@pytest.mark.skipif(_staging.fcntl is None, reason="leftovers stay on Windows")
@pytest.mark.parametrize(
    "moment, found", [("writing", "old"), ("swapped", "new"), ("aside", None)]
)
def test_the_next_run_removes_what_a_killed_one_left(tmp_path, moment, found):
    out = tmp_path / "out"
    write(out, "old")
    (out / "mine.txt").write_text("kept")
    assert child(out, moment).wait() == -signal.SIGKILL
    assert len(list(tmp_path.glob(".demurk-*"))) == 1
    if found:
        assert content(out) == three(found) | {"mine.txt": "kept"}
    with atomic_path(tmp_path / "other.txt") as temporary:
        temporary.write_text("x")
    # Between two renames the folder is away; it comes back.
    assert content(out) == three(found or "old") | {"mine.txt": "kept"}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["other.txt", "out"]


@pytest.mark.skipif(_staging.fcntl is None, reason="leftovers stay on Windows")
def test_a_running_process_is_left_alone(tmp_path):
    process = child(tmp_path / "out", "waiting")
    try:
        assert process.stdout.readline() == "ready\n"
        write(tmp_path / "other", "new")
        assert len(list(tmp_path.glob(".demurk-*"))) == 1
    finally:
        process.kill()
        process.wait()
    write(tmp_path / "other", "newer")
    assert [path.name for path in tmp_path.iterdir()] == ["other"]


@pytest.mark.parametrize("link", ["none", "symbolic", "hard"])
def test_what_was_read_is_never_replaced(tmp_path, link):
    source = tmp_path / ("out.csv" if link == "none" else "in.csv")
    source.write_text("data")
    goal = tmp_path / "out.csv"
    if link == "symbolic":
        goal.symlink_to(source)
    elif link == "hard":
        os.link(source, goal)
    with pytest.raises(ValueError, match="is the data itself"):
        check_outputs([tmp_path / "new.csv", goal], read=[source], force=True)
    check_outputs([tmp_path / "new.csv"], read=[source, tmp_path / "absent"])


def test_what_cannot_be_written_is_found_at_once(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    for path in (tmp_path / "file", tmp_path / "file" / "deep" / "out"):
        with pytest.raises(ValueError, match="is a file"):
            OutputFolder(path, NAMES)
    (tmp_path / "out" / "b.txt").mkdir(parents=True)
    with pytest.raises(ValueError, match=r"b\.txt is no file"):
        OutputFolder(tmp_path / "out", NAMES, force=True)
    with pytest.raises(ValueError, match="is no file"):
        with atomic_path(os.devnull, force=True):
            pass
    with pytest.raises(ValueError, match="MB left"):
        OutputFolder(tmp_path / "new", NAMES, room=1 << 60)

    def refuse(**_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(_files.tempfile, "TemporaryFile", refuse)
    with pytest.raises(ValueError, match=r"Nothing can be written .*Permission denied"):
        OutputFolder(tmp_path / "new" / "deep", NAMES)
    assert not (tmp_path / "new").exists()


def test_everything_is_on_the_disk_before_it_is_named(tmp_path, monkeypatch):
    steps, fsync, exchange = [], os.fsync, _staging._exchange

    def noted_sync(handle):
        steps.append(Path(os.readlink(f"/proc/self/fd/{handle}")).name)
        fsync(handle)

    def noted_exchange(*args):
        steps.append("exchange")
        return exchange(*args)

    if not Path("/proc/self/fd").exists():
        pytest.skip("needs /proc")
    write(tmp_path / "out", "old")
    monkeypatch.setattr(os, "fsync", noted_sync)
    monkeypatch.setattr(_staging, "_exchange", noted_exchange)
    write(tmp_path / "out", "new")
    assert steps == [*NAMES, "new", "exchange", tmp_path.name]
    steps.clear()
    with atomic_path(tmp_path / "single.txt") as temporary:
        temporary.write_text("new")
    assert steps == ["single.txt", tmp_path.name]


def test_many_writers_at_the_same_time(tmp_path):
    code = (
        "import sys\nfrom demurk.utils._files import OutputFolder\n"
        "for k in range(20):\n"
        "    out = OutputFolder(sys.argv[1], ['a.txt', 'b.txt'], force=True)\n"
        "    with out.writing() as folder:\n"
        "        for name in out.names:\n"
        "            (folder / name).write_text(f'{sys.argv[2]} {k}')\n"
    )
    out = tmp_path / "out"
    running = [
        subprocess.Popen([sys.executable, "-c", code, str(out), str(k)])
        for k in range(3)
    ]
    assert [process.wait() for process in running] == [0, 0, 0]
    assert len(set(content(out).values())) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
