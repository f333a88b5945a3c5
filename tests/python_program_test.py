#!/usr/bin/env python3
"""stoker.program: the program's commands as Python functions, with the program as STOKER."""

import contextlib
import io
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import warnings

import helpers

helpers.bare_python_package()

import stoker.program as program  # noqa: E402
import stoker.transforms as T  # noqa: E402
from stoker._error import Error  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent
os.environ["STOKER"] = os.path.abspath(os.environ.get("STOKER", ROOT / "build/release/stoker"))
DIGITS = ROOT / "tests/fixtures/0.1/data/mnist"  # 48 images of 8x8 to train, 16 to test
SMALL = {"model": "cnn:4,8", "batch_size": 8, "workers": 1, "threads": 1, "seed": 3, "no_report": True}


class Program(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        cls.run_of_two = program.train(DIGITS, epochs=2, output=cls.folder / "runs", aa=T.RandomRotation(10), show=False, **SMALL)

    def test_train_returns_what_the_run_wrote(self):
        run = self.run_of_two
        self.assertEqual("finished", run.state)
        self.assertEqual([1, 2], [row["epoch"] for row in run.epochs])
        self.assertLess(run.epochs[1]["train_loss"], 10)
        self.assertEqual("rotate(-10,10)", run.run["data"]["augmentation"])
        self.assertEqual(16, run.test["samples"])
        self.assertTrue(run.best.is_file() and run.last.is_file())
        self.assertIsNone(run.folds)
        self.assertIn("epoch 2/2", run.output)

    def test_train_shows_what_the_program_prints_unless_told_not_to(self):
        for show in (True, False):
            screen = io.StringIO()
            with contextlib.redirect_stdout(screen):
                program.train(DIGITS, epochs=1, output=self.folder / f"shown-{show}", show=show, **SMALL)
            self.assertEqual(show, "epoch 1/1" in screen.getvalue())

    def test_folds_are_one_result(self):
        run = program.train(DIGITS, epochs=1, folds=2, output=self.folder / "folds", show=False, **SMALL | {"no_report": False})
        self.assertTrue(run.folds)
        self.assertTrue((run.folder / "folds.json").is_file())

    def test_predict_returns_a_row_for_each_image(self):
        result = program.predict(DIGITS, weights=self.run_of_two.folder, split="test")
        self.assertEqual(16, len(result))
        self.assertEqual(16, result.summary["predictions"])
        self.assertEqual({"0", "9"}, {"0", "9"} & set(str(result.rows[0])))
        table = self.folder / "rows.csv"
        written = program.predict(DIGITS, weights=self.run_of_two.folder, out=table, topk=1)
        self.assertEqual([], written.rows)
        self.assertEqual(17, len(table.read_text(encoding="utf-8").splitlines()))

    def test_evaluate_gives_the_figures_of_the_run(self):
        result = program.evaluate(DIGITS, weights=self.run_of_two.folder, split="test")
        self.assertEqual(16, result["samples"])
        self.assertAlmostEqual(self.run_of_two.test["top1"], result["top1"])

    def test_unreadable_images_are_warnings(self):
        data = self.folder / "images"
        for number, name in enumerate("abcdef"):
            helpers.png(data / "x" / f"{name}.png", 8, 8, lambda x, y, n=number: 9 * x + n)
            helpers.png(data / "y" / f"{name}.png", 8, 8, lambda x, y, n=number: 250 - 9 * y - n)
        run = program.train(data, epochs=1, val_fraction=0.4, output=self.folder / "colour", aa=T.Resize((16, 16)), show=False, **SMALL)
        (data / "x" / "c.png").write_bytes(b"\x89PNG\r\n\x1a\n")
        with self.assertWarnsRegex(RuntimeWarning, "c.png"):
            rows = program.predict(data, weights=run.best).rows
        self.assertEqual(1, sum("error" in row for row in rows))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            program.predict(data, weights=run.best, on_error="skip")
        with self.assertRaisesRegex(Error, "c.png"):
            program.predict(data, weights=run.best, on_error="stop")
        with self.assertWarnsRegex(RuntimeWarning, "c.png"):
            self.assertEqual(11, program.evaluate(data, weights=run.best)["samples"])

    def test_doctor_returns_its_findings_and_keeps_files_where_told(self):
        data = self.folder / "sick"
        helpers.png(data / "x/1.png", 40, 40, lambda x, y: 5 * x)
        helpers.png(data / "y/2.png", 40, 40, lambda x, y: 6 * y)
        shutil.copy(data / "x/1.png", data / "y/3.png")
        (data / "x/broken.jpg").write_bytes(b"\xff\xd8\xff")
        found = program.doctor(data)
        self.assertEqual(4, found["images"])
        self.assertGreaterEqual(found["summary"]["error"], 2)
        self.assertFalse(list(pathlib.Path.cwd().glob("doctor-sick")))
        program.doctor(data, out=self.folder / "report", min_side=8)
        self.assertTrue((self.folder / "report/doctor.html").is_file())


class Errors(unittest.TestCase):
    def test_the_message_is_the_programs(self):
        missing = os.path.join(self.enterContext(tempfile.TemporaryDirectory()), "missing")
        with self.assertRaisesRegex(program.ProgramError, f"cannot find data: {missing}") as caught:
            program.train(missing, show=False)
        self.assertEqual(1, caught.exception.exit_code)
        self.assertNotIn("stoker: ", str(caught.exception))
        with self.assertRaisesRegex(Error, "rotate") as caught:
            program.train(DIGITS, aa="rotat(3)", show=False)

    def test_options_are_checked_before_anything_runs(self):
        for options, part in (({"epoch": 3}, "'epochs'"), ({"download": "yes"}, "True or False"), ({"epochs": True}, "int"),
                              ({"json": True}, "no option"), ({"nothing_like_it": 1}, "--help")):
            with self.assertRaisesRegex(TypeError, part):
                program.train(DIGITS, **options)

    def test_flags_of_all_kinds(self):
        options = {"mean": [0.1, 0.2, 0.3], "std": 0.5, "freeze_norms": False, "amp": True, "tensorboard": False, "lr": 1e-05,
                   "min_lr": -0.0, "labels": ["a", "b"], "output": pathlib.Path("x y"), "resume": None, "aa": T.RandomInvert(1)}
        words = [word for name, value in options.items() for word in program._flag("train", program.TrainOptions, name, value)]
        self.assertEqual(["--mean", "0.1", "0.2", "0.3", "--std=0.5", "--no-freeze-norms", "--amp=on", "--lr=1e-05", "--min-lr=-0.0",
                          "--labels=a,b", "--output=x y", "--aa=invert()"], words)

    def test_the_program_is_looked_for_in_three_places(self):
        given = os.environ.pop("STOKER")
        path = os.environ["PATH"]
        try:
            with tempfile.TemporaryDirectory() as folder:
                os.environ["PATH"] = folder
                with self.assertRaisesRegex(Error, r"\$STOKER"):
                    program.find_program()
                pathlib.Path(folder, "stoker").symlink_to(given)
                self.assertEqual(f"{folder}/stoker", program.find_program())
        finally:
            os.environ.update(STOKER=given, PATH=path)
        self.assertEqual(given, program.find_program())


class Signals(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def test_ctrl_c_stops_the_run_which_can_be_resumed(self):
        def interrupt():
            for _ in range(600):
                if list(self.folder.glob("*/results.csv")):
                    break
                time.sleep(0.05)
            os.kill(os.getpid(), signal.SIGINT)

        thread = threading.Thread(target=interrupt)
        thread.start()
        with self.assertRaises(KeyboardInterrupt):
            program.train(DIGITS, epochs=100_000, output=self.folder, experiment="long", show=False, **SMALL)
        thread.join()
        self.assertTrue(list((self.folder / "long/checkpoints").iterdir()))
        self.assertIn('"state":"stopped"', (self.folder / "long/run.json").read_text(encoding="utf-8").replace(" ", ""))

    def test_a_run_that_something_else_stopped_is_a_result(self):
        def stop():
            for _ in range(600):
                if list(self.folder.glob("*/results.csv")):
                    break
                time.sleep(0.05)
            found = subprocess.run(["pgrep", "-P", str(os.getpid())], capture_output=True, text=True, check=False).stdout.split()
            for process in found:
                os.kill(int(process), signal.SIGTERM)

        thread = threading.Thread(target=stop)
        thread.start()
        run = program.train(DIGITS, epochs=100_000, output=self.folder, show=False, **SMALL)
        thread.join()
        self.assertEqual("stopped", run.state)


class Process(unittest.TestCase):
    def test_libtorch_does_not_enter_this_process(self):
        code = ("import sys; sys.path.insert(0, sys.argv[1]); import helpers; helpers.bare_python_package(); import stoker.program; "
                "assert not any(name.split('.')[0] in ('torch', 'numpy') for name in sys.modules)")
        done = subprocess.run([sys.executable, "-c", code, str(ROOT / "tests")], capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual((0, ""), (done.returncode, done.stderr))


if __name__ == "__main__":
    unittest.main()
