"""Coverage-guided attacks on everything that reads a file from a stranger: atheris keeps inputs that reach new code.

    pip install atheris      # it has wheels for some versions of Python only
    python -m benchmarks.attacks guided --of graphs --seconds 600

A reader may refuse an input with a FencepostError, and must not do anything else: another exception, more than ten
seconds, more than 2 GB, or a file that is written elsewhere is a failure. atheris runs in a process of its own, because
it ends the process. With --state FOLDER, the inputs that it has found are kept, and the next run begins with them.
"""

from __future__ import annotations

import copy
import io
import json
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from benchmarks.attacks.harness import CORPUS, LIMIT, MOST_MB, ROOT, Outcome, new_outcome
from benchmarks.attacks.watch import Watch

Check = Callable[[bytes], object]
MODEL: Final = ROOT / "src" / "fencepost" / "models" / "en"
LONGEST: Final = 20_000  # bytes of an input
LONGEST_RUN: Final = 600.0  # seconds
_COUNTS: Final = {name: re.compile(rf"stat::{name}:\s*(\d+)") for name in (
    "number_of_executed_units", "slowest_unit_time_sec", "peak_rss_mb"
)}  # fmt: skip
_COVERED: Final = re.compile(r"cov: (\d+)")


def _of_file(path: Path, read: Callable[[Path], object]) -> Check:
    def check(content: bytes) -> None:
        path.write_bytes(content)
        read(path)

    return check


def _graphs(folder: Path) -> Check:
    from fencepost.storage.onnx_graph import read_onnx_graph

    return _of_file(folder / "model.onnx", read_onnx_graph)


def _vocabularies(folder: Path) -> Check:
    from fencepost.features.vocabularies import Vocabularies

    return lambda content: Vocabularies.from_json(content.decode(errors="replace"))


def _configurations(folder: Path) -> Check:
    from fencepost.config.toml import config_to_toml, parse_config

    def check(content: bytes) -> None:
        config = parse_config(content.decode(errors="replace"), "config.toml")
        assert parse_config(config_to_toml(config), "config.toml") == config, "it isn't the same when it is read again"

    return check


def _tokenizers(folder: Path) -> Check:
    from fencepost.features.pretrained_files import PretrainedFiles
    from fencepost.features.subwords import Subwords
    from fencepost.storage.model_folder import read_config
    from fencepost.trees.treebank import Sentence

    config, encoder = read_config(MODEL), (MODEL / "encoder.json").read_text("utf-8")
    sentence = Sentence(("The", "naïve", "cats", "aren't", "10\u00a0000", "猫", "."))

    def check(content: bytes) -> None:
        subwords = Subwords(config, PretrainedFiles(content.decode(errors="replace"), encoder))
        subwords.read(sentence)

    return check


def _checkpoints(folder: Path) -> Check:
    from fencepost.integrations.benepar import import_benepar

    def read(path: Path) -> None:
        shutil.rmtree(folder / "out", ignore_errors=True)
        import_benepar(path, folder / "out")

    return _of_file(folder / "model.pt", read)


def _trees(folder: Path) -> Check:
    from benchmarks.attacks.brackets import check

    return _of_file(folder / "trees.txt", check)


def _patterns(folder: Path) -> Check:
    from benchmarks.attacks.patterns import check

    from fencepost import Tree
    from fencepost.search.index import Index

    trees = [Tree.from_string("(TOP (S (NP-1 (DT the) (NN cat)) (VP (VBD sat) (NP (-NONE- *T*-1))) (. .)))")]
    index = Index.of(trees)
    return lambda content: check(content.decode(errors="replace"), trees, index)


def _documents(folder: Path) -> Check:
    from fencepost import Document
    from fencepost.storage.safe_json import parse_json

    def check(content: bytes) -> None:
        try:
            table = parse_json(content.decode(errors="replace"))
        except ValueError:
            return
        document = Document.from_dict(table)
        assert Document.from_dict(document.to_dict()) == document, "it isn't the same when it is read again"

    return check


