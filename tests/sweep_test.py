#!/usr/bin/env python3
"""`stoker sweep` as its users call it: a grid, broken off by SIGKILL again and again, ends in the same table.

Run by ctest with the program's path as STOKER. Needs Fashion-MNIST. STOKER_KILLS sets how often (default 4; .ci/nightly: 20).
"""

import csv
import json
import os
import random
import subprocess
import time
import unittest

from runs import Case

STOKER = os.environ["STOKER"]
KILLS = int(os.environ.get("STOKER_KILLS", "4"))
TRAIN = ["--data", "fashion-mnist", "--model", "mlp:784,16,10:relu", "--epochs", "2", "--batches-per-epoch", "120",
         "--checkpoint-every", "20steps"]
GRID = ["--vary", "workers=1,2", "--vary", "aa=none,rotate(-10,10)", "--repeat", "2"]


def sweep(output, *arguments, **options):
    return subprocess.run([STOKER, "sweep", "--output", str(output), *arguments], capture_output=True, text=True,
                          timeout=600, **options)


def table(folder):
    with open(folder / "sweep.csv", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def without_times(rows):
    return [{key: value for key, value in row.items() if key not in ("seconds", "samples_per_second")} for row in rows]


class Grid(Case):
    def test_every_combination_is_run_and_compared(self):
        folder = self.output / "grid"
        done = sweep(folder, *GRID, "--", *TRAIN)
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = table(folder)
        self.assertEqual([(row["workers"], row["aa"], row["seed"]) for row in rows],
                         [(w, a, s) for w in "12" for a in ("none", "rotate(-10,10)") for s in "01"])
        # R10: accuracy must not depend on the number of workers.
        for one, two in zip(rows[:4], rows[4:]):
            self.assertEqual(one["last_top1"], two["last_top1"])
            self.assertEqual(one["last_loss"], two["last_loss"])
        self.assertNotEqual(rows[0]["last_loss"], rows[1]["last_loss"])
        page = (folder / "report.html").read_text(encoding="utf-8")
        self.assertIn("8 runs compared", page)
        self.assertIn("Against workers", page)
        self.killed_and_started_again(rows)

    def killed_and_started_again(self, expected):
        """The same grid with SIGKILL at random moments."""
        folder = self.output / "killed"
        rng = random.Random(8)
        times_of_finished = {}
        for kill in range(KILLS):
            process = subprocess.Popen([STOKER, "sweep", "--output", str(folder), *GRID, "--", *TRAIN],
                                       stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
            try:
                process.wait(timeout=rng.uniform(0.2, 4))
                break
            except subprocess.TimeoutExpired:
                process.kill()
                process.communicate()
            for path in folder.glob("*/run.json"):
                if json.loads(path.read_text())["state"] == "finished":
                    times_of_finished.setdefault(path.parent.name, (path.parent / "results.csv").read_bytes())
        print(f"{kill + 1} kills, {len(times_of_finished)} runs were done before the last one")
        done = sweep(folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(without_times(table(folder)), without_times(expected))
        for name, results in times_of_finished.items():
            self.assertEqual((folder / name / "results.csv").read_bytes(), results, "a finished run was run again")


class Rest(Case):
    def test_a_killed_sweep_leaves_no_run_behind(self):
        folder = self.output / "orphan"
        process = subprocess.Popen([STOKER, "sweep", "--output", str(folder), "--repeat", "2", "--", *TRAIN,
                                    "--epochs", "5000"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        lock = folder / "001-seed-0" / "results.csv"
        while not lock.exists():
            time.sleep(0.05)
        process.kill()
        process.wait()
        time.sleep(1)
        before = lock.read_bytes()
        time.sleep(1)
        self.assertEqual(lock.read_bytes(), before)

    def test_a_wish_to_stop_is_passed_on(self):
        folder = self.output / "stopped"
        process = subprocess.Popen([STOKER, "sweep", "--output", str(folder), "--repeat", "2", "--", *TRAIN,
                                    "--epochs", "5000"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        while not (folder / "001-seed-0" / "results.csv").exists():
            time.sleep(0.05)
        process.terminate()
        _, words = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 3)
        self.assertIn("resume with `stoker sweep --output", words)
        self.assertEqual(json.loads((folder / "001-seed-0" / "run.json").read_text())["state"], "stopped")

    def test_slurm_runs_the_same_grid(self):
        folder = self.output / "with space"
        script = self.output / "array.sh"
        done = sweep(folder, "--slurm", str(script), "--vary", "lr=0.1,0.01", "--", *TRAIN)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("#SBATCH --array=0-1\n", script.read_text())
        for task in "01":
            subprocess.run(["bash", script], check=True, env={**os.environ, "SLURM_ARRAY_TASK_ID": task}, timeout=300,
                           capture_output=True)
        ready = sweep(folder)
        self.assertEqual(ready.returncode, 0, ready.stderr)
        self.assertEqual([row["lr"] for row in table(folder)], ["0.1", "0.01"])

    def test_other_flags_are_refused(self):
        folder = self.output / "other"
        sweep(folder, "--slurm", os.devnull, "--vary", "lr=1,2", "--", *TRAIN)
        done = sweep(folder, "--vary", "lr=1,3", "--", *TRAIN)
        self.assertEqual(done.returncode, 1)
        self.assertIn("there is another sweep already", done.stderr)

    def test_a_failing_run_ends_the_sweep_and_says_which(self):
        folder = self.output / "failing"
        done = sweep(folder, "--vary", "model=mlp:784,8,10,mlp:3,3", "--", "--data", "fashion-mnist", "--epochs", "1")
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, rf"stoker: a run failed: {folder}/\d+-model-mlp\S*: exit code 1")


if __name__ == "__main__":
    unittest.main(verbosity=2)
