#!/usr/bin/env python3
"""scripts/release and scripts/sbom, on a small repository and tree of the test's own; no package is built.

    release_test.py Sbom|Release|Outdated    fast, run by ctest
    release_test.py Outside                  with the official schemas, from PyPI, and a real signature; run by .ci/nightly
"""

import contextlib
import hashlib
import io
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest
import venv
from unittest import mock

import helpers

ROOT = pathlib.Path(__file__).resolve().parent.parent
# dpkg-query of a machine with three packages.
DPKG = """#!/bin/sh
case "$*" in
  *showformat=*Version*libjpeg62-turbo) case "$*" in *source*) printf 'amd64 libjpeg-turbo 1:2.1.5-2' ;; *) printf '1:2.1.5-2' ;; esac ;;
  *showformat=*Version*libcli11-dev) case "$*" in *source*) printf 'all cli11 2.1.2+ds-1' ;; *) printf '2.1.2+ds-1' ;; esac ;;
  *showformat=*Status*cmake) printf '3.25.1-1 amd64 installed' ;;
  '--listfiles libjpeg62-turbo') printf '/usr/lib/x/libjpeg.so.62\\n/usr/lib/x/libjpeg.so.62.3.0\\n' ;;
  '--listfiles libcli11-dev') printf '/usr/include/CLI/CLI.hpp\\n' ;;
  *) exit 1 ;;
esac
"""
VERSIONS = "libcli11-dev 2.1.2+ds-1\nlibjpeg62-turbo 1:2.1.5-2\n"


def write(path, text, mode=0o644):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    path.chmod(mode)


def fill_tree(tree):
    """As an archive is unpacked."""
    licences = tree / "share/doc/stoker/licences"
    write(licences / "versions.txt", VERSIONS)
    write(licences / "libjpeg62-turbo.txt", "Files: *\nLicense: BSD-3-clause\n\nLicense: zlib\n\nLicense:Odd one\n")
    write(licences / "libcli11-dev.txt", "free text without fields\n")
    for name in ("bin/stoker", "lib/libstoker_feed.so.0.2", "lib/stoker/stoker-trainer", "lib/stoker/libstoker_gpu.so",
                 "lib/stoker/libjbig.so.0", "lib/stoker/libjpeg.so.62.3.0"):
        write(tree / name, f"content of {name}")
    (tree / "lib/stoker/libjpeg.so.62").symlink_to("libjpeg.so.62.3.0")


class Case(unittest.TestCase):
    """A small repository with the scripts under test."""

    def setUp(self):
        temporary = tempfile.TemporaryDirectory()  # pylint: disable=consider-using-with
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)
        self.repository, self.out, self.tree = self.folder / "repository", self.folder / "out", self.folder / "tree"
        for name in ("release", "sbom"):
            write(self.repository / "scripts" / name, (ROOT / "scripts" / name).read_text(encoding="utf-8"), 0o755)
        write(self.repository / "CMakeLists.txt", "project(stoker VERSION 3.1.4 LANGUAGES CXX)\n")
        write(self.repository / "CITATION.cff", "version: 3.1.4\n")
        write(self.repository / "requirements.txt", "torch==2.15.0\nnvidia-cuda-runtime==13.2.86\nnvidia-cuda-cupti==13.2.86\nnumpy==2.4.6\n")
        write(self.repository / "CHANGELOG.md", "# Changelog\n\n## 3.1.4 (2026-11-18)\n\n- New: a [page](docs/a.md).\n\n## 3.1.0 (2026-01-01)\n\n- Old.\n")
        write(self.folder / "bin/dpkg-query", DPKG, 0o755)
        fill_tree(self.tree)
        self.environment = {"PATH": f"{self.folder / 'bin'}:{os.environ['PATH']}", "HOME": str(self.folder),
                            "GIT_AUTHOR_DATE": "1700000000 +0000", "GIT_COMMITTER_DATE": "1700000000 +0000"}
        self.run_in_repository("git", "init", "-q", ".")
        self.commit()

    def run_in_repository(self, *words, code=0, **variables):
        done = subprocess.run(list(map(str, words)), cwd=self.repository, env={**self.environment, **variables}, capture_output=True, text=True,
                              timeout=120, check=False)
        self.assertEqual(done.returncode, code, f"{words}\n{done.stdout}{done.stderr}")
        return done.stdout + done.stderr

    def commit(self):
        self.run_in_repository("git", "add", "-A")
        self.run_in_repository("git", "-c", "user.name=t", "-c", "user.email=t@example.org", "commit", "-q", "--allow-empty", "-m", "all")

    def sbom(self, code=0, **variables):
        return self.run_in_repository("scripts/sbom", self.tree, code=code, **variables)

    def add_wheel_builder(self):
        """A builder that packs the tree as a wheel, always with the same bytes."""
        write(self.repository / "scripts/package_wheel", f"""#!/usr/bin/env python3
import os, pathlib, sys, time, zipfile
tree = pathlib.Path({str(self.tree)!r})
with zipfile.ZipFile(pathlib.Path(sys.argv[2]) / "stoker-3.1.4-py3-none-any.whl", "w") as wheel:
    for path in sorted(path for path in tree.rglob("*") if path.is_file() and not path.is_symlink()):
        when = time.gmtime(int(os.environ["SOURCE_DATE_EPOCH"]))[:6]
        wheel.writestr(zipfile.ZipInfo("stoker/" + str(path.relative_to(tree)), when), path.read_bytes())
""", 0o755)
        self.commit()

    def release(self, *words, code=0, **variables):
        return self.run_in_repository("scripts/release", "3.1.4", "--out", self.out, *words, code=code, **variables)


