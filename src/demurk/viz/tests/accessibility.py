"""Looking for what people with a screen reader or weak eyes would stumble over."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import os
from pathlib import Path

import pytest

SIZES = {"desktop": (1280, 800), "phone": (390, 844)}


def axe_script():
    """The text of axe-core, or a skip: it is no part of this repository."""
    places = [Path(__file__).parents[4] / "node_modules" / "axe-core" / "axe.min.js"]
    if os.environ.get("AXE_PATH"):
        places.insert(0, Path(os.environ["AXE_PATH"]))
    for place in places:
        if place.is_file():
            return place.read_text("utf-8")
    pytest.skip("needs axe-core: `npm install axe-core`, or AXE_PATH names axe.min.js")


def resize(browser, size):
    """Make the window a desktop or a phone."""
    width, height = SIZES[size]
    screen = {"width": width, "height": height, "deviceScaleFactor": 1}
    browser.driver.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride", screen | {"mobile": size == "phone"}
    )


def axe_findings(browser, script):
    """What axe-core finds on the page, as (rule, first elements)."""
    browser.driver.execute_script(script)
    run = "const done = arguments[0]; axe.run().then(done)"
    found = browser.driver.execute_async_script(run)
    return [
        (rule["id"], [node["target"] for node in rule["nodes"]][:3])
        for rule in found["violations"]
    ]
