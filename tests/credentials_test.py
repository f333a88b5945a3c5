#!/usr/bin/env python3
"""Credentials of clouds with the real program: every provider against a server on this machine, and S3 by moto. In a network
namespace of its own also the addresses that Amazon documents, and a store whose host moves to another address.

Run by ctest with the path of the program as STOKER. The credentials are made up.
"""

import contextlib
import hashlib
import json
import os
import pathlib
import random
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.parse

import runs
from helpers import png
from servers import FaultProxy, FileServer, S3Server, _Server

STOKER = os.environ["STOKER"]
SECRET = "marked-secret-value"
ONE_EACH = ["--shard-size", "1KB"]  # 24 shards: more than a pool keeps open
SMALL = ["--aa", "resize(32,32)", "--dtype", "uint8", "-b", "8", "-j", "1"]
HOSTS = os.environ.get("CREDENTIALS_TEST_HOSTS") and pathlib.Path(os.environ["CREDENTIALS_TEST_HOSTS"])
# So that Python's servers need no name server for their own names.
NAMES = "127.0.0.1 localhost\n127.0.0.2 first\n127.0.0.3 second\n169.254.170.2 container\n169.254.169.254 machine\n"
LATER = "2126-11-18T20:00:00Z"


def run(*words, status=0, **variables):
    """The program with these arguments, and only these variables; what it printed."""
    environment = {"PATH": os.environ["PATH"], "HOME": str(WORK / "home"), "XDG_CACHE_HOME": str(WORK / "cache"), **variables}
    done = subprocess.run([STOKER, *map(str, words)], capture_output=True, text=True, timeout=120, check=False,
                          env={name: str(value) for name, value in environment.items()})
    text = done.stdout + done.stderr
    assert done.returncode == status, f"{words}: {done.returncode}, not {status}\n{text[-3000:]}"
    assert SECRET not in text, "a secret was printed"
    return done.stdout if status == 0 else text


def digest(data, *words, **variables):
    return json.loads(run("bench", "feed", "--json", "--data", data, *SMALL, *words, **variables))["digest"]


class Issuer(_Server):
    """Gives keys as a container's agent, the metadata service and the portal of single sign-on do; their names are counted."""

    def __init__(self, life=None):
        self.life, self.given = life, 0
        super().__init__()

    def keys(self):
        with self.lock:
            self.given += 1
            number = self.given
        expires = LATER if self.life is None else time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + self.life))
        return {"AccessKeyId": f"KEY{number}", "SecretAccessKey": SECRET, "Expiration": expires}

    def answer_to(self, request):
        path = request.path.split("?")[0]
        if path == "/creds":
            return self.keys() | {"Token": "t-container"} if request.headers.get("Authorization") == SECRET else None
        if path == "/latest/api/token":
            return "session" if request.command == "PUT" else None
        if path.startswith("/latest/meta-data/"):
            if request.headers.get("X-aws-ec2-metadata-token") != "session":
                return None
            return "my-role" if path.endswith("/") else self.keys() | {"Token": "t-imds", "Code": "Success"}
        if path == "/federation/credentials" and request.headers.get("x-amz-sso_bearer_token") == SECRET:
            return {"roleCredentials": {"accessKeyId": "KEYSSO", "secretAccessKey": SECRET, "sessionToken": "t-sso",
                                        "expiration": 4_000_000_000_000}}
        return None

    def handle(self, request):
        answer = self.answer_to(request)
        text = answer if isinstance(answer, str) else json.dumps(answer)
        self.reply(request, 200 if answer is not None else 401, text.encode())


class Case(runs.Case):
    @classmethod
    def setUpClass(cls):
        global WORK
        super().setUpClass()
        WORK = cls.output
        (WORK / "home").mkdir()
        for number in range(24):
            noise = random.Random(number).randbytes(1600)
            png(WORK / "images" / "ab"[number % 2] / f"{number}.png", 40, 40, lambda x, y, n=noise: n[40 * y + x])
        run("shard", WORK / "images", "--out", WORK / "shards", *ONE_EACH)
        cls.wanted = digest(WORK / "shards")
        cls.stack = contextlib.ExitStack()

    @classmethod
    def tearDownClass(cls):
        cls.stack.close()
        super().tearDownClass()