class Sbom(Case):
    def components(self):
        return {component["name"]: component for component in json.loads(self.sbom())["components"]}

    def test_packages_with_versions_licences_and_files(self):
        bill = json.loads(self.sbom(SOURCE_DATE_EPOCH="1700000000"))
        self.assertEqual((bill["bomFormat"], bill["specVersion"], bill["metadata"]["timestamp"]), ("CycloneDX", "1.5", "2023-11-14T22:13:20Z"))
        self.assertEqual((bill["metadata"]["component"]["name"], bill["metadata"]["component"]["version"]), ("stoker", "3.1.4"))
        jpeg, cli = (self.components()[name] for name in ("libjpeg62-turbo", "libcli11-dev"))
        self.assertEqual(jpeg["purl"], "pkg:deb/debian/libjpeg62-turbo@1%3A2.1.5-2?arch=amd64&distro=debian-12")
        self.assertEqual([entry["license"] for entry in jpeg["licenses"]], [{"id": "BSD-3-Clause"}, {"id": "Zlib"}, {"name": "Odd one"}])
        (file,) = jpeg["components"]
        self.assertEqual((file["name"], file["hashes"][0]["content"]),
                         ("lib/stoker/libjpeg.so.62.3.0", hashlib.sha256(b"content of lib/stoker/libjpeg.so.62.3.0").hexdigest()))
        self.assertIn({"name": "stoker:use", "value": "compiled in"}, cli["properties"])
        self.assertNotIn("components", cli)
        depends = bill["dependencies"][0]
        self.assertEqual((depends["ref"], len(depends["dependsOn"])), (bill["metadata"]["component"]["bom-ref"], 2))

    def test_the_same_tree_gives_the_same_bytes_and_another_does_not(self):
        first = self.sbom()
        self.assertEqual(first, self.sbom())
        write(self.tree / "lib/stoker/libjpeg.so.62.3.0", "changed")
        self.assertNotEqual(json.loads(first)["serialNumber"], json.loads(self.sbom())["serialNumber"])

    def test_carried_libtorch(self):
        carried = self.tree / "lib/stoker/libtorch"
        for name in ("libtorch_cpu.so", "libc10.so", "libgomp.so.1", "libcudart.so.13"):
            write(carried / "lib" / name, name)
        write(carried / "build-version", "2.15.0+cpu\n")
        components = self.components()
        self.assertEqual([pathlib.Path(file["name"]).name for file in components["torch"]["components"]],
                         ["libc10.so", "libgomp.so.1", "libtorch_cpu.so"])
        self.assertEqual(components["nvidia-cuda-runtime"]["purl"], "pkg:pypi/nvidia-cuda-runtime@13.2.86")
        self.assertNotIn("nvidia-cuda-cupti", components)
        write(carried / "build-version", "2.14.0\n")
        self.assertIn("carries LibTorch 2.14.0", self.sbom(code=1))
        write(carried / "build-version", "2.15.0\n")
        write(carried / "lib/libstrange.so", "")
        self.assertIn("no package is known for lib/stoker/libtorch/lib/libstrange.so", self.sbom(code=1))

    def test_nothing_may_be_inside_that_the_list_does_not_name(self):
        write(self.tree / "lib/stoker/libsecret.so.1", "")
        self.assertIn("lib/stoker/libsecret.so.1 belongs to no package", self.sbom(code=1))

    def test_libraries_of_a_wheel_have_names_with_digests(self):
        for path in self.tree.glob("lib/stoker/libjpeg*"):
            path.unlink()
        write(self.tree / "stoker.libs/libjpeg-dad87949.so.62.3.0", "")
        (file,) = self.components()["libjpeg62-turbo"]["components"]
        self.assertEqual(file["name"], "stoker.libs/libjpeg-dad87949.so.62.3.0")
        write(self.tree / "stoker.libs/libsecret-dad87949.so.1", "")
        self.assertIn("libsecret-dad87949.so.1 belongs to no package", self.sbom(code=1))

    def test_missing_parts_are_named(self):
        licences = self.tree / "share/doc/stoker/licences"
        (licences / "libcli11-dev.txt").unlink()
        self.assertIn("the licence of libcli11-dev is missing", self.sbom(code=1))
        write(licences / "versions.txt", VERSIONS.replace("1:2.1.5-2", "1:9"))
        write(licences / "libcli11-dev.txt", "")
        self.assertIn("libjpeg62-turbo 1:9 is in the tree, but not installed here", self.sbom(code=1))
        (licences / "versions.txt").unlink()
        self.assertIn("found 0", self.sbom(code=1))


