"""The reference parser's side of ``benchmarks/cpu.py peer``: runs in benepar's own virtual environment.

    python benchmarks/benepar_peer.py make TREES MODEL.pt        makes a model of the paper's size with random weights
    python benchmarks/benepar_peer.py make-t5 TREES FOLDER       makes one of the size of benepar_en3, over a T5-small
    python benchmarks/benepar_peer.py parse MODEL WORDS TREES    parses, prints figures as JSON, writes trees

benepar 0.2.0 runs on torch 2.13 with transformers 4.30.2, NLTK < 3.10 and numpy < 2. It imports pytokenizations, which
has no wheel for Python 3.10 or newer and which it only needs for reading treebanks: an empty module of that name is
enough. WORDS has Penn's quotes. benepar takes a list of words for text, and would read them as two letters each, which
its models never saw in training. ``parse`` therefore says what the text is, as benepar's documentation asks for, and
where its spaces are, because the two programs guess differently.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

BEGAN = time.process_time()

import torch  # noqa: E402

torch.set_num_threads(1)
SETTINGS = {
    "use_chars_lstm": True,
    "use_pretrained": False,
    "use_encoder": True,
    "predict_tags": False,
    "force_root_constituent": False,
    "d_model": 1024,
    "num_layers": 8,
    "num_heads": 8,
    "d_kv": 64,
    "d_ff": 2048,
    "d_label_hidden": 250,
    "d_tag_hidden": 250,
    "d_char_emb": 64,
    "encoder_max_len": 512,
    "morpho_emb_dropout": 0.2,
    "attention_dropout": 0.2,
    "relu_dropout": 0.1,
    "residual_dropout": 0.2,
    "char_lstm_input_dropout": 0.2,
}


# What benepar's documentation trains models over pre-trained encoders with, and T5-small.
OVER_T5 = {
    "use_chars_lstm": False,
    "use_pretrained": True,
    "predict_tags": True,
    "tag_loss_scale": 5.0,
    "num_layers": 2,
    "force_root_constituent": True,
}
T5_SMALL = {
    "vocab_size": 32128,
    "d_model": 512,
    "d_kv": 64,
    "d_ff": 2048,
    "num_layers": 6,
    "num_decoder_layers": 6,
    "num_heads": 8,
    "decoder_start_token_id": 0,
}


def make(trees: str, out: str) -> None:
    from benepar.char_lstm import RetokenizerForCharLSTM

    treebank = _read(trees)
    letters = RetokenizerForCharLSTM.build_vocab([tree.leaves() for tree in treebank])
    parser = _parser(treebank, letters, SETTINGS)
    torch.save({"config": parser.config, "state_dict": parser.state_dict()}, out)


def make_t5(trees: str, out: str) -> None:
    """Its tokenizer is trained on the words of the trees: it cuts them into about as many pieces as T5's would."""
    import sentencepiece
    from benepar.ptb_unescape import ptb_unescape
    from transformers import T5Config, T5Model, T5TokenizerFast

    treebank, folder = _read(trees), Path(out)
    folder.mkdir()
    lines = (" ".join(ptb_unescape(tree.leaves())) for tree in treebank)
    special: dict[str, Any] = {"pad_id": 0, "eos_id": 1, "unk_id": 2, "bos_id": -1}
    pieces: dict[str, Any] = {"model_prefix": str(folder / "spiece"), "vocab_size": 8000, "hard_vocab_limit": False}
    sentencepiece.SentencePieceTrainer.train(sentence_iterator=lines, minloglevel=2, **pieces, **special)
    (folder / "spiece.vocab").unlink()
    T5TokenizerFast(str(folder / "spiece.model")).save_pretrained(folder)
    torch.manual_seed(0)
    T5Model(T5Config(**T5_SMALL)).save_pretrained(folder)
    parser = _parser(treebank, None, {**SETTINGS, **OVER_T5, "pretrained_model": out})
    parser.pretrained_model.config.benepar = parser.config
    parser.pretrained_model.config.save_pretrained(folder)
    torch.save(parser.state_dict(), folder / "benepar_model.bin")
    for weights in folder.glob("pytorch_model*"):
        weights.unlink()


def _read(trees: str) -> list[Any]:
    from nltk import Tree

    with open(trees, encoding="utf-8") as file:
        return [Tree.fromstring(line) for line in file]


def _parser(treebank: list[Any], letters: dict[str, int] | None, settings: dict[str, Any]) -> Any:
    from benepar.decode_chart import ChartDecoder
    from benepar.nkutil import HParams
    from benepar.parse_chart import ChartParser

    tags = sorted({tag for tree in treebank for _, tag in tree.pos()})
    torch.manual_seed(0)
    parser = ChartParser(
        tag_vocab={tag: number for number, tag in enumerate(["UNK", *tags])},
        label_vocab=ChartDecoder.build_vocab(treebank),
        char_vocab=letters,
        hparams=HParams(**settings),
    )
    with torch.no_grad():  # benepar begins with equal layers, which an export would store once
        for weight in parser.parameters():
            weight.add_(0.01 * torch.randn_like(weight))
    print(sum(weight.numel() for weight in parser.parameters()), "parameters", file=sys.stderr)
    return parser


def parse(model: str, words: str, out: str) -> None:
    import benepar

    sys.path.append(str(Path(__file__).parents[1] / "src"))
    from fencepost.features.spacing import PLAIN_QUOTES, guess_spaces
    from fencepost.trees.leaf import escape

    parser = benepar.Parser(model, language_code="en")
    parser.parse(["It", "rained", "."])
    start = time.process_time() - BEGAN
    with open(words, encoding="utf-8") as file:
        written = [line.split() for line in file]
    sentences = [
        benepar.InputSentence(
            words=[PLAIN_QUOTES.get(word, word) for word in words],
            escaped_words=list(map(escape, words)),
            space_after=list(guess_spaces(words, "en")),
        )
        for words in written
    ]
    began = time.process_time()
    trees = list(parser.parse_sents(sentences))
    seconds = time.process_time() - began
    with open(out, "w", encoding="utf-8") as file:
        file.writelines(" ".join(str(tree).split()) + "\n" for tree in trees)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(json.dumps({"first_tree": start, "cpu_seconds": seconds, "sentences": len(trees), "peak_mb": peak}))


if __name__ == "__main__":
    commands: dict[str, Callable[..., None]] = {"make": make, "make-t5": make_t5, "parse": parse}
    commands[sys.argv[1]](*sys.argv[2:])
