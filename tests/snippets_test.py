#!/usr/bin/env python3
"""Every block of README and of the tutorials runs and prints what the page shows (tests/snippets.py).

    snippets_test.py Rules                 the rules of comparison themselves
    snippets_test.py PAGE.md [PAGE.md …]   these pages, relative to the sources

Run by ctest with the program's path as STOKER; pages use $STOKER_TEST_DATA. Exit status 77: the data, or what a page
needs, is missing.
"""

import os
import pathlib
import sys
import tempfile
import unittest

import snippets

os.environ.setdefault("STOKER_TEST_DATA", str(snippets.SOURCE.parent / "shared" / "data"))


class Rules(unittest.TestCase):
    def test_lines(self):
        for shown, got, same in [
                ("loss 0.4978  top-1 82.31 %", "loss 0.45 top-1 80.00 %", True),
                ("loss 0.4978", "loss 0.70", False),
                ("top-1 82.31 %", "top-1 70.00 %", False),
                ("10000 samples", "9999 samples", False),
                ("24.8 s, 2177 samples/s", "3.1 s, 9 samples/s", True),
                ("24.8 s", "24.8 m", False),
                ("report … written", "report a/b written", True),
                ("report … written", "report a/b", False),
                ("…/a.gz#3,Dress,0.81", "/data/a.gz#3,Dress,0.79", True),
                ("…/a.gz#3,Dress,0.81", "/data/a.gz#3,Dress,0.20", False),
                ("…/a.gz#3,Dress,0.81", "/data/a.gz#4,Dress,0.81", False)]:
            with self.subTest(shown=shown, got=got):
                self.assertEqual(snippets.same_line(shown, got), same)

    def run_text(self, text):
        with tempfile.TemporaryDirectory() as folder:
            page = pathlib.Path(folder, "page.md")
            page.write_text(text, encoding="utf-8")
            return snippets.run_page(page, folder, os.environ["STOKER"])

    def test_exports_hold_for_the_page(self):
        text = "```console\n$ export A=1\n$ export B=$A$A; true\n$ echo $B\n11\n```\n"
        self.assertEqual(self.run_text(text), (1, 0))

    def test_a_page_that_needs_something_missing_is_skipped(self):
        self.assertEqual(self.run_text("<!-- snippet: needs true -->\n"), (1, 0))
        with self.assertRaisesRegex(snippets.Missing, "needs false"):
            self.run_text("<!-- snippet: needs false -->\n```sh\nfalse\n```\n")

    def test_output(self):
        self.assertTrue(snippets.shows(["a", "...", "d"], ["a", "b", "c", "d"]))
        self.assertFalse(snippets.shows(["a", "d"], ["a", "b", "d"]))
        self.assertFalse(snippets.shows(["...", "e", "..."], ["a", "b"]))

    def test_blocks(self):
        text = "<!-- snippet: run touch x -->\n```console\n$ ls \\\n>  -a\nx\n\n$ pwd\n```\n<!-- snippet: skip needs root -->\n```sh\nrm\n```\n"
        steps = snippets.steps_of(text)
        self.assertEqual([step.kind for step in steps], ["script", "session", "skip"])
        self.assertEqual(snippets.commands_of(steps[1].text), [["ls \\\n -a", ["x"]], ["pwd", []]])
        with self.assertRaises(ValueError):
            snippets.steps_of("```python\nprint(1)\n```\n")

    def test_a_page_that_is_wrong_fails(self):
        for text, problem in [("```console\n$ echo a\nb\n```\n", "the page shows"), ("```sh\nfalse\n```\n", "ended with 1"),
                              ("<!-- snippet: source README.md -->\n```sh\nnot there\n```\n", "not a part")]:
            with self.assertRaisesRegex(snippets.Failed, problem):
                self.run_text(text)

    def test_a_line_of_control_c_interrupts(self):
        command = "$ trap 'echo saved; exit 3' INT; echo a; echo b; for i in {1..300}; do sleep 0.1; done; echo c\n"
        for shown, problem in [("a\nb\n^C\nsaved\n", None), ("a\n^C\nb\nkept\n", "the page shows"), ("c\n^C\nsaved\n", "ended")]:
            with self.subTest(shown=shown):
                text = f"<!-- snippet: exit 3 -->\n```console\n{command if problem != 'ended' else '$ echo a'}\n{shown}```\n"
                text = text.replace("\n\n", "\n")
                if problem:
                    with self.assertRaisesRegex(snippets.Failed, problem):
                        self.run_text(text)
                else:
                    self.run_text(text)


def main():
    if "Rules" in sys.argv:
        unittest.main()
    if not pathlib.Path(os.environ["STOKER_TEST_DATA"]).is_dir():
        print(f"skipped: needs the test data in {os.environ['STOKER_TEST_DATA']}")
        sys.exit(77)
    for name in sys.argv[1:]:
        with tempfile.TemporaryDirectory() as folder:
            try:
                ran, skipped = snippets.run_page(snippets.SOURCE / name, folder, os.environ["STOKER"])
            except snippets.Failed as error:
                print(f"FAILED {error}")
                sys.exit(1)
            except snippets.Missing as error:
                print(f"{name}: {error}")
                sys.exit(77)
        print(f"{name}: {ran} blocks ran, {skipped} were skipped")


if __name__ == "__main__":
    main()