class Release(Case):
    def test_all_files_of_a_release(self):
        self.add_wheel_builder()
        self.release("--only", "wheel")
        wheel = "stoker-3.1.4-py3-none-any.whl"
        self.assertEqual(sorted(path.name for path in self.out.iterdir()),
                         ["NOTES.md", "SHA256SUMS", "provenance.intoto.json", wheel, f"{wheel}.cdx.json"])
        checked = subprocess.run(["sha256sum", "--check", "--strict", "SHA256SUMS"], cwd=self.out, capture_output=True, text=True, check=True)
        self.assertEqual(checked.stdout.count(": OK"), 4)
        notes = (self.out / "NOTES.md").read_text(encoding="utf-8")
        self.assertIn("# Stoker 3.1.4\n\n- New: a page.\n", notes)
        self.assertIn(wheel, notes)
        self.assertNotIn("Old", notes)
        statement = json.loads((self.out / "provenance.intoto.json").read_text(encoding="utf-8"))
        self.assertEqual(statement["subject"], [{"name": wheel, "digest": {"sha256": hashlib.sha256((self.out / wheel).read_bytes()).hexdigest()}}])
        definition = statement["predicate"]["buildDefinition"]
        commit = self.run_in_repository("git", "rev-parse", "HEAD").strip()
        self.assertEqual(definition["resolvedDependencies"][0]["digest"], {"gitCommit": commit})
        uris = [entry["uri"] for entry in definition["resolvedDependencies"]]
        self.assertTrue({"pkg:pypi/torch@2.15.0", "pkg:deb/debian/cmake@3.25.1-1?arch=amd64"} <= set(uris), uris)
        self.assertEqual((definition["externalParameters"], definition["internalParameters"]["SOURCE_DATE_EPOCH"]),
                         ({"version": "3.1.4", "rehearsal": False}, "1700000000"))
        self.assertIn("nobody vouches", definition["internalParameters"]["signature"])
        self.assertNotIn(str(self.folder), (self.out / "provenance.intoto.json").read_text(encoding="utf-8"))

    def test_two_builds_give_the_same_bytes(self):
        self.add_wheel_builder()
        self.release("--only", "wheel")
        first = (self.out / "SHA256SUMS").read_text(encoding="utf-8")
        shutil.rmtree(self.out)
        self.out = self.folder / "elsewhere/out"
        self.release("--only", "wheel")
        self.assertEqual(first, (self.out / "SHA256SUMS").read_text(encoding="utf-8"))

    def test_builders_that_are_missing_are_named(self):
        self.add_wheel_builder()
        said = self.release(code=1)
        self.assertIn("incomplete, without archive, debian, container", said)
        self.assertTrue((self.out / "SHA256SUMS").exists(), "of what could be made")

    def test_a_failing_builder_ends_the_release(self):
        write(self.repository / "scripts/package_wheel", "#!/bin/sh\nexit 9\n", 0o755)
        self.commit()
        self.assertIn("failed with 9: scripts/package_wheel", self.release("--only", "wheel", code=1))
        self.assertFalse((self.out / "SHA256SUMS").exists())

    def test_what_must_hold_before(self):
        self.add_wheel_builder()
        self.assertIn("CMakeLists.txt has 3.1.4", self.run_in_repository("scripts/release", "3.1.5", code=1))
        self.assertIn("--only: unknown apple", self.release("--only", "apple", code=2))
        write(self.repository / "new.txt", "")
        self.assertIn("not committed:\n?? new.txt", self.release("--only", "wheel", code=1))
        changelog = self.repository / "CHANGELOG.md"
        write(changelog, changelog.read_text(encoding="utf-8").replace("(2026-11-18)", "(unreleased)"))
        self.commit()
        self.assertIn("no date for 3.1.4", self.release("--only", "wheel", code=1))
        self.release("--only", "wheel", "--rehearsal")
        statement = json.loads((self.out / "provenance.intoto.json").read_text(encoding="utf-8"))
        self.assertTrue(statement["predicate"]["buildDefinition"]["externalParameters"]["rehearsal"])
        self.assertIn("is not empty", self.release("--only", "wheel", "--rehearsal", code=1))
        write(changelog, "# Changelog\n\n## 3.1.40 (2026-11-18)\n\n- Another version.\n")
        self.assertIn("no section for 3.1.4", self.release("--only", "wheel", "--rehearsal", code=1))

    def test_files_that_were_built_before(self):
        self.assertIn("no package in", self.release("--only", "none", code=1))
        write(self.out / "stoker_3.1.4_amd64.deb", "a package")
        for _ in range(2):  # what it wrote itself is no package
            self.release("--only", "none")
        statement = json.loads((self.out / "provenance.intoto.json").read_text(encoding="utf-8"))
        self.assertEqual([subject["name"] for subject in statement["subject"]], ["stoker_3.1.4_amd64.deb"])
        self.assertFalse(list(self.out.glob("*.cdx.json")), "Debian's packages contain no copies")

    def test_the_hosted_builder_has_a_name(self):
        write(self.out / "stoker_3.1.4_amd64.deb", "a package")
        self.release("--only", "none", GITHUB_ACTIONS="true", GITHUB_SERVER_URL="https://example.org", GITHUB_REPOSITORY="a/b", GITHUB_RUN_ID="7",
                     GITHUB_WORKFLOW_REF="a/b/.github/workflows/ci.yml@refs/heads/main")
        details = json.loads((self.out / "provenance.intoto.json").read_text(encoding="utf-8"))["predicate"]["runDetails"]
        self.assertEqual(details, {"builder": {"id": "https://example.org/a/b/.github/workflows/ci.yml@refs/heads/main"},
                                   "metadata": {"invocationId": "https://example.org/a/b/actions/runs/7"}})


