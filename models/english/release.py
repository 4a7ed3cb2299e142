"""Puts an exported model where it ships, with its card and its scores.

    python models/english/release.py --model EXPORT --into FOLDER [--card CARD.md] [--scores SCORES.json]
        [--encoder thenlper/gte-small] [--largest-file 95] [--largest 125]

FOLDER is src/fencepost/models/en or models/en-large/src/fencepost_en_large/en-large. SCORES.json comes from
`evaluate.py --scores`; `fencepost models` shows it. --encoder is the name of the encoder, instead of the path that the
model was trained with. Without --card the model keeps the card of the export. Every file
must be smaller than --largest-file MB, and all of them together must not exceed --largest MB.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import replace
from pathlib import Path

from fencepost.features.pretrained_files import ENCODER, TOKENIZER
from fencepost.storage.model_files import (
    CARD,
    CHECKSUMS,
    CONFIG,
    ONNX,
    SCORES,
    VOCABULARIES,
    format_scores,
    listed_files,
)
from fencepost.storage.model_folder import ModelFolder
from fencepost.storage.model_writer import write_model

WRITTEN = (CONFIG, VOCABULARIES, CARD, CHECKSUMS, TOKENIZER, ENCODER)  # by ``write_model`` itself


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--model", type=Path, required=True)
    options.add_argument("--into", type=Path, required=True)
    options.add_argument("--card", type=Path)
    options.add_argument("--scores", type=Path)
    options.add_argument("--encoder")
    options.add_argument("--largest-file", type=float, default=95, help="MB (default: 95)")
    options.add_argument("--largest", type=float, default=125, help="MB in all (default: 125)")
    arguments = options.parse_args()
    require_small(arguments.model, arguments.largest_file, arguments.largest)
    release(arguments.model, arguments.into, arguments.card, arguments.scores, arguments.encoder)


def release(model: Path, into: Path, card: Path | None, scores: Path | None, encoder: str | None = None) -> None:
    """Writes the model with its card and scores. Raises ModelError if the export is damaged."""
    folder = ModelFolder.open(model)
    if not folder.has(ONNX):
        raise SystemExit(f"{model} is not an export: run `fencepost export {model} EXPORT --precision int8`")
    files = {name: (model / name).read_bytes() for name in listed_files(model) if name not in WRITTEN}
    if scores is not None:
        files[SCORES] = format_scores(json.loads(scores.read_text("utf-8")))
    text = (card or model / CARD).read_text("utf-8")
    config = folder.config
    if encoder is not None:
        config = replace(config, pretrained=replace(config.pretrained, model=encoder))
    write_model(into, config, folder.vocabularies, text, files)


def require_small(folder: Path, largest_file: float, largest: float) -> None:
    sizes = {name: (folder / name).stat().st_size / 1e6 for name in listed_files(folder)}
    for name, size in sorted(sizes.items()):
        print(f"{size:8.1f} MB  {name}")
        if size >= largest_file:
            raise SystemExit(f"{name} has {size:.1f} MB; every file must be below {largest_file:g} MB")
    total = sum(sizes.values())
    print(f"{total:8.1f} MB  in all")
    if total > largest:
        raise SystemExit(f"the model has {total:.1f} MB; it must not exceed {largest:g} MB")


if __name__ == "__main__":
    main()
