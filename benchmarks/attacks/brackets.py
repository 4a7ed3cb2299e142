"""Damaged files of trees. The reader must raise an InputError, or give trees that survive printing and reading."""

from __future__ import annotations

import gzip
import random
import re
from collections.abc import Callable
from pathlib import Path

from fencepost.errors import InputError
from fencepost.trees.brackets import parse_trees
from fencepost.trees.normalize import normalize
from fencepost.trees.treebank import iter_trees

SEEDS = [
    "(TOP (S (NP (DT The) (NN cat)) (VP (VBD sat)) (. .)))\n",
    "( (S \n    (NP-SBJ-1 (-NONE- *T*-2) )\n    (VP (VBZ is) \n (NP=2 (-LRB- -LRB-) (NN f-LRB-x-RRB-) )))\n (. .) )\n",
    "# note\n(ROOT (FRAG (NN 猫) (NN \u05e9\u05dc\u05d5\u05dd) (NN 👩‍👩‍👧) (CD 10\xa0000)))\n(NN alone)\n",
    "(TOP (X (Y (Z (NN {a}) (NN [b]))))) (S1 (NP (NN c)))\r\n\r\n%% end\n",
]
PLAIN = b"() \nSN\t\r#a-()()  SS"
TOKENS = [*"() S#é\n\t\0\xa0\u2028\ufeff", "((", "))", "()", "\r\n", "-LRB-", "-NONE-"]


def mutate_bytes(random: random.Random, data: bytes) -> bytes:
    changed = bytearray(data)
    for _ in range(random.randint(1, 6)):
        start = random.randrange(len(changed) + 1)
        end = min(start + random.randint(0, 8), len(changed))
        noise = random.randbytes(random.randint(1, 4)) if random.random() < 0.1 else bytes(random.choices(PLAIN, k=3))
        changed[start:end] = random.choice([b"", noise, bytes(changed[start:end]) * 2, b"(", b")"])
    return bytes(changed)


def mutate_tokens(random: random.Random, data: bytes) -> bytes:
    tokens = re.findall(r"\s+|[()]|[^\s()]+", data.decode("utf-8"))
    for _ in range(random.randint(1, 6)):
        index = random.randrange(len(tokens) + 1)
        other = random.randrange(len(tokens) + 1)
        first, last = sorted((index, other))
        tokens[index : index + random.randint(0, 2)] = random.choice(
            [[], [random.choice(TOKENS)], tokens[first:last][:20], [random.choice(TOKENS)] * random.choice((2, 3000))]
        )
    return "".join(tokens).encode("utf-8")


def random_bytes(random: random.Random, data: bytes) -> bytes:
    return bytes(random.choices(random.choice((PLAIN, PLAIN + b"\xc3\xa9\xff\0")), k=random.randint(0, 200)))


def gzip_bytes(random: random.Random, data: bytes) -> bytes:
    return mutate_bytes(random, gzip.compress(data, mtime=0))


KINDS: list[Callable[[random.Random, bytes], bytes]] = [
    *(mutate_bytes, mutate_bytes, mutate_tokens, mutate_tokens, mutate_tokens, random_bytes, gzip_bytes)
]


def check(path: Path) -> str:
    """Reads a file, and returns the name of the InputError, or "trees". Any other exception is a failure."""
    try:
        trees = list(iter_trees(path))
    except InputError as error:
        if error.source != str(path) or "\n" in error.message:
            raise AssertionError(f"an error without its file, or over several lines: {error.message!r}") from error
        return type(error).__name__
    for tree in trees:
        assert parse_trees(str(tree)) == [tree], "the tree changes when it is printed and read again"
        plain = normalize(tree)
        assert plain is None or normalize(plain) == plain, "normalizing a second time changes the tree"
    return "trees"


class Brackets:
    """Each case is one file."""

    name = "brackets"
    last_input: bytes | None = None

    def prepare(self, folder: Path) -> None:
        self.path = folder / "trees.txt"

    def case(self, generator: random.Random) -> str:
        source = "".join(generator.choices(SEEDS, k=generator.randint(1, 3)))
        return self.replay(generator.choice(KINDS)(generator, source.encode("utf-8")))

    def replay(self, content: bytes) -> str:
        self.last_input = content
        self.path.write_bytes(content)
        return check(self.path)
