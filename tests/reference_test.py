#!/usr/bin/env python3
"""The pages of docs/reference against the program and the sources: nothing is missing there, and nothing is there that is not.

Run by ctest with the program's path as STOKER.
"""

import ast
import json
import os
import pathlib
import re
import subprocess
import sys
import unittest

from runs import Case

STOKER = os.environ["STOKER"]
SOURCE = pathlib.Path(__file__).resolve().parent.parent
PAGES = SOURCE / "docs" / "reference"
CODE = re.compile(r"`([^`]+)`")


def first_cells(text):
    """The first cell of every row of a table, without the rows of their heads."""
    return [row.split("|")[1].strip() for row in re.findall(r"^\|(?!---).*$", text, re.MULTILINE)]


def page_text(name):
    return (PAGES / name).read_text(encoding="utf-8")


def sources(*suffixes):
    """Product code alone, as (path, text)."""
    for path in sorted([*(SOURCE / "stoker").rglob("*"), *(SOURCE / "python").rglob("*")]):
        name = path.name
        if path.suffix in suffixes and "_test." not in name and "_bench." not in name and not name.startswith("test_"):
            yield path, path.read_text(encoding="utf-8")


def run_script(name, *arguments):
    return subprocess.run([sys.executable, SOURCE / "scripts" / name, *arguments], capture_output=True, text=True, timeout=300)


class Commands(unittest.TestCase):
    def test_the_page_is_what_the_program_says(self):
        done = run_script("command_page", "--check")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


class Environment(unittest.TestCase):
    OTHERS = {"AWS4"}  # literals of the same files that are no variables
    NAME = r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*"

    def variables_in_sources(self):
        found = set()
        for _, text in sources(".cc", ".h", ".py", ".cu"):
            literals = set(re.findall(rf'"({self.NAME})=?"', re.sub(r"//.*", "", text)))
            reads = re.search(r"getenv|nvironment|environ\b", text)
            found |= literals if reads else {name for name in literals if name.startswith("STOKER_")}
        return found - self.OTHERS

    def test_every_variable_that_is_read_is_on_the_page(self):
        read = self.variables_in_sources()
        self.assertGreater(len(read), 40)
        shown = {name for cell in first_cells(page_text("environment.md")) for name in CODE.findall(cell)}
        self.assertEqual(sorted(shown), sorted(read))


class Operations(unittest.TestCase):
    def test_the_images_are_what_the_program_makes(self):
        done = run_script("operation_page", "--check")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


class Recipes(Case):
    def test_the_page_is_what_the_source_says(self):
        done = run_script("recipe_page", "--check")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_the_page_has_the_recipes_of_the_program(self):
        settings = json.loads(subprocess.run([STOKER, "settings", "--format", "json"], capture_output=True, text=True, check=True).stdout)
        known = next(each["help"] for each in settings if each["name"] == "recipe").split(": ")[1].split(", ")
        self.assertEqual(re.findall(r"^## `(.*)`$", page_text("recipes.md"), re.MULTILINE), known)

    def test_a_run_has_the_settings_of_its_recipe_and_flags_and_files_come_before_it(self):
        """Needs Fashion-MNIST."""
        (self.output / "own.yaml").write_text("weight-decay: 0.125\n", encoding="utf-8")
        subprocess.run([STOKER, "train", "fashion-mnist", "--model", "mlp:784,4,10", "--recipe", "small-images", "--epochs", "1",
                        "--batches-per-epoch", "1", "--config", "own.yaml", "--no-report", "--experiment", "recipe"], cwd=self.output,
                       check=True, capture_output=True, timeout=120)
        args = dict(line.split(": ", 1) for line in (self.output / "runs/recipe/args.yaml").read_text(encoding="utf-8").splitlines()
                    if ": " in line)
        text = page_text("recipes.md").split("## `small-images`")[1].split("##")[0]
        shown = dict(re.findall(r"^\| `(.*)` \| `(.*)` \|$", text, re.MULTILINE))
        self.assertGreater(len(shown), 5)
        for name, value in {**shown, "epochs": "1", "weight-decay": "0.125"}.items():
            self.assertEqual(args[name].strip('"'), value, name)