class Outdated(unittest.TestCase):
    """scripts/outdated with a pip and a pip-audit of the test."""

    def setUp(self):
        self.script = helpers.module_of(ROOT / "scripts/outdated")
        temporary = tempfile.TemporaryDirectory()  # pylint: disable=consider-using-with
        self.addCleanup(temporary.cleanup)
        self.pins = pathlib.Path(temporary.name) / "pins.txt"
        write(self.pins, "# what we need\nalpha==1.0\nbeta==2.0  # the newest\n")
        self.audits = {}

    def answer(self, words, **_):
        """As a process that ran these words."""
        words = list(map(str, words))
        if "index" in words:
            return subprocess.CompletedProcess(words, 0, f"{words[3]} ({dict(alpha='1.5', beta='2.0')[words[3]]})\n", "")
        if "pip_audit" in words:
            return subprocess.CompletedProcess(words, *self.audits[words[-1]])
        return subprocess.CompletedProcess(words, 0, "", "")

    def look(self):
        shown = io.StringIO()
        with mock.patch.object(self.script.subprocess, "run", self.answer), mock.patch.object(self.script.venv, "create"), \
                mock.patch.object(sys, "argv", ["outdated", str(self.pins)]), contextlib.redirect_stdout(shown):
            code = self.script.main()
        return code, shown.getvalue()

    @staticmethod
    def audit(code, *flaws, skip=None):
        beta = {"name": "beta", "skip_reason": skip} if skip else {"name": "beta", "version": "2.0", "vulns": []}
        found = [{"id": name, "fix_versions": ["1.2"]} for name in flaws]
        return code, json.dumps({"dependencies": [{"name": "alpha", "version": "1.0", "vulns": found}, beta]}), ""

    def test_outdated_pins_are_no_failure(self):
        self.audits["pypi"] = self.audit(0)
        code, shown = self.look()
        self.assertEqual(code, 0)
        self.assertRegex(shown, r"1 outdated\n  alpha +1\.0 +newest 1\.5\n")
        self.assertIn("vulnerabilities: none is known", shown)

    def test_a_vulnerability_is(self):
        self.audits["pypi"] = self.audit(1, "PYSEC-1")
        code, shown = self.look()
        self.assertEqual(code, 1)
        self.assertIn("alpha 1.0 has PYSEC-1; fixed in 1.2", shown)

    def test_a_second_service_is_asked_and_nothing_known_is_no_good_news(self):
        self.audits = {"pypi": (1, "", "no network"), "osv": self.audit(0)}
        self.assertEqual(self.look()[0], 0)
        self.audits["osv"] = (1, "", "Traceback\nno name")
        code, shown = self.look()
        self.assertEqual(code, 3)
        self.assertIn("not known", shown)
        self.assertNotIn("none is known", shown)
        self.assertIn("osv: no name", shown)

    def test_packages_that_a_service_skipped_are_not_taken_for_healthy(self):
        self.audits = {"pypi": self.audit(0, skip="not found"), "osv": (1, "", "no network")}
        code, shown = self.look()
        self.assertEqual(code, 3)
        self.assertIn("pypi: 1 of 2 packages, the first is beta: not found", shown)
        self.audits["pypi"] = self.audit(1, "PYSEC-1", skip="not found")
        self.assertEqual(self.look()[0], 1, "what is known counts")

    def test_a_line_that_is_no_pin_is_named(self):
        write(self.pins, "alpha>=1.0\n")
        with self.assertRaisesRegex(SystemExit, "pins.txt:1: expected name==version"):
            self.look()


