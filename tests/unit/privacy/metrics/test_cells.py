"""The largest of many fractions."""

from fractions import Fraction

import numpy as np

from pratique_privacy.metrics.cells import largest


def test_fractions_decide_between_those_that_floats_hardly_tell_apart() -> None:
    # 1999999/2000000 exceeds 1999998/1999999 by 1 in 4 * 10^12.
    above, below = np.array([1_999_999, 1_999_998, 1, 7]), np.array([2_000_000, 1_999_999, 3, 2_000_000])
    assert largest(above, below) == Fraction(1_999_999, 2_000_000)
    assert largest(above[::-1], below[::-1]) == Fraction(1_999_999, 2_000_000)


def test_many_zeros_are_zero() -> None:
    assert largest(np.zeros(3, np.int64), np.array([1, 2, 1])) == 0
