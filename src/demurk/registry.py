"""The list of methods: one row per estimator, read by the command and the tests."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from dataclasses import dataclass
from importlib import import_module

__all__ = ["METHODS", "Method", "get_method"]


@dataclass(frozen=True)
class Method:
    """One estimator of the library.

    Attributes
    ----------
    name : str
        Class name.
    room : str
        Public module it is imported from, below ``demurk``.
    task : str
        "reduce", "map", "clean" or "classify".
    labels : str
        What it makes of the labels, in a few words.
    source : str
        Where it comes from.
    """

    name: str
    room: str
    task: str
    labels: str
    source: str

    def load(self):
        """Import the class.

        Returns
        -------
        estimator_class : type
            The estimator.
        """
        return getattr(import_module(f"demurk.{self.room}"), self.name)


_NOISY = "noisy, mostly missing"
_CANDIDATES = "one of several candidates"
_EXTRAS = "true ones among extras"
_MISSING = "mostly missing"
METHODS = (
    Method("MurkyClassifier", "multilabel", "classify", _NOISY, "demurk"),
    Method("LabelAudit", "audit", "clean", _NOISY, "demurk"),
    Method("NMLSDR", "projection", "reduce", _NOISY, "Mikalsen et al. 2019"),
    Method("MDDM", "projection", "reduce", "trusted", "Zhang and Zhou 2010"),
    Method("MVMD", "projection", "reduce", "trusted", "Xu et al. 2016"),
    Method("LabelCCA", "projection", "reduce", "trusted", "Sun et al. 2011"),
    Method("WMLDA", "projection", "reduce", "trusted", "Xu 2018; Wang et al. 2010"),
    Method("MLSI", "projection", "reduce", "trusted", "Yu et al. 2005"),
    Method("SharedSubspace", "projection", "reduce", "trusted", "Ji et al. 2010"),
    Method("KernelNMLSDR", "projection", "reduce", _NOISY, "demurk"),
    Method("SSMLDR", "projection", "reduce", _NOISY, "Guo et al. 2016"),
    Method("SMDRdm", "projection", "reduce", _NOISY, "Yu et al. 2017"),
    Method("MSDA", "projection", "reduce", _MISSING, "Li et al. 2010"),
    Method(
        "SemiSupervisedCCA", "projection", "reduce", _MISSING, "Blaschko et al. 2008"
    ),
    Method("CENDA", "projection", "reduce", _CANDIDATES, "Bao et al. 2021"),
    Method("DELIN", "projection", "reduce", _CANDIDATES, "Wu and Zhang 2019"),
    Method(
        "NoisyLabelPropagation",
        "propagation",
        "clean",
        _NOISY,
        "Mikalsen et al. 2019; Nie et al. 2010",
    ),
    Method("MLkNN", "multilabel", "classify", "trusted", "Zhang and Zhou 2007"),
    Method(
        "SemiSupervisedMLkNN", "multilabel", "classify", _NOISY, "Mikalsen et al. 2019"
    ),
    Method("PLkNN", "partial_label", "classify", _CANDIDATES, "Hüllermeier 2006"),
    Method("PLSVM", "partial_label", "classify", _CANDIDATES, "Nguyen 2008"),
    Method("PLECOC", "partial_label", "classify", _CANDIDATES, "Zhang et al. 2017"),
    Method("IPAL", "partial_label", "classify", _CANDIDATES, "Zhang and Yu 2015"),
    Method("SURE", "partial_label", "classify", _CANDIDATES, "Feng and An 2019"),
    Method("PLAGGD", "partial_label", "classify", _CANDIDATES, "Wang et al. 2019"),
    Method("CLPL", "partial_label", "classify", _CANDIDATES, "Cour et al. 2011"),
    Method("MLGFHF", "propagation", "clean", _MISSING, "Chen et al. 2008"),
    Method("RankSVM", "multilabel", "classify", "trusted", "Elisseeff and Weston 2001"),
    Method("SLEML", "manifold", "map", "some missing", "Tai and Kudo 2019"),
    Method("CCDR", "manifold", "map", "some missing", "Costa and Hero 2005"),
    Method("ConstraintScore", "manifold", "map", "trusted", "Zhang et al. 2008"),
    Method("SLapEig", "manifold", "map", "trusted", "Jiang and Jia 2009"),
    Method("SLE", "manifold", "map", "trusted", "Raducanu 2012"),
    Method("LaplacianEigenmaps", "manifold", "map", "none", "Belkin and Niyogi 2003"),
    Method("SSDRMC", "manifold", "map", _MISSING, "Qian and Davidson 2010"),
    Method("PMLLCom", "partial_multilabel", "classify", _EXTRAS, "Yu et al. 2020"),
    Method("PMLLRS", "partial_multilabel", "classify", _EXTRAS, "Sun et al. 2019"),
    Method("PMLNI", "partial_multilabel", "classify", _EXTRAS, "Xie and Huang 2020"),
    Method("FPML", "partial_multilabel", "classify", _EXTRAS, "Yu et al. 2018"),
    Method("DRAMA", "partial_multilabel", "classify", _EXTRAS, "Wang et al. 2019"),
    Method(
        "PARTICLE", "partial_multilabel", "classify", _EXTRAS, "Fang and Zhang 2019"
    ),
    Method("PMLfp", "partial_multilabel", "classify", _EXTRAS, "Xie and Huang 2018"),
    Method("PMLlc", "partial_multilabel", "classify", _EXTRAS, "Xie and Huang 2018"),
    Method("PMLLD", "partial_multilabel", "classify", _EXTRAS, "Xu et al. 2020"),
    Method("GRADIS", "partial_multilabel", "classify", _EXTRAS, "Chen et al. 2020"),
    Method("PLST", "multilabel", "classify", "trusted", "Tai and Lin 2012"),
    Method("CPLST", "multilabel", "classify", "trusted", "Chen and Lin 2012"),
    Method("REML", "multilabel", "classify", "trusted", "Xu et al. 2016"),
)


def get_method(name, task=None):
    """Find a method by its name, whatever the case of the letters.

    Parameters
    ----------
    name : str
        Class name.
    task : str, default=None
        If given, the method must do this.

    Returns
    -------
    method : Method
        The row of the list.

    Examples
    --------
    >>> from demurk.registry import get_method
    >>> get_method("nmlsdr").room
    'projection'
    """
    fitting = [m for m in METHODS if task is None or m.task == task]
    for method in fitting:
        if method.name.lower() == name.lower():
            return method
    known = ", ".join(m.name for m in fitting)
    what = f"method for the task '{task}'" if task else "method"
    raise ValueError(f"There is no {what} called '{name}': choose one of {known}.")
