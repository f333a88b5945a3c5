#!/usr/bin/env python3
"""scripts/check_glyphs, which the build runs, on sources with and without texts that the plot font cannot draw."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

CHECK = pathlib.Path(__file__).resolve().parent.parent / "scripts" / "check_glyphs"


class Glyphs(unittest.TestCase):
    def checked(self, name, text):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, name)
            for each in (path.parent, pathlib.Path(folder, "stoker"), pathlib.Path(folder, "experiments")):
                each.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
            return subprocess.run([sys.executable, str(CHECK), "--root", folder], capture_output=True, text=True, check=False)

    def test_known_signs_pass(self):
        for text in ('auto a = "512²";', 'auto a = "X·Xᵀ, 3×3";', "// ⁴ in a comment", 'auto a = "\\xFF\\xD8\\xFF";', "auto c = U'⁴';",
                     'auto a = "\\x1b[K\\r";', "/* ⁴ */"):
            done = self.checked("stoker/report/plot.cc", text)
            self.assertEqual(done.returncode, 0, text + done.stderr)

    def test_a_literal_without_a_glyph_is_named(self):
        for text in ('auto a = fmt::format("{}⁴", side);', 'auto a = R"(⁴)";', 'auto a = "\\u2074";', 'auto a = "\\xE2\\x81\\xB4";',
                     "f('\"', \"⁴\");", "f(10'000, \"⁴\", 'x');", 'auto url = "http://⁴";'):
            done = self.checked("stoker/cli/plot.cc", "\n" + text)
            self.assertEqual(done.returncode, 1, text)
            self.assertIn("stoker/cli/plot.cc:2", done.stderr)
            self.assertIn("U+2074", done.stderr)

    def test_titles_of_experiments_are_texts_too(self):
        self.assertEqual(self.checked("experiments/some", "title = 'side⁴'").returncode, 1)

    def test_tests_may_say_anything(self):
        self.assertEqual(self.checked("stoker/report/font_test.cc", 'auto a = "⁴";').returncode, 0)


if __name__ == "__main__":
    unittest.main(verbosity=2)