class Outside(Case):
    """With what others say: the official schemas and a real signature. Installs from PyPI into a folder of its own."""

    PACKAGES = ["cyclonedx-python-lib[json-validation]==11.12.0", "check-jsonschema==0.39.0"]

    @classmethod
    def setUpClass(cls):
        cls.environment_folder = tempfile.TemporaryDirectory()  # pylint: disable=consider-using-with
        cls.addClassCleanup(cls.environment_folder.cleanup)
        cls.bin = pathlib.Path(cls.environment_folder.name) / "bin"
        venv.create(cls.environment_folder.name, with_pip=True)
        subprocess.run([cls.bin / "pip", "install", "--quiet", "--disable-pip-version-check", *cls.PACKAGES], check=True)

    def succeed(self, *words, **options):
        done = subprocess.run(list(map(str, words)), capture_output=True, text=True, timeout=120, check=False, **options)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def test_the_bill_of_materials_is_valid(self):
        write(self.folder / "bill.json", self.sbom(SOURCE_DATE_EPOCH="1700000000"))
        check = ("import sys; from cyclonedx.validation.json import JsonStrictValidator; from cyclonedx.schema import SchemaVersion\n"
                 "problem = JsonStrictValidator(SchemaVersion.V1_5).validate_str(open(sys.argv[1]).read())\n"
                 "sys.exit(str(problem) if problem else 0)")
        self.succeed(self.bin / "python", "-c", check, self.folder / "bill.json")
        broken = json.loads((self.folder / "bill.json").read_text(encoding="utf-8"))
        broken["components"][0]["type"] = "thing"
        write(self.folder / "broken.json", json.dumps(broken))
        done = subprocess.run([self.bin / "python", "-c", check, self.folder / "broken.json"], capture_output=True, check=False)
        self.assertIn(b"'thing' is not one of", done.stderr, "the validator finds what is wrong")

    def test_the_workflow_is_valid(self):
        workflows = sorted((ROOT / ".github/workflows").glob("*.yml"))
        self.assertTrue(workflows)
        self.succeed(self.bin / "check-jsonschema", "--builtin-schema", "vendor.github-workflows", *workflows)

    def test_a_signature_is_valid(self):
        key = self.folder / "key"
        self.succeed("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "test", "-f", key)
        self.add_wheel_builder()
        self.release("--only", "wheel", "--sign", key)
        write(self.folder / "allowed", f"test {key.with_suffix('.pub').read_text(encoding='utf-8')}")
        self.succeed("ssh-keygen", "-Y", "verify", "-f", self.folder / "allowed", "-I", "test", "-n", "file", "-s", self.out / "SHA256SUMS.sig",
                     input=(self.out / "SHA256SUMS").read_text(encoding="utf-8"))


if __name__ == "__main__":
    unittest.main(argv=sys.argv)
