"""The published numbers by name."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from doc.cenda_claims import CLAIMS as CODED
from doc.claim_values import (
    COMPRESSED,
    COVERAGE,
    CROWDLAB,
    FIGURE4,
    FRESH,
    FRESH_AUDITED,
    GOOD,
    LEARNERS,
    OTHERS,
    PAPER,
    PAPER_PML,
    REGION,
    SEVEN,
    TUNED,
    ahead,
    audit,
    best_from,
    clear,
    cost,
    cost_of_murky,
    cpu_ratio,
    digits,
    extreme,
    few,
    few_labelled,
    figure3,
    forest_variant,
    gains_on,
    gap,
    large,
    lcom,
    lcom_off,
    level_sets,
    mean,
    most_iterations,
    most_lost,
    moves,
    murky_best,
    nmlsdr,
    noise_auc,
    off_print,
    on_device,
    options,
    parameter_moves,
    people,
    people_ahead,
    pml_ahead,
    pml_settings,
    pooled,
    printed,
    real,
    slashdot,
    spammers_last,
    tables,
    trials_below,
    variants,
)
from doc.class_claims import CLASSES
from doc.protocol_claims import CLAIMS as PROTOCOLS
from doc.review_claims import CLAIMS as REVIEW

FEW = {
    "few.tuned.ahead": ("word", lambda: few("AP", "A", TUNED)),
    "few.tuned.gap": (".0f", lambda: gap(TUNED)),
    "few.tuned.gap-fresh": (".0f", lambda: gap(TUNED, FRESH)),
    "few.tuned.clear": (
        "word",
        lambda: clear("few-labels", "AP", "MurkyClassifier", TUNED, "A"),
    ),
    "few.gap": (".0f", lambda: gap("Random forest")),
    "few.gap-fresh": (".0f", lambda: gap("Random forest", FRESH)),
    "few.ahead": ("word", lambda: few("AP", "A")),
    "few.hamming-behind": ("word", lambda: 10 - few("HL'", "A")),
    "few.others.low": (
        "word",
        lambda: min(few(m, s) for m in ("AP", "RL'") for s in OTHERS),
    ),
    "few.others.high": (
        "word",
        lambda: max(few(m, s) for m in ("AP", "RL'") for s in OTHERS),
    ),
    "few.others.one-error.low": ("word", lambda: min(few("OE'", s) for s in OTHERS)),
    "few.others.one-error.high": ("word", lambda: max(few("OE'", s) for s in OTHERS)),
    "few.cost.low": (".0f", lambda: cost_of_murky(min)),
    "few.cost.high": (".0f", lambda: cost_of_murky(max)),
    "few.fast.low": (".1f", lambda: cost_of_murky(min, "MurkyClassifier, fast")),
    "few.fast.high": (".1f", lambda: cost_of_murky(max, "MurkyClassifier, fast")),
}
AUDIT = {
    "audit.flips": (".2f", lambda: audit("LabelAudit", "sym10")),
    "audit.extra": (".2f", lambda: audit("LabelAudit", "extra10")),
    "audit.missing": (".2f", lambda: audit("LabelAudit", "missing30")),
    "audit.fresh.flips": (".2f", lambda: audit("LabelAudit", "sym10", FRESH_AUDITED)),
    "audit.fresh.extra": (".2f", lambda: audit("LabelAudit", "extra10", FRESH_AUDITED)),
    "audit.fresh.missing": (
        ".2f",
        lambda: audit("LabelAudit", "missing30", FRESH_AUDITED),
    ),
    "cleanlab.flips": (".2f", lambda: max(options("sym10"))),
    "cleanlab.extra": (".2f", lambda: max(options("extra10"))),
    "cleanlab.missing": (".2f", lambda: max(options("missing30"))),
    "cleanlab.default.missing": (".2f", lambda: options("missing30")[0]),
    "cleanlab.adjusted.flips": (".2f", lambda: options("sym10")[1]),
    "cleanlab.own.flips": (
        ".2f",
        lambda: max(options("sym10", "LabelAudit's probabilities")),
    ),
    "cleanlab.own.extra": (
        ".2f",
        lambda: max(options("extra10", "LabelAudit's probabilities")),
    ),
    "cleanlab.own.missing": (
        ".2f",
        lambda: max(options("missing30", "LabelAudit's probabilities")),
    ),
    "audit.cpu": (".1f", cpu_ratio),
}
ANNOTATORS = {
    "people.ahead": ("word", lambda: people_ahead("consensus")),
    "people.ahead.loss": ("word", lambda: people_ahead("log-loss")),
    "people.ahead.test": ("word", lambda: people_ahead("test")),
    "people.classes": (".2f", lambda: people("consensus", "Consensus", "classes")),
    "people.classes.crowdlab": (
        ".2f",
        lambda: people("consensus", CROWDLAB, "classes"),
    ),
    "people.classes.ds": (
        ".2f",
        lambda: people("consensus", "Dawid-Skene, crowd-kit", "classes"),
    ),
    "people.classes.majority": (
        ".2f",
        lambda: people("consensus", "Majority", "classes"),
    ),
    "people.labels": (".2f", lambda: people("consensus", "Consensus", "labels")),
    "people.labels.crowdlab": (".2f", lambda: people("consensus", CROWDLAB, "labels")),
    "people.labels.ds": (
        ".2f",
        lambda: people("consensus", "Dawid-Skene, crowd-kit", "labels"),
    ),
    "people.labels.majority": (
        ".2f",
        lambda: people("consensus", "Majority", "labels"),
    ),
    "people.quality.classes": (
        ".2f",
        lambda: people("quality", "Consensus", "classes"),
    ),
    "people.quality.labels": (".2f", lambda: people("quality", "Consensus", "labels")),
    "people.spammers": (".0f", spammers_last),
}
NMLSDR = {
    "table1.printed": ("d", lambda: printed("nmlsdr-table1", (*SEVEN, "Cov'/C"), 0.01)),
    "table1.equation": ("d", lambda: printed("nmlsdr-table1", SEVEN, 0.01, COVERAGE)),
    "tables.printed": ("d", lambda: printed("nmlsdr-tables", (*SEVEN, "Cov'/C"), 0.01)),
    "tables.equation": ("d", lambda: printed("nmlsdr-tables", SEVEN, 0.01, COVERAGE)),
    "tables.forest.ahead": (
        "word",
        lambda: ahead("nmlsdr-tables", "AP", "Random forest, true labels", PAPER),
    ),
    "tables.forest.birds": (
        ".2f",
        lambda: nmlsdr("Random forest, true labels", "birds"),
    ),
    "tables.forest.medical": (
        ".2f",
        lambda: nmlsdr("Random forest, true labels", "medical"),
    ),
    "tables.scene.lost": (".1f", lambda: most_lost("scene")),
    "tables.nmlsdr.birds": (".2f", lambda: nmlsdr("NMLSDR", "birds")),
    "tables.nmlsdr.medical": (".2f", lambda: nmlsdr("NMLSDR", "medical")),
    "tables.murky.AP": ("word", lambda: murky_best("AP")),
    "tables.murky.HL": ("word", lambda: murky_best("HL'")),
    "case.forest": (".2f", lambda: mean("nmlsdr-case-study", "HL'", "Random forest")),
    "case.murky": (".2f", lambda: mean("nmlsdr-case-study", "HL'", "MurkyClassifier")),
    "case.nmlsdr": (".2f", lambda: mean("nmlsdr-case-study", "HL'", "NMLSDR")),
    "parameters.moves": (".2f", lambda: parameter_moves()),
    "parameters.low": (".2f", lambda: sorted(few_labelled())[1]),
    "parameters.sets": ("word", lambda: int((few_labelled() >= 0.015).sum())),
    "tables.within.02": (
        ".0f",
        lambda: printed("nmlsdr-tables", (*SEVEN, "Cov'/C"), 0.02) / 7,
    ),
    "tables.within.05": (
        ".0f",
        lambda: printed("nmlsdr-tables", (*SEVEN, "Cov'/C"), 0.05) / 7,
    ),
    "tables.level": ("word", level_sets),
    "parameters.high": (".2f", lambda: max(few_labelled())),
}
CENDA = {
    "slashdot.plknn": (".2f", lambda: slashdot("PL-kNN", "r=1")),
    "slashdot.plknn.cenda": (".2f", lambda: slashdot("PL-kNN + CENDA", "r=1")),
    "slashdot.plknn.all": (".2f", lambda: slashdot("PL-kNN + CENDA", "r=1, all rows")),
    "slashdot.ipal": (".2f", lambda: slashdot("IPAL", "r=1")),
    "slashdot.ipal.cenda": (".2f", lambda: slashdot("IPAL + CENDA", "r=1")),
    "slashdot.plsvm": (".2f", lambda: slashdot("PL-SVM", "r=1")),
    "slashdot.plsvm.cenda": (".2f", lambda: slashdot("PL-SVM + CENDA", "r=1")),
    "slashdot.plsvm.all": (".2f", lambda: slashdot("PL-SVM + CENDA", "r=1, all rows")),
    "slashdot.forest": (".2f", lambda: slashdot("Random forest", "r=1")),
    "real.lost.forest": (".2f", lambda: real("Random forest", "lost")),
    "real.fgnet.forest": (".2f", lambda: real("Random forest", "FG-NET")),
    "real.lost.gains": ("word", lambda: gains_on("lost")),
    "real.fgnet.gains": ("word", lambda: gains_on("FG-NET")),
    "real.lost.plknn.none": (".3f", lambda: real("PL-kNN", "lost")),
    "real.lost.plknn": (".3f", lambda: real("PL-kNN + CENDA", "lost")),
    "real.lost.plknn.all": (
        ".3f",
        lambda: real("PL-kNN + CENDA", "lost", "0.999, all rows"),
    ),
    "real.lost.plsvm.all": (
        ".3f",
        lambda: real("PL-SVM + CENDA", "lost", "0.999, all rows"),
    ),
    "real.fgnet.plknn": (".3f", lambda: real("PL-kNN + CENDA", "FG-NET")),
    "real.fgnet.plknn.all": (
        ".3f",
        lambda: real("PL-kNN + CENDA", "FG-NET", "0.999, all rows"),
    ),
    "real.cenda.off": (".2f", lambda: off_print("CENDA")),
    "real.delin.off": (".2f", lambda: off_print("DELIN")),
    "variants.four": (
        "word",
        lambda: sum(variants("segment", learner) == 6 for learner in LEARNERS),
    ),
    "variants.ipal": ("word", lambda: variants("segment", "IPAL")),
    "variants.delin": (
        "d",
        lambda: sum(
            ahead("cenda-variants", "accuracy", f"{name} + DELIN", f"{name} + CENDA")
            for name in LEARNERS
        ),
    ),
    "variants.forest.few.low": (".2f", lambda: forest_variant("min", "p=0.3, r=1")),
    "variants.forest.few.high": (".2f", lambda: forest_variant("max", "p=0.3, r=1")),
    "variants.forest.many.low": (".2f", lambda: forest_variant("min", "eps=0.7")),
    "variants.forest.many.high": (".2f", lambda: forest_variant("max", "eps=0.7")),
    "sensitivity.weight": (".3f", lambda: moves("mu=")),
    "sensitivity.neighbors": (".3f", lambda: moves("k=")),
}
for _name in ("lost", "slashdot", "digits"):
    for _which in ("min", "max"):
        CENDA[f"sensitivity.{_name}.{_which}"] = (
            ".2f",
            lambda d=_name, w=_which: extreme(
                *(w, "cenda-sensitivity", "accuracy"),
                data_set=d,
                setting="as in the paper",
                method=lambda m: "+" in m,
            ),
        )
    CENDA[f"sensitivity.{_name}.forest"] = (
        ".2f",
        lambda d=_name: mean("cenda-sensitivity", "accuracy", "Random forest", d),
    )
PML = {
    "pml.murky.ahead": ("d", lambda: pml_ahead("MurkyClassifier", PAPER_PML)),
    "pml.murky.settings": ("d", lambda: pml_settings("MurkyClassifier")),
    "pml.ridge.ahead": ("d", lambda: pml_ahead("Ridge", "PML-LCom")),
    "pml.forest.ahead": ("d", lambda: pml_ahead("Random forest", "PML-LCom")),
    "pml.fp.cost": (".0f", lambda: cost("PML-fp", "PML-LCom", COMPRESSED, max)),
    "pml.lc.cost": (".0f", lambda: cost("PML-lc", "PML-LCom", COMPRESSED, max)),
    "pml.cal500": (".3f", lambda: tables("PML-LCom", "CAL500")),
    "pml.cal500.printed": (".2f", lambda: tables("PML-LCom, as printed", "CAL500")),
    "pml.cal500.raw": (
        ".2f",
        lambda: tables("PML-LCom, as printed, raw features", "CAL500"),
    ),
    "pml.off.near": (
        ".2f",
        lambda: lcom_off("CAL500", "YeastCC", "YeastMF", "mirflickr"),
    ),
    "pml.off.medical": (".3f", lambda: lcom_off("medical")),
    "pml.off.bibtex": (".2f", lambda: lcom_off("bibtex")),
    "large.off.bibtex": (
        ".2f",
        lambda: lcom_off("bibtex", names=["pml-lcom-large"]),
    ),
    "pml.cal500.lrs": (".3f", lambda: tables("PML-LRS", "CAL500")),
    "pml.cal500.fp": (".3f", lambda: tables("PML-fp", "CAL500")),
    "pml.cal500.reml": (".3f", lambda: tables("REML", "CAL500")),
    "pml.bibtex.fp": (".3f", lambda: tables("PML-fp", "bibtex")),
    "lcom.printed.06": (
        ".3f",
        lambda: lcom("PML-LCom, as printed", "medical", "r=0.6q"),
    ),
    "lcom.printed.1": (".3f", lambda: lcom("PML-LCom, as printed", "medical", "r=1q")),
    "lcom.cplst": (".3f", lambda: lcom("CPLST", "medical", "r=0.6q")),
    "lcom.reml": (".3f", lambda: lcom("REML", "medical", "r=0.6q")),
    "lcom.forest": (".3f", lambda: lcom("Random forest", "medical", "as it is")),
    "lcom.medical.15": (".3f", lambda: lcom("PML-LCom", "medical", "15 iterations")),
    "lcom.medical.100": (".3f", lambda: lcom("PML-LCom", "medical", "100 iterations")),
    "lcom.cal500.15": (".3f", lambda: lcom("PML-LCom", "CAL500", "15 iterations")),
    "lcom.cal500.100": (".3f", lambda: lcom("PML-LCom", "CAL500", "100 iterations")),
    "noise.lcom.cc": (".2f", lambda: noise_auc("PML-LCom", "YeastCC")),
    "noise.lcom.mf": (".2f", lambda: noise_auc("PML-LCom", "YeastMF")),
    "noise.lcom.mir": (".2f", lambda: noise_auc("PML-LCom", "mirflickr")),
    "noise.forest.cc": (
        ".2f",
        lambda: noise_auc("Random forest, out of bag", "YeastCC"),
    ),
    "noise.forest.mf": (
        ".2f",
        lambda: noise_auc("Random forest, out of bag", "YeastMF"),
    ),
    "noise.forest.mir": (
        ".2f",
        lambda: noise_auc("Random forest, out of bag", "mirflickr"),
    ),
    "noise.audit.mir": (".2f", lambda: noise_auc("LabelAudit", "mirflickr")),
}
for _name, _data, _other, _format in (
    ("cc", "YeastCC", "drama", ".2f"),
    ("mf", "YeastMF", "drama", ".2f"),
    ("mir", "mirflickr", "drama", ".2f"),
    ("bibtex", "bibtex", "lrs", ".3f"),
    ("corel", "Corel5k", "lrs", ".3f"),
):
    for _short, _method in {
        "forest": "Random forest",
        "fp": "PML-fp",
        _other: {"drama": "DRAMA", "lrs": "PML-LRS"}[_other],
        "cplst": "CPLST",
        "lcom": "PML-LCom",
        "printed": "PML-LCom, as printed",
    }.items():
        PML[f"large.{_name}.{_short}"] = (
            _format,
            lambda m=_method, d=_data: large(m, d),
        )
for _short, _method in {
    "reml": "REML",
    "cplst": "CPLST",
    "lrs": "PML-LRS",
    "lcom": "PML-LCom",
    "printed": "PML-LCom, as printed",
}.items():
    PML[f"large.delicious.{_short}"] = (
        ".3f",
        lambda m=_method: large(m, "delicious"),
    )
PML["large.off.delicious"] = (
    ".3f",
    lambda: lcom_off("delicious", names=["pml-lcom-large"]),
)
MAPS = {
    "figure4.murky": (
        ".2f",
        lambda: mean(*FIGURE4, "MurkyClassifier", "scene", "50 %"),
    ),
    "figure4.gfhf.from": ("d", lambda: best_from("ML-GFHF", FIGURE4[1], "yeast")),
    "figure4.forest.from": (
        "d",
        lambda: max(
            best_from("Random forest", "Hamming loss", name, -1)
            for name in ("scene", "yeast")
        ),
    ),
    "figure4.ssdrmc": (".2f", lambda: mean(*FIGURE4, "SSDR-MC", "scene", "50 %")),
    "figure4.literal.scene": (
        ".2f",
        lambda: mean(*FIGURE4, "SSDR-MC, literal", "scene", "50 %"),
    ),
    "figure4.level": (".2f", lambda: 100 * (1 - max(pooled("SSDR-MC")))),
    "figure4.level.paper": (
        "word",
        lambda: sum(p < 0.05 for p in pooled("SSDR-MC, paper")),
    ),
    "digits.below": (".0f", lambda: trials_below(0.95)),
    "digits.ssdrmc": (".3f", lambda: digits("SSDR-MC")),
    "digits.paper": (".3f", lambda: digits("SSDR-MC, paper")),
    "digits.no-feedback": (".3f", lambda: digits("SSDR-MC, no feedback")),
    "digits.gfhf": (".3f", lambda: digits("ML-GFHF")),
    "digits.spreading": (".3f", lambda: digits("Label spreading")),
    "digits.forest": (".3f", lambda: digits("Random forest")),
    "figure3.iterations": ("d", lambda: most_iterations(("yeast", "digits"))),
    "figure3.iterations.literal": (
        "d",
        lambda: most_iterations(("scene",), "SSDR-MC, literal"),
    ),
}
for _name in ("digits", "scene"):
    for _weight in ("0.9", "0.2"):
        MAPS[f"sleml.{_name}.{_weight}"] = (
            ".2f",
            lambda d=_name, w=_weight: mean(
                "sleml-figures", "label agreement", f"SLE-ML {w}", d
            ),
        )
for _name in ("yeast", "scene", "digits"):
    for _which in ("min", "max"):
        MAPS[f"figure3.{_name}.paper.{_which}"] = (
            ".2f",
            lambda d=_name, w=_which: figure3(w, "SSDR-MC, paper", d, REGION),
        )
        MAPS[f"figure3.{_name}.literal.{_which}"] = (
            ".2f",
            lambda d=_name, w=_which: figure3(w, "SSDR-MC, literal", d, REGION),
        )
        MAPS[f"figure3.{_name}.{_which}"] = (
            ".2f",
            lambda d=_name, w=_which: figure3(w, "SSDR-MC", d, GOOD),
        )
    for _method in ("Random forest", "Label spreading"):
        MAPS[f"figure3.{_name}.{_method.split()[1]}"] = (
            ".2f",
            lambda d=_name, m=_method: mean("ssdrmc-figure3", "micro F1", m, d),
        )
del MAPS["figure3.digits.max"]  # the same as the smallest, on the page

DEVICE = {
    "device.search": (".2f", lambda: on_device("search")),
    "device.products": (".0f", lambda: on_device("products")),
    "device.rate": (".0f", lambda: on_device("rate")),
    "device.fit": (".2f", lambda: on_device("fit")),
}

# Name to form and function; the form "word" writes a small number out.
CLAIMS = FEW | AUDIT | CLASSES | ANNOTATORS | REVIEW | NMLSDR | CENDA | PML | MAPS
CLAIMS |= CODED | DEVICE | PROTOCOLS
