"""Find links that lead nowhere: ``python -m doc.links`` looks at the sources,
``python -m doc.links doc/_build/html`` at the pages that were built from them.

Only what belongs to this repository is looked at; nothing is asked of a network. Sphinx
itself, with ``nitpicky``, complains about names in docstrings.
"""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import re
import sys
from collections import defaultdict
from functools import cache
from html.parser import HTMLParser
from importlib import import_module
from pathlib import Path
from urllib.parse import unquote, urlsplit

__all__ = ["page_problems", "source_problems"]

ROOT = Path(__file__).resolve().parent.parent
DOC = ROOT / "doc"
# Folders that are made when the pages are built.
MADE = ("gallery", "generated", "_tables", "_reports")
ROLE = re.compile(r":(?:[a-z]+:)?([a-z]+):`([^`]+)`")
OBJECTS = {"class", "func", "meth", "mod", "attr", "data", "obj", "exc"}
DIRECTIVES = r"\.\. (?:image|figure|include|literalinclude):: (\S+)"
FILES = re.compile(rf"(?m)^ *(?:{DIRECTIVES}|:(?:file|img-top|img-bottom): (\S+))$")
CARDS = re.compile(r"(?m)^ +:link: (\S+)\n +:link-type: (doc|ref)$")


# Sources


def source_problems():
    """Every broken link of README, the guide and the examples, a sentence each."""
    for path in sorted(ROOT.glob("*.md")):
        yield from _markdown_problems(path)
    for path in [*_pages(), *sorted(ROOT.glob("examples/*.py"))]:
        yield from _rst_problems(path)
    for path in sorted((DOC / "_static").glob("*.svg")):
        yield from _picture_problems(path)


def _pages():
    """Pages that are written by hand."""
    found = sorted(DOC.rglob("*.rst"))
    return [p for p in found if p.relative_to(DOC).parts[0] not in (*MADE, "_build")]


def _told(path, text, place, what):
    line = text.count("\n", 0, place) + 1
    return f"{path.relative_to(ROOT)}:{line}: {what}"


def _markdown_problems(path):
    """Links to files, and to headings of files."""
    text = path.read_text("utf-8")
    links = re.finditer(r"\]\(([^)\s]+)\)|<img[^>]*\bsrc=\"([^\"]+)\"", text)
    for match in links:
        link = match[1] or match[2]
        address = urlsplit(link)
        if address.scheme:
            continue
        goal = path.parent / unquote(address.path) if address.path else path
        if not goal.exists():
            yield _told(path, text, match.start(), f"there is no file {link}")
        elif address.fragment and address.fragment not in _headings(goal):
            yield _told(path, text, match.start(), f"there is no heading {link}")


@cache
def _headings(path):
    """Anchors of a Markdown file, as forges make them."""
    titles = re.findall(r"(?m)^#+ (.+)$", path.read_text("utf-8"))
    kept = (re.sub(r"[^\w\- ]", "", title.lower()) for title in titles)
    return {title.replace(" ", "-") for title in kept}


def _rst_problems(path):
    text = path.read_text("utf-8")
    base = DOC / "gallery" if path.suffix == ".py" else path.parent
    for match in FILES.finditer(text):
        name = match[1] or match[2]
        if not _file(base, name).exists() and not _is_made(base, name):
            yield _told(path, text, match.start(), f"there is no file {name}")
    links = [(match, match[2], match[1]) for match in CARDS.finditer(text)]
    links += [(match, match[1], match[2]) for match in ROLE.finditer(text)]
    for match, role, content in links:
        target = re.sub(r"(?s).*<(.+)>$", r"\1", content).strip().lstrip("~!")
        if what := _missing(role, target, base):
            yield _told(path, text, match.start(), what)


def _file(base, name):
    return DOC / name[1:] if name.startswith("/") else base / name


def _is_made(base, name):
    """Whether a file will be there when the pages are built."""
    path = Path(*_file(base, name).resolve().relative_to(DOC).parts)
    if path.parts[0] != "gallery":
        return path.parts[0] in MADE
    thumb = re.fullmatch(r"sphx_glr_(\w+?)_(?:thumb|\d{3})\.png", path.name)
    return bool(thumb) and (ROOT / "examples" / f"{thumb[1]}.py").exists()


