"""Cells, marks, ranks and wins from the rows of a run."""

import numpy as np
import pytest

from demurk.benchmark.engine._protocol import Protocol
from demurk.benchmark.report._grids import (
    cost_grid,
    printed_grid,
    problem_lines,
    score_grids,
    signed,
)
from demurk.benchmark.report._ranking import (
    friedman_grid,
    pairs_grid,
    rank_methods,
    ranking_grids,
    reference_method,
    win_tie_loss_counts,
    wins_grid,
)
from demurk.benchmark.report._tables import compare_printed, summarize
from demurk.benchmark.statistics._significance import fold_t_test


def make_protocol(methods="abc", data_sets=("x", "y"), *, seeds=4, **others):
    facts = {"measures": ("AP", "loss"), "lower_is_better": ("loss",), **others}
    return Protocol(
        name="mine",
        kind="module.kind",
        seeds=seeds,
        data_sets={name: {} for name in data_sets},
        methods={name: {} for name in methods},
        **facts,
    )


def make_rows(protocol, value):
    """A finished row for each task; `value(task)` is AP, and loss is 1 minus it."""
    rows = []
    for task in protocol.tasks():
        ap = float(value(task))
        rows.append(
            {
                "protocol": task.protocol,
                "data_set": task.data_set,
                "setting": task.setting,
                "method": task.method,
                "seed": task.seed,
                "status": "done",
                "values": {"AP": ap, "loss": 1 - ap},
                "error": None,
                "cpu_s": 1.5,
                "wall_s": 2.0,
                "peak_mb": 100.0,
                "code": "1.0+abc",
                "data": "builtin",
                "versions": {"python": "3.13"},
                "finished": "2025-01-01T00:00:00+00:00",
            }
        )
    return rows


def lose(rows, status, error="why", **where):
    """Turn rows into failures."""
    for row in rows:
        if all(row[key] == wanted for key, wanted in where.items()):
            row.update(status=status, values={}, error=error)
    return rows


def test_means_and_deviations(rng):
    protocol = make_protocol()
    noise = rng.uniform(size=len(protocol.tasks())).tolist()
    rows = make_rows(protocol, lambda task: noise.pop())
    summary = summarize(protocol, rows)
    for (data_set, _, method, measure), cell in summary.cells.items():
        values = [
            row["values"][measure]
            for row in rows
            if (row["data_set"], row["method"]) == (data_set, method)
        ]
        assert cell.mean == pytest.approx(np.mean(values))
        assert cell.sd == pytest.approx(np.std(values, ddof=1))


def test_best_and_ties_follow_the_paired_test(rng):
    protocol = make_protocol("abcdef", ["x"], seeds=6)
    level = dict(zip("abcdef", [0.5, 0.52, 0.56, 0.57, 0.575, 0.575]))
    rows = make_rows(protocol, lambda t: level[t.method] + 0.01 * rng.normal())
    for row in rows:
        # The last two are equal but for the order of the seeds.
        if row["method"] == "f":
            row["values"] = rows[6 * (5 - row["seed"]) + 4]["values"]
    cells = summarize(protocol, rows).cells
    scores = {m: list(cells["x", "", m, "AP"].values.values()) for m in "abcdef"}
    best = max(scores, key=lambda m: np.mean(scores[m]))
    marks = set()
    for m in "abcdef":
        if np.isclose(np.mean(scores[m]), np.mean(scores[best])):
            expected = "best"
        else:
            p = fold_t_test(scores[m], scores[best], corrected=True)
            expected = "tie" if p >= 0.05 else ""
        assert cells["x", "", m, "AP"].mark == expected
        # A measure where lower is better has the same verdict.
        assert cells["x", "", m, "loss"].mark == expected
        marks.add(expected)
    assert cells["x", "", "e", "AP"].mark == cells["x", "", "f", "AP"].mark
    assert marks == {"best", "tie", ""}


