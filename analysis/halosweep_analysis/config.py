"""halosweep's INI files: the same grammar as src/core/ini.c, as far as reading good files goes.

A config is {section: {key: text}}; names are lower case, `-` is `_`; halosweep itself judges
values.
"""

from __future__ import annotations

import os
from pathlib import Path

from .failure import INPUT, USAGE, Failure

Config = dict[str, dict[str, str]]
COMMANDS = ("solve", "heat", "quad", "ode")
FILE_ENDINGS = (".c", ".h5", ".hdf5", ".vtkhdf")
FILE_KEYS = ("matrix", "rhs", "x0", "data")


def without_comment(line: str) -> str:
    """The line up to a # or ; at its start or after a blank, outside double quotes."""
    quoted = False
    for i, c in enumerate(line):
        if c == '"':
            quoted = not quoted
        elif c in "#;" and not quoted and (i == 0 or line[i - 1] in " \t"):
            return line[:i]
    return line


def parse(text: str, name: str) -> Config:
    """The sections of an INI text; `name` is for errors."""
    config: Config = {}
    section: dict[str, str] | None = None
    key = None
    for number, line in enumerate(text.lstrip("\ufeff").split("\n"), 1):
        bare = without_comment(line).rstrip()
        if not bare.strip():
            continue
        if bare[0] in " \t" and key is not None and section is not None:
            section[key] += " " + bare.strip()
        elif bare.strip().startswith("[") and bare.endswith("]"):
            heading, key = bare.strip()[1:-1].strip().lower(), None
            if heading in config:
                raise Failure(USAGE, f"{name}:{number}: [{heading}] is there twice")
            section = config[heading] = {}
        elif "=" in bare and section is not None:
            left, _, right = bare.partition("=")
            key = left.strip().lower().replace("-", "_")
            if key in section:
                raise Failure(USAGE, f"{name}:{number}: '{key}' is given twice")
            section[key] = right.strip()
        else:
            raise Failure(
                USAGE, f"{name}:{number}: '{bare.strip()}': expected [section] or key = value"
            )
    return config


def read(path: str) -> Config:
    """The config in the file `path`."""
    try:
        return parse(Path(path).read_text(encoding="utf-8"), path)
    except UnicodeDecodeError:
        raise Failure(INPUT, f"{path}: not a text file") from None
    except OSError as e:
        raise Failure(USAGE, f"{path}: the config file cannot be opened: {e.strerror}") from None


def text_of(config: Config) -> str:
    """The INI text of a config."""
    return "\n".join(
        f"[{section}]\n" + "".join(f"{k} = {v}\n" for k, v in keys.items())
        for section, keys in config.items()
    )


def command_of(config: Config, asked: str | None, name: str) -> str:
    """The command a config is for: the one asked for, or the one whose section it has."""
    if asked is not None:
        return asked
    found = [c for c in COMMANDS if c in config or (c == "ode" and "equations" in config)]
    if len(found) != 1:
        what = "no section of a command" if not found else "sections " + " and ".join(found)
        raise Failure(USAGE, f"{name} has {what}: say --command {'|'.join(COMMANDS)}")
    return found[0]


def split_list(text: str) -> list[str]:
    """Entries of a list: commas at top level, not in parentheses or quotes."""
    parts, depth, quoted, begin = [], 0, False, 0
    for i, c in enumerate(text):
        if c == '"':
            quoted = not quoted
        elif not quoted:
            depth += (c == "(") - (c == ")")
            if c == "," and depth == 0:
                parts.append(text[begin:i].strip())
                begin = i + 1
    return parts + [text[begin:].strip()]


def with_absolute_paths(config: Config, folder: str) -> Config:
    """A copy whose input files are named absolutely, so that the INI may stand anywhere."""
    out: Config = {}
    for section, keys in config.items():
        out[section] = {}
        for key, value in keys.items():
            path, colon, rest = value.strip('"').partition(":")
            if (key in FILE_KEYS or path.endswith(FILE_ENDINGS)) and os.path.isfile(
                os.path.join(folder, path)
            ):
                value = f'"{os.path.abspath(os.path.join(folder, path))}{colon}{rest}"'
            out[section][key] = value
    return out
