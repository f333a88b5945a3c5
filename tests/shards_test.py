#!/usr/bin/env python3
"""Shards from end to end with the real program: written, read from disk, from an HTTP server and from an S3 server (moto),
through a proxy that breaks things, and by Python's webdataset.

Run by ctest with the path of the program as STOKER. Every server listens on the loopback alone; the credentials are made up.
"""

import contextlib
import hashlib
import json
import os
import pathlib
import subprocess
import sys
import time
import unittest

import runs
from servers import STORE_FAULTS, FaultProxy, FileServer, Redirector, S3Server, SlowShards

STOKER = os.environ["STOKER"]
SOURCE = pathlib.Path(__file__).resolve().parent.parent
DATA = pathlib.Path(os.environ.get("STOKER_TEST_DATA") or SOURCE.parent / "shared" / "data")
FLOWERS, PLATES = DATA / "flowers12", DATA / "plates"
KEY, SECRET = "AKIDMARKEDKEY", "marked-secret-value"
SMALL = ["--aa", "resize(32,32)", "--dtype", "uint8", "-b", "32"]

if not (FLOWERS.is_dir() and PLATES.is_dir()):
    print(f"skipped: needs {FLOWERS} and {PLATES}")
    sys.exit(77)


def run(*words, status=0, timeout=120, program=(STOKER,), **variables):
    """The program with these arguments; what it printed. Without anybody's credentials, with a home of its own."""
    environment = {"PATH": os.environ["PATH"], "HOME": str(WORK / "home"), "XDG_CACHE_HOME": str(WORK / "cache"),
                   "STOKER_TEST_DATA": str(DATA), **{name: str(value) for name, value in variables.items()}}
    done = subprocess.run([*map(str, program), *map(str, words)], capture_output=True, text=True, timeout=timeout, check=False,
                          env=environment)
    text = done.stdout + done.stderr
    assert done.returncode == status, f"{words}: {done.returncode}, not {status}\n{text[-3000:]}"
    assert SECRET not in text, "the secret was printed"
    return done.stdout if status == 0 else text


def feed(data, *words, **variables):
    return json.loads(run("bench", "feed", "--json", "--data", data, *SMALL, *words, **variables))


def digest(data, *words, **variables):
    return feed(data, *words, **variables)["digest"]


def s3_environment(server, secret=SECRET):
    return {"AWS_ACCESS_KEY_ID": KEY, "AWS_SECRET_ACCESS_KEY": secret, "AWS_ENDPOINT_URL": server.url}


def cache_of(folder):
    return ["--cache-dir", WORK / folder]


class Case(runs.Case):
    @classmethod
    def setUpClass(cls):
        global WORK
        super().setUpClass()
        WORK = cls.output
        cls.stack = contextlib.ExitStack()
        cls.shards = WORK / "flowers"
        run("shard", FLOWERS / "train", "--out", cls.shards, "--shard-size", "1MB", "--seed", 1)

    @classmethod
    def tearDownClass(cls):
        cls.stack.close()
        super().tearDownClass()


