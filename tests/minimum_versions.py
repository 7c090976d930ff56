"""Print the lowest versions that pyproject.toml declares, as constraints for pip."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import re
import tomllib
from pathlib import Path

project = tomllib.loads(Path("pyproject.toml").read_text("utf-8"))["project"]
extras = project["optional-dependencies"]
# What only checks or documents the code may be new.
chosen = ("ann", "cli", "dask", "persist", "review", "tables", "viz", "test")
needed = [*project["dependencies"], *(line for key in chosen for line in extras[key])]
pairs = {re.fullmatch(r"([\w-]+)>=([\d.]+)", line) for line in needed} - {None}
print("\n".join(sorted({f"{pair[1]}=={pair[2]}" for pair in pairs})))