def test_an_oracle_is_shown_and_never_best(rng):
    protocol = make_protocol("abc")
    protocol.methods["c"]["group"] = "oracle"
    levels = {"a": 0.5, "b": 0.4, "c": 0.9}
    rows = make_rows(protocol, lambda t: levels[t.method] + 0.01 * t.seed)
    summary = summarize(protocol, rows)
    cells = {m: summary.cells["x", "", m, "AP"] for m in "abc"}
    assert cells["c"].mean == pytest.approx(0.915)
    assert [cells[m].mark for m in "abc"] == ["best", "", ""]
    assert [cells[m].comparable for m in "abc"] == [True, True, False]
    assert "c" not in rank_methods(summary, "AP").methods


def test_one_seed_has_a_best_but_no_ties():
    protocol = make_protocol(seeds=1)
    level = {"a": 0.5, "b": 0.6, "c": 0.6}
    cells = summarize(protocol, make_rows(protocol, lambda t: level[t.method])).cells
    assert [cells["x", "", m, "AP"].mark for m in "abc"] == ["", "best", "best"]
    assert np.isnan(cells["x", "", "a", "AP"].sd)


def test_a_single_method_is_not_marked():
    protocol = make_protocol("a")
    cells = summarize(protocol, make_rows(protocol, lambda t: 0.5)).cells
    assert all(cell.mark == "" and cell.comparable for cell in cells.values())


@pytest.mark.parametrize(
    ("status", "word"),
    [
        ("memory", "too large"),
        ("failed", "failed"),
        ("timeout", "over the time limit"),
        ("skipped", "skipped"),
    ],
)
def test_what_is_missing_is_named(status, word):
    protocol = make_protocol()
    rows = make_rows(protocol, lambda t: 0.5)
    lose(rows, status, data_set="x", method="a")
    lose(rows, status, data_set="y", method="a", seed=2)
    summary = summarize(protocol, rows)
    gone, part = (summary.cells[name, "", "a", "AP"] for name in "xy")
    assert gone.note == word and np.isnan(gone.mean) and gone.mark == ""
    assert part.note == f"3 of 4 seeds: 1 {word}"
    grid = score_grids(summary)["AP"]
    texts = {
        (method, data_set): entry
        for (method,), entries in grid.rows
        for data_set, entry in zip(grid.columns, entries)
    }
    assert texts["a", "x"].text == word and texts["a", "x"].blank
    assert (texts["a", "y"].text, texts["a", "y"].count) == ("0.500", "3/4")
    (line, _), (_, _) = [*problem_lines(summary), ("", "")][:2]
    assert line == f"a: {word} on x; y (5 tasks): why"


def test_what_was_not_run_is_named():
    protocol = make_protocol()
    rows = make_rows(protocol, lambda t: 0.5)
    rows = [row for row in rows if row["method"] != "a"]
    for row in rows:
        if row["method"] == "b":
            row["values"] = {"AP": np.nan}
    cells = summarize(protocol, rows).cells
    assert cells["x", "", "a", "AP"].note == "not run"
    assert cells["x", "", "b", "AP"].note == "no value"
    assert cells["x", "", "b", "loss"].note == "no value"


def test_fewer_seeds_take_no_part():
    protocol = make_protocol()
    level = {"a": 0.9, "b": 0.6, "c": 0.5}
    rows = make_rows(protocol, lambda t: level[t.method])
    lose(rows, "failed", data_set="x", method="a", seed=0)
    summary = summarize(protocol, rows)
    assert [summary.cells["x", "", m, "AP"].mark for m in "abc"] == ["", "best", ""]
    assert [summary.cells["y", "", m, "AP"].mark for m in "abc"] == ["best", "", ""]
    np.testing.assert_array_equal(
        np.isnan(summary.matrix("loss")), [[True, False, False], [False] * 3]
    )


def test_the_last_row_of_a_task_counts_and_strangers_do_not():
    protocol = make_protocol()
    rows = make_rows(protocol, lambda t: 0.5)
    again = {**rows[0], "values": {"AP": 0.9, "loss": 0.1}}
    strange = [{**rows[0], "method": "z"}, {**rows[0], "seed": 99}]
    summary = summarize(protocol, [*rows, *strange, again])
    assert len(summary.rows) == len(rows)
    assert summary.rows[0] is again
    assert summary.cells["x", "", "a", "AP"].values[0] == 0.9


