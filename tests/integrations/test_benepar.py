from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file
from transformers import AutoConfig, AutoModel

from fencepost.cli.main import main
from fencepost.errors import ModelError
from fencepost.export.onnx import export_onnx
from fencepost.integrations.benepar import import_benepar
from fencepost.parsing.load import load
from fencepost.storage.model_files import WEIGHTS
from fencepost.storage.model_folder import ModelFolder
from fencepost.trees.treebank import Sentence
from tests.integrations.benepar_samples import CODE_POINTS, MARKS, char_lstm_file, config, parser_weights
from tests.pretrained_samples import KINDS, write_encoder
from tests.unigram_samples import unigram

LETTERS = "lexical.representations.0.embedding.weight"


def imported(folder: Path, saved: dict[str, Any]) -> ModelFolder:
    torch.save(saved, folder / "benepar.pt")
    import_benepar(folder / "benepar.pt", folder / "model")
    return ModelFolder.open(folder / "model")


def test_the_command_writes_a_model_that_parses_and_tags(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    torch.save(char_lstm_file(), tmp_path / "benepar.pt")
    assert main(["import-benepar", str(tmp_path / "benepar.pt"), str(tmp_path / "model")]) == 0
    assert capsys.readouterr().err == f"wrote the model to {tmp_path / 'model'}\n"
    (tree,) = load(tmp_path / "model").parse([["the", "cat", "sleeps"]])
    assert tree.words() == ["the", "cat", "sleeps"]
    assert {leaf.tag for leaf in tree.leaves()} <= {"UNK", "DT", "NN", "VBZ"}


def test_labels_keep_their_numbers_and_chains_are_split(tmp_path: Path) -> None:
    chains = imported(tmp_path, char_lstm_file()).vocabularies.labels.chains
    assert chains == ((), ("NP",), ("S",), ("S", "VP"))


@pytest.mark.parametrize(("setting", "forced"), [({}, True), ({"force_root_constituent": False}, False)])
def test_a_root_constituent_is_forced_unless_the_file_says_no(
    tmp_path: Path, setting: dict[str, Any], forced: bool
) -> None:
    assert imported(tmp_path, char_lstm_file(**setting)).config.scorer.force_root is forced


def test_sentences_are_long_only_where_benepar_gives_up(tmp_path: Path) -> None:
    folder = imported(tmp_path, char_lstm_file())
    assert folder.config.eval.longest == folder.config.encoder.max_length


@pytest.mark.parametrize("letters", [CODE_POINTS, MARKS | {"a": 5, "Ω": 6, "☃": 7}], ids=["code points", "listed"])
def test_each_letter_keeps_its_vector(tmp_path: Path, letters: dict[str, int]) -> None:
    saved = char_lstm_file(letters)
    folder = imported(tmp_path, saved)
    ours, theirs = load_file(folder.path / WEIGHTS)[LETTERS], saved["state_dict"]["char_encoder.emb.weight"]
    ids = folder.vocabularies.letters.ids
    assert set(ids) == set(letters) - set(MARKS)
    assert all(torch.equal(ours[ids[letter]], theirs[letters[letter]]) for letter in ids)


def test_marks_keep_their_vectors_in_our_order(tmp_path: Path) -> None:
    saved = char_lstm_file()
    folder = imported(tmp_path, saved)
    ours, theirs = load_file(folder.path / WEIGHTS)[LETTERS], saved["state_dict"]["char_encoder.emb.weight"]
    assert torch.equal(ours[1:6], theirs[[0, 2, 3, 1, 4]])


def test_weights_in_half_precision_are_read_as_fp32(tmp_path: Path) -> None:
    saved = char_lstm_file()
    saved["state_dict"] = {name: tensor.half() for name, tensor in saved["state_dict"].items()}
    folder = imported(tmp_path, saved)
    assert {tensor.dtype for tensor in load_file(folder.path / WEIGHTS).values()} == {torch.float32}


class Harmful:
    def __reduce__(self) -> tuple[object, ...]:
        return (print, ("this ran",))


def test_code_in_a_file_is_refused_and_never_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ModelError, match="not a weights file that can be read safely"):
        imported(tmp_path, {"config": Harmful()})
    assert "this ran" not in capsys.readouterr().out


def test_a_file_without_the_parts_of_a_model_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="not a benepar model: KeyError: 'config'"):
        imported(tmp_path, {"weights": torch.zeros(3)})


def test_a_missing_file_is_an_error_that_names_it(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"nothing\.pt: No such file"):
        import_benepar(tmp_path / "nothing.pt", tmp_path / "model")


