"""What an audit says of its findings."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

__all__ = ["UnknownRateWarning", "audit_message"]

PLAIN = "entries are ranked by how unlikely the given label is"
SAID = {
    "symmetric": "Present and absent labels are wrong alike",
    "extra": "Labels were given that do not apply",
    "missing": "Labels that apply were not given",
    "mixed": "Labels were wrongly given and left out, at different rates",
}


class UnknownRateWarning(UserWarning):
    """The labels show too little noise, or none, for a rate to be estimated."""


def audit_message(noise, choice, n_suspects, n_entries):
    """The result in a sentence or two.

    Parameters
    ----------
    noise : str
        What the user said about the noise.
    choice : Choice
        What was found.
    n_suspects, n_entries : int
        Expected number of wrong entries, and of all that were observed.

    Returns
    -------
    message : str
        The sentences.
    """
    share = 100 * n_suspects / n_entries
    count = f"about {n_suspects} of {n_entries} entries ({share:.1f} %)"
    if noise == "none":
        return f"No kind of noise was assumed: {PLAIN}."
    if not choice.estimated:
        return f"No noise rate could be estimated: {PLAIN}."
    if choice.sure:
        return f"{SAID[choice.noise]}; {count} are wrong."
    return (
        "The kind of noise cannot be told: read the two lists of suspects apart. "
        f"The best guess: {SAID[choice.noise].lower()}; {count} are wrong."
    )
