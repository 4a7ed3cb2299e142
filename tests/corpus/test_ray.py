"""The same command on Ray writes the same bytes, whatever dies on the way."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest
import ray  # noqa: F401

from fencepost.cli.main import main
from fencepost.corpus.manifest import versions
from fencepost.corpus.part_maker import Failure, Part, PartSettings
from fencepost.corpus.plan import Shard, make_plan
from fencepost.corpus.ray import (
    PartActor,
    _part_from_row,
    _part_to_row,
    _shard_from_text,
    _shard_to_text,
    require_reachable,
)
from fencepost.corpus.readers import Columns
from fencepost.errors import WorkerError
from fencepost.storage.find_model import find_model
from fencepost.storage.model_files import model_fingerprint
from tests.corpus.corpus_samples import documents, input_file, write_jsonl

EXPERIMENT = Path(__file__).parents[2] / "benchmarks" / "corpus_failures.py"


@pytest.fixture
def shard(tmp_path: Path) -> Shard:
    path = write_jsonl(tmp_path / "in.jsonl", [*documents(3), {"id": "d0", "text": "Again."}])
    files = [input_file(path)]
    return make_plan(files, Columns(), 10**6).shard(0, files)


@pytest.fixture
def settings() -> PartSettings:
    return PartSettings(str(find_model()), "cpu", "jsonl", Columns(), probabilities=False, batch_tokens=None)


def test_a_node_and_the_driver_may_die_and_the_bytes_are_those_without_ray(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    arguments = ["ray", "--sentences", "400", "--part-bytes", "1500", "--model", "en"]
    result = subprocess.run(
        [sys.executable, EXPERIMENT, *arguments], capture_output=True, text=True, cwd=tmp_path, env=environment
    )
    assert result.returncode == 0, result.stderr
    found = json.loads(result.stdout.splitlines()[-1])
    assert (found["documents lost"], found["documents doubled"], found["files that differ"]) == (0, 0, [])
    assert 0 < found["parts when a node was killed"] < found["parts when the driver was killed"] < found["parts"]


def test_an_actor_makes_the_part_of_a_shard_that_came_as_a_row(shard: Shard, settings: PartSettings) -> None:
    actor = PartActor(settings, versions(settings), model_fingerprint(find_model()))
    part = _part_from_row(actor({"shard": _shard_to_text(shard)}))
    assert isinstance(part, Part)
    assert (part.number, part.documents, part.sentences) == (0, 4, 6)
    assert [failure.id for failure in part.failures] == ["d0"]
    assert part.content.count(b"\n") == 6


def test_an_actor_with_another_version_or_model_makes_nothing(shard: Shard, settings: PartSettings) -> None:
    fingerprint = model_fingerprint(find_model())
    same = versions(settings)
    for expected, model, message in (
        ({**same, "fencepost": "0.0.1"}, fingerprint, "a node has another version of fencepost"),
        ({**same, "numpy": "1.0"}, fingerprint, "a node has another version of numpy"),
        (same, "another", "a node has another model"),
    ):
        problem = _part_from_row(PartActor(settings, expected, model)({"shard": _shard_to_text(shard)}))
        assert isinstance(problem, WorkerError)
        assert message in problem.message
        assert problem.hint is not None


def test_shards_and_parts_survive_the_way_to_other_nodes(shard: Shard) -> None:
    assert shard.repeated
    assert _shard_from_text(_shard_to_text(shard)) == shard
    part = Part(3, b"\0\xff", 2, 1, 5, [Failure(None, "a.jsonl", 2, "not JSON")], {"German": 1})
    assert _part_from_row(_part_to_row(3, part)) == part
    error = _part_from_row(_part_to_row(3, WorkerError("lost", hint="again")))
    assert isinstance(error, WorkerError)
    assert (error.message, error.hint) == ("lost", "again")


@pytest.mark.parametrize("address", ["127.0.0.1:{port}", "127.0.0.1:99999", "[::1]:{port}", "a..b:{port}"])
def test_a_cluster_that_cannot_be_reached_is_an_error_at_once(
    address: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with socket.socket() as unused:  # bound, but it doesn't listen
        unused.bind(("127.0.0.1", 0))
        address = address.format(port=unused.getsockname()[1])
        path = write_jsonl(tmp_path / "in.jsonl", documents(1))
        assert main(["corpus", str(path), "--out", str(tmp_path / "out"), "--ray", address]) == 2
    message = capsys.readouterr().err
    assert message.startswith(f"error: can't connect to Ray at {address}: ")
    assert "hint: start a cluster with `ray start --head`" in message
    assert not (tmp_path / "out").exists()


def test_a_complete_run_needs_no_cluster(tmp_path: Path) -> None:
    path, out = write_jsonl(tmp_path / "in.jsonl", documents(1)), str(tmp_path / "out")
    assert main(["corpus", str(path), "--out", out, "--workers", "1"]) == 0
    assert main(["corpus", str(path), "--out", out, "--ray", "127.0.0.1:99999"]) == 0


@pytest.mark.parametrize("address", ["", "auto", "local", "ray://127.0.0.1:1", "127.0.0.1"])
def test_addresses_of_other_kinds_are_left_to_ray(address: str) -> None:
    require_reachable(address)