class Local(Case):
    def test_same_batches_for_any_number_of_workers_threads_or_processes(self):
        first = digest(self.shards, "--epochs", 2, "-j", 1)
        for words in (["-j", 2], ["-j", 8], ["-j", 2, "--isolate"], ["-j", 3, "--ring", 1]):
            self.assertEqual(digest(self.shards, "--epochs", 2, *words), first, words)
        self.assertNotEqual(digest(self.shards, "--epochs", 2, "--seed", 5), first)
        self.assertNotEqual(digest(self.shards, "--epochs", 2, "--shuffle-window", 2), first)

    def test_resume_in_the_middle_is_the_same_order(self):
        for place in ("0:0", "0:416", "1:32", "1:704"):
            whole = digest(self.shards, "--epochs", 2, "--digest-from", place)
            self.assertEqual(digest(self.shards, "--epochs", 2, "--from", place), whole, place)

    def test_jpegs_for_decoding_in_parts_give_the_same_batches(self):
        photos, indexed = WORK / "photos", WORK / "indexed"
        for number, path in enumerate(sorted((DATA / "photos").glob("*.JPEG"))[:40]):
            (photos / str(number % 2)).mkdir(parents=True, exist_ok=True)
            (photos / str(number % 2) / path.name).symlink_to(path)
        run("shard", photos, "--out", indexed, "--jpeg-index")
        run("shard", photos, "--out", WORK / "as-they-are")
        sizes = [sum(path.stat().st_size for path in folder.glob("*.tar")) for folder in (WORK / "as-they-are", indexed)]
        self.assertNotEqual(*sizes)
        self.assertLess(sizes[1], 1.1 * sizes[0])

        def batches(folder, *words):
            return json.loads(run("bench", "feed", "--json", "--data", folder, "--epochs", 2, *words))["digest"]
        for words in (["--aa", "imagenet-train"], ["--aa", "imagenet-train", "--exact-decode"], ["--aa", "random_resized_crop(32)"]):
            wanted = batches(WORK / "as-they-are", *words)
            self.assertEqual(batches(indexed, *words), wanted, words)
            self.assertEqual(batches(indexed, *words, "-j", 3, "--isolate"), wanted, words)

    def test_same_shards_when_written_again_or_after_a_kill(self):
        names = sorted(path.name for path in self.shards.iterdir())
        again = WORK / "again"
        words = [STOKER, "shard", str(FLOWERS / "train"), "--out", str(again), "--shard-size", "1MB", "--seed", "1"]
        for delay in (0.05, 0.1, 0.2):
            process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(delay)
            process.kill()
            process.wait()
        run(*words[1:])
        self.assertEqual(sorted(p.name for p in again.iterdir() if not p.name.startswith(".stoker-")), names)
        for name in names:
            self.assertEqual((again / name).read_bytes(), (self.shards / name).read_bytes(), name)
        self.assertIn("already existed", run(*words[1:]))


