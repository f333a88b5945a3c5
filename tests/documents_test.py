#!/usr/bin/env python3
"""What the docs name must exist: names of code in the files that are said to hold them, commands with their flags, links.

Run by ctest with the program's path as STOKER. Looks at docs/documents.md (tables "in the documents | here | where"),
at the commands of tests/spec/lines.tsv, and at commands and links of README.md and all of docs/.
"""

import functools
import os
import pathlib
import re
import shlex
import subprocess
import unittest

STOKER = os.environ["STOKER"]
SOURCE = pathlib.Path(__file__).resolve().parent.parent
PAGES = [SOURCE / "README.md", SOURCE / "ARCHITECTURE.md", SOURCE / "CONTRIBUTING.md", *sorted((SOURCE / "docs").rglob("*.md"))]
CODE = re.compile(r"`([^`]+)`")
NAME = re.compile(r"[A-Za-z_]\w*(::[A-Za-z_~]\w*)*")
# Scripts whose flags are their own business: each has --help.
SCRIPT = re.compile(r"(experiments|scripts|bench)/\S+")


def words_of(command):
    """As a shell would split it; what comes after an end of the command is left out."""
    words = []
    for word in shlex.split(command, comments=True):
        if word in {"|", ">", "&&", "||", ";", "&"}:
            break
        words.append(word)
    return words


@functools.lru_cache(maxsize=None)
def help_of(*commands):
    done = subprocess.run([STOKER, *commands, "--help"], capture_output=True, text=True, timeout=60)
    usage = f"Usage: stoker {' '.join(commands)} "  # else it is the help of the program itself
    return done.stdout if done.returncode == 0 and usage in done.stdout else ""


def flags_of(words):
    """Names of flags alone: --out of --out=x; -1 is a number."""
    return [word.split("=")[0] for word in words if re.match(r"--?[A-Za-z]", word)]


def check_stoker(words):
    """What is wrong with `stoker WORDS`, or nothing."""
    if words and words[0].startswith("-"):
        return None  # --version, --help
    commands = words[:2] if words[:1] == ["bench"] else words[:1]
    text = help_of(*commands)
    if not text:
        return f"there is no command `stoker {' '.join(commands)}`"
    rest = words[len(commands):]
    known = set(re.findall(r"(?<![\w-])--?[A-Za-z][\w-]*", text))
    if commands == ["sweep"] and "--" in rest:  # behind it come flags of train
        cut = rest.index("--")
        problem = check_stoker(["train", *rest[cut + 1:]])
        if problem:
            return problem
        rest = rest[:cut]
    for flag in flags_of(rest):
        if flag not in known:
            return f"`stoker {' '.join(commands)}` has no flag {flag}"
    return None


def check_script(words):
    path = SOURCE / words[0]
    if not path.is_file():
        return f"there is no {words[0]}"
    text = path.read_text(encoding="utf-8")
    for flag in flags_of(words[1:]):
        if flag.startswith("--") and flag not in text and flag != "--stoker" and flag != "--output":
            return f"{words[0]} has no flag {flag}"
    return None


def check_command(command):
    words = words_of(command.replace("…", "").replace("[", " ").replace("]", " "))
    while words and re.fullmatch(r"[A-Z_]+=\S*", words[0]):
        words = words[1:]
    if words[:1] in (["python3"], ["bash"], ["sudo"]):
        words = words[1:]
    if not words:
        return None
    if words[0] == "stoker" or words[0].endswith("/stoker"):
        return check_stoker(words[1:])
    return check_script(words) if SCRIPT.fullmatch(words[0]) else None


