"""Published numbers of the protocols with flights and with several views."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from functools import partial

from doc.claim_values import mean

__all__ = ["CLAIMS"]


def flights(method, setting="10 %"):
    return ".2f", partial(mean, "ssdrmc-tmc2007", "micro F1", method, setting=setting)


def views(method, data_set):
    return ".3f", partial(mean, "pml-views", "ranking loss", method, data_set)


CLAIMS = {
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
