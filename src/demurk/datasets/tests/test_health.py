"""Tests of the synthetic health records and the rules for them."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from demurk.datasets import _health_codes as codes
from demurk.datasets import make_health_records, paper_rules
from demurk.rules import RuleLabeler

N_TRAIN = 6932


@pytest.fixture(scope="module")
def records():
    return make_health_records(random_state=0)


@pytest.fixture(scope="module")
def has(records):
    return records.data > 0


def share(records, has, code, group):
    return has[records.group == group, records.feature_names.index(code)].mean()


def is_icd(code):
    return len(code) == 3


def test_sizes_are_those_of_the_paper(records):
    assert records.data.shape == (8664, 455) and records.data.dtype == np.float64
    assert sum(map(is_icd, records.feature_names)) == 267
    assert len(set(records.feature_names)) == 455
    assert records.feature_names == sorted(records.feature_names)
    assert records.target.shape == (8664, 2) and records.target.dtype == np.int8
    assert records.target_names == ["hypertension", "diabetes"]
    names, counts = np.unique(records.group, return_counts=True)
    assert dict(zip(names, counts)) == dict.fromkeys(codes.GROUPS, 2166)
    assert records.name == "health_records"


def test_target_follows_from_the_group(records):
    expected = {
        "healthy": [0, 0],
        "hypertension": [1, 0],
        "diabetes": [0, 1],
        "both": [1, 1],
    }
    for group, labels in expected.items():
        assert (records.target[records.group == group] == labels).all()


def test_rows_are_in_random_order(records):
    # Four standard errors of a share of one half in the test part.
    assert abs(records.target[N_TRAIN:].mean(axis=0) - 0.5).max() < 0.05


def test_values_are_counts(records):
    assert (records.data >= 0).all() and (records.data % 1 == 0).all()
    drug = records.data[:, records.feature_names.index("A10BA")]
    acute = records.data[:, records.feature_names.index("465")]
    assert drug[drug > 0].mean() > 4 > 2 > acute[acute > 0].mean()


def expected_shares(kind, mix, disease, group):
    """Share of a group with each code: at least one of the mix, the first if none."""
    total = kind[disease][group]
    nothing = np.prod([1 - p for p in mix.values()])
    first = next(iter(mix))
    return {c: total * (p + nothing * (c == first)) for c, p in mix.items()}


@pytest.mark.parametrize("group", codes.GROUPS)
@pytest.mark.parametrize("disease", codes.DISEASES)
def test_disease_codes_are_as_frequent_as_stated(records, has, disease, group):
    ill = group in (disease, "both")
    drugs = codes.DRUGS if ill else codes.OTHER_REASONS
    stated = {
        **expected_shares(codes.RECORDED, codes.DIAGNOSES[disease], disease, group),
        **expected_shares(codes.TREATED, drugs[disease], disease, group),
    }
    for code, p in stated.items():
        # Five standard errors with 2166 people.
        spread = 5 * np.sqrt(p * (1 - p) / 2166)
        assert abs(share(records, has, code, group) - p) < spread, code


@pytest.mark.parametrize("group", codes.GROUPS)
@pytest.mark.parametrize("code", ["465", "272", "C10AA", "600", "V22", "N02BE"])
def test_other_codes_are_as_frequent_as_stated(records, has, code, group):
    """The stated model, worked out again for every person from age, sex and group."""
    rows = records.group == group
    base = codes.OTHER[code]
    factor = 1.0
    for disease, times in zip(codes.DISEASES, codes.FACTORS.get(code, (1, 1))):
        factor += (times - 1) * (group in (disease, "both"))
    age, female = records.age[rows], records.female[rows]
    if code in codes.WITH_AGE:
        factor = factor * 1.3 ** ((age - 50) / 10)
    if code in codes.WITH_YOUTH:
        factor = factor * 0.75 ** ((age - 50) / 10)
    if code in codes.WOMEN_ONLY:
        factor = factor * female
    if code in codes.MEN_ONLY:
        factor = factor * ~female
    # Average over the log-normal contact with care.
    contact = np.random.RandomState(1).lognormal(-0.125, 0.5, size=(400, 1))
    rate = -np.log(1 - base) * codes.CONTACT[group] * contact * factor
    p = (1 - np.exp(-rate)).mean()
    spread = 5 * np.sqrt(p * (1 - p) / rows.sum()) + 0.01 * p
    assert abs(share(records, has, code, group) - p) < spread


def test_age_and_sex(records):
    for group in codes.GROUPS:
        rows = records.group == group
        mean, deviation = codes.AGE[group]
        assert abs(records.age[rows].mean() - mean) < 1.5  # the ends are cut off
        assert abs(records.age[rows].std() - deviation) < 1.5
        assert abs(records.female[rows].mean() - codes.WOMEN[group]) < 0.055
    assert records.age.min() == 18 and records.age.max() <= 95


def test_codes_of_one_sex(records, has):
    for only, rows in [
        (codes.WOMEN_ONLY, ~records.female),
        (codes.MEN_ONLY, records.female),
    ]:
        columns = [records.feature_names.index(code) for code in only]
        assert not has[np.ix_(rows, columns)].any()
        assert has[np.ix_(~rows, columns)].any(axis=0).all()


def test_there_is_medication_without_diagnosis_and_the_reverse(records, has):
    columns = {name: j for j, name in enumerate(records.feature_names)}
    for j, disease in enumerate(codes.DISEASES):
        ill = records.target[:, j] == 1
        coded = has[:, [columns[c] for c in codes.DIAGNOSES[disease]]].any(axis=1)
        treated = has[:, [columns[c] for c in codes.DRUGS[disease]]].any(axis=1)
        assert 0.08 < (treated & ~coded)[ill].mean() < 0.20
        assert 0.08 < (coded & ~treated)[ill].mean() < 0.20
        assert 0.02 < (~coded & ~treated)[ill].mean() < 0.10


def test_slips_are_seen_once(records):
    for code, j in [("401", 0), ("250", 1)]:
        column = records.data[:, records.feature_names.index(code)]
        once = {
            i: (column[(records.target[:, j] == i) & (column > 0)] == 1).mean()
            for i in (0, 1)
        }
        # exp(-0.2 c) and exp(-2 c) on average, for contact c mostly above one.
        assert once[0] > 0.6 and once[1] < 0.3


def test_most_columns_are_rare_and_few_tell_anything(records, has):
    rare = has[:N_TRAIN].sum(axis=0)
    assert np.median(rare) < 100
    # The paper keeps codes with at least ten training patients; chance may undercut.
    assert np.count_nonzero(rare < 10) <= 5
    unrelated = set(codes.OTHER) - set(codes.FACTORS) - set(codes.WITH_AGE)
    assert len(unrelated) > 300


def test_no_single_column_gives_the_truth(records):
    for j in range(2):
        ill = records.target[:, j] == 1
        best = max(
            np.mean((records.data >= least) == ill[:, None], axis=0).max()
            for least in (1, 2, 3)
        )
        assert 0.8 < best < 0.92


def test_all_columns_together_tell_more(records):
    X = np.log1p(records.data)
    for j in range(2):
        y = records.target[:, j]
        model = LogisticRegression(C=0.1, max_iter=500).fit(X[:N_TRAIN], y[:N_TRAIN])
        assert 0.90 < model.score(X[N_TRAIN:], y[N_TRAIN:]) < 0.97


def test_seed_decides(records):
    small = make_health_records(40, random_state=3)
    again = make_health_records(40, random_state=np.random.RandomState(3))
    np.testing.assert_array_equal(small.data, again.data)
    np.testing.assert_array_equal(small.target, again.target)
    other = make_health_records(40, random_state=4)
    assert (small.data != other.data).any()


@pytest.mark.parametrize("n_samples", [4, 5, 7, 101])
def test_any_number_of_samples(n_samples):
    small = make_health_records(n_samples, random_state=0)
    assert small.data.shape == (n_samples, 455)
    counts = np.unique(small.group, return_counts=True)[1]
    assert len(counts) == 4 and np.ptp(counts) <= 1


@pytest.mark.parametrize("n_samples", [3, -1, 2.5, "100"])
def test_bad_number_of_samples(n_samples):
    with pytest.raises(ValueError, match="n_samples must be an integer of at least 4"):
        make_health_records(n_samples)


def test_description_states_every_number(records):
    text = records.DESCR
    assert "no patient's data" in text and "no real population" in text
    for code in records.feature_names:
        assert code in text
    for table in (codes.RECORDED, codes.TREATED):
        for disease in codes.DISEASES:
            row = ", ".join(f"{table[disease][group]:g}" for group in codes.GROUPS)
            assert row in text
    for number in ("0.5", "1.3", "0.75", "42 / 14"):
        assert number in text


def test_tables_name_existing_codes_once():
    signs = [*codes.DIAGNOSES.values(), *codes.DRUGS.values()]
    listed = [
        *(c for table in signs for c in table),
        *(
            c
            for table in (codes.OTHER_ICD, codes.OTHER_ATC)
            for names in table.values()
            for c in names.split()
        ),
    ]
    assert len(listed) == len(set(listed)) == 455
    for disease in codes.DISEASES:
        assert set(codes.OTHER_REASONS[disease]) <= set(codes.DRUGS[disease])
    for group in (codes.WITH_AGE, codes.WITH_YOUTH, codes.WOMEN_ONLY, codes.MEN_ONLY):
        assert set(group) <= set(codes.OTHER) and len(group) == len(set(group))
    assert set(codes.FACTORS) <= set(codes.OTHER)


# The rules.

LEFT_OUT = """760 775 C01BA C01CA C01CB C01CX C01DX C02AB C02DB C02DC C02DD C02K C02LC
    C03AX C05AD C05BB C05CX C07D C07E C07G C07X C10AD C10BX A10AF""".split()


def test_table_10_as_printed():
    for disease, n_icd, n_atc in [("hypertension", 7, 64), ("diabetes", 4, 12)]:
        printed = codes.TABLE_10[disease]
        assert sum(map(is_icd, printed)) == n_icd
        assert len(printed) == n_icd + n_atc
    assert codes.TABLE_10["hypertension"].count("C01BA") == 2


def test_signs_are_table_10_without_what_is_left_out():
    """Also what the docstring of `paper_rules` says about it."""
    signs = paper_rules()[3].when["none"]
    printed = [*codes.TABLE_10["hypertension"], *codes.TABLE_10["diabetes"]]
    expected = {code for code in printed if code not in LEFT_OUT}
    expected -= {"C07B", "A10BFM", "A10BGM"}
    assert set(signs) == expected | {"C07B*", "A10BF", "A10BG"}
    assert len(signs) == len(set(signs))
    for code in LEFT_OUT:
        assert code in paper_rules.__doc__


def test_rules_by_hand(records):
    """The five sentences of the paper, one patient after the other."""
    signs = {"hypertension": paper_rules()[1].when["none"]}
    signs["diabetes"] = paper_rules()[2].when["none"]
    labeler = RuleLabeler(paper_rules(), columns=records.feature_names)
    labels = labeler.fit_transform(records.data[:500])
    for line, found in zip(records.data[:500], labels):
        own = {c for c, count in zip(records.feature_names, line) if count}
        high = bool(own & {"401", "402", "403", "404", "405"})
        sugar = "250" in own
        no_high = not any(c in signs["hypertension"] or c == "C07BB" for c in own)
        no_sugar = not any(c in signs["diabetes"] for c in own)
        if sugar and high:
            expected = [1, 1]
        elif sugar and no_high:
            expected = [0, 1]
        elif high and no_sugar:
            expected = [1, 0]
        elif no_high and no_sugar:
            expected = [0, 0]
        else:
            expected = [-1, -1]
        assert found.tolist() == expected
    assert not labeler.disagreements_.any()


@pytest.mark.parametrize("seed", [0, 1])
def test_rules_are_noisy_and_partial_like_those_of_the_paper(records, seed):
    if seed:
        records = make_health_records(random_state=seed)
    data, truth = records.data[:N_TRAIN], records.target[:N_TRAIN]
    labeler = RuleLabeler(paper_rules(), columns=records.feature_names)
    labels = labeler.fit_transform(data)
    # both, diabetes only, hypertension only, healthy: the counts of section 5.2.
    printed = np.array([1302, 1971 - 1302, 2547 - 1302, 1734])
    counts = np.array(labeler.coverage_["rows"])
    np.testing.assert_allclose(counts, printed, rtol=0.2)
    unlabeled = np.count_nonzero(labels[:, 0] == -1)
    assert abs(unlabeled - 1982) < 0.1 * 1982
    for j in range(2):
        given = labels[:, j] >= 0
        wrong = (labels[:, j] != truth[:, j])[given].mean()
        assert 0.03 < wrong < 0.08
        assert 0.90 < truth[labels[:, j] == 1, j].mean() < 0.98
        assert 0.50 < (labels[:, j] == 1)[truth[:, j] == 1].mean() < 0.80


def test_numbers_in_the_docstring(records):
    labeler = RuleLabeler(paper_rules(), columns=records.feature_names)
    labels = labeler.fit_transform(records.data[:N_TRAIN])
    both, diabetes, hypertension, healthy = labeler.coverage_["rows"]
    unlabeled = np.count_nonzero(labels[:, 0] == -1)
    doc = " ".join(paper_rules.__doc__.split())
    assert (
        f"label {healthy:,} people healthy, {hypertension:,} with hypertension only, "
        f"{diabetes:,} with diabetes only, {both:,} with both, and {unlabeled:,} not "
    ) in doc
    given = labels[:, 0] >= 0
    wrong = (labels != records.target[:N_TRAIN])[given].mean(axis=0)
    assert (
        f"{wrong[0]:.0%} are wrong for hypertension and {wrong[1]:.0%} for".replace(
            "%", " %"
        )
        in doc
    )
