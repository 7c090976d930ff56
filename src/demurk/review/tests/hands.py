"""Two hands that can do everything in the review: one has keys, the other a mouse."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import os
from pathlib import Path

PICTURES = Path(__file__).parents[4] / "doc" / "_static"
WORDS = {"A": "#accept-all", "K": "#keep-all", "c": "#clear", "f": "#finish"}
WORDS |= {"?": "#help", "l": "#lasso"}


class Hand:
    """What both hands share.

    Parameters
    ----------
    browser : Browser
        The browser, with the review open.
    """

    def __init__(self, browser):
        self.browser = browser

    @property
    def card(self):
        """The card in view, as the page knows it."""
        self.rest()
        return self.browser.run("demurk.state.card")

    @property
    def text(self):
        return self.browser.find("#card")[0].text

    @property
    def said(self):
        return self.browser.find("#status")[0].text

    def rest(self):
        """Wait until the page is done with what it was told."""
        self.browser.wait(
            "!document.documentElement.dataset.busy"
            " && !document.documentElement.dataset.searching"
            " && !document.documentElement.dataset.refreshing"
        )

    def opened(self):
        """The title of the dialog that is open."""
        self.browser.wait("document.getElementById('ask').open")
        return self.browser.find("#ask-title")[0].text

    def picture(self, name):
        """Save what is seen for the user guide, where that is asked for."""
        if os.environ.get("DEMURK_PICTURES"):
            self.browser.driver.save_screenshot(str(PICTURES / f"review-{name}.png"))


class Keys(Hand):
    """Keys alone."""

    def press(self, *keys):
        from selenium.webdriver.common.action_chains import ActionChains

        ActionChains(self.browser.driver).send_keys(*keys).perform()

    def do(self, key):
        from selenium.webdriver.common.keys import Keys as K

        named = {"ArrowLeft": K.ARROW_LEFT, "ArrowRight": K.ARROW_RIGHT}
        self.press(named.get(key, key))
        self.rest() if key not in "AKnf?" else None

    def choose(self, label):
        numbered = self.browser.run("demurk.state.numbered")
        self.do(str(numbered.index(label) + 1))

    def find_label(self, name):
        from selenium.webdriver.common.keys import Keys as K

        self.press("o")
        self.press(name)
        self.press(K.ENTER)
        self.rest()

    def queue(self, name):
        while self.browser.run("demurk.state.queue") != name:
            self.do("t")

    def search(self, words):
        from selenium.webdriver.common.keys import Keys as K

        self.press("/")
        self.press(words)
        self.rest()
        self.press(K.ENTER)

    def pick_label(self, name):
        """Go to the list of labels by the tab key, and type its name."""
        from selenium.webdriver.common.keys import Keys as K

        self.press("/")
        while self.browser.run("document.activeElement.id") != "label":
            self.press(K.TAB)
        self.press(name)
        self.rest()
        self.press(K.ESCAPE)

    def lasso(self):
        from selenium.webdriver.common.keys import Keys as K

        self.press("l")
        self.press(K.ARROW_UP, K.ARROW_UP)
        self.press(K.ENTER)
        self.rest()

    def yes(self):
        from selenium.webdriver.common.keys import Keys as K

        self.press(K.ENTER)
        self.rest()

    def write(self, words):
        from selenium.webdriver.common.action_chains import ActionChains
        from selenium.webdriver.common.keys import Keys as K

        self.press(words)
        chain = ActionChains(self.browser.driver)
        chain.key_down(K.CONTROL).send_keys(K.ENTER).key_up(K.CONTROL).perform()
        self.rest()

    def close(self):
        from selenium.webdriver.common.keys import Keys as K

        self.press(K.ESCAPE)
        self.rest()


class Clicks(Hand):
    """A mouse alone, but for words that have to be written."""

    def do(self, key):
        self.browser.click(WORDS.get(key, f"#actions [data-key={key}]"))
        self.rest() if key not in "AKnf?" else None

    def choose(self, label):
        self.browser.click(f"#others [data-label='{label}']")
        self.rest()

    def find_label(self, name):
        self.browser.find("#other")[0].send_keys(name)
        self.browser.click("#others .group")
        self.rest()

    def queue(self, name):
        self.browser.click(f"#queues [data-key={name}]")
        self.rest()

    def search(self, words):
        self.browser.find("#search")[0].send_keys(words)
        self.rest()

    def pick_label(self, name):
        from selenium.webdriver.support.ui import Select

        Select(self.browser.find("#label")[0]).select_by_visible_text(name)
        self.rest()

    def lasso(self):
        """Draw a square around the card's row."""
        from selenium.webdriver.common.action_chains import ActionChains

        self.browser.click("#lasso")
        spot = self.browser.run("demurk.world.map.screen(demurk.state.card.row)")
        box = self.browser.find("#plot")[0].rect
        chain = ActionChains(self.browser.driver)
        pointer = chain.w3c_actions.pointer_action
        corners = [(-70, -70), (70, -70), (70, 70), (-70, 70)]
        places = [
            (
                round(box["x"] + min(max(spot["sx"] + dx, 2), box["width"] - 40)),
                round(box["y"] + min(max(spot["sy"] + dy, 2), box["height"] - 2)),
            )
            for dx, dy in corners
        ]
        pointer.move_to_location(*places[0]).pointer_down()
        for place in places[1:]:
            pointer.move_to_location(*place)
        pointer.pointer_up()
        chain.perform()
        self.rest()

    def yes(self):
        self.browser.click("#ask-yes")
        self.rest()

    def write(self, words):
        self.browser.find("#ask textarea")[0].send_keys(words)
        self.yes()

    def close(self):
        self.browser.click("#ask-no")
        self.rest()