def _missing(role, target, base):
    """What is wrong with a link, or nothing."""
    if role == "doc":
        place = _file(base, target).resolve().relative_to(DOC)
        example = ROOT / "examples" / f"{place.name}.py"
        made = place.parts[0] == "gallery" and (
            place.name == "index" or example.exists()
        )
        if not made and not (DOC / f"{place}.rst").exists():
            return f"there is no page {target}"
    elif role == "ref" and target not in _labels() and not _is_example(target):
        return f"there is no place called {target}"
    elif role == "term" and target not in _terms():
        return f"the glossary does not know {target}"
    elif role in OBJECTS and target.startswith("demurk") and not _known(target):
        return f"there is no {target}"
    return ""


def _is_example(label):
    """Whether a place is the head of an example's page."""
    match = re.fullmatch(r"sphx_glr_gallery_(\w+\.py)", label)
    return bool(match) and (ROOT / "examples" / match[1]).exists()


@cache
def _labels():
    """Names of places in the guide."""
    texts = (path.read_text("utf-8") for path in _pages())
    return {n for text in texts for n in re.findall(r"(?m)^ *\.\. _([\w-]+):$", text)}


@cache
def _terms():
    text = (DOC / "glossary.rst").read_text("utf-8")
    return set(re.findall(r"(?m)^   (\S.*)$", text.partition(".. glossary::")[2]))


@cache
def _known(name):
    """Whether a dotted name can be imported, or is an attribute that `fit` makes."""
    words = name.removesuffix("()").split(".")
    for k in range(len(words), 0, -1):
        try:
            found = import_module(".".join(words[:k]))
        except ImportError:
            continue
        for word in words[k:]:
            if not hasattr(found, word):
                return word in (getattr(found, "__doc__", None) or "")
            found = getattr(found, word)
        return True
    return False


def _picture_problems(path):
    """Links in pictures lead from pages of the guide to others."""
    text = path.read_text("utf-8")
    listed = (DOC / "api.rst").read_text("utf-8")
    for match in re.finditer(r'href="([^"#]+)(?:#[^"]*)?"', text):
        link = match[1]
        page = DOC / "user_guide" / Path(link).with_suffix(".rst")
        name = link.rpartition("/")[2].removesuffix(".html")
        listed_there = "generated/" in link and re.search(
            rf"(?m)^   {re.escape(name.rpartition('.')[2])}$", listed
        )
        known = listed_there and _known(name)
        if not link.startswith(("http:", "https:")) and not known and not page.exists():
            yield _told(path, text, match.start(), f"there is no page {link}")


# Pages


class _Page(HTMLParser):
    """Anchors of a page, and where it leads."""

    def __init__(self):
        super().__init__()
        self.anchors, self.links = set(), []

    def handle_starttag(self, tag, attrs):
        own = dict(attrs)
        self.anchors |= {own[key] for key in ("id", "name") if own.get(key)}
        if tag == "link" and own.get("rel") in ("search", "canonical"):
            return
        for key in ("href", "src", "xlink:href"):
            if own.get(key):
                self.links.append(own[key])


def page_problems(folder):
    """Every broken link between the pages of a folder, a sentence each."""
    folder = Path(folder).resolve()
    pages = {}
    for path in sorted(folder.rglob("*.html")):
        if path.relative_to(folder).parts[0] == "_static":
            continue  # templates of the theme
        pages[path] = _Page()
        pages[path].feed(path.read_text("utf-8"))
    broken = defaultdict(list)
    for path, page in pages.items():
        for link in page.links:
            address = urlsplit(link)
            if address.scheme or address.netloc:
                continue
            goal = (path.parent / unquote(address.path)).resolve()
            goal = path if not address.path else goal
            goal = goal / "index.html" if goal.is_dir() else goal
            fragment = unquote(address.fragment)
            if not goal.exists():
                broken[link, "no file"].append(path)
            elif fragment and goal in pages and fragment not in pages[goal].anchors:
                broken[link, "no such place"].append(path)
    for (link, why), places in broken.items():
        more = f" and {len(places) - 1} more" if len(places) > 1 else ""
        yield f"{places[0].relative_to(folder)}{more}: {link}: {why}"


def main(folders):
    """Print what is broken; the exit status says whether something is."""
    if folders:
        found = [line for folder in folders for line in page_problems(folder)]
    else:
        found = list(source_problems())
    print("\n".join(found) or "Every link leads somewhere.")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
