#!/usr/bin/env python3
"""What bash completes for the program, asked as bash asks; and the manual page as man shows it.

Run by ctest with the program's path as STOKER. The scripts of zsh and fish are checked by those shells where they are
installed; their text is held by shell_completion_test.cc.
"""

import os
import re
import shutil
import subprocess
import unittest

STOKER = os.environ["STOKER"]


def program(*arguments):
    return subprocess.run([STOKER, *arguments], check=True, capture_output=True, text=True, timeout=60).stdout


def completions(*words):
    """Of the last word, as bash would list them."""
    script = program("completion", "bash") + """
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _stoker; printf '%s\\n' "${COMPREPLY[@]}"
"""
    done = subprocess.run(["bash", "-c", script, "bash", "stoker", *words], check=True, capture_output=True, text=True,
                          timeout=60)
    return done.stdout.split()


class Completion(unittest.TestCase):
    def test_commands(self):
        self.assertEqual(completions("tr"), ["train"])
        self.assertLessEqual({"train", "eval", "report", "sweep", "doctor"}, set(completions("")))

    def test_flags_of_the_command(self):
        self.assertEqual(completions("train", "--batch-"), ["--batch-size"])
        self.assertIn("--out", completions("predict", "x", "--o"))
        self.assertIn("--workers", completions("bench", "feed", "--"))

    def test_values(self):
        self.assertEqual(completions("train", "--features", "ca"), ["cached"])
        self.assertEqual(completions("report", "--format", ""), ["html", "md"])
        self.assertIn("resnet18", completions("train", "--model", "res"))
        self.assertEqual(completions("train", "--recipe", "plates-"), ["plates-fast"])
        self.assertIn("rotate", completions("preview", "--aa", "rot"))

    def test_files_are_left_to_the_shell(self):
        self.assertEqual(completions("report", "ru"), [])

    def test_every_flag_of_the_help_is_completed(self):
        known = set(completions("train", "-"))
        words = re.findall(r"^ +(?:-\w,)?(--[a-z][a-z0-9-]*)", program("train", "--help"), re.MULTILINE)
        self.assertGreater(len(words), 50)
        for word in words:
            self.assertIn(word, known)

    def test_other_shells_accept_their_scripts(self):
        for shell, check in (("zsh", ["zsh", "-n"]), ("fish", ["fish", "--no-execute"])):
            script = program("completion", shell)
            self.assertIn("batch-size", script)
            if shutil.which(shell):
                subprocess.run([*check, "/dev/stdin"], input=script, text=True, check=True, timeout=60)


class Manual(unittest.TestCase):
    def test_roff_has_no_complaint_and_every_command(self):
        page = program("man")
        for command in ("train", "eval", "predict", "report", "sweep", "bench feed", "doctor"):
            self.assertIn(f".SH \\fBstoker {command}\\fR", page)
        if shutil.which("groff"):
            done = subprocess.run(["groff", "-man", "-Tutf8", "-Kutf8", "-ww"], input=page, capture_output=True, text=True,
                                  timeout=60)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertIn("resumed", done.stdout)


if __name__ == "__main__":
    unittest.main(verbosity=2)
