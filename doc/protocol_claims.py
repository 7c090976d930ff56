"""Published numbers of flights, of several views and of the kernel form of NMLSDR."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from functools import partial

from doc.claim_values import ahead, cells, mean

__all__ = ["CLAIMS"]


def flights(method, setting="10 %"):
    return ".2f", partial(mean, "ssdrmc-tmc2007", "micro F1", method, setting=setting)


def views(method, data_set):
    return ".3f", partial(mean, "pml-views", "ranking loss", method, data_set)


def kernel_gains():
    """Average precision that the kernel form has more than NMLSDR, by set."""
    found = cells("nmlsdr-tables", "AP", method=["NMLSDR", KERNEL]).unstack("method")
    return found[KERNEL] - found["NMLSDR"]


KERNEL = "NMLSDR, kernel"
CLAIMS = {
    "kernel.ahead": ("word", partial(ahead, "nmlsdr-tables", "AP", KERNEL, "NMLSDR")),
    "kernel.gains": (".3f", lambda: kernel_gains().max()),
    "kernel.loses": (".2f", lambda: -kernel_gains().min()),
    "tmc.ssdrmc": flights("SSDR-MC"),
    "tmc.ranksvm": flights("RankSVM"),
    "tmc.ssdrmc.half": flights("SSDR-MC", "50 %"),
    "tmc.gfhf.half": flights("ML-GFHF", "50 %"),
    "tmc.no-feedback": flights("SSDR-MC, no feedback"),
    "tmc.literal": flights("SSDR-MC, literal"),
    "tmc.forest": flights("Random forest"),
}
for _name in ("emotions", "yeast"):
    CLAIMS |= {
        f"views.{_name}.gradis": views("GRADIS", _name),
        f"views.{_name}.one": views("GRADIS", f"{_name}, one view"),
        f"views.{_name}.groups": views("GRADIS", f"{_name}, groups"),
        f"views.{_name}.ld": views("PML-LD", _name),
        f"views.{_name}.forest": views("Random forest", _name),
    }