TARGETS: Final[dict[str, Callable[[Path], Check]]] = {
    "graphs": _graphs,
    "vocabularies": _vocabularies,
    "configurations": _configurations,
    "tokenizers": _tokenizers,
    "checkpoints": _checkpoints,
    "trees": _trees,
    "patterns": _patterns,
    "documents": _documents,
}


JSON: Final = ("vocabularies", "tokenizers", "documents")
_ODD: Final[list[Any]] = [
    *(None, True, -1, 0, 2**70, 0.5, 1e308, "", "a b", "\x1b[31m", "\ud800"),
    *([], {}, [[]], {"a": {}}),
]


def changed_json(content: bytes, seed: int) -> bytes | None:
    """The same with one value removed, doubled, or exchanged for an odd one or for another of its values."""
    try:
        table = json.loads(content)
    except ValueError:
        return None
    choose = random.Random(seed)
    holders: list[tuple[Any, Any]] = []
    waiting = [table]
    while waiting:
        node = waiting.pop()
        inside = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
        for key, value in inside:
            holders.append((node, key))
            waiting.append(value)
    if not holders:
        return None
    (node, key), (other, place) = choose.choices(holders, k=2)
    match choose.randrange(4):
        case 0:
            del node[key]
        case 1 if isinstance(node, list):
            node.insert(key, node[key])
        case 2:
            node[key] = copy.deepcopy(other[place])
        case _:
            node[key] = choose.choice(_ODD)
    return json.dumps(table).encode()


def seeds(target: str) -> list[bytes]:
    """Inputs that are right, or nearly so, to begin with."""
    match target:
        case "graphs":
            return [_graph()]
        case "vocabularies":
            return [(MODEL / "vocab.json").read_bytes()]
        case "configurations":
            from fencepost.config.toml import config_to_toml, load_config

            return [config_to_toml(load_config(name)).encode() for name in ("paper", "small")]
        case "tokenizers":
            return [json.dumps(_word_pieces()).encode()]
        case "checkpoints":
            return _checkpoint_files()
        case "trees":
            from benchmarks.attacks.brackets import SEEDS

            return [seed.encode() for seed in SEEDS]
        case "patterns":
            from benchmarks.attacks import patterns

            return [seed.encode() for seed in patterns.SEEDS]
        case _:
            from fencepost import load

            document = load().parse_document("Dogs bark. “Cats don't.”", probabilities=True)
            return [json.dumps(document.to_dict(), ensure_ascii=False).encode()]


