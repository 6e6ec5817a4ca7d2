"""The code blocks of documents: every one is marked, and those that are commands are run.

A mark is an HTML comment in front of a block (indented by four blanks, or fenced); a reader does not see it.

    <!-- run -->           commands of bash; takes less than a second. <!-- run: exit 4 --> one command that ends so
    <!-- long -->          the same, under the label `long`
    <!-- python -->        a text for Python; <!-- python: long --> where it needs what a long command made
    <!-- shows -->         lines that the block before prints, in this order; `...` stands for anything
    <!-- file: NAME -->    the block is written to NAME
    <!-- text -->          no command: syntax, a piece of a file or of another program
    <!-- elsewhere -->     commands that need what a test has not: a cluster, a GPU, packages, the reader's files
    <!-- setup             (until -->) commands that the reader does not see

A document is one session: its blocks run in order in a folder of their own, with the program on PATH, links to configs/ and jobs/,
a matrix A.mtx and a right-hand side b.txt. What is `long` may use what `run` made, so a long session runs both.

    docs.py lint TREE          marks, and links with their anchors, of all documents below TREE
    docs.py run|long FILE...   the sessions; prints what fails and exits 1
"""

import os
import re
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

AT_ONCE = 3  # sessions: a start of MPI mostly waits
MARKS = {"run", "long", "python", "shows", "file", "text", "elsewhere"}
MARK = re.compile(r"^<!-- (\w+)(?:: (.*?))? -->$")
SKIPPED = {"build", ".git", "results", "shared"}


class Block:
    def __init__(self, line, mark, detail, text):
        self.line, self.mark, self.detail, self.text = line, mark, detail, text


def blocks(path):
    """The blocks of a document and the complaints about its marks."""
    found, wrong = [], []
    lines = path.read_text().split("\n")
    mark, at, i = None, 0, 0

    def close(first, text):
        nonlocal mark
        if mark is None:
            wrong.append(f"{path}:{first + 1}: a code block without a mark (tests/support/docs.py lists them)")
        else:
            found.append(Block(first + 1, mark[0], mark[1], "\n".join(text) + "\n"))
        mark = None

    while i < len(lines):
        line = lines[i]
        comment = MARK.match(line)
        fence = re.match(r"^(```+)\w*$", line)
        if line == "<!-- setup":
            end = lines.index("-->", i)
            found.append(Block(i + 2, "setup", None, "\n".join(lines[i + 1 : end]) + "\n"))
            i = end
        elif comment:
            if comment[1] not in MARKS:
                wrong.append(f"{path}:{i + 1}: unknown mark '{comment[1]}', expected one of {', '.join(sorted(MARKS))}")
            if mark is not None:
                wrong.append(f"{path}:{at + 1}: a mark without a block")
            mark, at = (comment[1], comment[2]), i
        elif fence:
            end = lines.index(fence[1], i + 1)
            close(i, lines[i + 1 : end])
            i = end
        elif line.startswith("    ") and i > 0 and lines[i - 1] == "":
            end = i
            while end < len(lines) and (lines[end].startswith("    ") or lines[end] == ""):
                end += 1
            while lines[end - 1] == "":
                end -= 1
            close(i, [x[4:] for x in lines[i:end]])
            i = end - 1
        elif line != "" and mark is not None:
            wrong.append(f"{path}:{at + 1}: a mark without a block")
            mark = None
        i += 1
    return found, wrong


def expected_exit(block):
    return int(block.detail.removeprefix("exit ")) if block.detail and block.detail.startswith("exit ") else 0


def check_marks(path):
    found, wrong = blocks(path)
    before = None
    for block in found:
        commands = [c for c in block.text.replace("\\\n", " ").split("\n") if c.strip() and not c.strip().startswith("#")]
        if block.mark in ("run", "long") and block.detail and not re.fullmatch(r"exit [1-9]\d*", block.detail):
            wrong.append(f"{path}:{block.line}: '{block.detail}', expected `exit N`")
        elif block.mark in ("run", "long") and expected_exit(block) and len(commands) != 1:
            wrong.append(f"{path}:{block.line}: {len(commands)} commands in a block that ends with {block.detail}, expected one")
        if block.mark == "shows" and before not in ("run", "long", "python"):
            wrong.append(f"{path}:{block.line}: output shown without a command before it")
        if block.mark == "file" and not block.detail:
            wrong.append(f"{path}:{block.line}: expected `file: NAME`")
        before = block.mark
    return wrong


