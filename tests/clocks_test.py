#!/usr/bin/env python3
"""The clock of the day jumps by an hour back and forth and by a day, every 50 ms: runs, ranks, isolated workers, a store, lists of
files and a server do as with a good clock, and nothing waits for an hour.

Run by ctest with the program's path as STOKER. The class All trains longer and on two ranks; .ci/nightly runs it.
"""

import csv
import http.client
import json
import os
import random
import re
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
import small_run

STOKER = os.environ["STOKER"]
BETWEEN_MS = 50


class Case(runs.Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.library = preload.built("clock_jumps", cls.output)
        cls.data = cls.output / "data"
        for number in range(48):
            noise = random.Random(number).randbytes(1600)
            helpers.png(cls.data / "ab"[number % 2] / f"{number}.png", 40, 40, lambda x, y, n=noise: n[40 * y + x])

    @classmethod
    def environment(cls, jumps, **more):
        preloaded = {"LD_PRELOAD": str(cls.library), "CLOCK_JUMP_MS": str(BETWEEN_MS)} if jumps else {}
        return {**os.environ, "XDG_CACHE_HOME": str(cls.output / "cache"), **preloaded, **more}

    def program(self, *words, jumps=True, status=0, timeout=60, **more):
        done = subprocess.run([STOKER, *map(str, words)], capture_output=True, text=True, timeout=timeout, check=False,
                              env=self.environment(jumps, **more))
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done


class Training(Case):
    EPOCHS = 3

    def test_the_library_makes_the_clock_jump(self):
        """Without this the other tests prove nothing."""
        code = "import time\nfor _ in range(40):\n print(time.time() - time.monotonic())\n time.sleep(0.02)"
        found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=self.environment(True)).stdout
        moved = {round(float(line) / 3600) for line in found.splitlines()}
        self.assertGreaterEqual(max(moved) - min(moved), 24)

    def words(self, name, *more):
        return ["train", self.data, "--model", "cnn:4,8", "--aa", "resize(24,24),hflip(0.5)", "--batch-size", "4", "--epochs", self.EPOCHS,
                "--val-every", "4", "--threads", "1", "--workers", "2", "--output", self.output / "runs", "--experiment", name,
                "--sched", "constant", "--checkpoint-every", "3steps", "--log-json", *more]

    def train(self, name, *more, **options):
        self.program(*self.words(name, *more), **options)
        return self.output / "runs" / name

    def check_numbers(self, folder):
        """No duration of a file is negative or as long as a jump."""
        seen = 0
        for path in sorted(folder.glob("*.csv")):
            with open(path, encoding="utf-8") as file:
                for row in csv.DictReader(file):
                    for name, text in row.items():
                        if re.search("second|time|wait|copy|forward|backward|share|samples_per", name) and text:
                            self.assertGreaterEqual(float(text), 0, f"{path.name}: {row}")
                            seen += 1
                        if re.fullmatch("(val_)?seconds", name) and text:
                            self.assertLess(float(text), 600, f"{path.name}: {row}")
        self.assertGreater(seen, 10)
        for line in (folder / "log.jsonl").read_text(encoding="utf-8").splitlines():
            for name, value in json.loads(line).items():
                if "seconds" in name:
                    self.assertTrue(0 <= value < 600, line)
        self.assertNotRegex((folder / "log.txt").read_text(encoding="utf-8"), r"-\d+(\.\d+)? s\b")

    def test_the_same_weights_and_no_negative_seconds(self):
        wanted = self.train("good", jumps=False)
        weights = (wanted / "weights/last.safetensors").read_bytes()
        for name, more in (("jumps", []), ("isolated", ["--isolate"]), ("no-checkpoints", ["--checkpoint-every", "1epoch"])):
            with self.subTest(name):
                folder = self.train(name, *more)
                self.assertEqual((folder / "weights/last.safetensors").read_bytes(), weights)
                self.check_numbers(folder)
                for text in (folder / "report.html").read_text(encoding="utf-8").split("<footer>")[:1]:
                    self.assertNotRegex(text, r">-\d+(\.\d+)? s<")

    def test_a_run_resumes_yesterday(self):
        """Its checkpoints, its lock and its list of files are of the future."""
        wanted = (self.train("whole", jumps=False) / "weights/last.safetensors").read_bytes()
        with subprocess.Popen([STOKER, *map(str, self.words("parts", "--epochs", "100000"))], stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, text=True, env=self.environment(True)) as process:
            folder = self.output / "runs" / "parts"
            while not (folder / "results.csv").exists():
                self.assertIsNone(process.poll())
                time.sleep(0.01)
            process.send_signal(signal.SIGTERM)
            _, errors = process.communicate(timeout=30)
            self.assertEqual(process.returncode, 3, errors)
        with open(folder / "results.csv", encoding="utf-8") as file:
            epochs = len(list(csv.DictReader(file)))
        future = time.time() + 86400
        for path in folder.rglob("*"):
            os.utime(path, (future, future))
        again = self.train("again", "--epochs", epochs + 1, jumps=False)
        self.program("train", "--resume", folder, "--epochs", epochs + 1)
        self.assertEqual((folder / "weights/last.safetensors").read_bytes(), (again / "weights/last.safetensors").read_bytes())
        self.assertNotEqual(wanted, b"")
        self.check_numbers(folder)

    def test_a_list_of_files_is_never_stale(self):
        """Kept lists are taken by the folders' times, which come from the kernel; whether they are kept, from the clock of the day."""
        grows = self.output / "grows"
        for number in range(12):
            noise = random.Random(number).randbytes(256)
            helpers.png(grows / "ab"[number % 2] / f"{number}.png", 16, 16, lambda x, y, n=noise: n[16 * y + x])
            if number < 2:
                continue
            # Folders of yesterday, of tomorrow and of now.
            for folder in (grows / "a", grows / "b", grows):
                moment = time.time() + (0, -86400, 86400)[number % 3]
                os.utime(folder, (moment, moment))
            for _ in range(2):
                found = json.loads(self.program("bench", "feed", grows, "--json", "--aa", "resize(8,8)", "-b", "1", "-j", "1",
                                                "--epochs", "1").stdout)
                self.assertEqual(found["samples"], number + 1)


