#!/usr/bin/env python3
"""Commands that are interrupted: killed at any moment, on a full disk, stopped while a store is silent, given a pipe in a file's
place. What was there before stays until the new file is whole, and the next run gives the same bytes.

Run by ctest with the program's path as STOKER. Needs root for full disks. The classes AllKilled, AllFull and AllStopped have more
moments and commands; .ci/nightly runs them.
"""

import http.client
import os
import pathlib
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import threading
import time
import unittest

import helpers
import preload
import runs
import servers
import small_disk
import small_run

STOKER = os.environ["STOKER"]
SEED = int(os.environ.get("STOKER_KILL_SEED", time.time_ns() % 10**6))
BEFORE = b"what was here before\n"
TEMPORARY = re.compile(r"\.stoker-\d+-\d+\.tmp")


def program(*words, timeout=120, prefix=(), **options):
    return subprocess.run([*prefix, STOKER, *map(str, words)], capture_output=True, text=True, timeout=timeout, check=False, **options)


def contents(folder):
    """Every file below the folder with its bytes."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


class Work:
    """A command that writes files, and what they held before it. `goes_first` is removed before another one is replaced, as the two
    belong together.
    """

    def __init__(self, words, outputs, before=None, goes_first=None):
        self.words, self.outputs, self.goes_first = [*map(str, words)], outputs, goes_first
        self.before = {name: BEFORE for name in outputs} if before is None else before

    def prepare(self, folder):
        """The folder as it is before the command."""
        shutil.rmtree(folder, ignore_errors=True)
        self.write_before(folder)

    def write_before(self, folder):
        for name, content in self.before.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(content)


class Case(runs.Case):
    """With images, some with defects, and a run on them."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.output = cls.output.resolve()
        cls.small = small_run.SmallRun(STOKER, cls.output)
        cls.weights, cls.run_folder, cls.data = cls.small.weights, cls.small.weights.parent.parent, cls.output / "data"
        cls.defects = cls.output / "defects"
        shutil.copytree(cls.data, cls.defects)
        shutil.copy(cls.defects / "x/0.png", cls.defects / "x/copy.png")
        (cls.defects / "y/empty.png").touch()
        cls.folder = cls.output / "out"

    def works(self):
        """By name, what commands do in self.folder. The options of each make it overwrite."""
        out, model = self.folder, {"model.safetensors": self.weights.read_bytes()}
        return {
            "doctor": Work(["doctor", self.defects, "--out", out / "doctor", "--write-list", out / "clean.tsv", "--fail-on", "never",
                            "--force"], ["doctor/doctor.json", "doctor/doctor.html", "clean.tsv"]),
            "report": Work(["report", self.run_folder, "--out", out / "r.html", "--force"], ["r.html"]),
            "markdown": Work(["report", self.run_folder, "--out", out / "r.md", "--format", "md", "--force"], ["r.md", "r_loss.png"]),
            "onnx": Work(["export", self.weights, "--out", out / "m.onnx", "--force"], ["m.onnx"]),
            "pth": Work(["export", self.weights, "--out", out / "m.pth", "--force"], ["m.pth"]),
            "pt2": Work(["export", self.weights, "--out", out / "m.pt2", "--force"], ["m.pt2"]),
            "safetensors": Work(["export", self.weights, "--out", out / "m.safetensors", "--force"], ["m.safetensors"]),
            "calibrate": Work(["calibrate", self.data, "--weights", out / "model.safetensors", "--images", "8", "--check", "none"],
                              ["model.safetensors"], model),
            "predict": Work(["predict", self.data, "--weights", self.weights, "--out", out / "p.csv", "--grid", out / "p.png", "--force"],
                            ["p.csv", "p.png"]),
            "eval": Work(["eval", self.data, "--weights", self.weights, "--confusion-matrix", out / "c.png", "--top-losses", out / "t.png",
                          "--force"], ["c.png", "t.png"]),
            "filter": Work(["filter", self.small.images[0], "--sobel", "f1", "--out", out / "f.png", "--force"], ["f.png"]),
            "split": Work(["split", self.data, "--every", "4", "--out", out / "lists"], ["lists/train.txt", "lists/val.txt"],
                          goes_first="lists/val.txt"),
            "preview": Work(["preview", self.data, "--aa", "resize(24,24)", "--out", out / "v.png", "--force"], ["v.png"]),
        }

    def done(self, work):
        """The bytes that it writes when nothing interrupts it."""
        work.prepare(self.folder)
        done = program(*work.words)
        self.assertEqual(done.returncode, 0, done.stderr)
        found = contents(self.folder)
        self.assertLessEqual(set(work.outputs), set(found))
        for name, content in work.before.items():
            self.assertNotEqual(found[name], content, "it wrote nothing there")
        return found

    def check_between(self, found, work, wanted, when):
        """Each file has its old or its new bytes, and nothing else is there but files that nothing ever reads."""
        first = work.goes_first
        if first in work.before and found.get(first) == BEFORE:
            self.assertEqual({name: found[name] for name in work.before}, work.before, f"an old {first} beside a new file, {when}")
        for name, content in work.before.items():
            if name == first and name not in found:
                continue
            self.assertIn(name, found, when)
            self.assertIn(found[name], (content, wanted[name]), f"{name}, {when}")
        for name in set(found) - set(work.before):
            if not TEMPORARY.fullmatch(pathlib.Path(name).name):
                self.assertEqual(found[name], wanted.get(name), f"{name}, {when}")


