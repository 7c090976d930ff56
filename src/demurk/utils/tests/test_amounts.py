"""Numbers of things."""

from demurk.utils._amounts import amount


def test_one_is_no_plural():
    assert [amount(n, "row") for n in (0, 1, 2000)] == ["0 rows", "1 row", "2,000 rows"]
    assert amount(1, "entry", "entries") == "1 entry"
    assert amount(3, "entry", "entries") == "3 entries"
