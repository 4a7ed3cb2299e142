"""The reference parser's side of ``benchmarks/cpu.py peer``: runs in benepar's own virtual environment.

    python benchmarks/benepar_peer.py make TREES MODEL.pt          makes a model of the paper's size with random weights
    python benchmarks/benepar_peer.py parse MODEL.pt WORDS TREES   parses, prints figures as JSON, writes trees

benepar 0.2.0 runs on torch 2.13 with transformers 4.30.2, NLTK < 3.10 and numpy < 2. It imports pytokenizations, which
has no wheel for Python 3.10 or newer and which character models don't use: an empty module of that name is enough.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from collections.abc import Callable

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


def make(trees: str, out: str) -> None:
    from benepar.char_lstm import RetokenizerForCharLSTM
    from benepar.decode_chart import ChartDecoder
    from benepar.nkutil import HParams
    from benepar.parse_chart import ChartParser
    from nltk import Tree

    with open(trees, encoding="utf-8") as file:
        treebank = [Tree.fromstring(line) for line in file]
    tags = sorted({tag for tree in treebank for _, tag in tree.pos()})
    torch.manual_seed(0)
    parser = ChartParser(
        tag_vocab={tag: number for number, tag in enumerate(["UNK", *tags])},
        label_vocab=ChartDecoder.build_vocab(treebank),
        char_vocab=RetokenizerForCharLSTM.build_vocab([tree.leaves() for tree in treebank]),
        hparams=HParams(**SETTINGS),
    )
    torch.save({"config": parser.config, "state_dict": parser.state_dict()}, out)
    print(sum(weight.numel() for weight in parser.parameters()), "parameters", file=sys.stderr)


def parse(model: str, words: str, out: str) -> None:
    import benepar

    parser = benepar.Parser(model, language_code="en")
    parser.parse(["It", "rained", "."])
    start = time.process_time() - BEGAN
    with open(words, encoding="utf-8") as file:
        sentences = [line.split() for line in file]
    began = time.process_time()
    trees = list(parser.parse_sents(sentences))
    seconds = time.process_time() - began
    with open(out, "w", encoding="utf-8") as file:
        file.writelines(" ".join(str(tree).split()) + "\n" for tree in trees)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(json.dumps({"first_tree": start, "cpu_seconds": seconds, "sentences": len(trees), "peak_mb": peak}))


if __name__ == "__main__":
    commands: dict[str, Callable[..., None]] = {"make": make, "parse": parse}
    commands[sys.argv[1]](*sys.argv[2:])
