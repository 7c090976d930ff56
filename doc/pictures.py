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
TERMINAL = """<!DOCTYPE html><meta charset="utf-8"><html data-ready="yes"><style>
body {{ margin: 0; padding: 26px 34px; overflow: hidden;
  background: #16202b; color: #dbe4ee;
  font: 17px/1.5 "DejaVu Sans Mono", monospace; white-space: pre; }}
b {{ color: #7cc0f5; }} table {{ border-collapse: collapse; margin-top: 6px; }}
td, th {{ padding: 1px 22px 1px 0; text-align: right; }}
th {{ color: #a5b0be; font-weight: 400; }} .filled {{ color: #6fd6b0; }}
</style><b>$ demurk predict demo.csv</b>
{said}

<b>predictions.csv</b>, as a spreadsheet shows it{table}"""


def run(folder, *words):
    """What a command says in a folder, as one would see it."""
    command = [sys.executable, "-m", "demurk.cli", *words]
    options = {"capture_output": True, "text": True, "check": True}
    return subprocess.run(command, cwd=folder, **options).stdout.strip()


def picture_of(page, name, size, prepare=None):
    """Save what a browser shows of a page."""
    with open_browser(webgl=False, size=size) as browser:
        screen = {"width": size[0], "height": size[1], "deviceScaleFactor": 1}
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
    part = table.iloc[first - 4 : first + 8].copy()
    names = ["row", "predicted", "given", "filled", "5: probability", "9: probability"]
    for name in names[4:]:
        part[name] = part[name].astype(float).map("{:.3f}".format)
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
        run(place, "demo", "--output", ".")
        first = "document.querySelector('a.find').click()"
        picture_of(place / "clean" / "audit.html", "audit.png", (1280, 800), first)
        said = run(place, "predict", "demo.csv", "--force")
        page = place / "terminal.html"
        text = terminal(said, place / "predictions.csv")
        page.write_text(text, encoding="utf-8")
        picture_of(page, "predict.png", (880, 550))


if __name__ == "__main__":
    main()
