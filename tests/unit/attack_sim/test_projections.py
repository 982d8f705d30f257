"""Counts of projections against a count in plain Python, where keys are small and where they would overflow."""

from collections import Counter
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings

from pratique_attack_sim.adversaries import projections as module
from pratique_attack_sim.adversaries.matrix import Matrix
from pratique_attack_sim.adversaries.projections import Projections, SortedTable
from pratique_attack_sim.adversaries.subsets import exposure
from tests.support import adversary_oracle as oracle
from tests.support.matrices import Codes, code_matrices, skewed


def check_every_subset(codes: Codes, queries: Codes) -> None:
    projections = Projections(Matrix.of(codes))
    for subset in oracle.all_subsets(codes.shape[1])[1:]:
        counts = Counter(tuple(row) for row in codes[:, subset].tolist())
        expected = [counts[tuple(query)] for query in queries[:, subset].tolist()]
        assert projections.count(subset, queries.T).tolist() == expected
        assert projections.present(subset, queries.T).tolist() == [count > 0 for count in expected]


@given(code_matrices(max_rows=25))
@settings(deadline=None, max_examples=40)
def test_every_possible_query_is_counted_as_in_plain_python(codes: Codes) -> None:
    domains = [range(int(column.max()) + 1) for column in codes.T]
    check_every_subset(codes, np.array(list(product(*domains)), dtype=np.int32))


@pytest.mark.parametrize("limit", [2**62, 2000, 40])
def test_a_table_by_hash_counts_as_a_full_one_whatever_the_largest_key(
    limit: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A low limit makes a rank stand for the columns before it, as domains of millions do in four columns.
    codes = skewed(300, (40, 30, 20, 10), seed=1)
    queries = np.random.default_rng(2).permuted(codes, axis=0)
    monkeypatch.setattr(module, "DENSE_KEYS_PER_ROW", 0)
    monkeypatch.setattr(module, "DENSE_KEYS_AT_LEAST", 0)
    monkeypatch.setattr(module, "KEY_LIMIT", limit)
    check_every_subset(codes, queries)
    release = oracle.table(codes)
    assert exposure(codes) == {subset: oracle.distinct(release, subset) for subset in oracle.all_subsets(4)}


def test_eleven_columns_of_distinct_values_do_not_overflow() -> None:
    # 90^11 keys are beyond 64 bits; every row is told apart by any column.
    codes = np.stack([np.random.default_rng(a).permutation(90) for a in range(11)], axis=1).astype(np.int32)
    exposed = exposure(codes)
    assert set(exposed.values()) == {1, 90}
    projections = Projections(Matrix.of(codes))
    everything = tuple(range(11))
    assert projections.count(everything, codes.T).tolist() == [1] * 90
    assert projections.count(everything, np.roll(codes, 1, axis=1).T).sum() == sum(
        row in codes.tolist() for row in np.roll(codes, 1, axis=1).tolist()
    )


def test_rows_that_agree_everywhere_are_kept_once_with_their_number() -> None:
    codes = skewed(500, (3, 2, 2), seed=3)
    projections = Projections(Matrix.of(codes))
    counts = Counter(tuple(row) for row in codes.tolist())
    assert projections.weights is not None
    kept = zip(projections.rows.T.tolist(), projections.weights.tolist(), strict=True)
    assert {tuple(row): number for row, number in kept} == counts


def test_keys_that_crowd_one_bucket_are_still_told_apart() -> None:
    keys = np.arange(0, 2**61, 2**48, dtype=np.int64)  # one bit pattern shifted: as regular as keys come
    table = SortedTable(np.repeat(keys, 3), None)
    assert table.count(keys).tolist() == [3] * keys.size
    assert not table.present(keys + 1).any()
    assert sorted(table.rank(keys).tolist()) == list(range(keys.size))
    assert table.rank(np.array([-1, -5], dtype=np.int64)).tolist() == [-1, -1]


def test_the_end_of_a_table_is_no_key() -> None:
    # Undo the scramble of 2^64 - 1: the key that would be taken for the end must be one that no subset can have.
    whole = 2**64 - 1
    value = whole * pow(0x94D049BB133111EB, -1, 2**64) & whole
    value ^= value >> 32
    key = value * pow(0x9E3779B97F4A7C15, -1, 2**64) & whole
    assert module._scramble(np.array([key], dtype=np.uint64).view(np.int64)).tolist() == [whole]
    assert module.KEY_LIMIT < key < 2**64 - module.KEY_LIMIT
