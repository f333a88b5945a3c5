#!/usr/bin/env python3
"""The wheel of scripts/package_wheel: its files, and what pip installs of it.

Run with the wheel as STOKER_WHEEL, and the program of the build, whose digests it must give, as STOKER. Making the wheel
takes too long for every change: .ci/nightly runs this.
"""

import base64
import csv
import hashlib
import io
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import zipfile

SOURCE = pathlib.Path(__file__).resolve().parent.parent
WHEEL = pathlib.Path(os.environ["STOKER_WHEEL"])
PROGRAM = pathlib.Path(os.environ["STOKER"])
VERSION = re.search(r"project\(stoker VERSION (\S+)", (SOURCE / "CMakeLists.txt").read_text(encoding="utf-8")).group(1)
INFO = f"stoker-{VERSION}.dist-info"


def succeed(*command, **options):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=300, check=False, **options)
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def newest(names, family):
    """(2, 34) of GLIBC_2.34, the newest of these names."""
    return max(tuple(map(int, version.split("."))) for version in re.findall(rf"\b{family}_([0-9.]+)", names))


class Wheel(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp())
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.archive = cls.enterClassContext(zipfile.ZipFile(WHEEL))
        cls.archive.extractall(cls.folder)
        cls.binaries = [path for path in cls.folder.rglob("*") if path.is_file() and path.read_bytes()[:4] == b"\x7fELF"]
        cls.ours = [path for path in cls.binaries if "stoker.libs" not in path.parts]

    def text(self, name):
        return (self.folder / name).read_text(encoding="utf-8")


