#!/usr/bin/env python3
"""Lines of the specification that only the program and the docs can show: R12, R20, R27 and R28.

Run by ctest with the program's path as STOKER, one class for each line. Needs Fashion-MNIST (Debian's dataset-fashion-mnist), and
the plates in $STOKER_TEST_DATA (default ../shared/data).
"""

import csv
import json
import os
import pathlib
import re
import subprocess
import sys
import time
import unittest

SOURCE = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(SOURCE / "tests"))
import runs  # noqa: E402

STOKER = os.environ["STOKER"]
os.environ.setdefault("STOKER_TEST_DATA", str(SOURCE.parent / "shared" / "data"))
PLATES = pathlib.Path(os.environ["STOKER_TEST_DATA"]) / "plates"
needs_plates = unittest.skipUnless(PLATES.is_dir(), "needs the plates in $STOKER_TEST_DATA/plates")


def must(*arguments, **options):
    done = subprocess.run([STOKER, *map(str, arguments)], capture_output=True, text=True, timeout=300, **options)
    assert done.returncode == 0, f"{arguments}\n{done.stdout}\n{done.stderr}"
    return done


def children_of(pid):
    """Processes below this one, at any depth: isolated workers are made by a process of their own."""
    below, found = {}, []
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue  # it has ended
        below.setdefault(int(fields[1]), []).append(int(stat.parent.name))
    todo = [pid]
    while todo:
        new = below.get(todo.pop(), [])
        found += new
        todo += new
    return found


def threads_of(pid):
    try:
        return len(list(pathlib.Path(f"/proc/{pid}/task").iterdir()))
    except OSError:
        return 0


