#!/usr/bin/env python3
"""The installed package, as other projects use it: find_package, pkg-config, add_subdirectory, the examples, the reference.

Run by ctest with the build's folder as STOKER_BUILD and the compiler as CXX. Installs into an empty folder; nothing of
the source tree but the examples is used from there on. STOKER_PREFIX names what a package has installed instead.
"""

import json
import os
import pathlib
import re
import shutil
import struct
import subprocess
import tempfile
import time
import unittest
import zlib

BUILD = pathlib.Path(os.environ["STOKER_BUILD"])
CXX = os.environ["CXX"]
CC = CXX.replace("clang++", "clang").replace("g++", "gcc").replace("c++", "cc")  # in the same folder
SOURCE = pathlib.Path(__file__).resolve().parent.parent
VERSION = re.search(r"project\(stoker VERSION (\S+)", (SOURCE / "CMakeLists.txt").read_text(encoding="utf-8")).group(1)
DATA = pathlib.Path(os.environ.get("STOKER_TEST_DATA") or SOURCE.parent / "shared" / "data")
PLATES, WEIGHTS = DATA / "plates", DATA / "weights" / "resnet18_imagenet1k_v1_reconstructed.safetensors"
MINOR = ".".join(VERSION.split(".")[:2])


def run(*command, env=None, **options):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=300, check=False,
                          env={**os.environ, **(env or {})}, **options)


def succeed(*command, **options):
    done = run(*command, **options)
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def write_png(path, side, level):
    """A grey square of one level, in RGB."""
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = (b"\0" + bytes([level] * 3 * side)) * side
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0))
                     + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


def write_project(folder, *lines):
    folder.mkdir(parents=True)
    text = "\n".join(["cmake_minimum_required(VERSION 3.25)", "project(consumer LANGUAGES CXX)", *lines, ""])
    (folder / "CMakeLists.txt").write_text(text, encoding="utf-8")
    return folder


class Installed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp())
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.prefix = pathlib.Path(os.environ.get("STOKER_PREFIX") or cls.install())
        cls.library = next(cls.prefix.rglob(f"libstoker_feed.so.{MINOR}"))
        cls.include = cls.prefix / "include"
        cls.photos = cls.folder / "photos"
        for label in ("cat", "dog"):
            for number in range(3):
                write_png(cls.photos / label / f"{number}.png", 40 + number, 60 + 20 * number)

    @classmethod
    def install(cls):
        first = cls.folder / "installed"
        succeed("cmake", "--install", BUILD, "--prefix", first)
        # Moved once: nothing may know where it was installed.
        moved = cls.folder / "elsewhere" / "stoker"
        moved.parent.mkdir()
        return first.rename(moved)

    def configure(self, project, *arguments):
        return run("cmake", "-S", project, "-B", project / "build", f"-DCMAKE_PREFIX_PATH={self.prefix}",
                   "-DCMAKE_FIND_USE_PACKAGE_REGISTRY=OFF", *arguments)


class Example(Installed):
    def output(self, name, *arguments, settings=()):
        build = self.folder / name
        succeed("cmake", "-S", SOURCE / "examples" / name, "-B", build, f"-DCMAKE_PREFIX_PATH={self.prefix}",
                "-DCMAKE_COMPILE_WARNING_AS_ERROR=ON", "-DCMAKE_CXX_FLAGS=-Wall -Wextra", *settings)
        succeed("cmake", "--build", build)
        return run(build / f"{name}_example", *arguments)


