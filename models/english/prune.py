"""Keeps only some layers of a model's pre-trained encoder.

    python models/english/prune.py TEACHER OUT --layers 0 5 11

--layers are the layers to keep, counted from 0. OUT parses badly until student.py --start-from OUT has trained it.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from safetensors.torch import load_file, save
from torch import Tensor

from fencepost.storage.model_files import WEIGHTS
from fencepost.storage.model_folder import ModelFolder
from fencepost.storage.model_writer import write_model

LAYER: Final = re.compile(r"(.*\.encoder\.encoder\.layer\.)(\d+)(\..*)")
MIX: Final = re.compile(r".*\.mix\.weights")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("model", type=Path)
    options.add_argument("out", type=Path)
    options.add_argument("--layers", type=int, nargs="+", required=True)
    arguments = options.parse_args()
    folder = ModelFolder.open(arguments.model)
    files = folder.vocabularies.pretrained
    assert files is not None
    encoder = json.loads(files.encoder) | {"num_hidden_layers": len(arguments.layers)}
    vocabularies = replace(folder.vocabularies, pretrained=replace(files, encoder=json.dumps(encoder) + "\n"))
    weights = pruned(load_file(folder.path / WEIGHTS), arguments.layers)
    card = f"# A pruned model\n\nLayers {arguments.layers} of `{arguments.model.name}`.\n"
    write_model(arguments.out, folder.config, vocabularies, card, {WEIGHTS: save(weights)})


def pruned(weights: dict[str, Tensor], layers: Sequence[int]) -> dict[str, Tensor]:
    """The weights with these layers alone, renumbered. The mix keeps the shares of these layers and the embeddings."""
    place = {layer: number for number, layer in enumerate(layers)}
    kept: dict[str, Tensor] = {}
    for name, tensor in weights.items():
        found = LAYER.fullmatch(name)
        if found is None:
            is_mix = MIX.fullmatch(name)
            kept[name] = tensor[[0, *(layer + 1 for layer in layers)]].clone() if is_mix else tensor
        elif int(found[2]) in place:
            kept[f"{found[1]}{place[int(found[2])]}{found[3]}"] = tensor
    return kept


if __name__ == "__main__":
    main()