class Killed(Case):
    """SIGKILL at the calls that write, and at random moments."""

    NAMES = ("doctor", "report", "onnx", "calibrate", "split")
    MOMENTS = 4  # of those at which a command writes, chosen anew in each run
    KILLS = 1    # at a random time

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.library = preload.built("crash_points", cls.output)
        cls.count = cls.output / "count"
        print(f"STOKER_KILL_SEED={SEED}")

    def preloaded(self, **variables):
        return {**os.environ, "LD_PRELOAD": str(self.library), "CRASH_UNDER": str(self.folder), **variables}

    def moments(self, work):
        """How many there are. The last one is over when the new files are in place."""
        work.prepare(self.folder)
        self.count.write_bytes(b"")
        done = program(*work.words, env=self.preloaded(CRASH_COUNT=str(self.count)))
        self.assertEqual(done.returncode, 0, done.stderr)
        return self.count.stat().st_size

    def killed_at(self, work, moment):
        work.prepare(self.folder)
        done = program(*work.words, env=self.preloaded(CRASH_AT=str(moment)))
        self.assertEqual(done.returncode, -signal.SIGKILL, done.stderr)

    def killed_after(self, work, seconds):
        """Whether it was killed before it ended."""
        work.prepare(self.folder)
        with subprocess.Popen([STOKER, *work.words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
            time.sleep(seconds)
            process.kill()
        return process.returncode == -signal.SIGKILL

    def check_again(self, work, wanted, when):
        done = program(*work.words)
        self.assertEqual(done.returncode, 0, f"{when}: {done.stderr}")
        found = {name: content for name, content in contents(self.folder).items() if not TEMPORARY.fullmatch(pathlib.Path(name).name)}
        self.assertEqual(found, wanted, when)

    def try_one(self, name, work, chance):
        begin = time.monotonic()
        wanted = self.done(work)
        longest = time.monotonic() - begin
        count = self.moments(work)
        self.assertGreater(count, 5 * len(work.before) - 1)  # to create, to write (two), to make durable, to rename
        for moment in sorted(chance.sample(range(count), min(count, self.MOMENTS))):
            when = f"{name}, killed at moment {moment} of {count}"
            self.killed_at(work, moment)
            self.check_between(contents(self.folder), work, wanted, when)
        self.check_again(work, wanted, when)
        kills = 0
        for _ in range(self.KILLS):
            seconds = chance.uniform(0, longest)
            kills += self.killed_after(work, seconds)
            when = f"{name}, killed after {seconds:.3f} s"
            self.check_between(contents(self.folder), work, wanted, when)
            self.check_again(work, wanted, when)
        print(f"{name}: {min(count, self.MOMENTS)} of {count} moments, {kills} kills at random times within {longest:.2f} s")

    def test_files_are_old_or_new_and_the_next_run_gives_the_same(self):
        inputs = contents(self.data), contents(self.run_folder)
        chance = random.Random(SEED)
        for name, work in self.works().items():
            if self.NAMES is None or name in self.NAMES:
                with self.subTest(name):
                    self.try_one(name, work, chance)
        self.assertEqual((contents(self.data), contents(self.run_folder)), inputs)

    def test_folders_of_a_split_are_whole_or_not_there(self):
        work = Work(["split", self.data, "--every", "4", "--as", "copies", "--out", self.folder], [])
        count, wanted = self.moments(work), contents(self.folder)
        self.assertEqual(len(wanted), len(self.small.images))
        for moment in random.Random(SEED).sample(range(count), min(count, self.MOMENTS)):
            self.killed_at(work, moment)
            folders = {path.name for path in self.folder.glob("*") if not path.name.startswith(".stoker-")}
            found = {name: content for name, content in contents(self.folder).items() if not name.startswith(".stoker-")}
            self.assertIn(folders, (set(), {"val"}, {"train", "val"}), moment)
            self.assertEqual(found, {name: content for name, content in wanted.items() if name.split("/")[0] in folders}, moment)
        self.killed_at(work, count // 3)
        done = program(*work.words)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual({name: content for name, content in contents(self.folder).items() if not name.startswith(".stoker-")}, wanted)
        print(f"split into folders: {min(count, self.MOMENTS)} of {count} moments")


class AllKilled(Killed):
    """Up to 100 moments of every command."""

    NAMES = None
    MOMENTS = 100
    KILLS = 10

    def works(self):
        found = super().works()
        out = self.folder
        found["shard"] = Work(["shard", self.data, "--out", out / "shards", "--shard-size", "8KB"], [])
        published = pathlib.Path(os.environ.get("STOKER_TEST_DATA", ""), "weights/mobilenet_v2-b0353104.pth")
        if published.is_file():
            found["timm"] = Work(["export", published, "--model", "mobilenet_v2", "--format", "timm", "--out", out / "timm", "--force"],
                                 ["timm/model.safetensors", "timm/config.json"])
        return found

    def test_a_sweeps_table_and_page(self):
        """The runs are done; only they are compared again."""
        words = ["sweep", "--output", self.folder, "--vary", "seed=1,2", "--", self.data, "--model", "cnn:4,8", "--aa", "resize(16,16)",
                 "--epochs", "1", "--batch-size", "8", "--val-every", "4", "--no-report", "--threads", "1", "--workers", "1"]
        done = program(*words)
        self.assertEqual(done.returncode, 0, done.stderr)
        wanted = contents(self.folder)
        work = Work(words, ["sweep.csv", "report.html"], wanted)
        count = self.moments(work)
        self.assertGreater(count, 9)
        for moment in range(count):
            work.prepare(self.folder)
            for name in work.outputs:
                (self.folder / name).write_bytes(BEFORE)
            done = program(*work.words, env=self.preloaded(CRASH_AT=str(moment)))
            self.assertEqual(done.returncode, -signal.SIGKILL, done.stderr)
            found = contents(self.folder)
            for name in work.outputs:
                self.assertIn(found[name], (BEFORE, wanted[name]), f"{name} at {moment}")
            self.check_again(work, wanted, f"sweep at {moment}")
        print(f"sweep: {count} moments")

    def test_figures_of_engines(self):
        """Figures differ from run to run: the file is whole and its tensors stay."""
        work = Work(["eval", self.data, "--weights", self.folder / "model.safetensors", "--engine", "auto"], ["model.safetensors"],
                    {"model.safetensors": self.weights.read_bytes()})
        for moment in range(self.moments(work)):
            self.killed_at(work, moment)
            done = program("info", "--compare", self.folder / "model.safetensors", self.weights, "--json")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn('"max_absolute_difference":0.0,', done.stdout)
            self.assertIn('"unmatched":[]', done.stdout)


class FullDisk(Case):
    """A tmpfs without a free page, one with too few of them, and limits for the size of files."""

    NAMES = ("doctor", "report", "onnx", "calibrate", "predict")

    def setUp(self):
        if os.geteuid() != 0:
            self.skipTest("needs root")
        self.disk = self.enterContext(small_disk.SmallDisk(self.folder, "64m"))

    def refused(self, done, name, says, when):
        self.assertEqual(done.returncode, 1, f"{when}: {done.stdout}{done.stderr}")
        lines = done.stderr.strip().splitlines()
        self.assertRegex(lines[-1], "^stoker: cannot write the ", when)
        self.assertIn(name, lines[-1], when)
        self.assertIn(says, lines[-1], when)

    def prepare(self, work):
        for path in self.disk.files.iterdir():
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        work.write_before(self.disk.files)

    def try_one(self, name, work):
        self.prepare(work)
        done = program(*work.words, prefix=self.disk.prefix())
        self.assertEqual(done.returncode, 0, done.stderr)
        wanted = contents(self.disk.files)
        largest = max(work.before, key=lambda name: len(wanted[name]))
        # Half of the largest file fits, in pages of 4 KiB.
        for room in {0, len(wanted[largest]) // 2 & ~4095}:
            when = f"{name}, room for {room} bytes"
            self.prepare(work)
            self.disk.fill(room)
            done = program(*work.words, prefix=self.disk.prefix())
            self.disk.empty()
            self.refused(done, str(self.folder), "No space left on device", when)
            self.assertIn("free some space", done.stderr, when)
            found = contents(self.disk.files)
            self.check_between(found, work, wanted, when)
            self.assertEqual([name for name in found if TEMPORARY.fullmatch(pathlib.Path(name).name)], [], when)
        done = program(*work.words, prefix=self.disk.prefix())
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(contents(self.disk.files), wanted)

    def test_a_message_names_the_file_and_the_old_one_stays(self):
        for name, work in self.works().items():
            if self.NAMES is None or name in self.NAMES:
                with self.subTest(name):
                    self.try_one(name, work)

    def test_a_limit_for_the_size_of_files(self):
        for name, work in self.works().items():
            if self.NAMES is not None and name not in self.NAMES:
                continue
            with self.subTest(name):
                wanted = self.done(work)
                work.prepare(self.folder)
                most = max(len(wanted[output]) for output in work.before) // 2
                done = program(*work.words, preexec_fn=lambda most=most: resource.setrlimit(resource.RLIMIT_FSIZE, (most, most)))
                self.refused(done, str(self.folder), "`ulimit -f`", name)
                self.check_between(contents(self.folder), work, wanted, name)

    def test_rows_on_a_full_screen(self):
        with open("/dev/full", "wb") as full:
            done = subprocess.run([STOKER, "predict", self.data, "--weights", self.weights], stdout=full, stderr=subprocess.PIPE, text=True,
                                  timeout=120, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("cannot write the output", done.stderr)
        self.assertIn("No space left on device", done.stderr)

    def test_a_sweep_names_the_run_and_continues(self):
        words = ["sweep", "--output", self.folder / "sweep", "--vary", "seed=1,2", "--", self.data, "--model", "mlp:768,1024,2:relu",
                 "--aa", "resize(16,16)", "--epochs", "1", "--batch-size", "8", "--val-every", "4", "--no-report", "--threads", "1",
                 "--workers", "1"]
        self.disk.fill(5 << 20)  # a run has its weights twice and a checkpoint, of 3 MB each
        done = program(*words, prefix=self.disk.prefix())
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("No space left on device", done.stderr)
        self.assertRegex(done.stderr.strip().splitlines()[-1], r"stoker: a run failed: .*seed.*Resume with `stoker sweep --output ")
        self.assertFalse((self.disk.files / "sweep" / "sweep.csv").exists())
        self.disk.empty()
        done = program("sweep", "--output", self.folder / "sweep", prefix=self.disk.prefix())
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue((self.disk.files / "sweep" / "sweep.csv").exists())

    def test_serve_needs_no_room(self):
        self.disk.fill()
        script = 'mount --bind "$0" /dev/shm && cd "$0" && TMPDIR="$0" exec "$@"'
        command = [*self.disk.prefix(), "unshare", "--mount", "sh", "-c", script, self.folder, os.path.abspath(STOKER), "serve",
                   self.weights, "--port", "0"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            try:
                lines = [process.stdout.readline() for _ in range(2)]
                found = re.search(r"http://127\.0\.0\.1:(\d+)", lines[1])
                self.assertTrue(found, lines)
                for path in self.small.images[:4]:
                    status, body = ask(int(found[1]), "POST", "/classify", path.read_bytes())
                    self.assertEqual(status, 200, body)
            finally:
                process.terminate()
                process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0)


class AllFull(FullDisk):
    NAMES = None


def ask(port, method, path, body=None):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        connection.request(method, path, body)
        response = connection.getresponse()
        return response.status, response.read()
    finally:
        connection.close()


class SilentStore(servers.FileServer):
    """Answers until it is told to be silent. Then it takes requests and never answers."""

    def __init__(self, folder):
        self.silent, self.asked, self.over = threading.Event(), threading.Event(), threading.Event()
        self.silent_after = 0  # shards; 0: only when it is told
        super().__init__(folder)

    def handle(self, request):
        if self.silent_after and self.count(".tar") > self.silent_after:
            self.silent.set()
        if self.silent.is_set():
            self.asked.set()
            self.over.wait(120)
            request.close_connection = True
            return None
        return super().handle(request)

    def __exit__(self, *unused):
        self.over.set()
        super().__exit__(*unused)


class Stopped(Case):
    """SIGTERM while a store is silent."""

    LIMIT = 10  # seconds; a store's own limit is 30
    RUNS = {"threads": []}
    READERS = (("eval", 6),)  # commands, and shards after which the store is silent

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        for number in range(48):
            noise = random.Random(number).randbytes(1600)
            helpers.png(cls.output / "noise" / "ab"[number % 2] / f"{number}.png", 40, 40, lambda x, y, n=noise: n[40 * y + x])
        for data, shards, size in ((cls.output / "noise", "shards", "8KB"), (cls.data, "known", "1KB")):
            done = program("shard", data, "--out", cls.output / shards, "--shard-size", size)
            assert done.returncode == 0, done.stderr

    def train(self, url, name, *more):
        words = ["train", url + "/shards", "--val-data", self.output / "noise", "--model", "cnn:4,8", "--aa", "resize(16,16)",
                 "--batch-size", "4", "--epochs", "100000", "--output", self.output / "runs", "--experiment", name, "--no-report",
                 "--threads", "1", "--workers", "1", "--shuffle-window", "2", "--cache-dir", self.output / f"cache-{name}",
                 "--cache-size", "20KB", *more]
        return subprocess.Popen([STOKER, *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def stop(self, process):
        """Exit code, what was said, and the seconds that it took."""
        begin = time.monotonic()
        process.terminate()
        try:
            out, errors = process.communicate(timeout=2 * self.LIMIT)
        finally:
            process.kill()
        return process.returncode, out, errors, time.monotonic() - begin

    def test_a_run_saves_and_ends_while_the_store_is_silent(self):
        for name, more in self.RUNS.items():
            with self.subTest(name), SilentStore(self.output) as store, self.train(store.url, name, *more) as process:
                folder = self.output / "runs" / name
                while not (folder / "results.csv").exists():
                    self.assertIsNone(process.poll(), process.stderr.read() if process.poll() is not None else "")
                    time.sleep(0.01)
                store.silent.set()
                self.assertTrue(store.asked.wait(30), "nothing was asked of the store")
                time.sleep(1)  # until the batches that it has are used up
                code, out, errors, seconds = self.stop(process)
                self.assertEqual(code, 3, out + errors)
                self.assertLess(seconds, self.LIMIT)
                step = int(re.search(r"at step (\d+); resume with", out).group(1))
                self.assertTrue((folder / "checkpoints" / f"step-{step:012}.safetensors").is_file())
                print(f"{name}: saved after {seconds:.2f} s")

    def test_a_run_ends_before_its_first_step_while_the_store_is_silent(self):
        with SilentStore(self.output) as store:
            store.silent.set()
            with self.train(store.url, "early") as process:
                self.assertTrue(store.asked.wait(30))
                code, out, errors, seconds = self.stop(process)
            self.assertIn(code, (3, -signal.SIGTERM), out + errors)
            self.assertLess(seconds, self.LIMIT)

    def test_a_feed_ends_while_the_store_is_silent(self):
        with SilentStore(self.output) as store:
            words = [STOKER, "bench", "feed", store.url + "/shards", "--aa", "resize(16,16)", "-b", "4", "--epochs", "100000",
                     "--cache-dir", str(self.output / "cache-feed"), "--cache-size", "20KB", "--shuffle-window", "2"]
            with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
                while store.count(".tar") < 10:
                    time.sleep(0.01)
                store.silent.set()
                self.assertTrue(store.asked.wait(30))
                code, out, errors, seconds = self.stop(process)
            self.assertIn(code, (3, -signal.SIGTERM), out + errors)
            self.assertLess(seconds, self.LIMIT)

    def test_evaluation_and_prediction_end_while_the_store_is_silent(self):
        """Before the first image and amid the images."""
        for command, shards in self.READERS:
            with self.subTest(f"{command}, after {shards} shards"), SilentStore(self.output) as store:
                if shards == 0:
                    store.silent.set()
                store.silent_after = shards
                words = [STOKER, command, store.url + "/known", "--weights", str(self.weights), "--batch-size", "4", "--cache-dir",
                         str(self.output / f"cache-{command}-{shards}"), "--shuffle-window", "1"]
                words += ["--out", str(self.output / "rows.csv")] if command == "predict" else []
                with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
                    self.assertTrue(store.asked.wait(10), process.poll())
                    time.sleep(1)
                    code, out, errors, seconds = self.stop(process)
                self.assertIn(code, (3, -signal.SIGTERM), out + errors)
                self.assertLess(seconds, self.LIMIT)
                self.assertFalse((self.output / "rows.csv").exists())


class AllStopped(Stopped):
    RUNS = {"threads": [], "isolated": ["--isolate"]}
    READERS = tuple((command, shards) for command in ("eval", "predict", "calibrate") for shards in (0, 6))


class Pipes(Case):
    """A FIFO without a writer where a file belongs: opening it would wait for ever."""

    def test_every_command_refuses_a_pipe_at_once(self):
        pipe, out = self.output / "pipe", self.output / "never"
        os.mkfifo(pipe)
        image, table, file = self.output / "pipe.png", self.output / "pipe.csv", self.output / "pipe.safetensors"
        for path in (image, table, file):
            os.mkfifo(path)
        for words in (["filter", pipe, "--sobel", "f1", "--out", out], ["filter", image, "--sobel", "f1", "--out", out],
                      ["predict", pipe, "--weights", self.weights], ["predict", image, "--weights", self.weights],
                      ["predict", table, "--weights", self.weights], ["predict", self.data, "--weights", pipe],
                      ["predict", self.data, "--weights", file], ["eval", pipe, "--weights", self.weights],
                      ["bench", "feed", pipe], ["bench", "feed", table], ["train", pipe], ["train", "--data", table],
                      ["train", self.data, "--pretrained", file, "--output", out], ["train", "--resume", pipe],
                      ["doctor", pipe], ["doctor", table], ["preview", pipe, "--out", out], ["split", pipe, "--out", out],
                      ["shard", pipe, "--out", out], ["shard", table, "--out", out], ["export", file, "--out", self.output / "never.onnx"],
                      ["info", pipe], ["info", file], ["report", pipe], ["serve", file, "--port", "0"],
                      ["calibrate", self.data, "--weights", file]):
            with self.subTest(" ".join(map(str, words))):
                begin = time.monotonic()
                done = program(*words, timeout=20)
                self.assertIn(done.returncode, (1, 2), done.stdout + done.stderr)
                self.assertRegex(done.stderr, "stoker: ")
                self.assertNotIn("internal error", done.stderr)
                self.assertIn("pipe", done.stderr)
                self.assertLess(time.monotonic() - begin, 10)
                self.assertFalse(out.exists())


if __name__ == "__main__":
    outcome = unittest.main(verbosity=2, exit=False).result
    sys.exit(1 if not outcome.wasSuccessful() else 0)