class Store(Case):
    def test_a_slow_store_is_asked_again_in_time(self):
        self.program("shard", self.data, "--out", self.output / "shards", "--shard-size", "8KB", jumps=False)
        words = ["bench", "feed", "--json", "--aa", "resize(16,16)", "-b", "4", "--epochs", "2", "-j", "1"]
        wanted = json.loads(self.program(*words, self.output / "shards", jumps=False).stdout)["digest"]
        with servers.FileServer(self.output) as files, servers.FaultProxy(files.url, ["slow"], only=".tar", limit=1) as slow:
            begin = time.monotonic()
            found = json.loads(self.program(*words, slow.url + "/shards", "--cache-dir", self.output / "c-slow", "--store-timeout",
                                            "1").stdout)
            self.assertEqual(found["digest"], wanted)
            self.assertEqual(slow.injected, ["slow"])
            self.assertLess(time.monotonic() - begin, 20)
        with (servers.FileServer(self.output) as files,
              servers.FaultProxy(files.url, ["503", "reset", "cut"], 0.4, seed=3, only=".tar") as bad):
            found = json.loads(self.program(*words, bad.url + "/shards", "--cache-dir", self.output / "c-bad").stdout)
            self.assertEqual(found["digest"], wanted)
            self.assertGreater(len(bad.injected), 2)


class Serve(Case):
    SECONDS = 2

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.small = small_run.SmallRun(STOKER, cls.output / "small")

    def ask(self, port, body, **headers):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        try:
            connection.request("POST", "/classify", body, headers)
            response = connection.getresponse()
            return response.status, json.loads(response.read())
        finally:
            connection.close()

    def test_deadlines_and_batches_do_not_follow_the_jumps(self):
        with subprocess.Popen([STOKER, "serve", str(self.small.weights), "--port", "0", "--max-delay", "20"], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, env=self.environment(True)) as process:
            try:
                process.stdout.readline()
                port = int(re.search(r"127\.0\.0\.1:(\d+)", process.stdout.readline())[1])
                self.keep_asking(port)
                self.assertEqual(self.ask(port, self.small.images[0].read_bytes(), **{"X-Timeout-Ms": "0"})[0], 504)
            finally:
                begin = time.monotonic()
                process.terminate()
                process.communicate(timeout=60)
            self.assertEqual(process.returncode, 0)
            self.assertLess(time.monotonic() - begin, 10)

    def keep_asking(self, port):
        stop, wrong, times = time.monotonic() + self.SECONDS, [], []

        def ask(offset):
            number = offset
            while time.monotonic() < stop:
                path = self.small.images[number % len(self.small.images)]
                number += 1
                begin = time.monotonic()
                status, found = self.ask(port, path.read_bytes(), **{"X-Timeout-Ms": "5000"})
                times.append(time.monotonic() - begin)
                said = self.small.said[str(path)]
                if status != 200 or found["label"] != "xy"[said[1] > said[0]]:
                    wrong.append((status, found))

        threads = [threading.Thread(target=ask, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])
        self.assertGreater(len(times), 20)
        self.assertLess(max(times), 5)
        print(f"{len(times)} requests, the longest {max(times):.3f} s")


class All(Training):
    EPOCHS = 40

    def test_two_ranks_meet_and_train(self):
        import ranks
        good = self.train("alone", "--batch-size", "4", jumps=False)
        flags = [*self.words("ranks"), "--timeout", "10"]
        os.environ.update(LD_PRELOAD=str(self.library), CLOCK_JUMP_MS=str(BETWEEN_MS))
        try:
            with ranks.Ranks(2, flags) as job:
                self.assertEqual(job.wait(120), [0, 0], job.report())
        finally:
            del os.environ["LD_PRELOAD"]
        self.assertEqual(ranks.facts(self.output / "runs/ranks")["samples_digest"], ranks.facts(good)["samples_digest"])
        self.check_numbers(self.output / "runs/ranks")

    def test_a_rank_that_dies_is_noticed_in_time(self):
        import ranks
        flags = [*self.words("dies", "--epochs", "100000"), "--timeout", "5"]
        os.environ.update(LD_PRELOAD=str(self.library), CLOCK_JUMP_MS=str(BETWEEN_MS))
        try:
            with ranks.Ranks(2, flags) as job:
                job.wait_until_step(self.output / "runs/dies", 6)
                begin = time.monotonic()
                job[1].process.kill()
                self.assertEqual(job[0].wait(60), 1, job.report())
                self.assertLess(time.monotonic() - begin, 20)
        finally:
            del os.environ["LD_PRELOAD"]


if __name__ == "__main__":
    outcome = unittest.main(verbosity=2, exit=False).result
    sys.exit(1 if not outcome.wasSuccessful() else 0)
