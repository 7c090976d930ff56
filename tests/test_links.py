"""No link of README, the guide, the examples or the built pages leads nowhere."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import pytest
from doc import links


def test_sources():
    assert list(links.source_problems()) == []


def test_built_pages():
    pages = links.DOC / "_build" / "html"
    if not (pages / "index.html").exists():
        pytest.skip("no pages here: `make docs` builds them and checks their links")
    assert list(links.page_problems(pages)) == []


BROKEN = {
    "a.md": ("See [this](b.md).\n", "there is no file b.md"),
    "b.md": ("# One two\n\n[x](#one-two) [y](#one)\n", "there is no heading #one"),
    "c.md": ('<img src="gone.png">\n', "there is no file gone.png"),
    "doc/a.rst": (".. image:: _static/gone.png\n", "there is no file _static/gone.png"),
    "doc/b.rst": (":doc:`text <gone>`\n", "there is no page gone"),
    "doc/c.rst": (":ref:`gone`\n", "there is no place called gone"),
    "doc/d.rst": (":class:`~demurk.audit.Gone`\n", "there is no demurk.audit.Gone"),
    "doc/e.rst": ("::\n\n      :link: gone\n      :link-type: doc\n", "no page gone"),
    "doc/f.rst": (":doc:`gallery/plot_gone`\n", "there is no page gallery/plot_gone"),
    "doc/g.rst": (":term:`gone`\n", "the glossary does not know gone"),
    "doc/_static/a.svg": ('<a href="gone.html"/>\n', "there is no page gone.html"),
    "examples/a.py": ('"""\n:ref:`gone`\n"""\n', "there is no place called gone"),
}


@pytest.fixture
def house(tmp_path, monkeypatch):
    """An empty repository, in which all links are right."""
    monkeypatch.setattr(links, "ROOT", tmp_path)
    monkeypatch.setattr(links, "DOC", tmp_path / "doc")
    for made in (links._labels, links._terms):
        made.cache_clear()
    (tmp_path / "doc" / "_static").mkdir(parents=True)
    (tmp_path / "examples").mkdir()
    good = (
        "\n.. _here:\n\nPage\n====\n\n:ref:`here`, :class:`~demurk.audit.LabelAudit`.\n"
    )
    (tmp_path / "doc" / "api.rst").write_text(good + ":doc:`glossary`\n")
    (tmp_path / "doc" / "glossary.rst").write_text(
        ".. glossary::\n\n   row\n      A.\n"
    )
    yield tmp_path
    for made in (links._labels, links._terms):
        made.cache_clear()


@pytest.mark.parametrize("name", BROKEN)
def test_what_leads_nowhere_is_found(house, name):
    assert list(links.source_problems()) == []
    text, told = BROKEN[name]
    (house / name).write_text(text)
    (found,) = links.source_problems()
    assert found.startswith(f"{name}:") and found.endswith(told)


def test_pages_that_lead_nowhere_are_found(tmp_path):
    (tmp_path / "deep").mkdir()
    page = '<p id="a"><a href="deep/#b">x</a><a href="#a">y</a><img src="{}"></p>'
    (tmp_path / "index.html").write_text(page.format("https://elsewhere/x.png"))
    (tmp_path / "deep" / "index.html").write_text('<i id="b"></i>')
    assert list(links.page_problems(tmp_path)) == []
    (tmp_path / "index.html").write_text(page.format("gone.png"))
    (tmp_path / "deep" / "index.html").write_text('<i id="c"></i>')
    assert list(links.page_problems(tmp_path)) == [
        "index.html: deep/#b: no such place",
        "index.html: gone.png: no file",
    ]