def slug(heading):
    """GitHub's anchor of a heading."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading.strip().lower())
    return re.sub(r"[^\w\- ]", "", text).replace(" ", "-")


def without_code(path):
    """The lines of a document with blocks and `code` blanked."""
    fenced, result = False, []
    for line in path.read_text().split("\n"):
        if line.startswith("```"):
            fenced = not fenced
        result.append("" if fenced or line.startswith("    ") else re.sub(r"`[^`]*`", "", line))
    return result


def anchors(path):
    seen, result = {}, set()
    for line in path.read_text().split("\n"):
        heading = re.match(r"^#+ (.*)$", line)
        if heading:
            name = slug(heading[1])
            result.add(name if name not in seen else f"{name}-{seen[name]}")
            seen[name] = seen.get(name, 0) + 1
    return result


def check_links(path):
    wrong = []
    for number, line in enumerate(without_code(path), 1):
        for target in re.findall(r"\]\(([^)\s]+)\)", line):
            if re.match(r"^\w+:", target):
                continue
            name, _, anchor = target.partition("#")
            file = path if name == "" else path.parent / name
            if not file.exists():
                wrong.append(f"{path}:{number}: a link to {target}, which is not there")
            elif anchor and anchor not in anchors(file):
                wrong.append(f"{path}:{number}: a link to {target}: no such heading")
    return wrong


def documents(tree):
    for folder, folders, names in os.walk(tree):
        folders[:] = sorted(f for f in folders if f not in SKIPPED and not f.startswith((".", "build")))
        yield from (Path(folder) / n for n in sorted(names) if n.endswith(".md"))


def lint(tree):
    wrong, looked_at = [], 0
    for path in documents(tree):
        if path.name == "CHANGELOG.md" or path.relative_to(tree).parts[0] == "tests":
            continue
        wrong += check_marks(path) + check_links(path)
        looked_at += 1
    return wrong or ([] if looked_at else [f"{tree}: no documents"])


def missing(shown, output):
    """The first line of `shown` that does not come in `output`, in order; None: all do."""
    lines = iter(line.rstrip() for line in output.split("\n"))
    for line in shown.rstrip("\n").split("\n"):
        if line.strip() in ("...", ""):
            continue
        pattern = re.compile(".*".join(re.escape(piece) for piece in line.rstrip().split("...")))
        if not any(pattern.fullmatch(candidate) for candidate in lines):
            return line
    return None


def prepare(folder, program, source):
    folder.mkdir()
    for name in ("configs", "jobs"):
        (folder / name).symlink_to(source / name)
    (folder / "build/src/app").mkdir(parents=True)
    (folder / "build/src/app/halosweep").symlink_to(program)
    side = 12  # the five-point matrix on 12 x 12 points, one triangle
    entries = [(i, i, 4) for i in range(1, side * side + 1)]
    entries += [(i + 1, i, -1) for i in range(1, side * side) if i % side]
    entries += [(i + side, i, -1) for i in range(1, side * side - side + 1)]
    text = "%%MatrixMarket matrix coordinate real symmetric\n" + f"{side * side} {side * side} {len(entries)}\n"
    (folder / "A.mtx").write_text(text + "".join(f"{i} {j} {v}\n" for i, j, v in entries))
    (folder / "b.txt").write_text("1\n" * side * side)


def session(path, kinds, folder, python):
    """Runs the blocks of one document whose mark is in `kinds`."""
    wrong, output, spent = [], "", 0.0
    environment = dict(os.environ, OMPI_MCA_orte_tmpdir_base=str(folder))  # Open MPI's own files: sessions must not meet there
    for block in blocks(path)[0]:
        where = f"{path}:{block.line}"
        if block.mark == "file":
            (folder / block.detail).write_text(block.text)
        elif block.mark == "shows" and output is not None:
            line = missing(block.text, output)
            if line is not None:
                wrong.append(f"{where}: not printed: {line}\n--- printed was\n{output}")
        elif (block.mark if block.detail != "long" else "long") in kinds:
            words = [python, "-c"] if block.mark == "python" else ["bash", "-euc"]
            begin = time.monotonic()
            limit = 3600 if block.mark == "long" else 60
            ran = subprocess.run(words + [block.text], cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                 stderr=subprocess.STDOUT, text=True, errors="replace", timeout=limit, check=False)
            output = ran.stdout
            seconds = time.monotonic() - begin
            spent += seconds
            if os.environ.get("HALOSWEEP_DOCS_TIMES"):
                print(f"{seconds:6.2f} s  {where}")
            if ran.returncode != expected_exit(block):
                wrong.append(f"{where}: exit {ran.returncode}, expected {expected_exit(block)}\n{block.text}--- printed was\n{output}")
        elif block.mark in ("run", "long", "python"):
            output = None  # what is shown next belongs to a command that was left out
    print(f"{spent:6.2f} s  {path}")
    return wrong


def main():
    if sys.argv[1] == "lint":
        wrong = lint(Path(sys.argv[2]))
    else:
        kinds = {"setup", "run", "python"} | ({"long"} if sys.argv[1] == "long" else set())
        program = Path(os.environ["HALOSWEEP"])
        source = Path(os.environ["HALOSWEEP_SOURCE"])
        os.environ["PATH"] = f"{program.parent}:{os.environ['PATH']}"
        os.environ["HOME"] = os.environ["XDG_CACHE_HOME"] = os.getcwd()

        def one(number, name):
            folder = Path(f"session-{number}").absolute()
            prepare(folder, program, source)
            return session(Path(name), kinds, folder, os.environ["HALOSWEEP_PYTHON"])

        with ThreadPoolExecutor(AT_ONCE) as pool:
            wrong = [line for found in pool.map(one, *zip(*enumerate(sys.argv[2:]))) for line in found]
    print("\n".join(wrong), file=sys.stderr)
    sys.exit(1 if wrong else 0)


main()
