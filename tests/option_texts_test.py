#!/usr/bin/env python3
"""Options in texts of the modules below `cli`: named in backquotes, `on_error`, never as flags, and known to the program.

Run by ctest with the program's path as STOKER. Help texts of settings, shown for flags alone, are left out, and so are
whole commands in backquotes.
"""

import os
import pathlib
import re
import subprocess
import unittest

STOKER = os.environ["STOKER"]
SOURCE = pathlib.Path(__file__).resolve().parent.parent / "stoker"
TOKEN = re.compile(r'//[^\n]*|R"(\w*)\(.*?\)\1"|\'(?:\\.|[^\'\\])\'|"((?:\\.|[^"\\\n])*)"', re.DOTALL)
HELP = re.compile(r"\.help\s*=\s*(fmt::format\()?$")


def texts_of(code):
    """String literals, those side by side joined, without help texts and raw strings."""
    texts, end = [], -1
    for token in TOKEN.finditer(code):
        if token[2] is None:
            continue
        if end >= 0 and not code[end:token.start()].strip():
            texts[-1][1] += token[2]
        else:
            texts.append([HELP.search(code[:token.start()].rstrip()), token[2]])
        end = token.end()
    return [text for is_help, text in texts if not is_help]


def all_texts():
    for path in sorted([*SOURCE.rglob("*.cc"), *SOURCE.rglob("*.h")]):
        is_test = path.name.endswith("_test.cc") or path.name.startswith("test_")
        if not is_test and path.relative_to(SOURCE).parts[0] != "cli":
            for text in texts_of(path.read_text(encoding="utf-8")):
                yield path.relative_to(SOURCE), text


class OptionTexts(unittest.TestCase):
    def test_texts_are_found(self):
        code = '{.help = "as --data " "and --aa", .hint = "a"\n "b"}, // "--no"\n R"(--css)", "c \\" d"'
        self.assertEqual(texts_of(code), ["ab", "c \\\" d"])
        self.assertGreater(len(list(all_texts())), 1000)

    def test_no_text_has_flags(self):
        for path, text in all_texts():
            rest = re.sub(r"`(stoker|aws) [^`]*`", "", text)  # commands
            if "style=" in rest or "Slurm" in rest:  # of CSS and of Slurm
                continue
            self.assertNotRegex(rest, r"(?<![\w-])--[a-z{]", f"{path}: name the option in backquotes")

    def test_options_are_flags_of_the_program(self):
        page = subprocess.run([STOKER, "man"], capture_output=True, text=True, check=True, timeout=60).stdout
        flags = set(re.findall(r"--([a-z0-9-]+)", page.replace("\\-", "-")))
        named = {(str(path), name) for path, text in all_texts() for name, _ in re.findall(r"`([a-z0-9_]+)(=[^`]*)?`", text)}
        self.assertGreater(len(named), 30)
        for path, name in sorted(named):
            self.assertIn(name.replace("_", "-"), flags, path)


if __name__ == "__main__":
    unittest.main(verbosity=2)