class Examples(Example):
    def test_feed(self):
        done = self.output("feed", self.photos)
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = done.stdout.splitlines()
        self.assertEqual(lines[0], "images of 32 x 32 pixels with 3 channels")
        self.assertEqual(len(lines), 1 + 2 * 2)
        for epoch in (0, 1):
            text = "\n".join(line for line in lines if line.startswith(f"epoch {epoch}"))
            self.assertEqual(sorted(re.findall(r"(\d) \(class (\d)\)", text)),
                             [(str(i), "0" if i < 3 else "1") for i in range(6)])
        again = run(self.folder / "feed" / "feed_example", self.photos)
        self.assertEqual(again.stdout, done.stdout)
        # Exceptions of the library are caught by the program.
        wrong = run(self.folder / "feed" / "feed_example", self.photos, "rotat(1)")
        self.assertEqual(wrong.returncode, 1)
        self.assertIn("Did you mean rotate?", wrong.stderr)

    def test_two_views(self):
        for label, level in (("dark", 10), ("bright", 240)):
            for number in range(8):
                write_png(self.folder / "views" / label / f"{number}.png", 40, level + number)
        done = self.output("two_views", self.folder / "views")
        self.assertEqual(done.returncode, 0, done.stderr)
        *_, last = done.stdout.splitlines()
        same, different = map(float, re.findall(r"-?\d\.\d+", last))
        self.assertGreater(same, different)

    def test_operation(self):
        done = self.output("operation", self.photos)
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = done.stdout.splitlines()
        self.assertEqual(lines[0], "policy resize_crop(32,32),scanlines(8)")
        self.assertEqual(sorted(lines[1:]), [f"sample {i}: 4 black rows" for i in range(6)])

    def test_source(self):
        done = self.output("source")
        self.assertEqual(done.returncode, 0, done.stderr)
        dark, bright, fault = done.stdout.splitlines()
        self.assertRegex(dark, r"^dark: mean 0\.2[45]")
        self.assertRegex(bright, r"^bright: mean 0\.7[45]")
        self.assertEqual(fault, "replaced level 200: this level was never measured")


