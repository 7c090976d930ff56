"""What a stranger installs: the wheel in an empty environment."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
DATA = """
import numpy as np
from sklearn.datasets import load_iris
X, y = load_iris(return_X_y=True)
X_new = X[:3]
"""
TABLE = "size,weight,class\n" + "".join(
    f"{i % 7},{i % 5 + 10 * (i % 2)},{('dog', 'cat')[i % 2] if i < 55 else ''}\n"
    for i in range(60)
)
COMMANDS = {
    "describe": ["describe", "pets.csv"],
    "clean": ["clean", "pets.csv"],
    "predict": ["predict", "pets.csv", "--members", "fast"],
    "map": ["map", "pets.csv", "--methods", "PCA,NMLSDR"],
    "reduce": ["reduce", "pets.csv"],
}


def pip(python, *arguments):
    """Install something, or skip the test where no package index answers."""
    command = [python, "-m", "pip", "--disable-pip-version-check", *arguments]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        reason = done.stderr.strip().splitlines()[-1][:200]
        if "No matching distribution" in done.stderr or "connection" in done.stderr:
            pytest.skip(f"no package index: {reason}")
        pytest.fail(reason)


@pytest.fixture(scope="module")
def stranger(tmp_path_factory):
    """The Python of an environment that holds the wheel and nothing else."""
    folder = tmp_path_factory.mktemp("wheel")
    pip(sys.executable, "wheel", "--no-deps", "--wheel-dir", str(folder), str(ROOT))
    subprocess.run([sys.executable, "-m", "venv", folder / "venv"], check=True)
    python = str(folder / "venv" / "bin" / "python")
    (wheel,) = folder.glob("*.whl")
    pip(python, "install", str(wheel))
    return python, wheel


def run(python, *arguments, cwd):
    done = subprocess.run([python, *arguments], cwd=cwd, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


def test_the_lines_of_the_readme_need_no_extra(stranger, tmp_path):
    (lines,) = re.findall(
        r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.S
    )
    run(stranger[0], "-c", DATA + lines, cwd=tmp_path)


def test_every_command_runs_with_the_extras_of_the_readme(stranger, tmp_path):
    readme = (ROOT / "README.md").read_text()
    (extras,) = re.findall(r"pip install \"\.\[([\w,]+)\]\"", readme)
    python, wheel = stranger
    pip(python, "install", f"demurk[{extras}] @ {wheel.as_uri()}")
    (tmp_path / "pets.csv").write_text(TABLE)
    for arguments in COMMANDS.values():
        run(python, "-m", "demurk.cli", *arguments, cwd=tmp_path)
    assert (tmp_path / "demurk-clean" / "audit.html").is_file()
