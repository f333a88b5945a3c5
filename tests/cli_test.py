#!/usr/bin/env python3
"""Tries the program as its users do: real data, wrong words, a broken file, no disk, a terminal.

Run by ctest with the program's path as STOKER. Needs Fashion-MNIST (Debian's dataset-fashion-mnist).
"""

import gzip
import json
import os
import pathlib
import pty
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

STOKER = os.environ["STOKER"]
SOURCE = pathlib.Path(__file__).resolve().parent.parent
FASHION = ["--data", "fashion-mnist"]
# By the files, not by the program: it must not skip its own tests by failing.
HAS_FASHION = any(
    pathlib.Path(place, "fashion-mnist").is_dir()
    for place in (os.environ.get("STOKER_DATA", "/nonexistent"), "/usr/share/datasets")
)
needs_fashion = unittest.skipUnless(HAS_FASHION, "needs Fashion-MNIST: apt install dataset-fashion-mnist")


def run(*arguments, env=None, **options):
    environment = {**os.environ, **(env or {})}
    return subprocess.run([STOKER, *arguments], capture_output=True, text=True, env=environment, timeout=120, **options)


def bench(*arguments, env=None):
    done = run("bench", "feed", *FASHION, "--aa", "mnist", "--json", *arguments, env=env)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@needs_fashion
class BenchFeed(unittest.TestCase):
    """The digest of two epochs of augmented Fashion-MNIST."""

    @classmethod
    def setUpClass(cls):
        cls.whole = bench("--epochs", "2", "--workers", "1")

    def test_prints_the_promised_fields(self):
        for key in ("digest", "samples_per_second", "wait_share", "workers", "simd"):
            self.assertIn(key, self.whole)
        self.assertEqual(self.whole["samples"], 120000)
        self.assertEqual(self.whole["workers"], 1)

    def test_digest_does_not_depend_on_the_number_of_workers(self):
        for workers in ("2", "3", "8"):
            self.assertEqual(bench("--epochs", "2", "--workers", workers)["digest"], self.whole["digest"])

    def test_digest_does_not_depend_on_the_instruction_set(self):
        listed = run("bench", "feed", *FASHION, "--simd", "nonsense")
        self.assertEqual(listed.returncode, 1)
        names = re.search(r"one of ([a-z0-9_, ]+), found", listed.stderr).group(1).split(", ")
        self.assertGreaterEqual(len(names), 2)
        for name in names:
            result = bench("--epochs", "2", env={"STOKER_SIMD": name})
            self.assertEqual(result["simd"], name)
            self.assertEqual(result["digest"], self.whole["digest"], name)

    def test_a_run_from_the_middle_is_the_tail_of_the_whole(self):
        for place in ("0:64", "1:0", "1:32000", "1:33333"):
            tail = bench("--epochs", "2", "--from", place)
            self.assertEqual(tail["digest"], bench("--epochs", "2", "--digest-from", place)["digest"], place)
            self.assertNotEqual(tail["digest"], self.whole["digest"])

    def test_seed_and_policy_change_the_digest(self):
        self.assertNotEqual(bench("--epochs", "2", "--seed", "1")["digest"], self.whole["digest"])
        self.assertNotEqual(bench("--epochs", "2", "--aa", "noise(0.1)")["digest"], self.whole["digest"])