class R12_TheDocsAnswerTheThreeQuestions(unittest.TestCase):
    """Why threads, when processes, what limits the speed-up; and what the answers say is so."""

    PAGE = (SOURCE / "docs" / "workers.md").read_text(encoding="utf-8")
    FEED = ["bench", "feed", "--data", "fashion-mnist", "--aa", "mnist", "--workers", "3", "--json"]

    def section(self, title):
        found = re.search(rf"^## {re.escape(title)}\n(.*?)(?=^## |\Z)", self.PAGE, re.DOTALL | re.MULTILINE)
        self.assertIsNotNone(found, f"docs/workers.md has no section \"{title}\"")
        return found.group(1)

    def test_the_three_answers_are_there(self):
        self.assertIn("interpreter lock", self.section("Why threads here and processes in Python"))
        self.assertIn("--isolate", self.section("When processes are still right"))
        limits = self.section("What limits the speed-up")
        for word in ("cores", "Amdahl", "Memory", "disk"):
            self.assertIn(word, limits)

    def seen(self, *flags):
        """The largest numbers of child processes and of threads while the feed runs, and what it printed."""
        children = threads = 0
        with subprocess.Popen([STOKER, *self.FEED, *flags], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
            while process.poll() is None:
                children = max(children, len(children_of(process.pid)))
                threads = max(threads, threads_of(process.pid))
                time.sleep(0.01)
            self.assertEqual(process.returncode, 0)
            return children, threads, json.loads(process.stdout.read())

    def test_workers_are_threads_and_with_isolate_processes_and_give_the_same_bytes(self):
        few = ["--epochs", "2", "--batches-per-epoch", "600"]  # long enough to be seen
        children, threads, shared = self.seen(*few)
        self.assertEqual(children, 0)
        self.assertGreaterEqual(threads, 3 + 1)
        children, _, isolated = self.seen(*few, "--isolate")
        self.assertGreaterEqual(children, 3)
        self.assertEqual(shared["digest"], isolated["digest"])

    def test_the_feed_tells_whether_workers_are_the_limit(self):
        # Nobody computes here, so the reader waits for the workers; that is what the page tells people to look at.
        waited = json.loads(must(*self.FEED, "--batches-per-epoch", "200").stdout)["wait_share"]
        self.assertGreater(waited, 0)
        self.assertLessEqual(waited, 1)


class Trained(runs.Case):
    """With a small network that was trained on the plates."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        lists = cls.output / "lists"
        must("split", PLATES / "train", "--every", "6", "--out", lists)
        must("train", "--data", lists, "--model", "cnn:4,8", "--aa", "random_resized_crop(32),hflip(0.5)", "--epochs", "2", "-b", "8",
             "--output", cls.output, "--experiment", "plates")
        cls.best = cls.output / "plates" / "weights" / "best.safetensors"
        cls.images = sorted(path.name for path in (PLATES / "test").iterdir())
        # Enough for what does not need all of them.
        cls.few = cls.output / "few"
        cls.few.mkdir()
        for name in cls.images[:20]:
            (cls.few / name).symlink_to(PLATES / "test" / name)


@needs_plates
class R27_PredictionsOfImagesWithoutLabels(Trained):
    def rows(self, *flags, data=None):
        out = self.output / "out.csv"
        done = must("predict", data or self.few, "--weights", self.best, "--out", out, "--force", *flags)
        with open(out, encoding="utf-8", newline="") as file:
            return done, list(csv.DictReader(file))

    def test_softmax_probabilities_with_the_path_of_each_image(self):
        _, rows = self.rows(data=PLATES / "test")
        self.assertEqual([pathlib.Path(row["sample"]).name for row in rows], self.images)
        self.assertEqual(len(rows), 744)
        for row in rows:
            self.assertAlmostEqual(float(row["cleaned"]) + float(row["dirty"]), 1, delta=2e-6)
            self.assertEqual(row["class"], "cleaned" if float(row["cleaned"]) >= float(row["dirty"]) else "dirty")

    def test_images_with_their_predictions_are_drawn(self):
        grid = self.output / "grid.png"
        self.rows("--grid", grid)
        self.assertEqual(grid.read_bytes()[:8], b"\x89PNG\r\n\x1a\n")

    def test_the_time_is_printed_and_in_the_json(self):
        begin = time.monotonic()
        done, _ = self.rows(data=PLATES / "test")
        elapsed = time.monotonic() - begin
        seconds, rate = map(float, re.search(r"744 predictions, ([\d.]+) s of prediction \(([\d.]+) images/s\)", done.stdout).groups())
        self.assertGreater(seconds, 0)
        self.assertLess(seconds, elapsed)
        self.assertAlmostEqual(rate * seconds, 744, delta=744 * 0.002 + rate * 0.005)  # seconds have two digits
        told = json.loads(self.rows("--json")[0].stdout)
        self.assertEqual((told["images"], told["predictions"]), (20, 20))
        self.assertAlmostEqual(told["images_per_second"] * told["seconds"], 20, places=3)
        # Rows on the screen stay a table: the time goes to the other stream.
        screen = must("predict", PLATES / "test" / self.images[0], "--weights", self.best)
        self.assertEqual(len(screen.stdout.splitlines()), 2)
        self.assertRegex(screen.stderr, r"1 predictions, [\d.]+ s of prediction")

    def test_a_submission_has_a_row_for_each_image(self):
        _, all_rows = self.rows()
        _, rows = self.rows("--format", "submission")
        self.assertEqual(list(rows[0]), ["id", "label"])
        self.assertEqual([row["id"] for row in rows], [pathlib.Path(name).stem for name in self.images[:20]])
        self.assertEqual([row["label"] for row in rows], [row["class"] for row in all_rows])
        _, named = self.rows("--format", "submission", "--id", "name")
        self.assertEqual([row["id"] for row in named], self.images[:20])
        _, scores = self.rows("--format", "submission", "--positive", "dirty")
        self.assertEqual([row["label"] for row in scores], [row["dirty"] for row in all_rows])

    def test_wrong_words_are_refused(self):
        for flags, words in ((["--format", "submission", "--positive", "mouldy"], "one of cleaned, dirty"),
                             (["--positive", "dirty"], "--format submission"),
                             (["--format", "submission", "--topk", "2"], "--topk"),
                             (["--json"], "--out FILE")):
            done = subprocess.run([STOKER, "predict", PLATES / "test" / self.images[0], "--weights", self.best, *flags],
                                  capture_output=True, text=True)
            self.assertEqual(done.returncode, 2, flags)
            self.assertIn(words, done.stderr)


class R20_DevicesAreListedAndChecked(runs.Case):
    """`stoker devices`: what there is and why nothing else; `--check`: that it works."""

    def test_the_cpu_is_described_and_a_missing_accelerator_explained(self):
        text = must("devices").stdout
        told = json.loads(must("devices", "--json").stdout)
        self.assertIn(told["cpu"]["name"], text)
        self.assertGreaterEqual(told["cpu"]["cpus"], 1)
        self.assertGreater(told["cpu"]["memory_bytes"], 2 ** 28)
        if not told["cuda"]["devices"]:
            self.assertIn("no accelerator: " + told["cuda"]["reason"], text)
        for device in told["cuda"]["devices"]:
            self.assertIn(device["name"], text)
        # Slurm's word counts here as it does in training.
        asked = json.loads(must("devices", "--json", env={**os.environ, "SLURM_CPUS_PER_TASK": "5"}).stdout)
        self.assertEqual((asked["cpu"]["cpus"], asked["cpu"]["cpus_reason"]), (5, "SLURM_CPUS_PER_TASK=5"))

    def test_the_check_trains_resumes_and_compares(self):
        report = self.output / "check.md"
        told = json.loads(must("devices", "--check", "--device", "cpu", "--out", report, "--json").stdout)
        results = {each["check"]: each["result"] for each in told["checks"]}
        self.assertEqual(results, {"training": "passed", "repeated": "passed", "agrees with the CPU": "passed", "resume": "passed",
                                   "bfloat16": "passed", "float16": "skipped", "kernels": "passed", "two ranks": "passed"})
        self.assertTrue(told["passed"])
        text = report.read_text(encoding="utf-8")
        self.assertIn("Result: all passed", text)
        self.assertIn(told["cpu"]["name"], text)
        again = subprocess.run([STOKER, "devices", "--check", "--device", "cpu", "--out", report], capture_output=True, text=True)
        self.assertEqual(again.returncode, 1)
        self.assertIn("exists already", again.stderr)
        self.assertEqual(report.read_text(encoding="utf-8"), text)

    def test_without_an_accelerator_nothing_passes_for_nothing(self):
        if json.loads(must("devices", "--json").stdout)["cuda"]["devices"]:
            self.skipTest("there is an accelerator")
        done = subprocess.run([STOKER, "devices", "--check", "--out", self.output / "none.md"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 1)
        self.assertIn("no accelerator to check", done.stderr)
        self.assertFalse((self.output / "none.md").exists())


@needs_plates
class R28_TimeOnTheCpuAndOnTheGpuSideBySide(Trained):
    """experiments/plates with a small network and few images in the place of ResNet-18."""

    def test_the_table_has_the_devices_of_this_machine_and_the_projects_figures(self):
        data = self.output / "plates-short"
        data.mkdir()
        (data / "test").symlink_to(self.few)
        (data / "train").symlink_to(PLATES / "train")
        done = subprocess.run([sys.executable, SOURCE / "experiments" / "plates", "--stoker", STOKER, "--data", data, "--model", "cnn:4,8",
                               "--weights", self.best, "--epochs", "2", "--output", self.output / "experiment"],
                              capture_output=True, text=True, timeout=300)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        times = re.findall(r"^\| (\S+) \| [^|]+ \| ([\d.]+) \|", done.stdout, re.MULTILINE)
        self.assertIn("cpu", [device for device, _ in times])
        self.assertTrue(all(float(seconds) > 0 for _, seconds in times))
        if "no accelerator: " in done.stdout:
            self.assertNotIn("cuda", [device for device, _ in times])
        else:
            self.assertIn("cuda", [device for device, _ in times])
        for figure in ("454.9", "141.8"):
            self.assertIn(figure, done.stdout)


if __name__ == "__main__":
    outcome = unittest.main(exit=False).result
    if not outcome.wasSuccessful():
        sys.exit(1)
    sys.exit(77 if outcome.testsRun == len(outcome.skipped) else 0)  # 77: ctest's "skipped" here
