"""``python -m demurk.cli`` is the ``demurk`` command."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from demurk.cli import _run

if __name__ == "__main__":
    _run()
