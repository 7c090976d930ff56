"""Driving a page in a real Chromium without a screen and without a network."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import io
import json
import shutil
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

OPTIONS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
NOWHERE = "--host-resolver-rules=MAP * ~NOTFOUND"
SOFTWARE_WEBGL = ("--use-angle=swiftshader", "--enable-unsafe-swiftshader")


@contextmanager
def open_browser(*, webgl=True, size=(1366, 768), loopback=False, dark=False):
    """Start Chromium; skip the test where it or its driver is not installed.

    Parameters
    ----------
    webgl : bool, default=True
        Whether pages can use WebGL, computed by the processor.
    size : tuple of int, default=(1366, 768)
        Width and height of the window.
    loopback : bool, default=False
        Whether this machine's own address, and no other, can be reached.
    dark : bool, default=False
        Whether the user prefers dark pages.

    Yields
    ------
    browser : Browser
        The browser.
    """
    webdriver = pytest.importorskip("selenium.webdriver", reason="needs selenium")
    from selenium.webdriver.chrome.service import Service

    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    driver_path = shutil.which("chromedriver")
    if not chromium or not driver_path:
        pytest.skip("needs Debian's packages chromium and chromium-driver")
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        options = webdriver.ChromeOptions()
        options.binary_location = chromium
        for option in (*OPTIONS, *(SOFTWARE_WEBGL if webgl else ["--disable-3d-apis"])):
            options.add_argument(option)
        options.add_argument(NOWHERE + ", EXCLUDE 127.0.0.1" * loopback)
        options.add_argument(f"--window-size={size[0]},{size[1]}")
        options.add_argument(f"--user-data-dir={profile}")
        logs = {"performance": "ALL", "browser": "ALL"}
        options.set_capability("goog:loggingPrefs", logs)
        driver = webdriver.Chrome(options=options, service=Service(driver_path))
        try:
            driver.execute_cdp_cmd("Network.enable", {})
            if not loopback:
                _cut(driver)
            _prefer(driver, "dark" if dark else "light")
            browser = Browser(driver)
            # Chromium's own first page is no business of ours.
            driver.get("about:blank")
            browser.requests()
            yield browser
        finally:
            driver.quit()


def _cut(driver):
    """Take the network away."""
    speed = {"latency": 0, "downloadThroughput": 0, "uploadThroughput": 0}
    driver.execute_cdp_cmd(
        "Network.emulateNetworkConditions", {"offline": True, **speed}
    )


def _prefer(driver, scheme):
    feature = {"name": "prefers-color-scheme", "value": scheme}
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})


class Browser:
    """What the tests do with a page.

    Parameters
    ----------
    driver : selenium WebDriver
        The started browser.
    """

    def __init__(self, driver):
        self.driver = driver

    def open(self, path):
        """Open a file or a local address; give the seconds until it is ready."""
        begun = time.perf_counter()
        address = str(path)
        if not address.startswith("http://127.0.0.1:"):
            address = Path(path).resolve().as_uri()
        self.driver.get(address)
        self.wait("document.documentElement.dataset.ready")
        return time.perf_counter() - begun

    def run(self, expression):
        """Value of a JavaScript expression."""
        return self.driver.execute_script(f"return {expression}")

    def wait(self, expression, seconds=60):
        """Wait until a JavaScript expression is true."""
        end = time.perf_counter() + seconds
        while not self.run(expression):
            if time.perf_counter() > end:
                raise TimeoutError(f"{expression} is not true after {seconds} s")
            time.sleep(0.05)

    def find(self, selector):
        """All elements that fit a CSS selector."""
        return self.driver.find_elements("css selector", selector)

    def click(self, selector, text=None):
        """Click the first element that fits, or the first that shows a text."""
        fitting = [e for e in self.find(selector) if text is None or text in e.text]
        fitting[0].click()

    def point_at(self, x, y):
        """Move the mouse to a place on the plot, in pixels."""
        from selenium.webdriver.common.action_chains import ActionChains

        box = self.find("#plot")[0].rect
        chain = ActionChains(self.driver)
        chain.w3c_actions.pointer_action.move_to_location(
            round(box["x"] + x), round(box["y"] + y)
        )
        chain.perform()

    def pixels(self):
        """The window as an array of shape (height, width, 3), values in [0, 1]."""
        image = pytest.importorskip("matplotlib.image")
        picture = self.driver.get_screenshot_as_png()
        return image.imread(io.BytesIO(picture))[..., :3]

    def requests(self):
        """Addresses asked for since the last call.

        Those inside the page (data:, blob:) and those that the page's own policy
        refused do not count: nothing was sent.
        """
        events = [
            json.loads(entry["message"])["message"]
            for entry in self.driver.get_log("performance")
        ]
        asked, refused = [], set()
        for event in events:
            known = event["params"]
            if event["method"] == "Network.requestWillBeSent":
                asked.append((known["requestId"], known["request"]["url"]))
            elif known.get("blockedReason") == "csp":
                refused.add(known["requestId"])
        return [
            url
            for request, url in asked
            if request not in refused and not url.startswith(("data:", "blob:"))
        ]

    def errors(self):
        """Error messages of the console since the last call."""
        entries = self.driver.get_log("browser")
        return [entry["message"] for entry in entries if entry["level"] == "SEVERE"]