class FileFormats(Case):
    """Needs Fashion-MNIST."""

    PAGE = page_text("file-formats.md")
    CODES = set(CODE.findall(re.sub(r"```.*?```", "", PAGE, flags=re.DOTALL)))

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        subprocess.run([STOKER, "train", "fashion-mnist", "--model", "mlp:784,4,10", "--epochs", "2", "--batches-per-epoch", "3",
                        "--tensorboard", "--log-json", "--experiment", "small"], cwd=cls.output, check=True, capture_output=True,
                       timeout=300)
        cls.trained = cls.output / "runs/small"

    def test_every_file_of_a_run_is_on_the_page(self):
        files = [str(path.relative_to(self.trained)) for path in self.trained.rglob("*") if path.is_file()]
        self.assertGreater(len(files), 15)
        for name in files:
            name = re.sub(r"step-\d+", "step-000000001234", re.sub(r"tfevents\..*", "tfevents.…", name))
            self.assertIn(name, self.CODES)

    def test_every_column_of_its_tables_is_on_the_page(self):
        for path in self.trained.glob("*.csv"):
            section = self.PAGE.split(f"### {path.name}\n")[1].split("\n#")[0]
            for column in path.read_text(encoding="utf-8").splitlines()[0].split(","):
                self.assertIn(f"`{column}`", section, path.name)

    def test_every_key_of_run_json_and_of_lines_is_on_the_page(self):
        section = self.PAGE.split("### run.json\n")[1].split("\n#")[0]
        for key in json.loads((self.trained / "run.json").read_text(encoding="utf-8")):
            self.assertIn(f"`{key}`", section)
        events = {json.loads(line)["event"] for line in (self.trained / "log.jsonl").read_text(encoding="utf-8").splitlines()}
        self.assertEqual(events, {"step", "epoch", "test"})

    def test_every_key_of_metadata_is_on_the_page_and_no_other(self):
        named = set()
        for path, text in sources(".cc", ".h"):
            if path.parent.name in ("io", "nn", "train"):
                named |= set(re.findall(r'k\w+ = "(stoker\.\w+)"', text))
        self.assertGreater(len(named), 18)
        self.assertEqual({code for code in self.CODES if re.fullmatch(r"stoker\.\w+", code)}, named)

    def test_the_tensors_of_predictions_are_on_the_page(self):
        data = (self.trained / "predictions.safetensors").read_bytes()
        for name in json.loads(data[8:8 + int.from_bytes(data[:8], "little")]):
            self.assertTrue(name == "__metadata__" or name in self.CODES, name)

    def test_the_columns_of_predictions_are_on_the_page(self):
        for flags in (["--topk", "2"], ["--format", "jsonl"]):
            subprocess.run([STOKER, "predict", "fashion-mnist[0:3]", "--weights", "small", "--out", "rows", "--force", *flags],
                           cwd=self.output / "runs", check=True, capture_output=True, timeout=120)
            line = (self.output / "runs/rows").read_text(encoding="utf-8").splitlines()[0]
            for name in line.split(",") if flags[0] == "--topk" else json.loads(line):
                self.assertIn(name, self.CODES)


class Interfaces(unittest.TestCase):
    """Functions for C, headers for C++ and names for Python."""

    def test_every_function_for_c_is_on_the_page_and_no_other(self):
        declared = set()
        for name in ("stoker_predict.h", "stoker_preprocess.h"):
            text = (SOURCE / "stoker" / name).read_text(encoding="utf-8")
            declared |= set(re.findall(r"STOKER_API [^;(]*?(stoker_\w+)\(", text))
        self.assertGreater(len(declared), 18)
        cells = first_cells(page_text("c-api.md"))
        self.assertEqual(sorted(name for cell in cells for name in CODE.findall(cell) if name.startswith("stoker_")), sorted(declared))
        text = page_text("c-api.md")
        for name, number in re.findall(r"(STOKER_\w+) = (\d)", (SOURCE / "stoker/stoker_preprocess.h").read_text(encoding="utf-8")):
            self.assertRegex(text, rf"`{name}` \|" if "HW" in name else rf"`{name}` \| {number} \|")

    def test_every_public_header_is_on_the_page_and_no_other(self):
        text = (SOURCE / "cmake/StokerPackage.cmake").read_text(encoding="utf-8")
        installed = set()
        for component in ("FEED", "TRAIN"):
            installed |= set(re.findall(r"stoker/[\w/]+\.h", re.search(rf"set\(STOKER_{component}_HEADERS(.*?)\)", text, re.DOTALL)[1]))
        shown = [name for cell in first_cells(page_text("cpp-api.md")) for name in CODE.findall(cell) if name.endswith(".h")]
        self.assertEqual(sorted(shown), sorted(installed))

    def test_every_public_name_for_python_is_on_the_page_and_no_other(self):
        for module, heading in (("__init__", "stoker"), ("program", "stoker.program"), ("transforms", "stoker.transforms")):
            tree = ast.parse((SOURCE / f"python/stoker/{module}.py").read_text(encoding="utf-8"))
            public = next(ast.literal_eval(each.value) for each in tree.body
                          if isinstance(each, ast.Assign) and each.targets[0].id == "__all__")
            cells = first_cells(page_text("python-api.md").split(f"\n## {heading}\n")[1].split("\n## ")[0])
            self.assertEqual(sorted(name for cell in cells for name in CODE.findall(cell)), sorted(public))

    def test_every_member_of_the_feed_is_on_the_page(self):
        tree = ast.parse((SOURCE / "python/stoker/feed.py").read_text(encoding="utf-8"))
        feed = next(each for each in tree.body if isinstance(each, ast.ClassDef) and each.name == "Feed")
        cells = first_cells(page_text("python-api.md").split("\n## stoker.Feed\n")[1].split("\n## ")[0])
        shown = {name.split("(")[0] for cell in cells for name in CODE.findall(cell)}
        for each in feed.body:
            if isinstance(each, ast.FunctionDef) and not each.name.startswith("_"):
                self.assertIn(each.name, shown)


class ExitCodes(unittest.TestCase):
    def test_every_exit_code_of_the_sources_is_on_the_page(self):
        text = (SOURCE / "stoker/cli/command.h").read_text(encoding="utf-8")
        codes = {int(code) for code in re.findall(r"constexpr int k\w+ExitCode = (\d+);", text)}
        for path, text in sources(".cc"):
            if path.parent.parts[-2:] == ("stoker", "cli") or path.parent.name == "commands":
                codes |= {int(code) for code in re.findall(r"ExitRequest\{(\d+)\}", text)}
        shown = {int(cell) for cell in first_cells(page_text("exit-codes.md")) if cell.isdigit()}
        self.assertEqual(shown, codes | {0})


if __name__ == "__main__":
    unittest.main()
