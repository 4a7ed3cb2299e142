"""Makes parts on a Ray cluster: Ray Data hands shards to actors, each with its own model, and parts come back here.

Ray starts actors, repeats the work of a node that died, and holds work back while results wait. Every node reads the
input files and the model, so they must have the same paths there. Only this process writes.
"""

from __future__ import annotations

import json
import logging
import socket
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final, TypeAlias

from fencepost.corpus.inputs import InputFile
from fencepost.corpus.manifest import versions
from fencepost.corpus.part_maker import Failure, Part, PartMaker, PartSettings
from fencepost.corpus.plan import Shard, Slice
from fencepost.errors import FencepostError, MissingExtraError, UsageError, WorkerError
from fencepost.storage.model_files import model_fingerprint

Row: TypeAlias = "dict[str, Any]"  # what Ray Data sends: columns of numbers, text and bytes
_PATIENCE: Final = 10.0  # seconds to reach a cluster
_AGAIN: Final = "run the same command again: it resumes where this run stopped"


def parts_on_ray(
    settings: PartSettings, shards: Iterable[Shard], address: str, workers: int | None
) -> Iterator[Part | FencepostError]:
    """The parts of these shards, in any order. ``workers``: the number of actors; default: as many as have room.

    An empty ``address`` means the cluster that this machine belongs to, or a new one on this machine alone.
    """
    ray = _connected(address)
    kind = "GPU" if settings.device.startswith("cuda") else "CPU"
    room = int(ray.cluster_resources().get(kind, 0))
    if not room:
        raise UsageError(f"the Ray cluster has no {kind}", hint="add nodes to it, or use another --device")
    actors = workers or room
    # More actors than GPUs share them: splitting text takes the host longer than parsing takes a GPU.
    share = 1.0 if actors <= room else int(10_000 * room / actors) / 10_000  # Ray counts to four decimals
    resources = {"num_gpus": share, "num_cpus": 0} if kind == "GPU" else {"num_cpus": 1}
    rows = [{"shard": _shard_to_text(shard)} for shard in shards]
    # One shard in each block: a block is what Ray repeats, and what it holds back.
    data = ray.data.from_items(rows, override_num_blocks=len(rows)).map(
        PartActor,
        fn_constructor_args=(settings, versions(settings), model_fingerprint(Path(settings.model))),
        compute=ray.data.ActorPoolStrategy(
            min_size=1, max_size=min(actors, len(rows)), max_tasks_in_flight_per_actor=2
        ),
        **resources,
    )
    try:
        yield from map(_part_from_row, data.iter_rows())
    except ray.exceptions.RayError as error:
        raise WorkerError(f"Ray: {error}", hint=_AGAIN) from error


class PartActor:
    """Makes parts on a node, unless the node has other versions or another model than the driver."""

    def __init__(self, settings: PartSettings, expected: dict[str, str], fingerprint: str) -> None:
        self._problem: FencepostError | None = None
        try:
            found = versions(settings)
            for name in expected:
                _require_same(f"version of {name}", found[name], expected[name])
            _require_same("model", model_fingerprint(Path(settings.model)), fingerprint)
            self._maker = PartMaker(settings)
        except (FencepostError, OSError) as error:  # an error in the constructor would start the actor again for ever
            self._problem = error if isinstance(error, FencepostError) else WorkerError(str(error))

    def __call__(self, row: Row) -> Row:
        shard = _shard_from_text(row["shard"])
        return _part_to_row(shard.number, self._problem or self._maker.make_or_fail(shard))


def _require_same(what: str, here: str, expected: str) -> None:
    if here != expected:
        hint = f"install the same {what} on all nodes"
        raise WorkerError(f"a node has another {what}: {here} instead of {expected}", hint=hint)


def require_ray() -> Any:
    """The module ``ray`` with its submodules that we need."""
    try:
        import ray
        import ray.data
        import ray.exceptions
    except ModuleNotFoundError as error:
        raise MissingExtraError(error.name or "ray", "ray", "--ray") from error
    return ray


def _connected(address: str) -> Any:
    """The module ``ray``, connected to a cluster."""
    ray = require_ray()
    if not ray.is_initialized():
        try:
            ray.init(address or None, log_to_driver=False, logging_level=logging.ERROR)
        except (ConnectionError, RuntimeError, ValueError) as error:
            raise _unreachable(address or "this machine", error) from error
    logging.getLogger("ray.data").setLevel(logging.ERROR)
    ray.data.DataContext.get_current().enable_progress_bars = False  # ours goes on
    return ray


def require_reachable(address: str) -> None:
    """Raises UsageError if nothing listens at ``HOST:PORT``. Ray itself would try for minutes."""
    host, _, port = address.rpartition(":")
    if not host or "/" in host or not port.isdecimal():  # an address of another kind
        return
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=_PATIENCE).close()
    except (OSError, OverflowError, UnicodeError) as error:  # an unknown port, or a host that can't be a name
        raise _unreachable(address, getattr(error, "strerror", None) or error) from error


def _unreachable(address: str, reason: object) -> UsageError:
    hint = "start a cluster with `ray start --head`, or leave out the address"
    return UsageError(f"can't connect to Ray at {address}: {reason}", hint=hint)


def _shard_to_text(shard: Shard) -> str:
    slices = [[vars(slice_.file), *slice_[1:]] for slice_ in shard.slices]
    return json.dumps([shard.number, shard.documents, slices, list(shard.repeated.items())])


def _shard_from_text(text: str) -> Shard:
    number, documents, slices, repeated = json.loads(text)
    parts = tuple(Slice(InputFile(**file), *rest) for file, *rest in slices)
    return Shard(number, documents, parts, {(path, record): first for (path, record), first in repeated})


def _part_to_row(number: int, part: Part | FencepostError) -> Row:
    if isinstance(part, FencepostError):
        return {"number": number, "content": b"", "rest": json.dumps([part.message, part.hint]), "failed": True}
    rest = json.dumps([part.documents, part.sentences, part.tokens, part.failures, part.other_languages])
    return {"number": number, "content": part.content, "rest": rest, "failed": False}


def _part_from_row(row: Row) -> Part | FencepostError:
    if row["failed"]:
        message, hint = json.loads(row["rest"])
        return WorkerError(message, hint=hint)
    documents, sentences, tokens, failures, others = json.loads(row["rest"])
    listed = [Failure(*one) for one in failures]
    return Part(row["number"], row["content"], documents, sentences, tokens, listed, others)