class Remote(Case):
    """The same digest from everywhere, whatever breaks on the way; a clear end where nothing works."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.files = cls.stack.enter_context(FileServer(WORK))
        cls.s3 = cls.stack.enter_context(S3Server())
        cls.wanted = digest(cls.shards, "--epochs", 2)
        run("shard", FLOWERS / "train", "--out", "s3://bucket/some/flowers", "--shard-size", "1MB", "--seed", 1,
            **s3_environment(cls.s3))

    def test_http_and_s3_give_the_digest_of_the_disk(self):
        self.assertEqual(digest(self.files.url + "/flowers", "--epochs", 2, *cache_of("c-http")), self.wanted)
        first = feed("s3://bucket/some/flowers", "--epochs", 2, *cache_of("c-s3"), **s3_environment(self.s3))
        self.assertEqual(first["digest"], self.wanted)
        self.assertEqual(digest("s3://bucket/some/flowers/manifest.tsv", "--epochs", 2, *cache_of("c-s3"),
                                **s3_environment(self.s3)), self.wanted)

    def test_a_server_without_ranges_will_do(self):
        with FileServer(WORK, ranges=False) as plain, FaultProxy(plain.url, ["cut"], 0.3, seed=3, only=".tar") as proxy:
            self.assertEqual(digest(proxy.url + "/flowers", "--epochs", 2, *cache_of("c-plain")), self.wanted)
            self.assertGreater(len(proxy.injected), 2)

    def test_every_kind_of_fault_changes_nothing(self):
        for number, kind in enumerate(("cut", "503", "429", "slow", "truncated", "flipped", "longer", "shorter", "reset")):
            limit = 2 if kind == "slow" else None
            with self.subTest(kind), FaultProxy(self.s3.url, [kind], 0.3, seed=number, limit=limit) as proxy:
                found = digest("s3://bucket/some/flowers", "--epochs", 2, "--store-timeout", 2, *cache_of(f"c-{kind}"),
                               **s3_environment(proxy))
                self.assertEqual(found, self.wanted, kind)
                self.assertTrue(proxy.injected, kind)

    def test_a_store_that_stays_down_ends_the_run(self):
        for only, words in (("", "cannot use the store"), (".tar", "cannot read sample")):
            with FaultProxy(self.s3.url, ["down"], only=only) as proxy:
                start = time.monotonic()
                text = run("bench", "feed", "--data", "s3://bucket/some/flowers", *SMALL, "--store-tries", 4, *cache_of("c-down"),
                           status=1, **s3_environment(proxy))
                self.assertIn(words, text)
                self.assertIn("at the last of 4 tries", text)
                self.assertLess(time.monotonic() - start, 30)

    def test_a_wrong_object_is_refused_after_a_few_tries(self):
        with FaultProxy(self.files.url, ["flipped"], only=".tar") as proxy:
            text = run("bench", "feed", "--data", proxy.url + "/flowers", *SMALL, *cache_of("c-wrong"), status=1)
            self.assertIn("not what it should be", text)

    def test_processes_that_share_a_cache_fetch_each_shard_once(self):
        with FileServer(WORK) as server:
            words = [STOKER, "bench", "feed", "--json", "--data", server.url + "/flowers", *SMALL, "--epochs", "2",
                     *map(str, cache_of("c-shared"))]
            ranks = [subprocess.Popen(words, stdout=subprocess.PIPE, text=True) for _ in range(3)]
            for rank in ranks:
                self.assertEqual(json.loads(rank.communicate(timeout=120)[0])["digest"], self.wanted)
            for name in self.shards.glob("*.tar"):
                self.assertEqual(server.count(name.name), 1, name)

    def test_a_cache_on_a_disk_that_is_hardly_larger_makes_room_in_time(self):
        disk = WORK / "c-disk"
        disk.mkdir()
        mounted = ["unshare", "--mount", "bash", "-c", f'mount -t tmpfs -o size=7500k tmpfs {disk} && exec "$@"', "-", STOKER]
        found = digest(self.files.url + "/flowers", "--epochs", 2, "--shuffle-window", 1, "--cache-dir", disk, "--cache-size", "7MB",
                       program=mounted)
        self.assertEqual(found, digest(self.shards, "--epochs", 2, "--shuffle-window", 1))

    def test_a_small_cache_gives_the_same_batches(self):
        cache = WORK / "c-small"
        found = digest(self.files.url + "/flowers", "--epochs", 2, "--shuffle-window", 16, "--cache-dir", cache,
                       "--cache-size", "3MB")
        self.assertEqual(found, self.wanted)
        self.assertLess(sum(path.stat().st_size for path in cache.iterdir()), 5e6)

    def test_telemetry_tells_a_slow_store_from_decoding(self):
        with FaultProxy(self.files.url, ["slow"], only=".tar", limit=4) as proxy:
            stages = feed(proxy.url + "/flowers", "--no-digest", *cache_of("c-telemetry"))["stages"]
        self.assertGreater(stages["store"], 0.5)
        self.assertLess(feed(self.shards, "--no-digest")["stages"]["store"], 0.3)

    def test_foreign_shards_behind_a_url(self):
        folder = WORK / "foreign"
        folder.mkdir()
        names = sorted(self.shards.glob("*.tar"))[:3]
        for number, path in enumerate(names):
            (folder / f"x{number}.tar").write_bytes(path.read_bytes())
        local = digest(folder)
        self.assertEqual(digest(self.files.url + "/foreign/x{0..2}.tar", *cache_of("c-foreign")), local)
        run("shard", FLOWERS / "test", "--out", "s3://bucket/theirs", "--shard-size", "1MB", **s3_environment(self.s3))
        with FaultProxy(self.s3.url, ["missing"], only="manifest.tsv") as proxy:  # its shards are found by listing
            self.assertEqual(feed("s3://bucket/theirs", *cache_of("c-listed"), **s3_environment(proxy))["samples"], 240)


class FirstBatch(Case):
    """Comes from a store before any shard is there."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.photos = WORK / "photos"
        for number, path in enumerate(sorted((DATA / "photos").glob("*.JPEG"))[:150]):
            (WORK / "images" / str(number % 2)).mkdir(parents=True, exist_ok=True)
            (WORK / "images" / str(number % 2) / path.name).symlink_to(path)
        run("shard", WORK / "images", "--out", cls.photos, "--shard-size", "6MB")
        cls.shard_bytes = [path.stat().st_size for path in cls.photos.glob("*.tar")]
        assert len(cls.shard_bytes) > 1 and max(cls.shard_bytes) > 5e6, cls.shard_bytes
        cls.wanted = cls.batches(cls.photos)

    FEED = ["bench", "feed", "--json", "--aa", "resize(32,32)", "--dtype", "uint8", "-b", "8", "-j", "2"]

    @classmethod
    def batches(cls, data, *words):
        return json.loads(run(*cls.FEED, "--data", data, *words))["digest"]

    def test_needs_manifest_indexes_and_the_bytes_of_its_images(self):
        local = WORK / "local.npy"
        self.batches(self.photos, "--save-batch", local)
        for number, words in enumerate(([], ["--isolate"])):
            first = WORK / f"first{number}.npy"
            with SlowShards(WORK) as server:
                process = subprocess.Popen(
                    [STOKER, *self.FEED, "--data", server.url + "/photos", "--save-batch", str(first), *words,
                     *map(str, cache_of(f"c-first{number}"))], stdout=subprocess.PIPE, text=True)
                with process:
                    deadline = time.monotonic() + 60
                    while not first.exists() or first.stat().st_size < local.stat().st_size:
                        self.assertLess(time.monotonic(), deadline, "no batch without a shard")
                        time.sleep(0.01)
                    sent = server.sent
                    server.released.set()
                    self.assertEqual(json.loads(process.communicate(timeout=120)[0])["digest"], self.wanted)
            self.assertEqual(first.read_bytes(), local.read_bytes())
            self.assertLess(sent, max(self.shard_bytes) / 2)
            whole = [path for _, path, headers in server.requests if path.endswith(".tar") and "Range" not in headers]
            self.assertEqual(len(whole), len(self.shard_bytes))
            parts = [path for _, path, headers in server.requests if path.endswith(".tar") and "Range" in headers]
            self.assertLessEqual(len(parts), 16, "two batches of eight")

    def test_is_the_same_whatever_breaks(self):
        for number, kind in enumerate(STORE_FAULTS):
            limit = 2 if kind == "slow" else None
            with self.subTest(kind), FileServer(WORK) as files, FaultProxy(files.url, [kind], 0.3, seed=number, limit=limit) as proxy:
                self.assertEqual(self.batches(proxy.url + "/photos", "--store-timeout", 2, *cache_of(f"c-first-{kind}")), self.wanted)

    def test_comes_with_its_shards_where_the_server_has_no_ranges(self):
        with FileServer(WORK, ranges=False) as plain:
            self.assertEqual(self.batches(plain.url + "/photos", *cache_of("c-first-plain")), self.wanted)
            shards = len(self.shard_bytes)
            self.assertLessEqual(plain.count(".tar"), shards + 16, "a request for each thread, and each shard")

    def test_of_a_cache_asks_for_no_part(self):
        with FileServer(WORK) as server:
            self.batches(server.url + "/photos", *cache_of("c-first-warm"))
            before = server.count(".tar")
            self.assertEqual(self.batches(server.url + "/photos", *cache_of("c-first-warm")), self.wanted)
            self.assertEqual(server.count(".tar"), before)


