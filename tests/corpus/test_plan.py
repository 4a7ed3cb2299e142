from __future__ import annotations

import json
from pathlib import Path

import pytest

from fencepost.corpus.inputs import InputFile, find_inputs
from fencepost.corpus.plan import (
    LARGEST_PART,
    SMALLEST_PART,
    Plan,
    Shard,
    default_part_bytes,
    make_plan,
)
from fencepost.corpus.readers import Columns, JsonReader, RawDocument
from fencepost.errors import InputError, UsageError
from tests.corpus.corpus_samples import documents, read_documents, write_jsonl


@pytest.fixture
def files(tmp_path: Path) -> list[InputFile]:
    """A file of many documents, small files of one document, and another file of many."""
    write_jsonl(tmp_path / "a.jsonl", documents(20))
    for number in range(5):
        (tmp_path / f"b{number}.txt").write_text(f"Text {number}. " * 3)
    write_jsonl(tmp_path / "c.jsonl", [{"id": f"c{number}", "text": "It works."} for number in range(10)])
    return find_inputs([str(tmp_path)], tmp_path / "out")[0]


def ids(shard: Shard) -> list[str | None]:
    return [document.id for slice_ in shard.slices for document in read_documents(*slice_)]


@pytest.mark.parametrize("part_bytes", [1, 40, 100, 333, 1000, 10**6])
def test_the_shards_have_every_document_once_and_in_order(files: list[InputFile], part_bytes: int) -> None:
    plan = make_plan(files, Columns(), part_bytes)
    found = [ids(plan.shard(number, files)) for number in range(len(plan))]
    everything = [document.id for file in files for document in read_documents(file)]
    assert [each for part in found for each in part] == everything
    assert [len(part) for part in found] == plan.counts
    assert plan.documents == len(everything) == 35
    assert all(plan.counts)


def test_a_shard_is_full_when_it_reaches_the_size(files: list[InputFile]) -> None:
    assert len(make_plan(files, Columns(), 1)) == 35
    assert len(make_plan(files, Columns(), 10**6)) == 1
    sizes = [plan.size / len(plan) for plan in [make_plan(files, Columns(), 200)]]
    assert 200 <= sizes[0] <= 300


def test_a_plan_survives_json(files: list[InputFile]) -> None:
    plan = make_plan(files, Columns(), 100)
    again = Plan.from_json(json.loads(json.dumps(plan.to_json())))
    assert again == plan
    assert again.shard(2, files) == plan.shard(2, files)


@pytest.mark.parametrize("part_bytes", [1, 60, 10**6])
def test_later_documents_with_the_same_id_are_known_to_their_shards(tmp_path: Path, part_bytes: int) -> None:
    write_jsonl(tmp_path / "a.jsonl", [{"id": each, "text": "It works well."} for each in ("x", "y", "x")])
    write_jsonl(tmp_path / "b.jsonl", [{"id": each, "text": "It works well."} for each in ("z", "x", "y")])
    files, _ = find_inputs([str(tmp_path)], tmp_path / "out")
    plan = make_plan(files, Columns(), part_bytes)
    shards = [plan.shard(number, files) for number in range(len(plan))]
    repeated: dict[tuple[str, int], str] = {}
    for shard in shards:
        inside = {
            (slice_.file.path, record) for slice_ in shard.slices for record in range(slice_.record, slice_.end or 4)
        }
        assert set(shard.repeated) <= inside
        repeated |= shard.repeated
    first, second = files[0].path, files[1].path
    places = {(first, 3): f"{first}:1", (second, 2): f"{first}:1", (second, 3): f"{first}:2"}
    assert repeated == {place: f"{earlier} has the same id" for place, earlier in places.items()}


BAD_TEXTS = [{"text": 5}, {"text": " \n\t"}, {"text": ""}, {}]


@pytest.mark.parametrize("bad", BAD_TEXTS)
@pytest.mark.parametrize("part_bytes", [1, 10**6])
def test_a_document_that_cannot_be_parsed_does_not_take_its_id_from_a_later_one(
    tmp_path: Path, bad: dict[str, object], part_bytes: int
) -> None:
    """The first document that has an id and words keeps the id; bad documents before and after it don't matter."""
    good = {"id": "x", "text": "It works."}
    path = write_jsonl(tmp_path / "a.jsonl", [{"id": "x", **bad}, good, {"id": "x", **bad}, good])
    files, _ = find_inputs([str(path)], tmp_path / "out")
    plan = make_plan(files, Columns(), part_bytes)
    repeated: dict[tuple[str, int], str] = {}
    for number in range(len(plan)):
        repeated |= plan.shard(number, files).repeated
    assert repeated == {(str(path), 4): f"{path}:2 has the same id"}


def test_a_number_and_its_digits_are_one_id_and_the_reason_says_so(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "a.jsonl", [{"id": each, "text": "It works."} for each in (1, "1", 1, "01")])
    files, _ = find_inputs([str(path)], tmp_path / "out")
    repeated = make_plan(files, Columns(), 10**6).shard(0, files).repeated
    assert repeated == {
        (str(path), 2): f"{path}:1 has the same id, once as a number and once as a string",
        (str(path), 3): f"{path}:1 has the same id",
    }


def test_a_text_column_that_no_document_has_is_refused_with_the_fields_there_are(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "a.jsonl", [{"id": 1, "body": "It."}, {"id": 2, "body": "It."}])
    files, _ = find_inputs([str(path)], tmp_path / "out")
    with pytest.raises(UsageError, match="no document has text in the field 'text'") as caught:
        make_plan(files, Columns(), 100)
    assert caught.value.hint == "--text-column takes one of id, body"


def test_lines_that_cannot_be_read_hide_no_missing_text_column(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "a.jsonl", [{"id": 1, "body": "It."}, [], {"id": 2, "text": None}])
    path.write_text(path.read_text() + '{"id": 3, "te\n')
    files, _ = find_inputs([str(path)], tmp_path / "out")
    with pytest.raises(UsageError, match="no document has text in the field 'text'"):
        make_plan(files, Columns(), 100)
    write_jsonl(tmp_path / "b.jsonl", [{"id": 4, "text": "It."}])
    files, _ = find_inputs([str(path), str(tmp_path / "b.jsonl")], tmp_path / "out")
    assert make_plan(files, Columns(), 10**6).documents == 5


def test_a_file_that_changes_while_ids_are_read_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_jsonl(tmp_path / "a.jsonl", documents(3))
    files, _ = find_inputs([str(path)], tmp_path / "out")
    original = JsonReader.read

    def read(self: JsonReader, text: str, number: int) -> RawDocument:
        path.write_text(path.read_text() + "\n")
        return original(self, text, number)

    monkeypatch.setattr(JsonReader, "read", read)
    with pytest.raises(InputError, match="the file changed while it was read"):
        make_plan(files, Columns(), 100)


def test_files_without_documents_make_an_empty_plan(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text("\n\n")
    files, _ = find_inputs([str(tmp_path)], tmp_path / "out")
    plan = make_plan(files, Columns(), 100)
    assert (len(plan), plan.documents) == (0, 0)


def test_parts_grow_with_the_corpus_between_two_sizes() -> None:
    def size(gigabytes: float, packing: bool = False) -> int:
        return default_part_bytes([InputFile("a", "jsonl", "gz" if packing else None, int(gigabytes * 1e9), 0)])

    assert size(0.001) == SMALLEST_PART
    assert size(1000) == LARGEST_PART
    assert SMALLEST_PART < size(0.5) == int(0.5e9) // 256 < size(0.5, packing=True) < LARGEST_PART
