from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fencepost.errors import InputError, UsageError
from fencepost.trees.split import assign_parts, split, split_trees, write_parts
from fencepost.trees.tree import Leaf, Tree
from fencepost.trees.treebank import Treebank


def bank(size: int, name: str = "w") -> Treebank:
    return Treebank(Tree("TOP", [Leaf("NN", f"{name}{number}")]) for number in range(size))


@given(
    st.lists(st.integers(1, 50), min_size=1),
    st.lists(st.integers(0, 9), min_size=1, max_size=3).filter(any),
    st.integers(),
)
@settings(deadline=None, max_examples=60)
def test_every_unit_goes_to_one_part_that_has_a_share(sizes: list[int], ratio: list[int], seed: int) -> None:
    parts = assign_parts(sizes, ratio, seed)
    assert len(parts) == len(sizes)
    assert all(ratio[part] > 0 for part in parts)


@given(st.integers(30, 500), st.integers())
@settings(deadline=None, max_examples=60)
def test_no_tree_is_lost_or_repeated_and_order_is_kept(size: int, seed: int) -> None:
    original = bank(size)
    parts = split_trees(original, (8, 1, 1), seed)
    assert Counter(tree for part in parts for tree in part) == Counter(original)
    place = {tree: number for number, tree in enumerate(original)}
    assert all(list(part) == sorted(part, key=place.__getitem__) for part in parts)


def test_shares_of_single_trees_are_exact() -> None:
    assert [len(part) for part in split_trees(bank(1000), (8, 1, 1))] == [800, 100, 100]
    assert [len(part) for part in split_trees(bank(10), (0.5, 0.3, 0.2))] == [5, 3, 2]


def test_a_seed_gives_the_same_split_and_another_seed_another() -> None:
    assert split_trees(bank(100), (8, 1, 1), 1) == split_trees(bank(100), (8, 1, 1), 1)
    assert split_trees(bank(100), (8, 1, 1), 1) != split_trees(bank(100), (8, 1, 1), 2)


def test_files_stay_whole() -> None:
    files = [bank(size, f"file{size}_") for size in (10, 20, 30, 40, 50, 60, 70, 80)]
    parts = split(files, (2, 1, 1))
    homes = {tree: number for number, part in enumerate(parts) for tree in part}
    assert all(len({homes[tree] for tree in file}) == 1 for file in files)
    assert sum(map(len, parts)) == 360
    assert abs(len(parts[0]) - 180) <= 80


def test_too_few_files_for_the_parts_is_an_error() -> None:
    with pytest.raises(InputError, match="dev would be empty"):
        split([bank(10)], (8, 1, 1))


@pytest.mark.parametrize("ratio", [(), (0, 0), (1, -1), (1, 1, 1, 1), (float("nan"),), (float("inf"), 1)])
def test_a_ratio_without_sense_is_refused(ratio: tuple[float, ...]) -> None:
    with pytest.raises(UsageError, match="a ratio must be"):
        assign_parts([1, 1], ratio, 1)


def test_parts_are_written_under_their_names_and_empty_ones_are_not(tmp_path: Path) -> None:
    parts = split_trees(bank(10), (8, 0, 2))
    paths = write_parts(parts, tmp_path / "data")
    assert [path.name for path in paths] == ["train.txt", "test.txt"]
    assert Treebank.load(paths[1]) == parts[2]
    assert not (tmp_path / "data" / "dev.txt").exists()
