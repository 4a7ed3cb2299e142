"""Weights for torch in a stranger's model folder, and sizes that no weights could have."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load, save

from fencepost.backends.torch import vocab_sizes
from fencepost.cli.main import main
from fencepost.config.settings import Config
from fencepost.config.toml import config_from_table
from fencepost.export.onnx import export_onnx
from fencepost.features.vocabularies import Vocabularies
from fencepost.model.build import build_model
from fencepost.storage.model_files import CONFIG, WEIGHTS
from fencepost.storage.model_writer import write_model
from tests.attacks.strangers import change_json, change_vocabulary, refusal, rewrite
from tests.pretrained_samples import pretrained_files
from tests.samples import TREES, tiny_config

GIANT = 2**20


def write(folder: Path, config: Config, vocabularies: Vocabularies) -> Path:
    torch.manual_seed(0)
    weights = save(build_model(config, vocab_sizes(vocabularies)).state_dict())
    write_model(folder, config, vocabularies, "a card", {WEIGHTS: weights})
    return folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write(tmp_path / "model", tiny_config(), Vocabularies.of(TREES, tiny_config()))


@pytest.fixture(params=["bert", "data2vec-text"])
def with_encoder(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    table = {"lexical": ["pretrained"], "pretrained": {"model": "x", "window": 32, "overlap": 8}}
    config = config_from_table({**table, "encoder": {"layers": 1, "d_model": 32, "heads": 2, "d_k": 8, "d_v": 8}})
    vocabularies = Vocabularies.of(TREES, tiny_config())
    vocabularies = Vocabularies(
        vocabularies.labels,
        vocabularies.words,
        vocabularies.tags,
        vocabularies.letters,
        "TOP",
        pretrained=pretrained_files(request.param),
    )
    return write(tmp_path / "model", config, vocabularies)


SIZES = [
    f"{name} = {GIANT}" for name in ("d_model", "d_k", "d_v", "d_ff", "hidden", "tag_hidden", "max_length", "size")
]


@pytest.mark.parametrize("size", [*SIZES, "layers = 1024", "heads = 1024"])
@pytest.mark.parametrize("exported", [False, True], ids=["weights", "graphs"])
def test_sizes_that_the_weights_do_not_have_take_no_memory(
    folder: Path, size: str, exported: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    if exported:
        export_onnx(folder, folder.with_name("export"))
        folder = folder.with_name("export")
    name = size.partition(" = ")[0]
    lines = [size if line.startswith(f"{name} = ") else line for line in (folder / CONFIG).read_text().splitlines()]
    rewrite(folder, CONFIG, "\n".join(lines).encode())
    before = peak_memory()
    said = refusal(folder, capsys, "bench", "--device", "cpu") if not exported else on_torch(folder)
    assert CONFIG in said
    assert peak_memory() < before + 2**30


def peak_memory() -> int:
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def on_torch(folder: Path) -> str:
    from fencepost.errors import ModelError
    from fencepost.parsing.load import load as load_parser

    with pytest.raises(ModelError) as caught:
        load_parser(folder, backend="torch")
    return str(caught.value)


ENCODERS: dict[str, Callable[[dict[str, Any]], object]] = {
    "a giant vector": lambda table: table.update(hidden_size=2**22, num_attention_heads=2),
    "a giant vocabulary": lambda table: table.update(vocab_size=2**24),
    "giant positions": lambda table: table.update(max_position_embeddings=2**24),
    "a million layers": lambda table: table.update(num_hidden_layers=10**6),
    "no heads": lambda table: table.update(num_attention_heads=0),
    "negative heads": lambda table: table.update(num_attention_heads=-2),
    "heads that don't fit": lambda table: table.update(num_attention_heads=7),
    "a size that is a string": lambda table: table.update(hidden_size="16"),
    "a size that is none": lambda table: table.update(hidden_size=None),
    "no size": lambda table: table.pop("hidden_size"),
    "a dropout of 7": lambda table: table.update(hidden_dropout_prob=7),
    "an epsilon that is a list": lambda table: table.update(layer_norm_eps=[1]),
    "an unknown function": lambda table: table.update(hidden_act="os.system"),
    "a function that is a list": lambda table: table.update(hidden_act=["gelu"]),
    "an unknown kind": lambda table: table.update(model_type="someones-own"),
    "another kind": lambda table: table.update(model_type="t5"),
    "pictures": lambda table: table.update(model_type="vit"),
}


@pytest.mark.parametrize("name", ENCODERS)
def test_an_encoder_that_is_wrong_is_refused(with_encoder: Path, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    change_json(with_encoder, "encoder.json", ENCODERS[name])
    before = peak_memory()
    assert str(with_encoder) in refusal(with_encoder, capsys)
    assert peak_memory() < before + 2**30


def test_an_encoder_reaches_no_network_and_runs_no_code(
    with_encoder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import socket

    def connect(*_: object) -> None:
        raise AssertionError("the network was reached")

    monkeypatch.setattr(socket.socket, "connect", connect)
    monkeypatch.setattr(socket, "getaddrinfo", connect)
    monkeypatch.setattr("builtins.input", connect)  # transformers asks whether code may be run
    attacks = {
        "_attn_implementation": "someone/kernels",
        "_attn_implementation_internal": "someone/kernels",
        "attn_implementation": "someone/kernels",
        "auto_map": {"AutoModel": "someone/model--code.Model", "AutoConfig": "code.Config"},
        "quantization_config": {"quant_method": "awq"},
        "_name_or_path": "someone/model",
    }
    change_json(with_encoder, "encoder.json", lambda table: table.update(attacks))
    assert main(["parse", "--model", str(with_encoder), "--text", "The cats sleep."]) == 0
    assert capsys.readouterr().out.startswith("(TOP ")


def without(weights: dict[str, torch.Tensor]) -> None:
    weights.pop("span_scorer.output.weight")


def more(weights: dict[str, torch.Tensor]) -> None:
    weights["more"] = torch.zeros(3)


def transposed(weights: dict[str, torch.Tensor]) -> None:
    weights["span_scorer.output.weight"] = weights["span_scorer.output.weight"].T.contiguous()


def not_numbers(weights: dict[str, torch.Tensor]) -> None:
    weights["span_scorer.output.weight"].fill_(float("nan"))


def infinite(weights: dict[str, torch.Tensor]) -> None:
    weights["span_scorer.output.bias"].fill_(float("inf"))


@pytest.mark.parametrize("edit", [without, more, transposed, not_numbers, infinite])
@pytest.mark.parametrize("options", [[], ["--kbest", "2", "--format", "json"]], ids=["best", "all scores"])
def test_weights_that_are_wrong_are_refused(
    folder: Path, edit: Callable[[dict[str, torch.Tensor]], None], options: list[str], capsys: Any
) -> None:
    weights = load((folder / WEIGHTS).read_bytes())
    edit(weights)
    rewrite(folder, WEIGHTS, save(weights))
    said = refusal(folder, capsys, "parse", "--text", "Cats sleep.", *options)
    assert str(folder) in said


HEADERS = {
    "nothing": b"",
    "a header without end": (2**62).to_bytes(8, "little") + b"{}",
    "a header that is no JSON": (8).to_bytes(8, "little") + b"\xff" * 8,
    "a deep header": (100_000).to_bytes(8, "little") + b"[" * 100_000,
    "numbers beyond the file": (lambda header: len(header).to_bytes(8, "little") + header)(
        json.dumps({"a": {"dtype": "F32", "shape": [2**40], "data_offsets": [0, 2**42]}}).encode()
    ),
    "a pickle": b"\x80\x04\x95" + b"cposix\nsystem\n(S'touch owned'\ntR.",
    "a zip file": b"PK\x03\x04" + bytes(100),
}


@pytest.mark.parametrize("name", HEADERS)
def test_a_file_that_is_no_weights_is_named(folder: Path, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    rewrite(folder, WEIGHTS, HEADERS[name])
    assert f"{folder / WEIGHTS}: not a file of weights" in refusal(folder, capsys)
    assert not os.path.exists("owned")


def test_words_beyond_the_weights_are_refused(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def grow(table: dict[str, Any]) -> None:
        table["letters"].update(symbols=[chr(0x4E00 + n) for n in range(20_000)], counts=[1] * 20_000)

    change_vocabulary(folder, grow)
    assert "don't agree" in refusal(folder, capsys)
