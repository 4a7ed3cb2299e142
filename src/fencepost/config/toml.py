"""Reads and writes configurations as TOML.

A configuration is a file or has a built-in name. It may extend another one (``base = "paper"``);
``--set section.key=value`` overrides are applied last. An unknown key is an error that suggests the nearest one.
"""

from __future__ import annotations

import dataclasses
import difflib
import json
import re
import sys
import types
from collections.abc import Iterator, Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import Any, Final, Literal, Union, get_args, get_origin, get_type_hints

from fencepost.config.settings import Config
from fencepost.errors import ConfigError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


MOST_CHARACTERS: Final = 2**20
DEEPEST_KEY: Final = 8  # parts of a dotted key; the time to read one grows with their square
_STRING_OR_COMMENT: Final = re.compile(r""""(?:[^"\\\n]|\\.)*"|'[^'\n]*'|#[^\n]*""")
_ALWAYS_SAVED: Final = frozenset({"kind", "d_model", "d_k", "positions", "embedding_norm", "shared_dropout"})
_SEPARATOR: Final = re.compile(r"[=,{}\[\]\n]")


def load_config(source: str | Path, overrides: Sequence[str] = ()) -> Config:
    """Reads a TOML file or a built-in configuration, then applies ``key=value`` overrides."""
    table = _read(source)
    for override in overrides:
        _override(table, override)
    return config_from_table(table, str(source))


def parse_config(text: str, source: str) -> Config:
    """Reads a configuration that may come from a stranger: it stands alone, and no string in it hides anything."""
    table = _parse(text, source)
    if "base" in table:
        raise ConfigError(f"{source}: the configuration of a model can't have a base")
    config = config_from_table(table, source)
    for name, string in _strings(config, ""):
        if not string.isprintable():
            raise ConfigError(f"{source}: {name} has characters that can't be shown: {string!r:.50}")
    return config


def _strings(section: Any, prefix: str) -> Iterator[tuple[str, str]]:
    for item in dataclasses.fields(section):
        value, name = getattr(section, item.name), prefix + item.name
        if isinstance(value, str):
            yield name, value
        elif dataclasses.is_dataclass(value):
            yield from _strings(value, f"{name}.")


def config_from_table(table: Mapping[str, Any], source: str = "configuration") -> Config:
    try:
        config = _build(Config, _with_its_scale(table), source, "")
    except ConfigError as error:
        if error.message.startswith(source):
            raise
        raise ConfigError(f"{source}: {error.message}", hint=error.hint) from None
    assert isinstance(config, Config)
    return config


def _with_its_scale(table: Mapping[str, Any]) -> Mapping[str, Any]:
    """Models that were saved before ``encoder.attention_scale`` existed divide by the square root of d_k.

    The file of a saved model has all the settings of its time; a file that someone wrote leaves most of them out.
    """
    encoder = table.get("encoder")
    if isinstance(encoder, Mapping) and "attention_scale" not in encoder and encoder.keys() >= _ALWAYS_SAVED:
        return {**table, "encoder": {**encoder, "attention_scale": "d_k"}}
    return table


def config_names() -> list[str]:
    """The names of the built-in configurations."""
    folder = resources.files("fencepost.config").joinpath("named")
    return sorted(entry.name.removesuffix(".toml") for entry in folder.iterdir() if entry.name.endswith(".toml"))


def _read(source: str | Path, above: tuple[str | Path, ...] = ()) -> dict[str, Any]:
    if source in above:
        raise ConfigError(f"{source} is its own base: {' -> '.join(map(str, (*above, source)))}")
    table = _parse(_text(source), str(source))
    if "base" not in table:
        return table
    base = table.pop("base")
    if not isinstance(base, str):
        raise ConfigError(f"{source}: base must be a name or a file, got {base!r:.50}")
    base_source = base if base in config_names() else Path(source).parent / base
    return _merge(_read(base_source, (*above, source)), table)


def _parse(text: str, source: str) -> dict[str, Any]:
    if len(text) > MOST_CHARACTERS:
        raise ConfigError(f"{source}: longer than {MOST_CHARACTERS:,} characters")
    if max(part.count(".") for part in _SEPARATOR.split(_STRING_OR_COMMENT.sub("x", text))) >= DEEPEST_KEY:
        raise ConfigError(f"{source}: a key has more than {DEEPEST_KEY} parts")
    try:
        table: dict[str, Any] = tomllib.loads(text)
        return table
    except RecursionError:
        raise ConfigError(f"{source}: not valid TOML: nested too deeply") from None
    except ValueError as error:  # TOMLDecodeError, and integers of more than 4,300 digits
        raise ConfigError(f"{source}: not valid TOML: {error}") from error


def _text(source: str | Path) -> str:
    if isinstance(source, str) and source in config_names():
        return resources.files("fencepost.config").joinpath("named").joinpath(f"{source}.toml").read_text("utf-8")
    try:
        return Path(source).read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        near = difflib.get_close_matches(str(source), config_names(), n=1)
        raise ConfigError(
            f"no configuration {source}: {getattr(error, 'strerror', None) or error}",
            hint=f"did you mean {near[0]}?" if near else f"give a TOML file or one of {', '.join(config_names())}",
        ) from error


