"""How the commands end: halosweep's exit codes, one line of text, no traceback for a user's
mistake."""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

USAGE, INPUT, PARTIAL, IO, UNAVAILABLE = 2, 3, 4, 6, 7  # src: docs/handbook.md, Exit codes

PACKAGES = {"numpy": "python3-numpy", "h5py": "python3-h5py", "matplotlib": "python3-matplotlib"}
LAUNCHERS = ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE")


class Failure(Exception):
    """Ends a command with `code` after `text` has been printed."""

    def __init__(self, code: int, text: str) -> None:
        super().__init__(text)
        self.code = code


class Parser(argparse.ArgumentParser):
    """Whole option names only, and errors in halosweep's words."""

    def __init__(self, **more: Any) -> None:
        more.setdefault("formatter_class", argparse.RawDescriptionHelpFormatter)
        super().__init__(allow_abbrev=False, **more)

    def error(self, message: str) -> NoReturn:
        """Ends with 2."""
        raise Failure(USAGE, f"{message} ({self.prog} --help)")


def say(name: str, text: str) -> None:
    """One line of log: to stderr, as halosweep's own."""
    print(f"halosweep {name}: {text}", file=sys.stderr, flush=True)


def same_dashes(words: Sequence[str]) -> list[str]:
    """In names of options - and _ are the same, as for halosweep itself."""
    out = []
    for word in words:
        name, equals, value = word.partition("=")
        out.append(name.replace("_", "-") + equals + value if word.startswith("--") else word)
    return out


def counted(count: int, what: str) -> str:
    """A number and what it counts: 1 rank, 2 ranks."""
    return f"{count} {what}{'s' * (count != 1)}"


def advice(e: ModuleNotFoundError) -> str:
    """Which package this Python lacks, and how to get it; any other module is a bug."""
    package = PACKAGES.get((e.name or "").split(".")[0])
    if package is None:
        raise e
    return (
        f"{sys.executable} has no {e.name}: install it (Debian: {package}; or pip install "
        f"{e.name}), or name a Python that has it: HALOSWEEP_PYTHON=/usr/bin/python3"
    )


def run(name: str, command: Callable[[list[str]], int], words: Sequence[str] | None = None) -> int:
    """Runs `command`; the exit code it returns or that its failure has."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # any name can be printed, as to stderr
    try:
        for variable in LAUNCHERS:
            if os.environ.get(variable, "1") != "1":
                raise Failure(USAGE, f"`{name}` is one process: start it without mpirun or srun")
        code = command(same_dashes(sys.argv[1:] if words is None else words))
        sys.stdout.flush()
        return code
    except Failure as e:
        say(name, f"error: {e}")
        return e.code
    except ModuleNotFoundError as e:
        say(name, f"error: {advice(e)}")
        return UNAVAILABLE
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return IO
    except KeyboardInterrupt:
        say(name, "interrupted")
        return 130
    except OSError as e:
        say(name, f"error: {e}")
        return IO
