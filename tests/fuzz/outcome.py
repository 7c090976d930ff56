"""What reading a damaged file may come to."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from dataclasses import dataclass

from tests.fuzz.mutate import mutate

# What a reader may raise, with one sentence.
ALLOWED = (ValueError, FileNotFoundError, ImportError)
LONGEST = 400


@dataclass(frozen=True)
class Format:
    """One kind of file: its suffix, valid examples, how to damage and to read one.

    `share` says how many of a thousand files are of this kind.
    """

    suffix: str
    examples: object  # a function that gives a list of bytes
    read: object
    damage: object = mutate
    share: int = 100


def check(form, path):
    """Read a file; "read", "refused", or what is wrong with the answer."""
    try:
        found = form.read(path)
    except ALLOWED as error:
        message = str(error)
        if "\n" in message or not 0 < len(message) < LONGEST + len(str(path)):
            return f"no sentence: {type(error).__name__}: {message[:200]!r}"
        if not message.endswith("."):
            return f"foreign: {type(error).__name__}: {message[:200]!r}"
        return "refused"
    except Exception as error:
        return f"exception: {type(error).__name__}: {str(error)[:200]!r}"
    return "read" if found is None else _consistent(found)


def _consistent(bunch):
    """Whether the parts of a data set have the sizes of each other."""
    n_samples, n_features = bunch.data.shape
    good = n_features == len(bunch.feature_names)
    for part in (bunch.target, bunch.get("candidates")):
        good &= part is None or len(part) == n_samples
        if part is not None and part.ndim == 2:
            good &= part.shape[1] == len(bunch.target_names)
    return "read" if good else "inconsistent: shapes and names do not agree"