class Training(Case):
    """What needs the trainer."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.s3 = cls.stack.enter_context(S3Server())
        run("split", PLATES / "train", "--every", 4, "--out", WORK / "lists")

    def test_trains_to_the_same_weights_for_any_number_of_workers(self):
        run("shard", WORK / "lists", "--out", WORK / "local-plates", "--shard-size", "100KB")
        weights = set()
        for workers in (1, 3):
            output = WORK / f"runs{workers}"
            run("train", "--data", WORK / "local-plates", "--model", "cnn:8,16", "--aa", "resize(32,32)", "--epochs", 2, "-b", 8,
                "--workers", workers, "--threads", 1, "--output", output, "--experiment", "x", "--no-report")
            weights.add(hashlib.sha256((output / "x" / "weights" / "last.safetensors").read_bytes()).hexdigest())
        self.assertEqual(len(weights), 1)

    def test_fashion_mnist_and_plates_train_to_the_same_weights_from_s3(self):
        for name, data, words in (("plates", WORK / "lists", ["--model", "cnn:8,16", "--aa", "resize(32,32)", "-b", 8]),
                                  ("fashion", "fashion-mnist", ["--model", "mlp:784,32,10", "-b", 128, "--val-fraction", 0.2])):
            run("shard", data, "--out", WORK / name, "--shard-size", "4MB")
            run("shard", data, "--out", f"s3://bucket/{name}", "--shard-size", "4MB", **s3_environment(self.s3))
            weights = []
            with FaultProxy(self.s3.url, ["cut", "503", "429", "truncated", "flipped"], 0.1, seed=7) as proxy:
                for where in (WORK / name, f"s3://bucket/{name}"):
                    output = WORK / f"runs-{len(weights)}"
                    run("train", "--data", where, *words, "--epochs", 1, "--workers", 2, "--threads", 1, "--output", output,
                        "--experiment", name, "--no-report", *cache_of("c-train"), **s3_environment(proxy))
                    weights.append((output / name / "weights" / "last.safetensors").read_bytes())
                    for path in (output / name).rglob("*"):
                        if path.is_file():
                            content = path.read_bytes()
                            self.assertNotIn(SECRET.encode(), content, path)
                            self.assertNotIn(KEY.encode(), content, path)
            self.assertEqual(weights[0], weights[1], name)


class Secrets(Case):
    def test_a_redirect_to_another_host_gets_nothing(self):
        with FileServer(WORK) as other, Redirector(other.url) as evil:
            text = run("bench", "feed", "--data", "s3://flowers", *SMALL, status=1, **s3_environment(evil))
            self.assertIn("another host", text)
            self.assertEqual(other.requests, [])
            self.assertTrue(all(SECRET not in str(request) for request in evil.requests))
            self.assertTrue(any(KEY in str(request) for request in evil.requests))  # it was asked with a signature

    def test_without_credentials_a_redirect_to_another_host_is_followed_on_request(self):
        with FileServer(WORK) as other, Redirector(other.url) as friendly:
            text = run("bench", "feed", "--data", friendly.url + "/flowers", *SMALL, status=1)
            self.assertIn("--follow-redirects", text)
            self.assertEqual(other.requests, [])
            self.assertEqual(digest(friendly.url + "/flowers", "--follow-redirects", *cache_of("c-redirect")), digest(self.shards))

    def test_addresses_that_carry_secrets_are_refused_and_not_repeated(self):
        for url in (f"http://user:{SECRET}@127.0.0.1:1/x", f"http://127.0.0.1:1/x?token={SECRET}"):
            self.assertIn("cannot use this address", run("bench", "feed", "--data", url, status=1))


class WebDataset(Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        sys.modules["torch"] = None  # .venv has its libraries but cannot import it; webdataset does without

    def test_webdataset_reads_ours(self):
        import webdataset
        urls = f"{self.shards}/shard-{{000000..{len(list(self.shards.glob('*.tar'))) - 1:06d}}}.tar"
        samples = list(webdataset.WebDataset(urls, shardshuffle=False))
        self.assertEqual(len(samples), 720)
        wanted = sorted((hashlib.sha256(path.read_bytes()).hexdigest(), number)
                        for number, folder in enumerate(sorted((FLOWERS / "train").iterdir())) for path in folder.iterdir())
        found = sorted((hashlib.sha256(sample["jpg"]).hexdigest(), int(sample["cls"])) for sample in samples)
        self.assertEqual(found, wanted)

    def test_we_read_webdatasets(self):
        import webdataset
        folder = WORK / "theirs"
        folder.mkdir()
        images = sorted((FLOWERS / "test").rglob("*.jpg"))[:60]
        with webdataset.ShardWriter(str(folder / "wds-%04d.tar"), maxcount=17, verbose=0) as writer:
            for number, path in enumerate(images):
                writer.write({"__key__": f"{number:06d}", "jpg": path.read_bytes(), "cls": number % 5})
        first = feed(folder / "wds-{0000..0003}.tar", "--digest-from", "0:0", "-j", 1)
        self.assertEqual(first["samples"], 60)
        self.assertEqual(digest(folder, "-j", 2), first["digest"])


if __name__ == "__main__":
    unittest.main()
