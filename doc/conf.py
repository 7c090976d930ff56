"""Configuration of the documentation; it builds without a network."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import inspect
import os
import re
import sys
from pathlib import Path

import demurk

sys.path.insert(0, str(Path(__file__).parent.parent))
from doc.changelog import write_changes
from doc.claims import claim_role
from doc.tables import write_tables
from sphinx_gallery.sorting import ExplicitOrder

write_tables()
write_changes()

project = "demurk"
author = "The demurk developers"
copyright = "The demurk developers"
version = release = demurk.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.doctest",
    "sphinx.ext.extlinks",
    "numpydoc",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
if os.environ.get("DEMURK_DOC_ONLINE") == "1":
    # Links into other projects need their inventories, hence a network.
    extensions.append("sphinx.ext.intersphinx")
    intersphinx_mapping = {
        "numpy": ("https://numpy.org/doc/stable", None),
        "python": ("https://docs.python.org/3", None),
        "scipy": ("https://docs.scipy.org/doc/scipy", None),
        "sklearn": ("https://scikit-learn.org/stable", None),
    }

root_doc = "index"
templates_path = ["_templates"]
exclude_patterns = ["_build", "_tables", "_reports", "changes"]
html_extra_path = ["_reports"]
extlinks = {"doi": ("https://doi.org/%s", "doi:%s")}

autosummary_generate = True
autodoc_typehints = "none"
numpydoc_show_class_members = False
# A name of ours that leads nowhere is a mistake; those of others need a network.
nitpicky = True
nitpick_ignore_regex = [("py:.*", r"(?!demurk\b).*")]

# The situations of the front page come first.
SITUATIONS = (
    "plot_wrong_classes.py",
    "plot_few_labels.py",
    "plot_several_people.py",
    "plot_candidate_sets.py",
    "plot_extra_tags.py",
    "plot_review.py",
    "plot_bad_labels.py",
)
sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"plot_",
    "within_subsection_order": ExplicitOrder([*SITUATIONS, "*"]),
    "thumbnail_size": (560, 392),
    "reset_modules": ("matplotlib", "seaborn", "doc.gallery_style.larger_words"),
    "doc_module": ("demurk",),
    "backreferences_dir": None,
    "abort_on_example_error": True,
    "write_computation_times": False,
    "show_memory": False,
    "download_all_examples": False,
    "plot_gallery": "True",
}

html_theme = "pydata_sphinx_theme"
html_title = "demurk"
html_static_path = ["_static"]
html_css_files = ["demurk.css"]
html_show_sourcelink = False
html_theme_options = {
    "navigation_with_keys": False,
    "show_toc_level": 2,
    "secondary_sidebar_items": ["page-toc"],
    "navbar_end": ["theme-switcher"],
    "footer_start": ["copyright"],
    "footer_end": [],
}
html_sidebars = {"install": [], "api": [], "developer": []}


def skip_foreign_members(app, what, name, obj, skip, options):
    """Leave out what scikit-learn and the standard library already document."""
    target = obj.fget if isinstance(obj, property) else inspect.unwrap(obj)
    module = getattr(target, "__module__", None) or "demurk"
    return True if module.partition(".")[0] != "demurk" else None


def escape_names_in_shapes(app, what, name, obj, options, lines):
    """Keep ``shape (n_features_in_,)`` from being read as a link."""
    for i, line in enumerate(lines):
        if "shape (" in line:
            lines[i] = re.sub(r"(?<=\w)_(?=[,)])", r"\\_", line)


def setup(app):
    """Register the role and the handlers; the second comes before numpydoc's."""
    app.add_role("claim", claim_role)
    app.connect("autodoc-skip-member", skip_foreign_members)
    app.connect("autodoc-process-docstring", escape_names_in_shapes, priority=400)