@unittest.skipUnless(list(BUILD.glob("lib/libstoker.so")), "needs a build with LibTorch")
class TrainExamples(Example):
    """What trains, against the installed library."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        for label, level in (("cat", 40), ("dog", 200)):
            for number in range(20):
                write_png(cls.folder / "many" / label / f"{number}.png", 40, level + number)

    def last_weights(self, run_folder):
        return (run_folder / "weights" / "last.safetensors").read_bytes()

    def killed_and_finished(self, program, output, experiment):
        """Kills the run at three steps, starts it again each time, and returns what it printed and its last weights."""
        command = [str(program), str(self.folder / "many"), str(output)]
        checkpoints = output / experiment / "checkpoints"
        kills = 0
        for wanted in (3, 9, 14):
            process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            while process.poll() is None and max([0, *(int(re.search(r"\d+", path.stem).group()) for path in checkpoints.glob("*.safetensors"))]) < wanted:
                time.sleep(0.01)
            kills += process.poll() is None
            process.kill()
            process.wait()
        self.assertGreater(kills, 0)
        return succeed(*command), self.last_weights(output / experiment)

    def test_a_killed_run_continues_to_the_same_weights(self):
        unbroken = self.output("train", self.folder / "many", self.folder / "unbroken")
        self.assertEqual(unbroken.returncode, 0, unbroken.stderr)
        self.assertIn("20 steps", unbroken.stdout)
        _, weights = self.killed_and_finished(self.folder / "train" / "train_example", self.folder / "killed", "example")
        self.assertEqual(weights, self.last_weights(self.folder / "unbroken" / "example"))
        predicted = self.output("predict", self.folder / "unbroken" / "example" / "weights" / "best.safetensors", self.photos)
        self.assertEqual(predicted.returncode, 0, predicted.stderr)
        rows = [line.split("\t") for line in predicted.stdout.splitlines()]
        self.assertEqual(len(rows), 6)
        self.assertTrue(all(row[1] in ("cat", "dog") for row in rows), rows)
        # The program finds the same.
        said = succeed(self.prefix / "bin" / "stoker", "predict", self.photos, "--weights",
                       self.folder / "unbroken" / "example" / "weights" / "best.safetensors")
        for name, label, _ in rows:
            self.assertRegex(said, rf"{re.escape(name)},.*{label}")

    def test_c_programs_say_the_same_as_the_program(self):
        data = self.folder / "many"
        succeed(self.prefix / "bin" / "stoker", "train", data, "--model", "cnn:4,8", "--epochs", "1", "--aa", "resize(16,16)", "--batch-size", "8",
                "--val-fraction", "0.2", "--output", self.folder / "c", "--no-report", "--threads", "1")
        weights = next((self.folder / "c").rglob("best.safetensors"))
        images = sorted(data.rglob("*.png"))
        said = {line.split(",")[0]: line for line in
                succeed(self.prefix / "bin" / "stoker", "predict", data, "--weights", weights, "--batch-size", "1").splitlines()[1:]}
        done = self.output("predict_c", weights, *images)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        rows = [line.split("\t") for line in done.stdout.splitlines()]
        self.assertEqual([row[0] for row in rows], [str(path) for path in images])
        for path, label, _, *probabilities in rows:
            self.assertIn(label, said[path])
            numbers = [float(word) for word in re.findall(r"(?<=,)[\d.e-]+(?=,|$)", said[path])]
            for probability in map(float, probabilities):
                self.assertTrue(any(abs(probability - number) < 2e-6 for number in numbers), (said[path], probabilities))
        bad = run(self.folder / "predict_c" / "predict_c_example", weights, "/nowhere/a.png")
        self.assertEqual(bad.returncode, 1)
        self.assertIn("/nowhere/a.png", bad.stdout)
        self.check_runtimes(weights, images)
        # Without LibTorch: what a runtime of one's own takes.
        made = self.output("preprocess_c", weights, images[0], self.folder / "input.bin")
        self.assertEqual((made.returncode, made.stdout), (0, "3 x 16 x 16\n"), made.stderr)
        self.assertEqual((self.folder / "input.bin").stat().st_size, 3 * 16 * 16 * 4)

    def check_runtimes(self, weights, images):
        """Other runtimes, without LibTorch, have the same classes. ONNX Runtime's example needs its header, which its wheel lacks:
        nightly names its folder in STOKER_ONNXRUNTIME_INCLUDE."""
        network = self.folder / "c.onnx"
        succeed(self.prefix / "bin" / "stoker", "export", weights, "--out", network)
        packages = next((SOURCE / ".venv" / "lib").glob("python3*")) / "site-packages"
        runtimes = {"openvino": [f"-DOpenVINO_DIR={packages / 'openvino' / 'cmake'}"]}
        if headers := os.environ.get("STOKER_ONNXRUNTIME_INCLUDE"):
            (self.folder / "ort").mkdir()
            for name in ("libonnxruntime.so", "libonnxruntime.so.1"):  # the wheel has neither
                (self.folder / "ort" / name).symlink_to(next((packages / "onnxruntime" / "capi").glob("libonnxruntime.so.*")))
            runtimes["onnxruntime"] = [f"-DONNXRUNTIME_INCLUDE={headers}", f"-DONNXRUNTIME_LIBRARY={self.folder}/ort/libonnxruntime.so"]
        said = [json.loads(line) for line in succeed(self.prefix / "bin" / "stoker", "predict", self.folder / "many", "--weights", weights,
                                                     "--format", "jsonl").splitlines()]
        expected = {row["sample"]: row["class"] for row in said}
        self.assertEqual(set(expected.values()), {"cat", "dog"}, "it says the same of all")
        for name, settings in runtimes.items():
            with self.subTest(runtime=name):
                done = self.output(name, weights, network, *images, settings=settings)
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
                rows = [line.split("\t") for line in done.stdout.splitlines()]
                self.assertEqual(rows, [[str(path), expected[str(path)]] for path in images])

    def test_multilabel(self):
        rows = ["path,bright,dark"]
        for label, level in (("dark", 40), ("bright", 200)):
            for number in range(20):
                path = f"table/{label}{number}.png"
                write_png(self.folder / path, 24, level + number)
                rows.append(f"{path},{int(label == 'bright')},{int(label == 'dark')}")
        (self.folder / "table.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
        done = self.output("multilabel", self.folder / "table.csv", "bright,dark", self.folder / "several")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        *_, last = done.stdout.splitlines()
        self.assertRegex(last, r"dark\d+\.png: dark$")

    def test_network(self):
        unbroken = self.output("network", self.folder / "many", self.folder / "tiny")
        self.assertEqual(unbroken.returncode, 0, unbroken.stderr)
        steps, *rows = unbroken.stdout.splitlines()
        self.assertEqual(steps, "20 steps")
        # It learned to tell dark from bright, and its model file was read by its name.
        self.assertEqual(len(rows), 40)
        for name, label, _ in (row.split("\t") for row in rows):
            self.assertEqual(label, pathlib.Path(name).parent.name)
        text, weights = self.killed_and_finished(self.folder / "network" / "network_example", self.folder / "killed_tiny", "tiny")
        self.assertEqual(weights, self.last_weights(self.folder / "tiny" / "tiny"))
        self.assertEqual(text, unbroken.stdout)
        # Another program does not know it, and says who would.
        other = run(self.prefix / "bin" / "stoker", "predict", self.photos, "--weights", self.folder / "tiny" / "tiny" / "weights" / "best.safetensors")
        self.assertEqual(other.returncode, 1)
        self.assertIn('got "tiny:16".', other.stderr)
        self.assertIn("A network of another program must be registered by it", other.stderr)

    @unittest.skipUnless(WEIGHTS.exists() and PLATES.exists(), f"needs {WEIGHTS} and {PLATES}")
    def test_finetune(self):
        done = self.output("finetune", PLATES, WEIGHTS, self.folder / "runs")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"^epoch 1: loss \d\.\d+, validation top-1 \d+\.\d %\n$")
        self.assertTrue((self.folder / "runs" / "finetuned" / "report.html").exists())


class Headers(Installed):
    INCLUDE = re.compile(r'^\s*#\s*include\s+(["<])([^">]+)[">]', re.M)

    def includes(self, path):
        return self.INCLUDE.findall(path.read_text(encoding="utf-8"))

    def test_every_included_header_is_installed_and_no_other(self):
        reached, ahead = {"stoker/export.h"}, ["stoker/feed.h", "stoker/stoker_preprocess.h"]
        if (self.include / "stoker" / "train.h").exists():
            ahead += ["stoker/train.h", "stoker/predict.h", "stoker/stoker_predict.h", "stoker/network.h"]
        while ahead:
            name = ahead.pop()
            reached.add(name)
            self.assertTrue((self.include / name).is_file(), name)
            ahead += [other for kind, other in self.includes(self.include / name) if kind == '"' and other not in reached]
        installed = {str(path.relative_to(self.include)) for path in self.include.rglob("*") if path.is_file()}
        self.assertEqual(installed, reached)
        self.assertFalse([name for name in installed if "/detail/" in name])

    def test_only_headers_of_the_standard_library_besides(self):
        for path in self.include.rglob("*.h"):
            for kind, name in self.includes(path):
                of_torch = path == self.include / "stoker" / "network.h" and name.startswith("torch/")
                for_c = path.name.startswith("stoker_") and name in ("stddef.h", "stdint.h")
                self.assertTrue(kind == '"' and name.startswith("stoker/") or re.fullmatch("[a-z_]+", name) or of_torch or for_c,
                                f"{path}: {name}")

    def test_the_headers_for_c_are_c(self):
        for path in self.include.glob("stoker/stoker_*.h"):
            source = self.folder / f"{path.stem}.c"
            source.write_text(f"#include <stoker/{path.name}>\nint main(void) {{ return STOKER_OK; }}\n", encoding="utf-8")
            succeed(CC, "-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror", f"-I{self.include}", "-fsyntax-only", source)

    @unittest.skipUnless(shutil.which("doxygen"), "needs doxygen")
    def test_the_reference_has_no_warning(self):
        done = run("doxygen", SOURCE / "docs" / "Doxyfile", env={"STOKER_INCLUDE": str(self.include)}, cwd=self.folder)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertTrue((self.folder / "reference" / "html" / "classstoker_1_1Feed.html").is_file())

    @unittest.skipUnless(shutil.which("doxygen"), "needs doxygen")
    def test_every_class_and_function_has_a_description(self):
        text = (SOURCE / "docs" / "Doxyfile").read_text(encoding="utf-8")
        text += "EXTRACT_ALL = NO\nWARN_AS_ERROR = NO\nOUTPUT_DIRECTORY = undocumented\n"
        done = run("doxygen", "-", env={"STOKER_INCLUDE": str(self.include)}, cwd=self.folder, input=text)
        # Members of structs may speak for themselves.
        self.assertEqual(re.findall(r".*(?:Compound .*|of namespace stoker) is not documented.*", done.stderr), [])


class Library(Installed):
    def test_exports_the_public_names_alone(self):
        lines = succeed("nm", "-D", "-C", "--defined-only", self.library).splitlines()
        names = [line.split(maxsplit=2)[2] for line in lines]
        self.assertGreater(len(names), 100)
        ours = re.compile(r"((typeinfo|typeinfo name|vtable) for )?stoker::(?!detail::|N_)|stoker_(preprocess|last_error)")
        self.assertEqual([name for name in names if not ours.match(name)], [])
        for name in ("stoker::Feed::next()", "typeinfo for stoker::Error", "stoker::register_operation(stoker::OperationSchema)",
                     "stoker_preprocess_file"):
            self.assertIn(name, names)

    def test_its_name_has_the_version_and_it_needs_no_libtorch(self):
        text = succeed("readelf", "-d", self.library)
        self.assertIn(f"soname: [libstoker_feed.so.{MINOR}]", text)
        needed = re.findall(r"NEEDED.*\[(.+)\]", text)
        self.assertFalse([name for name in needed if re.search("torch|c10|stoker(?!_curl)", name)], needed)
        # A wheel has no symbolic links.
        self.assertIn(self.library.resolve().name, (f"libstoker_feed.so.{VERSION}", f"libstoker_feed.so.{MINOR}"))

    def test_pkg_config(self):
        main = self.folder / "main.cc"
        main.write_text('#include <stoker/feed.h>\n#include <cstdio>\nint main() { std::puts(stoker::Policy::parse("hflip").text().c_str()); }\n',
                        encoding="utf-8")
        env = {"PKG_CONFIG_PATH": str(next(self.prefix.rglob("pkgconfig")))}
        self.assertEqual(succeed("pkg-config", "--modversion", "stoker-feed", env=env).strip(), VERSION)
        flags = succeed("pkg-config", "--cflags", "--libs", "stoker-feed", env=env).split()
        succeed(CXX, "-std=c++20", main, "-o", self.folder / "main", *flags)
        text = succeed(self.folder / "main", env={"LD_LIBRARY_PATH": str(self.library.parent)})
        self.assertEqual(text, "hflip(0.5)\n")


class Package(Installed):
    def test_a_component_that_is_not_installed_is_named(self):
        project = write_project(self.folder / "wrong", "find_package(Stoker 0.2 REQUIRED COMPONENTS feed nonsense)")
        done = self.configure(project)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn('The component "nonsense" of Stoker is not installed', " ".join(done.stderr.split()))
        self.assertIn("which has: feed", " ".join(done.stderr.split()))

    def test_without_components_it_is_all_that_there_are(self):
        # But network: it would need LibTorch's headers.
        project = write_project(self.folder / "all", "find_package(Stoker REQUIRED)", "if(NOT TARGET Stoker::feed OR TARGET Stoker::network)",
                                'message(FATAL_ERROR "missing, or too many")', "endif()")
        done = self.configure(project)
        self.assertEqual(done.returncode, 0, done.stderr)

    @unittest.skipUnless(list(BUILD.glob("lib/libstoker.so")), "needs a build with LibTorch")
    def test_the_network_component_needs_the_same_libtorch(self):
        def failure(name, *arguments):
            project = write_project(self.folder / name, "find_package(Stoker REQUIRED COMPONENTS feed network)")
            done = self.configure(project, *arguments)
            self.assertNotEqual(done.returncode, 0)
            return " ".join(done.stderr.split())

        missing = failure("no_torch", f"-DTorch_DIR={self.folder}/nowhere/share/cmake/Torch")
        self.assertIn("found no lib/libtorch_cpu.so. Pass -DCMAKE_PREFIX_PATH=", missing)
        older = self.folder / "older"
        (older / "lib").mkdir(parents=True)
        (older / "lib" / "libtorch_cpu.so").touch()
        arguments = f"-DCMAKE_PREFIX_PATH={older};{self.prefix}"
        self.assertIn(f"found no headers of LibTorch in {older}/include", failure("no_headers", arguments))
        header = older / "include" / "torch" / "headeronly" / "version.h"
        header.parent.mkdir(parents=True)
        header.write_text("#define TORCH_VERSION_MAJOR 1\n#define TORCH_VERSION_MINOR 13\n#define TORCH_VERSION_PATCH 1\n", encoding="utf-8")
        self.assertIn(f"found LibTorch 1.13.1 in {older}", failure("older_torch", arguments))
        optional = write_project(self.folder / "optional", "find_package(Stoker REQUIRED COMPONENTS train OPTIONAL_COMPONENTS network)",
                                 "if(NOT TARGET Stoker::train OR TARGET Stoker::network)", 'message(FATAL_ERROR "wrong")', "endif()")
        done = self.configure(optional, arguments)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_another_minor_version_is_refused(self):
        for version in ("0.1", "0.99", "1.0"):
            project = write_project(self.folder / f"version-{version}", f"find_package(Stoker {version} REQUIRED)")
            done = self.configure(project)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(f"version: {VERSION}", done.stderr)

    def test_the_program_runs_from_the_prefix(self):
        self.assertEqual(succeed(self.prefix / "bin" / "stoker", "--version").strip(), f"stoker {VERSION}")
        self.assertIn("hflip", succeed(self.prefix / "bin" / "stoker", "ops"))
        self.assertNotIn(str(BUILD), succeed("readelf", "-d", self.prefix / "bin" / "stoker"))


class Subproject(unittest.TestCase):
    """Configured only: it would be compiled as it is here."""

    def test_needs_no_test_dependencies_and_leaves_the_parent_as_it_was(self):
        with tempfile.TemporaryDirectory() as folder:
            watched = ("CMAKE_ARCHIVE_OUTPUT_DIRECTORY CMAKE_LIBRARY_OUTPUT_DIRECTORY CMAKE_CXX_FLAGS CMAKE_CXX_STANDARD CMAKE_CXX_COMPILER_LAUNCHER "
                       "CMAKE_POSITION_INDEPENDENT_CODE CMAKE_MODULE_PATH CMAKE_EXPORT_COMPILE_COMMANDS BUILD_TESTING")
            project = write_project(
                pathlib.Path(folder, "parent"), f"set(watched {watched})",
                "foreach(name ${watched})", 'set(before_${name} "${${name}}")', "endforeach()",
                f"add_subdirectory({SOURCE} stoker)",
                "foreach(name ${watched})", 'if(NOT "${${name}}" STREQUAL "${before_${name}}")',
                'message(FATAL_ERROR "${name} was changed to ${${name}}")', "endif()", "endforeach()",
                "get_property(flags DIRECTORY PROPERTY COMPILE_OPTIONS)", "if(flags OR TARGET stoker OR TARGET stoker_trainer)",
                'message(FATAL_ERROR "more than the feed: ${flags}")', "endif()",
                "file(WRITE ${CMAKE_BINARY_DIR}/main.cc \"#include <stoker/feed.h>\\nint main() {}\\n\")",
                "add_executable(consumer ${CMAKE_BINARY_DIR}/main.cc)", "target_link_libraries(consumer PRIVATE Stoker::feed)")
            absent = [f"-DCMAKE_DISABLE_FIND_PACKAGE_{name}=ON" for name in ("GTest", "benchmark", "CLI11", "yaml-cpp", "Python3", "Torch")]
            done = run("cmake", "-S", project, "-B", project / "build", *absent)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(list((project / "build").glob("*.so*")), [])


if __name__ == "__main__":
    unittest.main(verbosity=2)
