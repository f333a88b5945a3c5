#!/usr/bin/env python3
"""What surrounds a run and is not the run's: readers that go away, terminals that close, limits of the system, names and links
that others made, files of a run's folder that are gone.

Run by ctest with the program's path as STOKER.
"""

import csv
import json
import os
import pathlib
import pty
import resource
import shutil
import subprocess
import sys
import unittest

import helpers
import runs

STOKER = os.environ["STOKER"]
FLAGS = ["--aa", "resize(8,8)", "--model", "mlp:192,64,2:relu", "--batch-size", "6", "--threads", "1", "--workers", "1",
         "--lr", "0.01", "--no-report"]
LATIN = os.fsdecode(b"caf\xe9")
TITLE = "\x1b]0;title\x07"  # what a terminal obeys


def program(*words, **options):
    """Bytes: what is printed need not be UTF-8."""
    return subprocess.run([STOKER, *map(os.fsencode, words)], capture_output=True, timeout=120, check=False, **options)


def facts(run):
    return json.loads((run / "run.json").read_text(encoding="utf-8"))


def epochs_in(run):
    with open(run / "results.csv", encoding="utf-8") as file:
        return [int(row["epoch"]) for row in csv.DictReader(file)]


def write_images(folder, classes=("x", "y")):
    for number, name in enumerate(classes):
        for i in range(8):
            helpers.png(folder / name / f"{i}.png", 8, 8, lambda x, y, n=number, i=i: (90 * n + 7 * i + 3 * x + y) % 256)