class Providers(Case):
    """Batches from S3 with the keys of each provider; the proxy sees which."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.s3 = cls.stack.enter_context(S3Server())
        cls.proxy = cls.stack.enter_context(FaultProxy(cls.s3.url))
        run("shard", WORK / "images", "--out", "s3://bucket/x", *ONE_EACH, AWS_ACCESS_KEY_ID="K",
            AWS_SECRET_ACCESS_KEY=SECRET, AWS_ENDPOINT_URL=cls.s3.url)

    def keys_used(self, name, *words, proxy=None, **variables):
        """The names of keys in requests that a run makes; its batches must be those of the disk."""
        proxy = proxy or self.proxy
        del proxy.requests[:]
        found = digest("s3://bucket/x", "--cache-dir", WORK / name, *words, AWS_ENDPOINT_URL_S3=proxy.url, **variables)
        if not words:
            self.assertEqual(found, self.wanted)
        self.assertNotIn(SECRET, str(proxy.requests))
        signed = [str(headers) for _, path, headers in proxy.requests if path.startswith("/bucket")]
        return {re.search(r"Credential=(\w+)/", headers)[1] for headers in signed}

    def home(self, name, config, **files):
        folder = WORK / name
        (folder / ".aws" / "sso" / "cache").mkdir(parents=True)
        (folder / ".aws" / "config").write_text(config, encoding="utf-8")
        for path, text in files.items():
            (folder / path.replace("__", "/")).write_text(text, encoding="utf-8")
        return folder

    def test_the_role_of_a_container(self):
        token = WORK / "container-token"
        token.write_text(SECRET + "\n", encoding="utf-8")
        with Issuer() as issuer:
            used = self.keys_used("c1", AWS_CONTAINER_CREDENTIALS_FULL_URI=issuer.url + "/creds",
                                  AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE=token)
            self.assertEqual(used, {"KEY1"})
            self.assertEqual(issuer.given, 1)  # all stores of a process share them
            text = run("bench", "feed", "--data", "s3://bucket/x", status=1, AWS_ENDPOINT_URL_S3=self.proxy.url,
                       AWS_CONTAINER_CREDENTIALS_FULL_URI=issuer.url + "/creds")
            self.assertIn("cannot get credentials for S3: the container's role", text)
            self.assertIn("HTTP status 401", text)

    def test_web_identity_from_the_security_token_service(self):
        token = WORK / "web-token"
        token.write_text(SECRET, encoding="utf-8")
        used = self.keys_used("c2", AWS_WEB_IDENTITY_TOKEN_FILE=token, AWS_ROLE_ARN="arn:aws:iam::123456789012:role/test",
                              AWS_ENDPOINT_URL_STS=self.s3.url)
        self.assertEqual(len(used), 1)
        self.assertTrue(used.pop().startswith("ASIA"))  # moto's temporary keys

    def test_the_metadata_service_if_asked_for(self):
        with Issuer() as issuer:
            place = {"AWS_EC2_METADATA_SERVICE_ENDPOINT": issuer.url}
            self.assertEqual(self.keys_used("c3", STOKER_S3_IMDS="1", **place), {"KEY1"})
            asked = len(issuer.requests)
            run("bench", "feed", "--data", "s3://bucket/none", status=1, AWS_ENDPOINT_URL_S3=self.proxy.url, **place)
            self.assertEqual(len(issuer.requests), asked)

    def test_a_program_and_single_sign_on(self):
        keys = json.dumps({"Version": 1, "AccessKeyId": "KEYPROCESS", "SecretAccessKey": SECRET})
        home = self.home("home-process", "[profile p]\ncredential_process = cat \"" + str(WORK / "home-process" / "my keys") + "\"\n",
                         **{"my keys": keys})
        self.assertEqual(self.keys_used("c4", HOME=home, AWS_PROFILE="p"), {"KEYPROCESS"})
        name = hashlib.sha1(b"corp").hexdigest()
        config = ("[profile p]\nsso_session = corp\nsso_account_id = 1\nsso_role_name = r\n"
                  "[sso-session corp]\nsso_region = eu-north-1\nsso_start_url = https://x.example\n")
        with Issuer() as issuer:
            for expires in (LATER, "2020-01-01T00:00:00Z"):
                token = json.dumps({"accessToken": SECRET, "expiresAt": expires})
                home = self.home(f"home-{expires[:4]}", config, **{f".aws__sso__cache__{name}.json": token})
                place = {"HOME": home, "AWS_PROFILE": "p", "AWS_ENDPOINT_URL_SSO": issuer.url}
                if expires == LATER:
                    self.assertEqual(self.keys_used("c5", **place), {"KEYSSO"})
                else:
                    text = run("bench", "feed", "--data", "s3://bucket/x", status=1, AWS_ENDPOINT_URL_S3=self.proxy.url, **place)
                    self.assertIn("Run `aws sso login --profile p`", text)

    def test_keys_are_renewed_during_a_run(self):
        class SlowProxy(FaultProxy):
            def fetch(self, request):
                time.sleep(0.25)
                return super().fetch(request)

        with Issuer(life=3) as issuer, SlowProxy(self.s3.url) as slow:
            used = self.keys_used("c6", "--epochs", "2", "--cache-size", "1KB", proxy=slow, AWS_CONTAINER_AUTHORIZATION_TOKEN=SECRET,
                                  AWS_CONTAINER_CREDENTIALS_FULL_URI=issuer.url + "/creds")
            self.assertGreater(len(used), 1)
            self.assertLessEqual(issuer.given, len(used) + 1)


class SignedFiles(FileServer):
    """Files for those who have the query, as behind a SAS URL of Azure."""

    QUERY = "sv=2024-11-04&sig=" + urllib.parse.quote(SECRET + "+/=", safe="")

    def handle(self, request):
        path, _, query = request.path.partition("?")
        request.path = path
        if query != self.QUERY:
            return self.reply(request, 403)
        return super().handle(request)


class SignedAddresses(Case):
    def test_the_query_of_a_variable_reaches_the_server_and_nothing_else(self):
        with SignedFiles(WORK) as server:
            address = f"{server.url}/shards"
            cache = ["--cache-dir", WORK / "c-signed"]
            text = run("bench", "feed", "--data", address, *SMALL, *cache, status=1)
            self.assertIn("HTTP status 403", text)
            text = run("bench", "feed", "--data", f"{address}?{server.QUERY}", status=1)
            self.assertIn("STOKER_SIGNED_URLS", text)
            signed = {"STOKER_SIGNED_URLS": f"https://other.example/x?y=z {server.url}?{server.QUERY}"}
            self.assertEqual(digest(address, *cache, **signed), self.wanted)
            text = run("bench", "feed", "--data", f"{address}/none", *SMALL, *cache, status=1, **signed)
            self.assertIn("/shards/none", text)
            self.assertTrue(any(".tar?" in path for _, path, _ in server.requests))
        for path in WORK.rglob("*"):
            if path.is_file():
                self.assertNotIn(SECRET.encode(), path.read_bytes(), path)


class Namespace(unittest.TestCase):
    def test_addresses_of_amazon_and_a_host_that_moves(self):
        """Runs Inside in network and mount namespaces of its own, where this is allowed."""
        spaces = ["unshare", "-nm"] if os.geteuid() == 0 else ["unshare", "-rnm"]
        script = ("ip link set lo up && ip address add 169.254.170.2/32 dev lo && ip address add 169.254.169.254/32 dev lo && "
                  "mount --bind \"$CREDENTIALS_TEST_HOSTS\" /etc/hosts && exec \"$@\"")
        with contextlib.ExitStack() as stack:
            hosts = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory())) / "hosts"
            hosts.write_text(NAMES, encoding="utf-8")
            environment = {**os.environ, "CREDENTIALS_TEST_HOSTS": str(hosts)}
            if not shutil.which("ip") or subprocess.run([*spaces, "sh", "-c", script, "sh", "true"], env=environment, check=False,
                                                        capture_output=True).returncode:
                self.skipTest("needs network and mount namespaces")
            done = subprocess.run([*spaces, "sh", "-c", script, "sh", sys.executable, __file__, "Inside"], env=environment,
                                  capture_output=True, text=True, timeout=120, check=False)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            self.assertIn("Ran 2 tests", done.stderr)


@unittest.skipUnless(HOSTS, "only Namespace runs this")
class Inside(Case):
    """What Namespace runs. It changes the file that stands for /etc/hosts there, and never /etc/hosts itself."""

    def test_containers_and_machines_have_the_addresses_that_amazon_documents(self):
        with Issuer() as s3:  # whoever asks it for S3 is refused, with keys
            class Container(Issuer):
                address = ("169.254.170.2", 80)

            class Machine(Issuer):
                address = ("169.254.169.254", 80)

            for server, variables in ((Container, {"AWS_CONTAINER_CREDENTIALS_RELATIVE_URI": "/creds",
                                                   "AWS_CONTAINER_AUTHORIZATION_TOKEN": SECRET}),
                                      (Machine, {"STOKER_S3_IMDS": "1"})):
                with server() as issuer:
                    text = run("bench", "feed", "--data", "s3://bucket/x", status=1, AWS_ENDPOINT_URL_S3=s3.url, **variables)
                    self.assertIn("HTTP status 401", text)
                    self.assertEqual(issuer.given, 1)
                self.assertIn("Credential=KEY1/", str(s3.requests[-1]))

    def test_a_store_that_moves_to_another_address_during_a_run_is_found_again(self):
        class Place(FileServer):
            def handle(self, request):
                time.sleep(0.02)
                super().handle(request)

        def place(address):
            return type("Moved", (Place,), {"address": (address, 8181)})(WORK)

        HOSTS.write_text(NAMES + "127.0.0.2 store.example\n", encoding="utf-8")
        with place("127.0.0.3") as second:
            first = place("127.0.0.2")
            words = [STOKER, "bench", "feed", "--json", "--data", "http://store.example:8181/shards", *SMALL, "--epochs", "2",
                     "--cache-dir", WORK / "c-moved", "--cache-size", "1KB"]
            process = subprocess.Popen(list(map(str, words)), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                       env={"PATH": os.environ["PATH"], "HOME": str(WORK / "home"), "no_proxy": "*"})
            while len(first.requests) < 6:
                time.sleep(0.01)
            HOSTS.write_text(NAMES + "127.0.0.3 store.example\n", encoding="utf-8")
            first.__exit__()
            with first.lock:
                first.handle = lambda request: request.connection.shutdown(socket.SHUT_RDWR)  # those that are open
            output, errors = process.communicate(timeout=100)
            self.assertEqual(process.returncode, 0, errors)
            self.assertEqual(json.loads(output)["digest"], digest(WORK / "shards", "--epochs", "2"))
            self.assertGreater(len(second.requests), 3)


if __name__ == "__main__":
    unittest.main()