def test_order_of_rows_does_not_matter(rng):
    protocol = make_protocol(settings={"s": {}, "t": {}})
    rows = make_rows(protocol, lambda t: rng.uniform())
    shuffled = [rows[i] for i in rng.permutation(len(rows))]
    first, second = summarize(protocol, rows), summarize(protocol, shuffled)
    assert first.cells == second.cells and first.rows == second.rows


def test_ranks_leave_out_methods_and_incomplete_data_sets(rng):
    names = [f"set {i}" for i in range(6)]
    protocol = make_protocol("abcd", names)
    level = dict(zip("abcd", [0.1, 0.3, 0.2, 0.9]))
    rows = make_rows(protocol, lambda t: level[t.method] + 0.01 * rng.uniform())
    for name in names[:4]:
        lose(rows, "timeout", data_set=name, method="d")
    lose(rows, "failed", data_set="set 5", method="a", seed=1)
    summary = summarize(protocol, rows)
    for measure in ("AP", "loss"):
        ranking = rank_methods(summary, measure)
        assert (ranking.methods, ranking.left_out) == (["a", "b", "c"], ["d"])
        assert ranking.friedman.average_ranks.tolist() == [3, 1, 2]
        assert ranking.friedman.n_left_out == 1
        assert ranking.best.tolist() == [0, 5, 0]
        assert ranking.one_sided.tolist() == [0, 2, 1]
    rankings = {m: rank_methods(summary, m) for m in summary.measures}
    ranks, best, wilcoxon = ranking_grids(summary, rankings)
    assert [row[1][0].text for row in ranks.rows] == [
        "3.00",
        "1.00",
        "2.00",
        "left out",
    ]
    assert [row[1][0].mark for row in ranks.rows] == ["", "best", "", ""]
    assert best.rows[1][1][0].text == "5"
    assert wilcoxon.rows[1][1][0].text == "2.0 / 1.0"
    sets, *_, first, behind = friedman_grid(summary, rankings).rows[0][1]
    assert (sets.text, first.text, behind.text) == ("5 of 6", "b", "a")


def test_nothing_to_rank():
    protocol = make_protocol()
    rows = make_rows(protocol, lambda t: 0.5)
    summary = summarize(protocol, lose(rows, "failed", data_set="x"))
    assert rank_methods(summary, "AP") is None
    assert ranking_grids(summary, {"AP": None}) == []


def test_settings_are_averaged_and_those_of_some_methods_left_out(rng):
    protocol = make_protocol(settings={"s": {}, "t": {}, "only a": {}})
    rows = make_rows(protocol, lambda t: rng.uniform())
    for method in "bc":
        lose(rows, "skipped", method=method, setting="only a")
    summary = summarize(protocol, rows)
    assert summary.shared_settings == ["s", "t"]
    values = summary.over_settings("AP")
    expected = [
        np.mean([summary.cells[name, s, "b", "AP"].mean for s in "st"]) for name in "xy"
    ]
    np.testing.assert_allclose(values[:, 1], expected)
    # A method that never ran hides no settings.
    summary = summarize(protocol, lose(rows, "skipped", method="c"))
    assert summary.shared_settings == ["s", "t"]
    assert np.isnan(summary.over_settings("AP")[:, 2]).all()


def test_wins_ties_and_losses(rng):
    protocol = make_protocol(seeds=10, settings={"s": {}, "t": {}})
    level = {"a": 0.5, "b": 0.5, "c": 0.3}
    rows = make_rows(protocol, lambda t: level[t.method] + 0.001 * rng.normal())
    lose(rows, "failed", data_set="y", setting="t", method="c")
    summary = summarize(protocol, rows)
    counts = win_tie_loss_counts(summary, "a", corrected=True)
    assert counts["c"] == {"AP": (3, 0, 0), "loss": (3, 0, 0)}
    assert counts["b"]["AP"] == (0, 4, 0)
    assert win_tie_loss_counts(summary, "c")["a"]["loss"] == (0, 0, 3)
    assert wins_grid(summary, "c").rows[0][1][0].text == "0/0/3 · 0/0/3"
    pairs = dict(pairs_grid(summary, "AP").rows)
    assert [entry.text for entry in pairs["c",]] == ["0/0/3", "0/0/3", "–"]