class WrongUse(unittest.TestCase):
    def expect(self, code, *words, arguments):
        done = run(*arguments)
        self.assertEqual(done.returncode, code, done.stderr)
        for word in words:
            self.assertIn(word, done.stderr)

    def test_messages_say_what_was_expected_and_what_to_do(self):
        self.expect(2, "subcommand", arguments=[])
        self.expect(2, "--data is required", arguments=["preview"])
        self.expect(1, "Did you mean fashion-mnist?", arguments=["preview", "--data", "fashion-minst"])
        self.expect(1, "does not exist", arguments=["preview", "--data", "/nonexistent/folder"])
        self.expect(1, "Did you mean rotate?", arguments=["preview", *FASHION, "--aa", "rotat(1)"])
        self.expect(1, "EPOCH:POSITION", arguments=["bench", "feed", *FASHION, "--from", "7"])
        self.expect(1, "at most 60000", arguments=["bench", "feed", *FASHION, "--from", "0:60001"])

    def test_missing_data_lists_files_and_places(self):
        with tempfile.TemporaryDirectory() as empty:
            done = run("preview", "--data", "mnist", env={"STOKER_DATA": empty, "STOKER_TEST_DATA": empty,
                                                          "XDG_CACHE_HOME": empty, "HOME": empty})
            if done.returncode == 0:
                self.skipTest("MNIST is installed system-wide")
            self.assertEqual(done.returncode, 1)
            self.assertIn("train-images-idx3-ubyte", done.stderr)
            self.assertIn(empty, done.stderr)

    @needs_fashion
    def test_no_disk(self):
        self.expect(1, "No space left", arguments=["preview", *FASHION, "-o", "/dev/full"])
        self.expect(1, "/nonexistent/sheet.png", arguments=["preview", *FASHION, "-o", "/nonexistent/sheet.png"])
        with open("/dev/full", "w", encoding="utf-8") as full:
            done = subprocess.run([STOKER, "ops"], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("No space left", done.stderr)
        self.expect(1, "cannot write the batch",
                    arguments=["bench", "feed", *FASHION, "--save-batch", "/dev/full"])

    @needs_fashion
    def test_damaged_files_are_named_with_the_place(self):
        with tempfile.TemporaryDirectory() as folder:
            for path in pathlib.Path("/usr/share/datasets/fashion-mnist").glob("*.gz"):
                shutil.copy(path, folder)
            images = pathlib.Path(folder, "train-images-idx3-ubyte.gz")
            whole = images.read_bytes()
            images.write_bytes(whole[: len(whole) // 2])
            self.expect(1, str(images), arguments=["preview", "--data", folder])
            images.write_bytes(gzip.compress(b"not an IDX file at all"))
            self.expect(1, str(images), "byte", arguments=["preview", "--data", folder])


@needs_fashion
class Preview(unittest.TestCase):
    def test_writes_a_png_of_a_sensible_size(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "sheet.png")
            done = run("preview", *FASHION, "--aa", "mnist", "-n", "10", "-o", str(path))
            self.assertEqual(done.returncode, 0, done.stderr)
            data = path.read_bytes()
            self.assertEqual(data[:8], b"\x89PNG\r\n\x1a\n")
            width, height = int.from_bytes(data[16:20], "big"), int.from_bytes(data[20:24], "big")
            self.assertGreater(width, 9 * 56)
            self.assertGreater(height, 10 * 56)


class Documents(unittest.TestCase):
    def test_the_page_of_operations_is_what_the_program_says(self):
        page = (SOURCE / "docs" / "operations.md").read_text(encoding="utf-8")
        self.assertEqual(run("ops", "--format", "markdown").stdout, page,
                         "make it anew: stoker ops --format markdown > docs/operations.md")

    def test_ops_as_json_parses(self):
        names = [operation["name"] for operation in json.loads(run("ops", "--format", "json").stdout)["operations"]]
        self.assertIn("rotate", names)


@needs_fashion
class Terminal(unittest.TestCase):
    """A person sees a bar; a pipe gets lines without control characters."""

    ARGUMENTS = ["bench", "feed", *FASHION, "--aa", "mnist", "--epochs", "3", "--workers", "1", "--simd", "reference"]

    def test_a_terminal_gets_a_bar(self):
        main, other = pty.openpty()
        process = subprocess.Popen([STOKER, *self.ARGUMENTS], stdout=subprocess.DEVNULL, stderr=other)
        os.close(other)
        seen = b""
        try:
            while chunk := os.read(main, 4096):
                seen += chunk
        except OSError:  # the other side closed
            pass
        self.assertEqual(process.wait(timeout=60), 0)
        self.assertIn("█".encode(), seen)
        self.assertIn(b"samples/s", seen)

    def test_a_pipe_gets_plain_lines(self):
        done = run(*self.ARGUMENTS)
        self.assertNotIn("\r", done.stderr)
        self.assertNotIn("\x1b", done.stderr)
        self.assertRegex(done.stderr, r"timing: .*samples/s")


if __name__ == "__main__":
    outcome = unittest.main(verbosity=2, exit=False).result
    if not outcome.wasSuccessful():
        sys.exit(1)
    sys.exit(77 if outcome.testsRun == len(outcome.skipped) else 0)  # 77: ctest's "skipped" here