def _word_pieces() -> dict[str, object]:
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "the", "cat", "##s", "are", "n", "'", "t", ".", "1", "##0"]
    special = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
    parts = [{"SpecialToken": {"id": "[CLS]", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}]
    return {
        "version": "1.0",
        "added_tokens": [{"id": number, "content": pieces[number], **special} for number in range(5)],
        "normalizer": {
            "type": "BertNormalizer",
            "clean_text": True,
            "handle_chinese_chars": True,
            "strip_accents": None,
            "lowercase": True,
        },
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "post_processor": {
            "type": "TemplateProcessing",
            "single": parts,
            "pair": [],
            "special_tokens": {"[CLS]": {"id": "[CLS]", "ids": [2], "tokens": ["[CLS]"]}},
        },
        "decoder": None,
        "model": {
            "type": "WordPiece",
            "unk_token": "[UNK]",
            "continuing_subword_prefix": "##",
            "max_input_chars_per_word": 100,
            "vocab": {piece: number for number, piece in enumerate(pieces)},
        },
    }


def _checkpoint_files() -> list[bytes]:
    """Files of tensors in both of torch's formats."""
    import torch

    content = {"config": {"hparams": {"use_pretrained": False}}, "state_dict": OrderedDict(weight=torch.ones(2, 3))}
    files = []
    for as_zip in (True, False):
        file = io.BytesIO()
        torch.save(content, file, _use_new_zipfile_serialization=as_zip)
        files.append(file.getvalue())
    return files


def _graph() -> bytes:
    """A graph of the kind that ``fencepost export`` writes."""
    from onnx import TensorProto, helper

    values = {name: helper.make_tensor_value_info(name, TensorProto.FLOAT, [None, 2]) for name in ("x", "y")}
    matrix = helper.make_tensor("matrix", TensorProto.FLOAT, [2, 2], b"\0" * 16, raw=True)
    nodes = [
        helper.make_node("MatMul", ["x", "matrix"], ["product"]),
        helper.make_node("Concat", ["product"], ["y"], axis=-1),
    ]
    graph = helper.make_graph(nodes, "fencepost", [values["x"]], [values["y"]], [matrix])
    content: bytes = helper.make_model(graph, producer_name="fencepost").SerializeToString()
    return content


def run(target: str, seconds: float, seed: int, state: Path | None) -> Outcome:
    """Runs one target for a time, ten minutes if none is given."""
    seconds = min(seconds, LONGEST_RUN)
    outcome = new_outcome(f"guided, {target}", seed)
    with tempfile.TemporaryDirectory() as scratch:
        found = (state or Path(scratch)) / target
        first, failed = Path(scratch) / "seeds", Path(scratch) / "failed"
        for folder in (found, first, failed):
            folder.mkdir(parents=True, exist_ok=True)
        for number, content in enumerate([*seeds(target), *(each.read_bytes() for each in CORPUS.glob(f"{target}-*"))]):
            (first / str(number)).write_bytes(content)
        command = [sys.executable, "-m", "benchmarks.attacks.guided", target, str(Path(scratch) / "work")]
        options = {
            "seed": seed,
            "max_total_time": int(seconds),
            "timeout": LIMIT,
            "rss_limit_mb": MOST_MB,
            "max_len": LONGEST,
            "print_final_stats": 1,
            "artifact_prefix": f"{failed}/",
        }
        process = subprocess.run(
            [*command, str(found), str(first), *(f"-{name}={value}" for name, value in options.items())],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,  # atheris writes tracebacks to stdout
            text=True,
            errors="replace",
        )
        failures = [*failed.iterdir()]
        for path in failures:
            CORPUS.mkdir(exist_ok=True)
            shutil.copy(path, CORPUS / f"{target}-{path.name}")
        if process.returncode:
            sys.stderr.write(process.stdout[-8_000:])
        read_counts(outcome, process.stdout)
        outcome.failures = max(len(failures), int(process.returncode != 0))
        outcome.minutes = round(seconds / 60, 1)
    return outcome


def read_counts(outcome: Outcome, messages: str) -> None:
    """Takes the counts from what libFuzzer wrote."""
    counts = {name: int(count[1]) for name, pattern in _COUNTS.items() if (count := pattern.search(messages))}
    outcome.cases = counts.get("number_of_executed_units", 0)
    outcome.slowest_seconds = counts.get("slowest_unit_time_sec", 0)
    outcome.peak_mb = counts.get("peak_rss_mb", 0)
    if covered := _COVERED.findall(messages):
        outcome.note = f"{int(covered[0]):,} branches reached by the first inputs, {int(covered[-1]):,} at the end"


def main() -> None:
    """The process that atheris takes over: TARGET, a folder to work in, and libFuzzer's arguments."""
    import atheris

    target, folder = sys.argv[1], Path(sys.argv[2])
    folder.mkdir()
    tempfile.tempdir = str(folder)  # some readers unpack files
    with atheris.instrument_imports(include=["fencepost"]):
        check = TARGETS[target](folder)
        from fencepost.errors import FencepostError
    watch = Watch(folder)
    sys.addaudithook(watch.note)

    def case(content: bytes) -> None:
        try:
            with watch:
                check(content)
        except FencepostError:
            pass
        assert not watch.take(), "something was written outside the folder"

    def mutated(content: bytes, most: int, seed: int) -> bytes:
        changed = changed_json(content, seed) if target in JSON and seed % 4 else None
        return changed[:most] if changed is not None else atheris.Mutate(content, most)

    atheris.Setup([sys.argv[0], *sys.argv[3:]], case, **({"custom_mutator": mutated} if target in JSON else {}))
    atheris.Fuzz()


if __name__ == "__main__":
    main()
