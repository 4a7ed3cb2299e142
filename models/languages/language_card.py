"""Writes the card of a language's model, or of the joint model, from its scores.

python models/languages/language_card.py --name NAME --scores SCORES.json --out CARD.md
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from languages import JOINT, LANGUAGES, TERMS, Language, own_scores


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--name", required=True, choices=[*LANGUAGES, JOINT])
    options.add_argument("--scores", type=Path, required=True)
    options.add_argument("--out", type=Path, required=True)
    arguments = options.parse_args()
    scores = json.loads(arguments.scores.read_text("utf-8"))
    arguments.out.write_text(card(arguments.name, own_scores(arguments.name, scores)), "utf-8")


def card(name: str, scores: Mapping[str, Mapping[str, Any]]) -> str:
    joint = name == JOINT
    languages = list(LANGUAGES.values()) if joint else [LANGUAGES[name]]
    title = "Six treebanks in one model" if joint else languages[0].title
    example = 'fencepost.load("multi", language="fo")' if joint else f'fencepost.load("{name}")'
    parts = [
        f"# {title}: the model `{name}` of fencepost",
        f"`{example}` loads it. It reads words and writes trees with part-of-speech tags, in the notation of the "
        "treebank that it was trained on.",
        "It is the paper's parser: factored self-attention over the letters of words, without a pre-trained encoder. "
        "The files are ONNX graphs for ONNX Runtime, which torch reads too; matrices are in int8.",
        *(
            ["A sentence is read with an embedding of its treebank, and gets only labels and tags of that treebank."]
            * joint
        ),
        "## Scores",
        "Labelled F1 in percent from gold words and from running text, punctuation included (`spmrl`); complete match "
        "is the share of sentences without a wrong bracket; tags are the model's own. Measured on the files as they "
        "ship with `models/languages/evaluate_language.py`.",
        _table(scores),
        "## Words",
        "The model was trained on the words of its treebank, and fencepost splits text as the treebank does. What the "
        "rules can't do is in `docs/languages.md`. Words that are already split "
        '(`parser.parse([["word", …]])`, `fencepost parse --tokenized`) should follow the treebank, too.',
        "\n".join(f"- {language.title}: {language.words}" for language in languages),
        "## Data and licences",
        "\n".join(map(_data, languages)),
        "The trees were changed for training: traces, indices and grammatical functions are gone. What the licences "
        "ask for, in short:",
        "\n".join(f"- {text}." for text in dict.fromkeys(TERMS[language.license] for language in languages)),
        "Trees with the words of a development or test sentence were left out of training "
        "(`models/languages/prepare_languages.py`).",
    ]
    return "\n\n".join(parts) + "\n"


def _data(language: Language) -> str:
    free = " Only texts that are free for any use were taken." if language.only_free else ""
    return (
        f"- {language.title}: {language.corpus} ({language.text}), {language.license}, <{language.source}>. "
        f"{language.citation}{free}"
    )


def _table(scores: Mapping[str, Mapping[str, Any]]) -> str:
    columns = {
        "F1": "f1",
        "F1 from text": "f1_text",
        "precision": "precision",
        "recall": "recall",
        "complete match": "complete_match",
        "tags": "tags",
    }
    rows = [f"| set | sentences | {' | '.join(columns)} |", "|---|---|" + "---|" * len(columns)]
    for name, figures in scores.items():
        numbers = (f"{figures[key]:.2f}" if key in figures else "–" for key in columns.values())
        rows.append(f"| {name} | {figures['sentences']:,} | {' | '.join(numbers)} |")
    return "\n".join(rows)


if __name__ == "__main__":
    main()