class Files(Wheel):
    def test_is_small(self):
        self.assertLess(WHEEL.stat().st_size, 15_000_000)

    def test_is_for_every_python_and_rhel_9(self):
        self.assertRegex(WHEEL.name, rf"^stoker-{re.escape(VERSION)}-py3-none-manylinux_2_\d+_x86_64\.whl$")
        self.assertLessEqual(int(re.search(r"manylinux_2_(\d+)", WHEEL.name).group(1)), 34)
        self.assertIn("Root-Is-Purelib: false", self.text(f"{INFO}/WHEEL"))

    def test_training_needs_the_torch_that_it_is_built_with(self):
        pinned = re.search(r"^torch==(\d+)\.(\d+)\.(\d+)$", (SOURCE / "requirements.txt").read_text(encoding="utf-8"), re.M)
        major, minor, patch = map(int, pinned.groups())
        metadata = self.text(f"{INFO}/METADATA")
        wanted, = re.findall(r"^Requires-Dist: torch(.*?); extra == .train.$", metadata, re.M)
        self.assertEqual(set(wanted.strip(" ()").split(",")), {f">={major}.{minor}.{patch}", f"<{major}.{minor + 1}"})
        self.assertEqual(re.findall(r"^Requires-Dist: (?!torch)", metadata, re.M), [])

    def test_has_what_users_and_cmake_look_for(self):
        for name in ("bin/stoker", "lib/stoker/stoker-trainer", "lib/stoker/libstoker_gpu.so", "lib/stoker/libstoker_nccl.so", "py.typed",
                     "feed.py", "_feed.pyi", "_feed.abi3.so", "_feed.cpython-311-x86_64-linux-gnu.so",
                     "include/stoker/feed.h", "include/stoker/train.h", "lib/cmake/Stoker/StokerConfig.cmake", "share/man/man1/stoker.1",
                     "share/bash-completion/completions/stoker", "share/doc/stoker/licences/libssl3.txt"):
            self.assertTrue((self.folder / "stoker" / name).is_file(), name)
        # Every library of others has its licence.
        versions = self.text("stoker/share/doc/stoker/licences/versions.txt").splitlines()
        self.assertEqual({line.split()[0] for line in versions},
                         {path.stem for path in (self.folder / "stoker/share/doc/stoker/licences").iterdir()} - {"versions"})

    def test_the_list_of_parts_is_that_of_the_licences(self):
        parts = json.loads(self.text(f"{INFO}/sboms/auditwheel.cdx.json"))
        names = {f"{part['name']} {part['version']}" for part in parts["components"]} - {f"stoker {VERSION}"}
        self.assertEqual(names, set(self.text("stoker/share/doc/stoker/licences/versions.txt").splitlines()))

    def test_record_lists_every_file(self):
        rows = {name: (digest, size) for name, digest, size in csv.reader(io.StringIO(self.text(f"{INFO}/RECORD")))}
        self.assertEqual(set(rows), set(self.archive.namelist()))
        del rows[f"{INFO}/RECORD"]
        for name, (digest, size) in rows.items():
            data = (self.folder / name).read_bytes()
            self.assertEqual(digest, "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode(), name)
            self.assertEqual(int(size), len(data))

    def test_no_file_knows_where_it_was_built(self):
        for path in self.folder.rglob("*"):
            if path.is_file():
                self.assertNotIn(f"{SOURCE}/".encode(), path.read_bytes(), path)


class Binaries(Wheel):
    def test_libraries_are_found_beside_them_alone(self):
        self.assertGreater(len(self.ours), 5)
        self.assertGreater(len(self.binaries), len(self.ours) + 5)
        for path in self.binaries:
            for places in re.findall(r"\(R(?:UN)?PATH\).*\[(.*)\]", succeed("readelf", "-dW", path)):
                for place in places.split(":"):
                    self.assertRegex(place, r"^\$ORIGIN(/|$)", path)

    def test_need_nothing_newer_than_rhel_9(self):
        for path in self.binaries:
            names = succeed("objdump", "-T", path)
            self.assertLessEqual(newest(f"{names} GLIBC_2.0", "GLIBC"), (2, 34), path)
            self.assertLessEqual(newest(f"{names} GLIBCXX_3.4", "GLIBCXX"), (3, 4, 29), path)

    def test_are_hardened(self):
        for path in self.binaries:
            segments = succeed("readelf", "-lW", path)
            self.assertRegex(segments, r"GNU_STACK .* RW ", path)
            self.assertIn("GNU_RELRO", segments, path)
        for path in self.ours:
            dynamic = succeed("readelf", "-dW", path)
            self.assertIn("NOW", dynamic, path)
            self.assertIn("DYN (", succeed("readelf", "-hW", path), path)
        for name in ("bin/stoker", "lib/stoker/stoker-trainer"):
            path = self.folder / "stoker" / name
            self.assertIn("PIE", succeed("readelf", "-dW", path), path)
            symbols = succeed("objdump", "-T", path)
            self.assertIn("__stack_chk_fail", symbols)
            self.assertRegex(symbols, r"__(memcpy|snprintf|vsnprintf|read|memmove|memset|strcpy)_chk")

    def test_are_stripped(self):
        for path in self.ours:
            self.assertNotIn(".symtab", succeed("readelf", "-SW", path), path)


class Installed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp())
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.env = cls.folder / "env"
        succeed(sys.executable, "-m", "venv", cls.env)
        succeed(cls.env / "bin" / "pip", "install", "--no-index", "--no-deps", "--disable-pip-version-check", WHEEL)
        cls.python, cls.program = cls.env / "bin" / "python", cls.env / "bin" / "stoker"
        cls.variables = {name: value for name, value in os.environ.items() if name not in ("VIRTUAL_ENV", "CONDA_PREFIX", "STOKER_LIBTORCH")}

    def test_the_command_is_the_program(self):
        for command in ([self.program], [self.python, "-m", "stoker"]):
            self.assertEqual(succeed(*command, "--version").strip(), f"stoker {VERSION}")
            done = subprocess.run([*map(str, command), "ops", "--nonsense"], capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 2, done.stderr)

    def test_the_module_tells_its_version_and_imports_little(self):
        text = succeed(self.python, "-c", "import sys; before = set(sys.modules); import stoker; print(stoker.__version__, *sorted(set(sys.modules) - before))")
        self.assertEqual(text.split(), [VERSION, "stoker", "stoker._version"])

    def test_the_feed_needs_no_other_package(self):
        code = """if True:
            import stoker
            with stoker.Feed("fashion-mnist", batch_size=100, framework="dlpack") as feed:
                images, labels = next(iter(feed))
            print(len(feed), memoryview(images).shape, memoryview(labels).shape)
        """
        self.assertEqual(succeed(self.python, "-c", code, env=self.variables), "600 (100, 1, 28, 28) (100,)\n")

    def test_batches_are_those_of_the_build(self):
        arguments = ("bench", "feed", "fashion-mnist", "--aa", "rotate(-10,10),noise(0.05)", "--json")
        digests = [re.search(r'"digest": *"(\w+)"', succeed(program, *arguments, env=self.variables)).group(1) for program in (PROGRAM, self.program)]
        self.assertEqual(digests[0], digests[1])

    def test_training_without_torch_is_explained(self):
        done = subprocess.run([str(self.program), "train", "fashion-mnist"], capture_output=True, text=True, check=False, env=self.variables)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, r"(?s)LibTorch.*pip install")

    def test_the_prefix_of_cmake_builds_a_program(self):
        prefix = pathlib.Path(succeed(self.python, "-m", "stoker", "--cmake-prefix").strip())
        self.assertEqual(prefix.parent.name, "site-packages")
        build = self.folder / "feed"
        succeed("cmake", "-S", SOURCE / "examples" / "feed", "-B", build, f"-DCMAKE_PREFIX_PATH={prefix}", "-DCMAKE_FIND_USE_PACKAGE_REGISTRY=OFF")
        succeed("cmake", "--build", build)
        self.assertIn("images of 32 x 32 pixels", succeed(build / "feed_example", "fashion-mnist"))


if __name__ == "__main__":
    unittest.main(verbosity=2)