def commands_of(page):
    """Lines of shell blocks, with continued ones joined."""
    for block in re.findall(r"```sh\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL):
        yield from (line for line in block.replace("\\\n", " ").splitlines() if line.strip())


def name_tables(page):
    """(what the documents call it, cells "here" and "where") of every row."""
    inside = False
    for line in page.read_text(encoding="utf-8").splitlines():
        if not line.startswith("|"):
            inside = False
        elif line.startswith("| in the documents | here | where |"):
            inside = True
        elif inside and not line.startswith("|---"):
            yield [cell.strip() for cell in line.strip("|").split(" | ")]


class Names(unittest.TestCase):
    """docs/documents.md against the tree."""

    PAGE = SOURCE / "docs" / "documents.md"

    def test_every_name_is_in_the_files_beside_it(self):
        rows = list(name_tables(self.PAGE))
        self.assertGreater(len(rows), 40)
        for row in rows:
            with self.subTest(row=row[0]):
                self.assertEqual(len(row), 3, row)
                self.check_row(*row)

    def check_row(self, _, here, where):
        files = [SOURCE / name.split("#")[0] for name in CODE.findall(where)]
        self.assertTrue(files, "no file is named")
        for path in files:
            self.assertTrue(path.exists(), f"{path} is missing")
        texts = "".join(path.read_text(encoding="utf-8") for path in files if path.is_file())
        for code in CODE.findall(here):
            name = code.split("(")[0]
            if NAME.fullmatch(name):
                for part in name.split("::"):
                    self.assertRegex(texts, rf"(?<!\w){part}(?!\w)", f"{part} is not in {where}")
            elif code.startswith(("stoker ", "experiments/", "bench/", "scripts/")):
                self.assertIsNone(check_command(code))
            elif code.startswith("-"):
                self.assertIn(code.split()[0], help_of("train") + help_of("predict") + help_of("bench", "feed"))

    def test_every_name_of_the_specification_is_on_the_page(self):
        text = self.PAGE.read_text(encoding="utf-8")
        for name in ("utils.py", "sigmoid", "sigmoid_prime", "random_weights", "zeros_weights", "zeros_biases", "create_batches",
                     "add_elementwise", "max_cpu", "max_numba", "max_gpu", "max_kernel", "matmul_transpose_trivial",
                     "matmul_transpose_numba", "matmul_transpose_gpu", "matmul_kernel", "Worker.rotate", "Worker.shift",
                     "Worker.add_noise", "Worker.skew", "Worker.process_image", "Worker.run", "IPNeuralNetwork.fit",
                     "IPNeuralNetwork.create_batches", "number_of_batches", "MyQueue.put", "MyQueue.get", "MyQueue.length",
                     "MyQueue.empty", "correlation_numba", "correlation_gpu", "sobel_operator", "train_model",
                     "ImageFolderWithPaths", "show_input", "srun --gres=gpu:1 -c 8", "filters_test.py -c 1", "max_functions.py",
                     "7 filters"):
            self.assertIn(name, text)


class Commands(unittest.TestCase):
    """Every command that the docs show."""

    def test_commands_and_flags_exist(self):
        seen = 0
        for page in PAGES:
            for command in commands_of(page):
                seen += 1
                with self.subTest(page=page.name, command=command):
                    self.assertIsNone(check_command(command))
        self.assertGreater(seen, 50)

    def test_commands_of_the_specification_exist(self):
        for line in (SOURCE / "tests/spec/lines.tsv").read_text(encoding="utf-8").splitlines()[1:]:
            with self.subTest(line=line):
                command = line.split("\t")[2]
                self.assertIsNone(check_command(command))
                for path in re.findall(r"(?:docs|stoker)/[\w/.]+\w", command):
                    self.assertTrue((SOURCE / path).exists(), path)


class Architecture(unittest.TestCase):
    """ARCHITECTURE.md's tables against the tree."""

    TEXT = (SOURCE / "ARCHITECTURE.md").read_text(encoding="utf-8")

    def rows(self, heading):
        lines = self.TEXT.split(heading, 1)[1].splitlines()[2:]
        end = next(i for i, line in enumerate(lines) if not line.startswith("|"))
        return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines[:end]]

    def test_the_table_of_modules_is_the_tree_in_its_order(self):
        rows = self.rows("| module | holds | libraries |")
        code = (SOURCE / "scripts" / "check_modules").read_text(encoding="utf-8")
        order = re.findall(r'"([a-z]+)"', re.search(r"^MODULES = \[(.*?)\]", code, re.MULTILINE).group(1))
        self.assertEqual([row[0] for row in rows], [f"`{name}`" for name in order])
        self.assertEqual(sorted(order), sorted(path.name for path in (SOURCE / "stoker").iterdir() if path.is_dir()))
        self.assertTrue(all(2 <= len(row) <= 3 for row in rows), rows)

    def test_every_library_that_the_build_needs_is_explained(self):
        table = "\n".join(row[0].lower() for row in self.rows("| library | for |"))
        cmake = (SOURCE / "CMakeLists.txt").read_text(encoding="utf-8")
        names = re.findall(r"find_package\(([\w-]+) REQUIRED", cmake) + re.findall(r"pkg_check_modules\((\w+) REQUIRED", cmake)
        self.assertGreater(len(names), 12)
        other = {"HWY": "highway", "JPEG": "libjpeg-turbo", "PNG": "libpng", "TIFF": "libtiff", "WEBP": "libwebp", "SECCOMP": "libseccomp", "CURL": "libcurl",
                 "nlohmann_json": "nlohmann-json", "GTest": "googletest", "benchmark": "google benchmark"}
        for name in set(names) - {"PkgConfig", "Threads"}:
            self.assertIn(other.get(name, name).lower(), table)


def anchors_of(page):
    """As GitHub makes them."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


class Links(unittest.TestCase):
    def test_links_lead_somewhere(self):
        for page in PAGES:
            for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8")):
                if re.match(r"[a-z]+:", target):
                    continue
                path, _, anchor = target.partition("#")
                file = page if not path else page.parent / path
                with self.subTest(page=page.name, target=target):
                    self.assertTrue(file.exists())
                    if anchor and file.suffix == ".md":
                        self.assertIn(anchor, anchors_of(file))


if __name__ == "__main__":
    unittest.main()
