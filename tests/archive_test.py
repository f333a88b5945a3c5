#!/usr/bin/env python3
"""What packages contain: the tree of the archive, made from the build and moved elsewhere.

Run by ctest with the build's folder as STOKER_BUILD. The tree has the components of the archive, and not the one that
knows where LibTorch was when Stoker was built.
"""

import os
import pathlib
import re
import shutil
import statistics
import subprocess
import tempfile
import time
import unittest

BUILD = pathlib.Path(os.environ["STOKER_BUILD"])
SOURCE = pathlib.Path(__file__).resolve().parent.parent
LIBTORCH = next(iter(SOURCE.glob(".venv/lib/python3*/site-packages/torch")), None)
COMPONENTS = ("feed", "train", "program", "bundle")
MOST_FEED_BYTES = 40e6
FEED_COMMAND_SECONDS, TRAIN_HELP_SECONDS = 0.050, 0.100


def run(*command, **options):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=300, check=False, **options)


def is_elf(path):
    return path.is_file() and not path.is_symlink() and path.open("rb").read(4) == b"\x7fELF"


class Tree(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = pathlib.Path(tempfile.mkdtemp())
        cls.addClassCleanup(shutil.rmtree, folder)
        for component in COMPONENTS:
            done = run("cmake", "--install", BUILD, "--prefix", folder / "first", "--strip", "--component", component)
            assert done.returncode == 0, done.stdout + done.stderr
        cls.folder, cls.prefix = folder, folder / "moved" / "stoker"
        cls.prefix.parent.mkdir()
        (folder / "first").rename(cls.prefix)
        cls.program = cls.prefix / "bin" / "stoker"
        cls.ours = [path for path in cls.prefix.rglob("*") if is_elf(path) and "stoker" in path.name]
        cls.bundled = [path for path in (cls.prefix / "lib" / "stoker").iterdir() if is_elf(path) and "stoker" not in path.name]

    def stoker(self, *words, **environment):
        """Without a Python environment, unless one is given."""
        bare = {"PATH": "/usr/bin:/bin", "HOME": str(self.folder), **environment}
        return run(self.program, *words, env=bare, cwd=self.folder)


class Files(Tree):
    def test_ours_are_hardened(self):
        self.assertGreaterEqual(len(self.ours), 4)
        for path in self.ours:
            with self.subTest(path.name):
                segments, dynamic = run("readelf", "-lW", path).stdout, run("readelf", "-dW", path).stdout
                self.assertIn("Elf file type is DYN", segments)  # PIE, or a shared library
                self.assertIn("GNU_RELRO", segments)
                self.assertRegex(segments, r"GNU_STACK .* RW +0x")
                self.assertRegex(dynamic, r"BIND_NOW|FLAGS_1.*NOW")
                if "gpu" in path.name or "cuda" in path.name or "nccl" in path.name:
                    continue  # hardly any code of the host that could need it
                symbols = run("readelf", "--dyn-syms", "-W", path).stdout
                self.assertIn("__stack_chk_fail", symbols)
                self.assertRegex(symbols, r"__\w+_chk(@| |$)")

    def test_paths_are_relative(self):
        for path in self.ours:
            dynamic = run("readelf", "-dW", path).stdout
            for found in re.findall(r"\((?:RPATH|RUNPATH)\).*\[(.*)\]", dynamic):
                self.assertTrue(all(part.startswith("$ORIGIN") for part in found.split(":")), f"{path.name}: {found}")

    def test_no_path_of_the_build_is_inside(self):
        unwanted = [str(SOURCE).encode(), str(BUILD).encode(), str(self.folder).encode()]
        for path in self.prefix.rglob("*"):
            if path.is_file():
                data = path.read_bytes()
                for text in unwanted:
                    at = data.find(text)
                    self.assertEqual(at, -1, f"{path}: {data[max(at - 40, 0):at + 80]}")

    def test_every_library_is_inside_or_in_every_system(self):
        basic = r"ld-linux|lib(c|m|dl|rt|pthread|resolv|util|stdc\+\+|gcc_s)\.so|libtorch|libc10|libcud|libnccl|libcupti|libgomp"
        inside = {path.name for path in self.prefix.rglob("lib*")}
        for path in self.ours + self.bundled:
            for name in re.findall(r"\(NEEDED\).*\[(.*)\]", run("readelf", "-dW", path).stdout):
                self.assertTrue(name in inside or re.match(basic, name), f"{path.name} needs {name}")

    def test_needs_no_newer_system_than_rhel_9(self):
        for path in self.ours + self.bundled:
            versions = run("readelf", "--version-info", "-W", path).stdout
            for library, limit in (("GLIBC", (2, 34)), ("GLIBCXX", (3, 4, 29))):
                for text in set(re.findall(rf"Name: {library}_([\d.]+)", versions)):
                    self.assertLessEqual(tuple(map(int, text.split("."))), limit, f"{path.name} needs {library}_{text}")

    def test_every_bundled_library_has_its_licence(self):
        licences = self.prefix / "share" / "doc" / "stoker" / "licences"
        versions = dict(line.split() for line in (licences / "versions.txt").read_text(encoding="utf-8").splitlines())
        self.assertEqual({path.stem for path in licences.glob("*.txt")} - {"versions"}, set(versions))
        self.assertIn("libcli11-dev", versions)
        self.assertTrue(any(name.startswith("libcurl") for name in versions))
        self.assertTrue((licences.parent / "LICENSE").is_file())

    def test_the_feed_is_small(self):
        size = sum(path.stat().st_size for path in (*self.bundled, self.program, *self.prefix.glob("lib/libstoker_feed.so.*"),
                                                     *self.prefix.rglob("include/**/*.h")) if not path.is_symlink())
        print(f"feed: {size / 1e6:.1f} MB")
        self.assertLess(size, MOST_FEED_BYTES)


class WithoutLibTorch(Tree):
    def test_feed_commands_work(self):
        done = self.stoker("ops")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("rotate", done.stdout)

    def test_help_has_all_commands(self):
        for words in (("--help",), ("train", "--help"), ("help", "train"), ("man",), ("completion", "bash")):
            done = self.stoker(*words)
            self.assertEqual((done.returncode, done.stderr), (0, ""), words)
            self.assertIn("train", done.stdout)

    def test_training_says_what_is_missing(self):
        done = self.stoker("train", "mnist")
        self.assertEqual(done.returncode, 1)
        self.assertIn("computes with LibTorch, which is not in this package", done.stderr)
        self.assertIn("pip install", done.stderr)
        self.assertIn("STOKER_LIBTORCH", done.stderr)

    def test_another_version_is_named(self):
        torch = self.folder / "old" / "lib" / "python3.9" / "site-packages" / "torch"
        (torch / "lib").mkdir(parents=True)
        (torch / "lib" / "libtorch_cpu.so").touch()
        (torch / "version.py").write_text("__version__ = '1.13.1+cu117'\n", encoding="utf-8")
        done = self.stoker("train", "mnist", VIRTUAL_ENV=str(self.folder / "old"))
        self.assertEqual(done.returncode, 1)
        self.assertIn(f"{torch}: version 1.13.1", done.stderr)

    def test_commands_start_fast(self):
        for words, limit in ((("ops",), FEED_COMMAND_SECONDS), (("--version",), FEED_COMMAND_SECONDS),
                             (("train", "--help"), TRAIN_HELP_SECONDS)):
            seconds = []
            for _ in range(11):
                start = time.perf_counter()
                self.assertEqual(self.stoker(*words).returncode, 0)
                seconds.append(time.perf_counter() - start)
            print(f"stoker {' '.join(words)}: median {statistics.median(seconds) * 1000:.0f} ms")
            self.assertLess(min(seconds), limit, words)  # other tests run beside this one


@unittest.skipIf(LIBTORCH is None, "needs LibTorch in .venv (scripts/setup)")
class WithLibTorch(Tree):
    def test_trains_with_the_library_that_is_given(self):
        done = self.stoker("train", "--data", "fashion-mnist", "--model", "mlp:784,16,10", "--epochs", "1",
                           "--batches-per-epoch", "20", "--output", "runs", STOKER_LIBTORCH=str(LIBTORCH))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(list((self.folder / "runs").rglob("run.json")))

    def test_an_active_environment_is_found(self):
        done = self.stoker("devices", VIRTUAL_ENV=str(LIBTORCH.parents[3]))
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_the_feed_gives_the_bytes_of_the_build(self):
        words = ("bench", "feed", "fashion-mnist", "--aa", "mnist", "--workers", "2", "--batches-per-epoch", "50")
        digests = [re.search(r"digest\W+(\w{16,})", run(program, *words).stdout).group(1)
                   for program in (BUILD / "stoker", self.program)]
        self.assertEqual(*digests)


if __name__ == "__main__":
    unittest.main()