def test_one_seed_gives_no_wins():
    protocol = make_protocol(seeds=1)
    summary = summarize(protocol, make_rows(protocol, lambda t: 0.5))
    assert wins_grid(summary, "a") is None
    assert pairs_grid(summary, "AP") is None


def test_printed_values_beside_ours():
    protocol = make_protocol("ab", ["x"], seeds=2)
    rows = make_rows(protocol, lambda t: {"a": 0.5, "b": 0.6}[t.method])
    asked = []

    def published(*place):
        asked.append(place)
        _, _, _, method, measure = place
        return {("a", "AP"): 0.48, ("a", "loss"): 0.3}.get((method, measure))

    summary = summarize(protocol, rows, published=published)
    assert asked[0] == (protocol, "x", "", "a", "AP") and len(asked) == 4
    found = compare_printed(summary, "AP")
    assert found == {("x", "", "a"): pytest.approx(0.02)}
    (grid,) = score_grids(summary).values()
    ap, loss = grid.rows[0][1]
    assert (ap.paper, ap.change, ap.step) == ("0.480", "+0.020", 1)
    # A larger loss than the paper's is worse.
    assert (loss.change, loss.step) == ("+0.200", -3)
    assert grid.rows[1][1][0].paper == ""
    (head, texts), _ = printed_grid(summary).rows
    assert head == ("AP",)
    assert [entry.text for entry in texts[:5]] == [
        "1",
        "+0.020",
        "0.020",
        "0 (≤ 0.01)",
        "1 (≤ 0.03)",
    ]


def test_steps_grow_with_the_scale():
    protocol = make_protocol("ab", ["x"], seeds=2)
    rows = make_rows(protocol, lambda t: 55.0)
    summary = summarize(protocol, rows, published=lambda *_: 54.5)
    (grid,) = score_grids(summary).values()
    assert (grid.rows[0][1][0].change, grid.rows[0][1][0].step) == ("+0.50", 0)


def test_the_longer_of_methods_and_problems_runs_down():
    for methods, across in (("abc", ["x", "y"]), ("ab", ["a", "b"])):
        protocol = make_protocol(methods)
        summary = summarize(protocol, make_rows(protocol, lambda t: 0.5))
        assert score_grids(summary)["AP"].columns == across
    protocol = make_protocol(settings={"s": {}})
    summary = summarize(protocol, make_rows(protocol, lambda t: 0.5))
    assert score_grids(summary)["AP"].columns == ["x, s", "y, s"]
    assert score_grids(summary)["loss"].title == "loss (lower is better)"


def test_reference_method():
    names = ["kNN", "PML-LCom, as printed", "PML-LCom"]
    rows = {"paper": "pml_lcom"}
    protocol = make_protocol(names, **rows)
    summary = summarize(protocol, make_rows(protocol, lambda t: 0.5))
    assert reference_method(summary) == "PML-LCom"
    protocol = make_protocol("ab")
    summary = summarize(protocol, make_rows(protocol, lambda t: t.method == "b"))
    assert reference_method(summary) == "a"
    assert reference_method(summary, {"AP": rank_methods(summary, "AP")}) == "b"
    protocol.methods["a"]["group"] = "demurk"
    assert reference_method(summary, {"AP": rank_methods(summary, "AP")}) == "a"


def test_costs():
    protocol = make_protocol("ab")
    rows = make_rows(protocol, lambda t: 0.5)
    lose(rows, "timeout", method="a", data_set="x")
    for row in rows:
        if row["method"] == "b":
            row.update(cpu_s=None, peak_mb=None)
    first, second = (row[1] for row in cost_grid(summarize(protocol, rows)).rows)
    texts = [entry.text for entry in first]
    assert texts == ["4 of 8", "1.5", "1.5", "12.0", "100"]
    assert [entry.text for entry in second] == ["8 of 8", *["unknown"] * 4]


def test_signed():
    assert [signed(x, 2) for x in (0.126, -0.126, -0.001, 0.0)] == [
        "+0.13",
        "−0.13",
        "0.00",
        "0.00",
    ]
