"""Importing optional packages with an error that names the remedy."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from importlib import import_module

__all__ = ["import_optional"]


def import_optional(name, extra):
    """Import a package of an extra.

    Parameters
    ----------
    name : str
        Module to import.
    extra : str
        The extra of this package that installs it.

    Returns
    -------
    module : module
        The imported module.
    """
    try:
        return import_module(name)
    except ImportError as error:
        package = name.partition(".")[0]
        raise ImportError(
            f"This needs the package '{package}': install it with "
            f"`pip install demurk[{extra}]`."
        ) from error
