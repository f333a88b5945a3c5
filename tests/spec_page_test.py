#!/usr/bin/env python3
"""scripts/spec_page on reports of ctest that say different things."""

import pathlib
import subprocess
import sys
import unittest

import runs

SOURCE = pathlib.Path(__file__).resolve().parent.parent
ALL = {f"R{number:02}": "run" for number in range(1, 29)}


class SpecPage(runs.Case):
    def page(self, statuses):
        report, out = self.output / "tests.xml", self.output / "spec.md"
        outcome = {"fail": "<failure message=''/>", "notrun": "<skipped message='SKIP_RETURN_CODE=77'/>"}
        cases = "".join(f"<testcase name='Spec.{line}_Claim' status='{status}' time='1.5'>{outcome.get(status, '')}</testcase>"
                        for line, status in statuses.items())
        report.write_text(f"<testsuite><testcase name='Other.R01_Test' status='run'/>{cases}</testsuite>", encoding="utf-8")
        done = subprocess.run([sys.executable, SOURCE / "scripts/spec_page", report, "--out", out], capture_output=True, text=True)
        return done, out.read_text(encoding="utf-8").splitlines()

    def test_all_lines_hold(self):
        done, lines = self.page(ALL)
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = [line for line in lines if line.startswith("| R")]
        self.assertEqual([row[2:5] for row in rows], list(ALL))
        self.assertTrue(all(row.endswith("| passed |") for row in rows))
        self.assertIn("`Spec.R07_Claim` (passed, 1.5 s)", rows[6])
        self.assertIn("28 of 28 lines hold.", lines)

    def test_missing_failed_and_skipped_lines_are_named(self):
        statuses = {**ALL, "R03": "fail", "R05": "notrun"}
        del statuses["R28"]
        done, lines = self.page(statuses)
        self.assertEqual(done.returncode, 1)
        for words in ("R03: FAILED", "R05: skipped", "R28: no test"):
            self.assertIn(words, done.stderr)
        self.assertIn("25 of 28 lines hold.", lines)

    def test_a_table_without_a_line_is_refused(self):
        self.page(ALL)
        short = self.output / "lines.tsv"
        short.write_text("R01\twords\tcommand\n", encoding="utf-8")
        done = subprocess.run([sys.executable, SOURCE / "scripts/spec_page", self.output / "tests.xml", "--lines", short, "--out",
                               self.output / "x.md"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 1)
        self.assertIn("expected R01 to R28", done.stderr)


if __name__ == "__main__":
    unittest.main()
