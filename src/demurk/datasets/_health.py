"""Synthetic health records with ICD-9 and ATC codes, and expert rules for them."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from dataclasses import dataclass
from numbers import Integral

import numpy as np
from scipy.special import ndtr
from sklearn.utils import check_random_state

from demurk.datasets import _health_codes as codes
from demurk.datasets._files import make_bunch
from demurk.rules import Rule

# How contact with care varies between people (standard deviation of its logarithm),
# and its correlation with being recorded and with being treated.
SPREAD, RELIANCE = 0.5, 0.5
# Mean number of further entries of a code in a year, at average contact: diagnoses of
# the two diseases in patients and in others, lasting drugs, all other codes.
MORE_DIAGNOSES, MORE_SLIPS, MORE_DRUGS, MORE_OTHERS = 2.0, 0.2, 5.0, 0.4


def make_health_records(n_samples=8664, *, random_state=None):
    """Make a year of diagnosis and drug codes of people with two chronic diseases.

    A stand-in for the case study of [1]_, whose patients' records are not public: four
    groups of equal size (healthy, hypertension, diabetes, both), 267 ICD-9 codes and
    188 ATC codes, and for each person how often each code was recorded. The diseases
    leave traces in many columns, none of which is reliable.

    Every frequency is an assumption, see `DESCR` of the result and the notes. The
    records represent no real population: use them to try methods, never to learn about
    health.

    Parameters
    ----------
    n_samples : int, default=8664
        Number of people, at least 4. With the default, the first 6,932 rows and the
        remaining 1,732 make training and test parts of the sizes of the paper.
    random_state : int, RandomState instance or None, default=None
        Seed or generator.

    Returns
    -------
    bunch : :class:`~sklearn.utils.Bunch`
        `data` (n_samples, 455) float64, counts of codes; `target` (n_samples, 2) int8,
        the true diseases; `feature_names`, the codes in sorted order; `target_names`;
        `group` (n_samples,) with the name of the group; `age` and `female`, which are
        not among the features; `DESCR`, every assumption with its numbers; `name`. The
        rows are in random order.

    See Also
    --------
    paper_rules : The paper's expert rules for these codes.

    Notes
    -----
    What is assumed:

    - Patients are older than the healthy; age and sex act on which codes occur, but
      are no features, as in the paper.
    - Contact with care is log-normal, higher in patients, and raises all codes and all
      counts.
    - Under-coding: only 75 to 85 % of the patients have a diagnosis code of their
      disease (401-405, 250), the more likely the more contact they have. Of the others,
      2 to 8 % have one by suspicion or slip, most of them only once.
    - 80 to 88 % of the patients are treated, independently of the diagnosis code given
      the contact with care: there is medication without a diagnosis and the other way
      round. Some people take the same drugs for other reasons.
    - Other codes follow from age, sex, contact with care and the diseases (heart, eyes,
      kidneys, blood lipids, overweight); excess risks add up. Most codes are unrelated
      to the diseases, and most are rare.
    - Given all that, codes are independent of each other.

    The four groups, their sizes, and the numbers of codes are the paper's. It keeps
    codes with at least ten patients in its training part; here the columns are fixed,
    and most have ten or more. In the paper the truth comes from a commercial
    classification of the same codes; here it comes first and the codes follow.

    Time and memory are O(455 n_samples), about a second for the default.

    References
    ----------
    .. [1] Mikalsen, Soguero-Ruiz, Bianchi, Jenssen, "Noisy multi-label semi-supervised
       dimensionality reduction", Pattern Recognition 90, 2019, section 5,
       :doi:`10.1016/j.patcog.2019.01.033`.

    Examples
    --------
    >>> from demurk.datasets import make_health_records
    >>> records = make_health_records(400, random_state=0)
    >>> records.data.shape, records.target.mean(axis=0).tolist()
    ((400, 455), [0.5, 0.5])
    >>> records.feature_names[:3], records.feature_names[-3:]
    (['008', '009', '042'], ['V70', 'V72', 'V76'])
    """
    if not isinstance(n_samples, Integral) or n_samples < len(codes.GROUPS):
        raise ValueError(
            f"n_samples must be an integer of at least 4, got {n_samples!r}."
        )
    rng = check_random_state(random_state)
    people = _make_people(rng.permutation(np.arange(n_samples) % 4), rng)
    columns = {}
    for disease in codes.DISEASES:
        columns |= _disease_codes(disease, people, rng)
    for code, share in codes.OTHER.items():
        columns[code] = _other_code(code, share, people, rng)
    bunch = make_bunch(
        np.column_stack([columns[code] for code in sorted(columns)]),
        np.column_stack(list(people.ill.values())).astype(np.int8),
        sorted(columns),
        codes.DISEASES,
        "health_records",
    )
    bunch.group = np.array(codes.GROUPS)[people.group]
    bunch.age, bunch.female, bunch.DESCR = people.age, people.female, _describe()
    return bunch


@dataclass(frozen=True, eq=False)
class _People:
    group: np.ndarray  # positions in GROUPS
    ill: dict  # disease -> bool
    age: np.ndarray
    female: np.ndarray
    contact: np.ndarray  # standard normal: rank in contact with care
    intensity: np.ndarray  # contact with care, 1 is average


def _make_people(group, rng):
    mean, deviation = _of_group(codes.AGE, group).T
    contact = rng.normal(size=len(group))
    # The mean of exp(SPREAD z - SPREAD^2 / 2) is one.
    varied = np.exp(SPREAD * contact - SPREAD**2 / 2)
    ill = {
        disease: _of_group({g: g in (disease, "both") for g in codes.GROUPS}, group)
        for disease in codes.DISEASES
    }
    return _People(
        group,
        ill,
        np.clip(rng.normal(mean, deviation), 18, 95),
        rng.uniform(size=len(group)) < _of_group(codes.WOMEN, group),
        contact,
        _of_group(codes.CONTACT, group) * varied,
    )


def _of_group(values, group):
    return np.array([values[name] for name in codes.GROUPS])[group]


def _disease_codes(disease, people, rng):
    """Diagnoses and drugs of a disease, in its patients and in others."""
    ill, columns = people.ill[disease], {}
    recorded = _draw_share(codes.RECORDED[disease], people, rng)
    for code, has in _draw_codes(codes.DIAGNOSES[disease], recorded, rng).items():
        more = np.where(ill, MORE_DIAGNOSES, MORE_SLIPS)
        columns[code] = _count(has, more, people, rng)
    treated = _draw_share(codes.TREATED[disease], people, rng)
    usual = _draw_codes(codes.DRUGS[disease], treated & ill, rng)
    unusual = _draw_codes(codes.OTHER_REASONS[disease], treated & ~ill, rng)
    for code, has in usual.items():
        has = has | unusual.get(code, False)
        columns[code] = _count(has, MORE_DRUGS, people, rng)
    return columns


def _draw_share(shares, people, rng):
    """Choose the given share of each group, rather those with much contact."""
    noise = rng.normal(size=len(people.group))
    # Standard normal again, so that its distribution function is uniform.
    score = RELIANCE * people.contact + np.sqrt(1 - RELIANCE**2) * noise
    return ndtr(-score) < _of_group(shares, people.group)


def _draw_codes(shares, rows, rng):
    """Give each of the rows at least one of the codes."""
    has = {c: rows & (rng.uniform(size=len(rows)) < p) for c, p in shares.items()}
    first = next(iter(shares))
    has[first] = has[first] | (rows & ~np.any(list(has.values()), axis=0))
    return has


def _other_code(code, share, people, rng):
    factors = codes.FACTORS.get(code, (1.0, 1.0))
    excess = sum((f - 1) * ill for f, ill in zip(factors, people.ill.values()))
    rate = -np.log1p(-share) * people.intensity * (1 + excess)
    decades = (people.age - 50) / 10
    if code in codes.WITH_AGE:
        rate = rate * codes.OLDER**decades
    if code in codes.WITH_YOUTH:
        rate = rate * codes.YOUNGER**decades
    if code in codes.WOMEN_ONLY:
        rate = rate * people.female
    if code in codes.MEN_ONLY:
        rate = rate * ~people.female
    has = rng.uniform(size=len(rate)) < -np.expm1(-rate)
    lasting = code.startswith(tuple(codes.LASTING))
    return _count(has, MORE_DRUGS if lasting else MORE_OTHERS, people, rng)


def _count(has, more, people, rng):
    """Number of entries in the year, 0 for those who do not have the code."""
    further = rng.poisson(more * people.intensity)
    return np.where(has, 1 + further, 0).astype(np.float64)


def _describe():
    """All assumptions, with the numbers that were used."""
    lines = [
        "Synthetic health records: every number is an assumption, no patient's data",
        "was used, and no real population is represented.",
        "",
        "By group: " + ", ".join(codes.GROUPS),
        "  mean age / deviation: " + _row(codes.AGE, "{0[0]} / {0[1]}"),
        "  share of women: " + _row(codes.WOMEN),
        "  contact with care: " + _row(codes.CONTACT),
    ]
    for disease in codes.DISEASES:
        lines += [
            f"  with a diagnosis code of {disease}: {_row(codes.RECORDED[disease])}",
            f"  with a drug typical of {disease}: {_row(codes.TREATED[disease])}",
        ]
    for title, table in [
        ("Diagnosis codes given a diagnosis", codes.DIAGNOSES),
        ("Drugs given a treatment", codes.DRUGS),
        ("The same drugs in people without the disease", codes.OTHER_REASONS),
    ]:
        for disease, shares in table.items():
            text = ", ".join(f"{code} {share:g}" for code, share in shares.items())
            lines += ["", f"{title} ({disease}): {text}."]
    return "\n".join(
        [
            *lines,
            "Whoever would get none of these gets the first.",
            "",
            f"Contact with care is log-normal (deviation of the logarithm {SPREAD:g})",
            f"around the mean of the group, and correlates ({RELIANCE:g}) with being",
            "recorded and being treated, which are otherwise independent.",
            "Other codes, share at age 50 with average contact and neither disease:",
            ", ".join(f"{code} {share:g}" for code, share in codes.OTHER.items()) + ".",
            "Times as often with hypertension / diabetes (excesses add up): "
            + ", ".join(f"{c} {h:g}/{d:g}" for c, (h, d) in codes.FACTORS.items()),
            f"Times {codes.OLDER:g} per decade of age: " + " ".join(codes.WITH_AGE),
            f"Times {codes.YOUNGER:g} per decade: " + " ".join(codes.WITH_YOUTH),
            "Women only: " + " ".join(codes.WOMEN_ONLY),
            "Men only: " + " ".join(codes.MEN_ONLY),
            "",
            "Who has a code has 1 + Poisson(m c) entries of it, c being the contact:",
            f"m is {MORE_DIAGNOSES:g} for diagnoses of the two diseases "
            f"({MORE_SLIPS:g} in people without them), "
            f"{MORE_DRUGS:g} for lasting drugs ({' '.join(codes.LASTING)}), "
            f"{MORE_OTHERS:g} for others.",
        ]
    )


def _row(values, form="{:g}"):
    return ", ".join(form.format(values[group]) for group in codes.GROUPS)


def paper_rules():
    """Give the expert rules of the NMLSDR paper for the synthetic health records.

    The paper [1]_ labels patients by five rules about the codes of its table 10: (1)
    diagnoses of both diseases, both labels; (2) a diagnosis of diabetes and no sign of
    hypertension, diabetes; (3) a diagnosis of hypertension and no sign of diabetes,
    hypertension; (4) no sign of either, healthy; (5) the others get no label.

    Returns
    -------
    rules : list of :class:`~demurk.rules.Rule`
        The first four; the fifth is what :class:`~demurk.rules.RuleLabeler` does.

    See Also
    --------
    make_health_records : The table they are for.

    Notes
    -----
    What differs from table 10:

    - C01BA is printed twice and counts once, so that the "64 ATC drugs" are 63.
    - C07B, a group of drugs, is the pattern ``C07B*``. A10BFM and A10BGM are no ATC
      codes; they are read as A10BF and A10BG.
    - Codes that the records do not have are left out: newborn diagnoses (760, 775),
      because all people are adults, and drugs that are rare, withdrawn or no ATC codes
      (C01BA, C01CA, C01CB, C01CX, C01DX, C02AB, C02DB, C02DC, C02DD, C02K, C02LC,
      C03AX, C05AD, C05BB, C05CX, C07D, C07E, C07G, C07X, C10AD, C10BX, A10AF).

    On the first 6,932 records of seed 0 they label 1,552 people healthy, 1,310 with
    hypertension only, 600 with diabetes only, 1,460 with both, and 2,010 not at all;
    the paper reports 1,734, 1,245, 669, 1,302 and 1,982. Of the labels given, 6 % are
    wrong for hypertension and 4 % for diabetes; the paper gives no such figure.

    References
    ----------
    .. [1] Mikalsen, Soguero-Ruiz, Bianchi, Jenssen, "Noisy multi-label semi-supervised
       dimensionality reduction", Pattern Recognition 90, 2019, section 5.2,
       :doi:`10.1016/j.patcog.2019.01.033`.

    Examples
    --------
    >>> from demurk.datasets import make_health_records, paper_rules
    >>> from demurk.rules import RuleLabeler
    >>> records = make_health_records(400, random_state=0)
    >>> labeler = RuleLabeler(paper_rules(), columns=records.feature_names)
    >>> labeler.fit_transform(records.data).shape
    (400, 2)
    >>> labeler.coverage_["rule"]
    ['both', 'diabetes only', 'hypertension only', 'healthy']
    """
    signs = {disease: _known_signs(disease) for disease in codes.DISEASES}
    hypertension, diabetes = "40[1-5]", "250"
    return [
        Rule(
            {"all": [diabetes, hypertension]},
            {"hypertension": 1, "diabetes": 1},
            "both",
        ),
        Rule(
            {"all": [diabetes], "none": signs["hypertension"]},
            {"hypertension": 0, "diabetes": 1},
            "diabetes only",
        ),
        Rule(
            {"all": [hypertension], "none": signs["diabetes"]},
            {"hypertension": 1, "diabetes": 0},
            "hypertension only",
        ),
        Rule(
            {"none": signs["hypertension"] + signs["diabetes"]},
            {"hypertension": 0, "diabetes": 0},
            "healthy",
        ),
    ]


def _known_signs(disease):
    """The codes of table 10 that the records have, each once."""
    printed = dict.fromkeys(codes.MISPRINTS.get(c, c) for c in codes.TABLE_10[disease])
    known = [*codes.OTHER, *codes.DIAGNOSES[disease], *codes.DRUGS[disease]]
    signs = []
    for code in printed:
        if code in known:
            signs.append(code)
        elif any(name.startswith(code) for name in known):
            signs.append(f"{code}*")
    return signs