def exported(folder: Path, **settings: Any) -> Path:
    """A folder as benepar exports it, around a small BERT."""
    write_encoder(folder)
    encoder = json.loads((folder / "config.json").read_text("utf-8"))
    settings = {"use_pretrained": True, "use_chars_lstm": False, "pretrained_model": "small", **settings}
    (folder / "config.json").write_text(json.dumps(encoder | {"benepar": config(None, **settings)}), "utf-8")
    weights = {f"pretrained_model.{name}": w for name, w in load_file(folder / "model.safetensors").items()}
    weights["pretrained_model.embeddings.position_ids"] = torch.arange(40)[None]
    weights["project_pretrained.weight"] = torch.randn(8 if settings.get("use_encoder", True) else 16, 16)
    torch.save(weights | parser_weights(), folder / "benepar_model.bin")
    return folder


def exported_t5(folder: Path) -> Path:
    """A folder as benepar exports it, around a small T5 with random weights and T5's own kind of tokenizer."""
    torch.manual_seed(0)
    tokenizer = unigram()
    encoder = AutoConfig.for_model("t5", **KINDS["t5"] | {"vocab_size": 100})
    t5 = AutoModel.from_config(encoder, trust_remote_code=False)
    folder.mkdir()
    settings = {"use_pretrained": True, "use_chars_lstm": False, "pretrained_model": "small"}
    (folder / "config.json").write_text(json.dumps(encoder.to_dict() | {"benepar": config(None, **settings)}), "utf-8")
    (folder / "tokenizer.json").write_text(tokenizer, "utf-8")
    weights = {f"pretrained_model.{name}": weight for name, weight in t5.state_dict().items()}
    weights["project_pretrained.weight"] = torch.randn(8, 16)
    torch.save(weights | parser_weights(), folder / "benepar_model.bin")
    return folder


T5_SENTENCES = [["the", "cats", "sleep"], ["``", "(", "é", "''", "."], ["Ωmega"] * 15, ["the"]]


def test_a_t5_gives_the_same_trees_without_torch(tmp_path: Path) -> None:
    import_benepar(exported_t5(tmp_path / "benepar"), tmp_path / "model")
    export_onnx(tmp_path / "model", tmp_path / "out")
    program = f"""
import sys
for name in ("torch", "transformers", "tokenizers", "sentencepiece", "safetensors", "onnx", "huggingface_hub"):
    sys.modules[name] = None  # importing it is now an error
import fencepost
print(*fencepost.load({str(tmp_path / "out")!r}).parse({T5_SENTENCES!r}), sep="\\n")
"""
    answer = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True, text=True)
    assert answer.stdout.splitlines() == list(map(str, load(tmp_path / "model").parse(T5_SENTENCES)))


@pytest.mark.parametrize("use_encoder", [True, False])
def test_an_exported_folder_becomes_a_model_that_needs_nothing_else(tmp_path: Path, use_encoder: bool) -> None:
    folder = exported(tmp_path / "benepar", use_encoder=use_encoder)
    import_benepar(folder, tmp_path / "model")
    shutil.rmtree(folder)
    (tree,) = load(tmp_path / "model").parse([["the", "cats", "sleep"]])
    assert tree.words() == ["the", "cats", "sleep"]


def test_a_folder_without_weights_is_an_error_that_names_them(tmp_path: Path) -> None:
    folder = exported(tmp_path / "benepar")
    (folder / "benepar_model.bin").unlink()
    with pytest.raises(ModelError, match=r"benepar_model\.bin: No such file"):
        import_benepar(folder, tmp_path / "model")


def test_weights_of_another_size_are_an_error_that_names_them(tmp_path: Path) -> None:
    saved = char_lstm_file()
    saved["state_dict"]["f_label.0.weight"] = torch.zeros(3, 16)
    with pytest.raises(ModelError, match=r"span_scorer\.hidden\.weight is missing or has the wrong size"):
        imported(tmp_path, saved)


def test_an_encoder_of_an_unexported_file_is_looked_for_by_name(tmp_path: Path) -> None:
    saved = char_lstm_file(use_pretrained=True, pretrained_model=str(tmp_path / "nothing"))
    with pytest.raises(ModelError, match="no pre-trained encoder"):
        imported(tmp_path, saved)


def test_blanks_that_a_sentence_comes_with_reach_the_model(tmp_path: Path) -> None:
    import_benepar(exported(tmp_path / "benepar"), tmp_path / "model")
    sentence = Sentence(("can", "not", "sleep"), spaces=(False, True, True))
    assert next(load(tmp_path / "model").checked([sentence])).spaces == (False, True, True)