class Case(runs.Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.data = cls.output / "data"
        write_images(cls.data)
        cls.runs = cls.output / "runs"

    def words(self, name, *more, data=None, epochs=2):
        return ["train", data or self.data, *FLAGS, "--epochs", str(epochs), "--val-every", "4", "--output", self.runs,
                "--experiment", name, *more]

    def train(self, name, *more, **options):
        done = program(*self.words(name, *more, **options))
        self.assertEqual(done.returncode, 0, done.stderr)
        return self.runs / name

    def refused(self, *words, code=1, says=()):
        done = program(*words)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        for word in says:
            self.assertIn(os.fsencode(word), done.stderr)
        return done


class Ends(Case):
    def test_a_reader_that_goes_away_does_not_end_the_run(self):
        with subprocess.Popen([STOKER, *self.words("head", epochs=30)], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT) as process:
            self.assertTrue(process.stdout.readline())
            process.stdout.close()
            self.assertEqual(process.wait(60), 0)
        self.assertEqual(facts(self.runs / "head")["state"], "finished")
        self.assertEqual(epochs_in(self.runs / "head"), list(range(1, 31)))
        self.assertIn("best ", (self.runs / "head" / "log.txt").read_text(encoding="utf-8"))

    def test_a_reader_that_goes_away_does_not_end_a_sweep(self):
        folder = self.output / "sweep"
        with subprocess.Popen([STOKER, "sweep", "--vary", "seed=1,2,3", "--output", folder, "--", self.data, *FLAGS, "--epochs", "1"],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:
            self.assertIn(b"1/3", process.stdout.readline())
            process.stdout.close()
            self.assertEqual(process.wait(60), 0)
        self.assertTrue((folder / "sweep.csv").is_file())

    def test_output_on_a_full_disk_does_not_end_the_run_and_is_told(self):
        with open("/dev/full", "wb") as full:
            done = subprocess.run([STOKER, *self.words("full")], stdout=full, stderr=subprocess.PIPE, timeout=120, check=False)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn(b"cannot write the output", done.stderr)
        self.assertEqual(facts(self.runs / "full")["state"], "finished")

    def test_a_command_whose_output_is_its_work_ends_with_its_reader(self):
        with subprocess.Popen([STOKER, "ops"], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            process.stdout.close()
            self.assertEqual(process.wait(60), -13)
            self.assertEqual(process.stderr.read(), b"")

    def test_a_terminal_that_closes_saves_the_run(self):
        child, terminal = pty.fork()
        if child == 0:
            os.execv(STOKER, [STOKER, *map(str, self.words("closed", epochs=100_000))])
        seen = b""
        while b"2/100000" not in seen:
            seen += os.read(terminal, 4096)
        os.close(terminal)
        _, status = os.waitpid(child, 0)
        self.assertEqual(os.waitstatus_to_exitcode(status), 3)
        run = self.runs / "closed"
        self.assertEqual(facts(run)["state"], "stopped")
        self.assertRegex((run / "log.txt").read_text(encoding="utf-8"), r"stopped by signal 1 at step \d+; resume with")
        step = facts(run)["steps"]
        self.assertTrue((run / "checkpoints" / f"step-{step:012}.safetensors").is_file())

    def test_a_limit_for_the_size_of_files_is_named(self):
        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (30_000, 30_000))

        done = program(*self.words("limited"), preexec_fn=limit)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn(b"size limit of this process (see `ulimit -f`)", done.stderr)

    def test_a_small_stack_is_enlarged_or_named(self):
        most = resource.getrlimit(resource.RLIMIT_STACK)[1]

        def limit(kilobytes, hard=None):
            return lambda: resource.setrlimit(resource.RLIMIT_STACK, (kilobytes << 10, most if hard is None else hard << 10))

        done = program(*self.words("stack"), preexec_fn=limit(64))
        self.assertEqual(done.returncode, 0, done.stderr)
        for words in (["ops"], self.words("stack2")):
            done = program(*words, preexec_fn=limit(64, 64))
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertIn(b"the stack of this process is too small", done.stderr)
            self.assertIn(b"ulimit -s 8192", done.stderr)
        done = program(*self.words("stack3"), preexec_fn=limit(1024, 1024))
        self.assertEqual(done.returncode, 0, done.stderr)


class Folder(Case):
    def test_a_finished_run_without_its_checkpoints_is_not_begun_anew(self):
        run = self.train("finished")
        before = (run / "results.csv").read_bytes()
        for path in (run / "checkpoints").iterdir():
            path.unlink()
        self.refused("train", "--resume", run, says=["no checkpoints", str(run), "--pretrained"])
        (run / "checkpoints").rmdir()
        self.refused("train", "--resume", run, says=["no checkpoints", str(run), "no such folder"])
        (run / "results.csv").unlink()
        self.refused("train", "--resume", run, says=["no checkpoints"])
        shutil.rmtree(run / "weights")
        (run / "results.csv").write_bytes(before)
        self.refused("train", "--resume", run, says=["no checkpoints"])
        self.assertEqual((run / "results.csv").read_bytes(), before)

    def test_a_run_that_was_killed_before_its_first_checkpoint_begins_anew(self):
        run = self.train("killed")
        for path in (run / "checkpoints").iterdir():
            path.unlink()
        (run / "run.json").write_text(json.dumps({**facts(run), "state": "running"}), encoding="utf-8")
        done = program("train", "--resume", run)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(b"no checkpoint yet: from the start", done.stdout)

    def test_files_may_be_isolated_from_a_resumed_run_on(self):
        whole = self.train("whole", "--sched", "constant")
        run = self.train("isolated", "--sched", "constant", epochs=1)
        done = program("train", "--resume", run, "--epochs", "2", "--isolate")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual((run / "weights/last.safetensors").read_bytes(), (whole / "weights/last.safetensors").read_bytes())

    def test_a_run_stays_in_the_folder_for_runs(self):
        before = sorted(self.output.iterdir())
        for name in ("../out", str(self.output / "out"), "a/../../out"):
            for more in ([], ["--resume", "auto"], ["--folds", "2"], ["--folds", "2", "--resume", "auto"]):
                words = [word for word in self.words(name, *more) if "--folds" not in more or word not in ("--val-every", "4")]
                self.refused(*words, code=2, says=["--experiment", "--output"])
        self.assertEqual(sorted(self.output.iterdir()), before)

    def test_links_in_a_runs_folder_are_replaced_not_written_through(self):
        run = self.train("links", "--sched", "constant", "--log-json", epochs=1)
        victims = self.output / "victims"
        names = ["results.csv", "log.txt", "log.jsonl", "run.json", "steps.csv", "timing.csv", "args.yaml", "confusion_matrix.png",
                 "predictions.safetensors", "weights/last.safetensors", "weights/best.safetensors"]
        for name in names:
            victim = victims / name
            victim.parent.mkdir(parents=True, exist_ok=True)
            shutil.move(run / name, victim)
            (run / name).symlink_to(victim)
        before = {name: (victims / name).read_bytes() for name in names}
        done = program("train", "--resume", run, "--epochs", "3")
        self.assertEqual(done.returncode, 0, done.stderr)
        for name in names:
            self.assertEqual((victims / name).read_bytes(), before[name], name)
            if name != "weights/best.safetensors":  # written only where the new one is better
                self.assertFalse((run / name).is_symlink(), name)
        self.assertEqual(epochs_in(run), [1, 2, 3])

    def test_a_results_table_that_was_removed_is_told(self):
        run = self.train("rows", "--sched", "constant")
        (run / "results.csv").unlink()
        done = program("train", "--resume", run, "--epochs", "3")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(b"results.csv lacks 2 of the 2 epochs that are done", done.stdout)
        self.assertEqual(epochs_in(run), [3])
        done = program("train", "--resume", run, "--epochs", "4")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(epochs_in(run), [3, 4])


class Names(Case):
    def test_class_names_that_are_not_utf8_are_refused_when_data_is_opened(self):
        data = self.output / "latin"
        write_images(data, ("bar", LATIN))
        folder = os.fsencode(data) + b"/caf\\xe9"
        self.refused(*self.words("latin", data=data), says=["not UTF-8", folder, "Rename the class"])
        self.assertFalse((self.runs / "latin").exists())
        self.refused("shard", data, "--out", self.output / "shards", says=["not UTF-8", folder])
        self.assertFalse((self.output / "shards").exists())
        table = self.output / "table.csv"
        table.write_bytes(b"path,label\n" + b"".join(b"data/x/%d.png,%s\n" % (i, name) for i, name in
                                                     enumerate([b"bar", b"caf\xe9"] * 4)))
        self.refused(*self.words("latin", data=table), says=["not UTF-8", str(table)])

    def test_names_cannot_command_a_terminal(self):
        data = self.output / "commands"
        write_images(data, ("x" + TITLE, "y"))
        broken = data / "y" / f"0{TITLE}.png"
        broken.write_bytes((data / "y" / "0.png").read_bytes()[:60])
        stopped = self.refused(*self.words("stopped", data=data), says=["\\x1b]0;title\\x07.png", "--on-error skip"])
        done = program(*self.words("names", "--on-error", "skip", data=data))
        self.assertEqual(done.returncode, 0, done.stderr)
        run = self.runs / "names"
        evaluated = program("eval", data, "--weights", run, "--on-error", "skip")
        self.assertEqual(evaluated.returncode, 0, evaluated.stderr)
        examined = program("doctor", data, "--out", self.output / "doctor", "--fail-on", "never")
        self.assertEqual(examined.returncode, 0, examined.stderr)
        shown = [stopped, done, evaluated, examined]
        texts = [text for one in shown for text in (one.stdout, one.stderr)]
        texts += [(run / name).read_bytes() for name in ("log.txt", "errors.csv", "report.html") if (run / name).exists()]
        self.assertEqual([text for text in texts if b"\x1b" in text or b"\x07" in text], [])
        self.assertIn(b"0\\x1b]0;title\\x07.png", (run / "errors.csv").read_bytes())
        self.assertIn(b"x\\x1b]0;title\\x07", evaluated.stdout)
        rows = program("predict", data, "--weights", run, "--on-error", "skip").stdout
        self.assertIn(TITLE.encode(), rows, "a program gets names as they are")

    def test_only_folders_and_tables_are_sent_to_the_doctor(self):
        data, shards = self.output / "damaged", self.output / "damaged-shards"
        write_images(data)
        for path in data.glob("x/*.png"):
            whole = path.read_bytes()
            path.write_bytes(whole[:45] + bytes(8) + whole[53:])  # whole chunks, whose pixels are none
        done = program("shard", data, "--out", shards)
        self.assertEqual(done.returncode, 0, done.stderr)
        run = self.train("whole")
        doctor = "`stoker doctor"
        self.refused("eval", data, "--weights", run, says=["8 of 16 images could not be read", doctor])
        done = self.refused("eval", shards, "--weights", run, says=["8 of 16 images could not be read"])
        self.assertNotIn(os.fsencode(doctor), done.stderr)
        self.refused("doctor", shards, says=["does not examine shards", "--on-error skip"])


if __name__ == "__main__":
    outcome = unittest.main(verbosity=2, exit=False).result
    sys.exit(1 if not outcome.wasSuccessful() else 0)
