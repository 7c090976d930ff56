"""Pictures of the two tools, for README and the front page: ``python -m doc.pictures``.

They show what ``demurk demo`` makes. Those of the review are made by its own tests:
``DEMURK_PICTURES=1 pytest src/demurk/review/tests/test_browser.py``.
"""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import html
import subprocess
import sys
import tempfile
from pathlib import Path

import pandas as pd

from demurk.viz.tests.browser import open_browser

HERE = Path(__file__).parent / "_static"
SIZE = (1280, 800)
TERMINAL = """<!DOCTYPE html><meta charset="utf-8"><html data-ready="yes"><style>
body {{ margin: 0; padding: 26px 34px; background: #16202b; color: #dbe4ee;
  font: 17px/1.5 "DejaVu Sans Mono", monospace; white-space: pre; }}
b {{ color: #7cc0f5; }} table {{ border-collapse: collapse; margin-top: 6px; }}
td, th {{ padding: 1px 22px 1px 0; text-align: right; }}
th {{ color: #a5b0be; font-weight: 400; }} .filled {{ color: #6fd6b0; }}
</style><b>$ demurk predict demo.csv</b>
{said}

<b>predictions.csv</b>{table}"""


def run(*words):
    """What a command says, as one would see it."""
    command = [sys.executable, "-m", "demurk.cli", *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def picture_of(page, name, prepare=None):
    """Save what a browser shows of a page."""
    with open_browser(webgl=False, size=SIZE) as browser:
        screen = {"width": SIZE[0], "height": SIZE[1], "deviceScaleFactor": 1}
        browser.driver.execute_cdp_cmd(
            "Emulation.setDeviceMetricsOverride", screen | {"mobile": False}
        )
        browser.open(page)
        if prepare:
            browser.driver.execute_script(prepare)
            browser.wait("demurk.state.selected !== null")
        browser.driver.save_screenshot(str(HERE / name))


def terminal(said, path):
    """The end of a session: what was said, and some of the table around a blank."""
    table = pd.read_csv(path, dtype=str, keep_default_na=False)
    first = table.index[table["filled"] != ""][0]
    part = table.iloc[first - 4 : first + 10]
    names = ["row", "predicted", "given", "filled", "7: probability", "9: probability"]
    rows = [
        f'<tr class="{"filled" * bool(row["filled"])}">'
        + "".join(f"<td>{html.escape(row[name])}</td>" for name in names)
        + "</tr>"
        for _, row in part.iterrows()
    ]
    head = "".join(f"<th>{name}</th>" for name in names)
    inside = f"<table><tr>{head}</tr>{''.join(rows)}</table>"
    return TERMINAL.format(said=html.escape(said), table=inside)


def main():
    """Make the table of the demo, run both tools on it, and take their pictures."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        run("demo", "--output", place)
        first = "document.querySelector('a.find').click()"
        picture_of(place / "clean" / "audit.html", "audit.png", first)
        said = run("predict", place / "demo.csv", "-o", place / "again.csv")
        page = place / "terminal.html"
        text = terminal(
            said.replace(f"{place}/again", "predictions"), place / "again.csv"
        )
        page.write_text(text, encoding="utf-8")
        picture_of(page, "predict.png")


if __name__ == "__main__":
    main()
