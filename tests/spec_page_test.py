#!/usr/bin/env python3
"""scripts/run_tests on programs that end in different ways; scripts/spec_page and scripts/count_tests on reports that say different things."""

import pathlib
import subprocess
import sys
import unittest

import helpers
import runs

SOURCE = pathlib.Path(__file__).resolve().parent.parent
ALL = {f"R{number:02}": "run" for number in range(1, 29)}


class SpecPage(runs.Case):
    def page(self, statuses, *more):
        report, out = self.output / "tests.xml", self.output / "spec.md"
        outcome = {"fail": "<failure message=''/>", "notrun": "<skipped message='SKIP_RETURN_CODE=77'/>"}
        cases = "".join(f"<testcase name='Spec.{line}_Claim' status='{status}' time='1.5'>{outcome.get(status, '')}</testcase>"
                        for line, status in statuses.items())
        report.write_text(f"<testsuite><testcase name='Other.R01_Test' status='run'/>{cases}</testsuite>", encoding="utf-8")
        done = subprocess.run([sys.executable, SOURCE / "scripts/spec_page", report, "--out", out, *more], capture_output=True, text=True)
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

    def test_without_test_data_lines_may_be_skipped(self):
        done, lines = self.page({**ALL, "R05": "notrun"}, "--may-skip")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("27 of 28 lines hold.", lines)
        self.assertEqual(self.page({**ALL, "R03": "fail"}, "--may-skip")[0].returncode, 1)

    def test_only_listed_tests_may_be_skipped(self):
        self.page({**ALL, "R05": "notrun", "R06": "notrun", "R07": "fail"})
        listed = self.output / "needs_data.txt"
        listed.write_text("# why\nSpec.R05_Claim\n", encoding="utf-8")
        count = [sys.executable, SOURCE / "scripts/count_tests", self.output / "tests.xml"]
        self.assertEqual(subprocess.run(count, capture_output=True, text=True).stdout, "26 1 2\n")
        done = subprocess.run([*count, "--may-skip", listed], capture_output=True, text=True)
        self.assertEqual(done.stdout, "26 2 1\n")
        self.assertIn("Spec.R06_Claim: skipped", done.stderr)

    def test_a_table_without_a_line_is_refused(self):
        self.page(ALL)
        short = self.output / "lines.tsv"
        short.write_text("R01\twords\tcommand\n", encoding="utf-8")
        done = subprocess.run([sys.executable, SOURCE / "scripts/spec_page", self.output / "tests.xml", "--lines", short, "--out",
                               self.output / "x.md"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 1)
        self.assertIn("expected R01 to R28", done.stderr)


class RunTests(runs.Case):
    def statuses(self, exit_code, cases="<testcase classname='A' name='B' time='1'/>"):
        """Of a program that has the test A.B and ends like this. Its last argument names the report to write."""
        program = self.output / "fake_test"
        program.write_text("#!/bin/sh\nfor last; do :; done\n"
                           f"echo \"<testsuite>{cases}</testsuite>\" > ${{last#--gtest_output=xml:}}\nexit {exit_code}\n", encoding="utf-8")
        program.chmod(0o755)
        results, _ = helpers.module_of(SOURCE / "scripts/run_tests").run_program(str(program), [("A.B", str(self.output), 20)])
        return {result.get("name"): result.get("status") for result in results}

    def test_a_program_that_passes_all_and_ends_with_an_error_has_failed(self):
        self.assertEqual(self.statuses(0), {"A.B": "run"})
        self.assertEqual(self.statuses(66), {"A.B": "run", "fake_test.EndsWithoutAnError": "fail"})

    def test_a_failed_test_is_counted_once(self):
        self.assertEqual(self.statuses(1, "<testcase classname='A' name='B' time='1'><failure message='x'/></testcase>"), {"A.B": "fail"})
        self.assertEqual(self.statuses(134, ""), {"A.B": "fail"})


if __name__ == "__main__":
    unittest.main()
