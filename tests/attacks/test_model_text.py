"""The text files of a stranger's model: configuration, vocabularies, tokenizer and the encoder's configuration."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fencepost.cli.main import main
from fencepost.config.toml import load_config
from fencepost.errors import ConfigError
from fencepost.storage.model_files import CONFIG, VOCABULARIES
from fencepost.storage.subword_table import SUBWORD_TABLE
from tests.attacks.strangers import change_json, change_vocabulary, copy_of_en, everything_below, refusal, rewrite
from tests.unigram_samples import table_of, unigram

TOKENIZER, ENCODER = "tokenizer.json", "encoder.json"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return copy_of_en(tmp_path / "model")


CONFIGS: dict[str, Callable[[str], str]] = {
    "a base elsewhere": lambda text: 'base = "../../etc/passwd"\n' + text,
    "a base by name": lambda text: 'base = "paper"\n' + text,
    "a deep key": lambda _: ".".join(["a"] * 30_000) + " = 1\n",
    "a deep quoted key": lambda _: ".".join(['"a"'] * 15_000) + " = 1\n",
    "a deep key in a table": lambda _: "x = {" + ".".join(["a"] * 30_000) + " = 1}\n",
    "a deep section": lambda _: "[" + ".".join(["a"] * 30_000) + "]\n",
    "a deep list": lambda _: "x = " + "[" * 30_000 + "]" * 30_000 + "\n",
    "a deep table": lambda _: "x = " + "{a = " * 10_000 + "1" + "}" * 10_000 + "\n",
    "a long integer": lambda text: text.replace("d_model = 512", "d_model = " + "9" * 60_000),
    "an integer of 20 digits": lambda text: text.replace("d_model = 512", "d_model = 1" + "0" * 20),
    "a negative size": lambda text: text.replace("d_model = 512", "d_model = -512"),
    "a giant size": lambda text: text.replace("d_model = 512", "d_model = 4611686018427387904"),
    "a billion layers": lambda text: text.replace("\nlayers = ", "\nlayers = 1000000000"),
    "infinity": lambda text: text.replace("temperature = ", "temperature = inf #"),
    "not a number": lambda text: text.replace("temperature = ", "temperature = nan #"),
    "a temperature of 0": lambda text: text.replace("temperature = ", "temperature = 0.0 #"),
    "a type that is wrong": lambda text: text.replace("d_model = 512", 'd_model = "512"'),
    "a date": lambda text: text.replace("d_model = 512", "d_model = 1979-05-27"),
    "a section in place of a number": lambda text: text.replace("d_model = 512", "d_model = {a = 1}"),
    "a list in place of a word": lambda text: text.replace('params = "collins"', 'params = ["collins"]'),
    "an unknown lexical kind": lambda text: text.replace('"pretrained"', '"os.system"', 1),
    "a list in place of a kind": lambda text: text.replace('"pretrained"', '["pretrained"]', 1),
    "nothing": lambda _: "",
    "not TOML": lambda _: "{}",
    "a language with escapes": lambda text: text.replace('language = "en"', 'language = "\\u001b]0;owned\\u0007"'),
    "an encoder with escapes": lambda text: text.replace('model = "', 'model = "\\u001b]0;owned\\u0007'),
}


@pytest.mark.parametrize("name", CONFIGS)
def test_a_configuration_that_is_wrong_is_named(folder: Path, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    before = (folder / CONFIG).read_text()
    after = CONFIGS[name](before)
    assert after != before
    rewrite(folder, CONFIG, after.encode())
    said = refusal(folder, capsys)
    assert str(folder) in said
    assert CONFIG in said
    assert "\x1b" not in said
    assert len(said) < 2000


def test_a_deep_key_is_refused_in_any_configuration(tmp_path: Path) -> None:
    (tmp_path / "deep.toml").write_text(".".join(["a"] * 100_000) + " = 1\n")
    with pytest.raises(ConfigError, match=r"deep\.toml: .*a key has more than"):
        load_config(tmp_path / "deep.toml")


def test_dots_in_values_and_comments_are_no_deep_keys(tmp_path: Path) -> None:
    dots = "a.b.c.d.e.f.g.h.i.j.k.l.m"
    (tmp_path / "fine.toml").write_text(f'# see {dots}\nlanguage = "{dots}"  # or {dots}\n')
    assert load_config(tmp_path / "fine.toml").language == dots


VOCABULARY: dict[str, Callable[[dict[str, Any]], object]] = {
    "a label with a blank": lambda table: table["labels"].append(["A B"]),
    "a label with a bracket": lambda table: table["labels"].append(["A)"]),
    "an empty label in a chain": lambda table: table["labels"].append([""]),
    "a label that isn't UTF-8": lambda table: table["labels"].append(["\ud800"]),
    "a second empty label": lambda table: table["labels"].append([]),
    "labels that are an object": lambda table: table.update(labels={}),
    "labels that are a number": lambda table: table.update(labels=5),
    "a label that is a string": lambda table: table["labels"].append("NP"),
    "a chain of a thousand": lambda table: table["labels"].append(["X"] * 1000),
    "a root with a bracket": lambda table: table.update(root="TOP("),
    "an empty root": lambda table: table.update(root=""),
    "a tag with a blank": lambda table: table["tags"]["symbols"].__setitem__(0, "N N"),
    "an empty tag": lambda table: table["tags"]["symbols"].__setitem__(0, ""),
    "a tag twice": lambda table: table["tags"]["symbols"].__setitem__(0, table["tags"]["symbols"][1]),
    "a function with a bracket": lambda table: table.update(
        functions={"reserved": 1, "symbols": ["(SBJ"], "counts": [1]}
    ),
    "a letter of two": lambda table: table["letters"]["symbols"].__setitem__(0, "ab"),
    "a letter that isn't UTF-8": lambda table: table["letters"]["symbols"].__setitem__(0, "\udfff"),
    "a word with a blank": lambda table: table.update(words={"reserved": 3, "symbols": ["a b"], "counts": [1]}),
    "reserved below 0": lambda table: table["tags"].update(reserved=-5),
    "reserved letters below 0": lambda table: table["letters"].update(reserved=-5),
    "reserved too high": lambda table: table["letters"].update(reserved=2**62),
    "reserved true": lambda table: table["tags"].update(reserved=True),
    "a negative count": lambda table: table["tags"]["counts"].__setitem__(0, -1),
    "a count beyond 64 bits": lambda table: table["tags"]["counts"].__setitem__(0, 10**30),
    "a count that is true": lambda table: table["tags"]["counts"].__setitem__(0, True),
    "a count that is infinite": lambda table: table["tags"]["counts"].__setitem__(0, float("inf")),
    "counts that are an object": lambda table: table["tags"].update(counts={}),
    "symbols that are a string": lambda table: table["tags"].update(symbols="ABC", counts=[1, 1, 1]),
    "tags that are a list": lambda table: table.update(tags=[]),
    "no tags at all": lambda table: table.pop("tags"),
    "possible tags that are a list": lambda table: table.update(possible_tags=[]),
    "possible tags that are no tags": lambda table: table.update(
        possible_tags={"signs": {",": ["\ud800"]}, "rare_signs": [], "words": []}
    ),
    "possible tags that are lists": lambda table: table.update(
        possible_tags={"signs": {",": [[]]}, "rare_signs": [], "words": []}
    ),
    "very many treebanks": lambda table: table.update(treebanks=[f"t{number}" for number in range(100_000)]),
    "possible tags that take gigabytes": lambda table: table.update(
        tags={"reserved": 3, "symbols": [f"T{n}" for n in range(2_000)], "counts": [1] * 2_000},
        possible_tags={"signs": {f".{n}": ["T1"] for n in range(50_000)}, "rare_signs": [], "words": []},
    ),
    "a format that is a string": lambda table: table.update(format="1"),
    "a format that is infinite": lambda table: table.update(format=float("inf")),
    "a format of 0": lambda table: table.update(format=0),
    "a format that is true": lambda table: table.update(format=True),
}


@pytest.mark.parametrize("name", VOCABULARY)
def test_a_vocabulary_that_is_wrong_is_named(folder: Path, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    change_vocabulary(folder, VOCABULARY[name])
    said = refusal(folder, capsys)
    assert VOCABULARIES in said
    assert str(folder) in said
    assert "\x1b" not in said
    assert len(said) < 1000


LANGUAGES: dict[str, Callable[[dict[str, Any]], object]] = {
    "no labels": lambda table: None,
    "a label that is only the name": lambda table: table["labels"].append([":fo"]),
    "a chain of two treebanks": lambda table: table["labels"].append(["NP:fo", "NP:is"]),
    "a chain that begins with a name": lambda table: table["labels"].append(["NP:fo", "NP"]),
}


@pytest.mark.parametrize("name", LANGUAGES)
def test_a_language_without_labels_of_its_own_is_refused(
    folder: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    change_vocabulary(folder, lambda table: table.update(treebanks=["fo", "is"]))
    change_vocabulary(folder, LANGUAGES[name])
    before = everything_below(folder)
    assert main(["parse", "--model", f"{folder}:fo", "--text", "Cats sleep."]) == 2
    assert f"{folder}: vocab.json is damaged: the labels of fo" in capsys.readouterr().err
    assert everything_below(folder) == before


BOMBS = {
    "a deep list": b"[" * 60_000,
    "deep objects": b'{"a":' * 30_000,
    "a long integer": b'{"format": ' + b"9" * 60_000 + b"}",
    "a number": b"5",
    "a list": b"[]",
    "nothing": b"",
    "null": b"null",
    "not UTF-8": b"\xff\xfe",
    "a NUL": b"\0",
}


@pytest.mark.parametrize("file", [VOCABULARIES, TOKENIZER, ENCODER])
@pytest.mark.parametrize("name", BOMBS)
def test_json_that_is_a_trap_is_named(folder: Path, file: str, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    rewrite(folder, file, BOMBS[name])
    said = refusal(folder, capsys)
    assert file in said
    assert str(folder) in said


def added(table: dict[str, Any], **settings: object) -> None:
    plain = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
    table["added_tokens"].append(plain | {"id": 0, "content": "[X]"} | settings)


def longer(content: str, times: int) -> dict[str, Any]:
    """Steps that each turn one letter into others."""
    step = {"type": "Replace", "pattern": {"String": "a"}, "content": content}
    return {"type": "Sequence", "normalizers": [step] * times}


def tables(content: str, times: int) -> dict[str, Any]:
    return {"type": "Sequence", "normalizers": [table_of({"a": content})] * times}


BYTES = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}
TOKENIZERS: dict[str, Callable[[dict[str, Any]], object]] = {
    "a number below 0": lambda table: table["model"]["vocab"].update({"cat": -1}),
    "a number beyond the table": lambda table: table["model"]["vocab"].update({"cat": 10**6}),
    "a number beyond 64 bits": lambda table: table["model"]["vocab"].update({"cat": 10**30}),
    "a number that is a string": lambda table: table["model"]["vocab"].update({"cat": "1"}),
    "a number that is none": lambda table: table["model"]["vocab"].update({"cat": None}),
    "a number that is a fraction": lambda table: table["model"]["vocab"].update({"cat": 1.5}),
    "an added token beyond the table": lambda table: added(table, id=10**6),
    "an added token below 0": lambda table: added(table, id=-1),
    "an added token without a number": lambda table: added(table, id=None),
    "an added token without text": lambda table: added(table, content=""),
    "an added token that is no text": lambda table: added(table, content=5),
    "added tokens that are a number": lambda table: table.update(added_tokens=5),
    "an added token that is a list": lambda table: table["added_tokens"].append([]),
    "a vocabulary that is a list": lambda table: table["model"].update(vocab=[]),
    "an empty vocabulary": lambda table: table["model"].update(vocab={}),
    "no model": lambda table: table.pop("model"),
    "a prefix that is a number": lambda table: table["model"].update(continuing_subword_prefix=5),
    "words of no length": lambda table: table["model"].update(max_input_chars_per_word="x"),
    "a processor that is a list": lambda table: table.update(post_processor=[]),
    "special tokens beyond the table": lambda table: table.update(
        post_processor={"type": "BertProcessing", "sep": ["[SEP]", 10**6], "cls": ["[CLS]", 10**6]}
    ),
    "special tokens without end": lambda table: table.update(
        post_processor={"type": "BertProcessing", "sep": ["[SEP]", [1] * 10_000], "cls": ["[CLS]", -1]}
    ),
    "text that grows without end": lambda table: table.update(normalizer=longer("a" * 30, 6)),
    "text that vanishes, then grows": lambda table: table.update(
        normalizer={"type": "Sequence", "normalizers": [longer("", 1), longer("a" * 30, 6)]}
    ),
    "text that grows by a table": lambda table: table.update(normalizer=tables("a" * 1_000_000, 1)),
    "text that grows by tables": lambda table: table.update(
        json.loads(unigram(tables("a" * 150, 4))) | {"added_tokens": []}
    ),
    "bytes of bytes of bytes": lambda table: table.update(
        pre_tokenizer={"type": "Sequence", "pretokenizers": [BYTES] * 40}
    ),
    "a step that is a list": lambda table: table.update(normalizer=[]),
    "a thousand steps": lambda table: table.update(
        normalizer={"type": "Sequence", "normalizers": [{"type": "Lowercase"}] * 1000}
    ),
    "a giant prefix": lambda table: table["model"].update(continuing_subword_prefix="#" * 10**6),
    "very many added tokens": lambda table: table.update(added_tokens=[{"id": 0, "content": "t"}] * 50_000),
    "a giant added token": lambda table: added(table, content="t" * 10**6),
}


@pytest.mark.parametrize("name", TOKENIZERS)
def test_a_tokenizer_that_is_wrong_is_named(folder: Path, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    change_json(folder, TOKENIZER, TOKENIZERS[name])
    said = refusal(folder, capsys)
    assert TOKENIZER in said
    assert str(folder) in said
    assert len(said) < 1000


ENCODERS: dict[str, Callable[[dict[str, Any]], object]] = {
    "no kind": lambda table: table.pop("model_type"),
    "a kind that is a list": lambda table: table.update(model_type=["bert"]),
    "positions below 0": lambda table: table.update(max_position_embeddings=-8),
    "positions that are a string": lambda table: table.update(max_position_embeddings="512"),
    "positions beyond reason": lambda table: table.update(max_position_embeddings=10**30),
    "padding that is none": lambda table: table.update(model_type="roberta", pad_token_id=None),
    "padding below 0": lambda table: table.update(model_type="roberta", pad_token_id=-(10**9)),
    "a vocabulary below 0": lambda table: table.update(vocab_size=-1),
    "a vocabulary that is too small": lambda table: table.update(vocab_size=5),
    "a decoder without a start": lambda table: table.update(is_encoder_decoder=True),
    "a decoder that starts elsewhere": lambda table: table.update(is_encoder_decoder=True, decoder_start_token_id=-7),
}


@pytest.mark.parametrize("name", ENCODERS)
def test_an_encoder_that_is_wrong_is_named(folder: Path, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    change_json(folder, ENCODER, ENCODERS[name])
    said = refusal(folder, capsys)
    assert ENCODER in said or SUBWORD_TABLE in said  # the table of a smaller vocabulary is too large
    assert str(folder) in said


def test_keys_of_an_encoder_that_nobody_needs_are_dropped(folder: Path) -> None:
    from fencepost.storage.model_folder import ModelFolder

    attacks = {
        "_attn_implementation": "someone/kernels",
        "attn_implementation": "someone/kernels",
        "auto_map": {"AutoModel": "someone/model--code.Model"},
        "quantization_config": {"quant_method": "someone"},
        "_name_or_path": "someone/model",
        "transformers_weights": "../../weights",
        "trust_remote_code": True,
    }
    change_json(folder, ENCODER, lambda table: table.update(attacks))
    files = ModelFolder.open(folder).vocabularies.pretrained
    assert files is not None
    assert not set(json.loads(files.encoder)) & set(attacks)