def _merge(base: dict[str, Any], above: dict[str, Any]) -> dict[str, Any]:
    merged = dict(base)
    for key, value in above.items():
        below = merged.get(key)
        merged[key] = _merge(below, value) if isinstance(below, dict) and isinstance(value, dict) else value
    return merged


def _override(table: dict[str, Any], override: str) -> None:
    key, equals, text = override.partition("=")
    if not equals:
        raise ConfigError(f"override {override!r} is not of the form key=value", hint="--set train.batch_size=32")
    *sections, name = key.strip().split(".")
    try:
        value = tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        value = text.strip()
    for section in sections:
        table = table.setdefault(section, {})
        if not isinstance(table, dict):
            raise ConfigError(f"override {override!r}: {section} is a value, not a section")
    table[name] = value


def _build(kind: type[Any], table: Mapping[str, Any], source: str, prefix: str) -> Any:
    hints = get_type_hints(kind)
    unknown = [key for key in table if key not in hints]
    if unknown:
        full_names = _full_names(hints, prefix)
        near = difflib.get_close_matches(unknown[0], full_names, n=1, cutoff=0.5)
        hint = f"did you mean {full_names[near[0]]}?" if near else f"known keys: {', '.join(hints)}"
        raise ConfigError(f"{source}: unknown key {prefix}{_shown(unknown[0])}", hint=hint)
    return kind(**{key: _convert(hints[key], value, source, prefix + key) for key, value in table.items()})


def _shown(key: str) -> str:
    return key if key.isprintable() and len(key) <= 50 else f"{key!r:.50}"


def _full_names(hints: Mapping[str, Any], prefix: str) -> dict[str, str]:
    """Keys with their sections. At the top level, also the keys inside sections: people forget to name the section."""
    names = {name: prefix + name for name in hints}
    for section, kind in hints.items():
        if not prefix and dataclasses.is_dataclass(kind):
            for item in dataclasses.fields(kind):
                names.setdefault(item.name, f"{section}.{item.name}")
    return names


def _convert(hint: Any, value: Any, source: str, key: str) -> Any:
    origin, arguments = get_origin(hint), get_args(hint)
    if dataclasses.is_dataclass(hint):
        if not isinstance(value, Mapping):
            raise ConfigError(
                f"{source}: {key} is a section, got {value!r:.50}", hint=f"put a line [{key}] above its keys"
            )
        return _build(hint, value, source, f"{key}.")  # type: ignore[arg-type]
    if origin is Literal:
        if not isinstance(value, str) or value not in arguments:
            raise ConfigError(
                f"{source}: {key} = {value!r:.50} is not valid", hint=f"one of {', '.join(map(repr, arguments))}"
            )
        return value
    if origin in (Union, types.UnionType):
        if value == "none" or value is None:
            return None
        return _convert(next(a for a in arguments if a is not type(None)), value, source, key)
    if origin is tuple:
        if not isinstance(value, list | tuple):
            raise ConfigError(f"{source}: {key} must be a list, got {value!r:.50}")
        if arguments[-1] is not Ellipsis and len(value) != len(arguments):
            raise ConfigError(f"{source}: {key} takes {len(arguments)} values, got {value!r:.50}")
        return tuple(_convert(arguments[0], item, source, key) for item in value)
    if hint is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if not isinstance(value, hint) or (hint is int and isinstance(value, bool)):
        raise ConfigError(f"{source}: {key} must be of type {hint.__name__}, got {value!r:.50}")
    return value


# Writing


def config_to_toml(config: Config) -> str:
    """The whole configuration as TOML. Reading it back gives an equal configuration."""
    lines: list[str] = []
    _write_section(config, "", lines)
    return "\n".join(lines) + "\n"


# Settings added after models had been trained, with the value those models used.
LATER: Final = (
    'attention_scale = "d_k"',
    "shortest_epoch = 1",
    "functions = false",
    "function_hidden = 250",
    "function_words = false",
    "function_loss_weight = 5.0",
)


def without_later(toml: str) -> str:
    """A configuration as it was written before the settings in ``LATER`` existed.

    Digests of this text stay the same when such a setting is added.
    """
    return "".join(line for line in toml.splitlines(keepends=True) if line.rstrip("\n") not in LATER)


# Sections added after models had been trained. They are not written if all their settings are at their defaults.
LATER_SECTIONS: Final = ("treebank",)


def _write_section(section: Any, name: str, lines: list[str]) -> None:
    if name in LATER_SECTIONS and section == type(section)():
        return
    if name:
        lines.extend(["", f"[{name}]"])
    below = []
    for item in dataclasses.fields(section):
        value = getattr(section, item.name)
        if dataclasses.is_dataclass(value):
            below.append((item.name, value))
        else:
            lines.append(f"{item.name} = {_toml(value)}")
    for key, value in below:
        _write_section(value, f"{name}.{key}" if name else key, lines)


def _toml(value: Any) -> str:
    if value is None:
        return '"none"'
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple):
        return "[" + ", ".join(map(_toml, value)) + "]"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return repr(value)
