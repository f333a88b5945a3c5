#!/usr/bin/env python3
"""`stoker serve` on the loopback: right answers, overload, hostile bodies, its end by SIGTERM. STOKER is the program."""

import base64
import contextlib
import http.client
import json
import os
import pathlib
import re
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import small_run

STOKER = os.environ["STOKER"]
SOURCE = pathlib.Path(__file__).resolve().parent.parent
DATA = pathlib.Path(os.environ.get("STOKER_TEST_DATA") or SOURCE.parent / "shared" / "data")
HOSTILE = DATA / "hostile"


class Server:
    """A running one; ends with the block."""

    def __init__(self, weights, *flags):
        self.process = subprocess.Popen([STOKER, "serve", str(weights), "--port", "0", "--name", "small", *flags], stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True)
        lines = [self.process.stdout.readline() for _ in range(2)]
        found = re.search(r"http://127\.0\.0\.1:(\d+)", lines[1])
        if not found:
            self.process.kill()
            raise AssertionError(f"{lines} {self.process.stderr.read()}")
        self.port = int(found[1])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.terminate()
        self.output = self.process.communicate(timeout=60)

    def ask(self, method, path, body=None, headers=None, timeout=60):
        """Status, headers and body. A connection of its own."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        try:
            connection.request(method, path, body, headers or {})
            response = connection.getresponse()
            return response.status, response.headers, response.read()
        finally:
            connection.close()

    def classify(self, body, **options):
        status, _, text = self.ask("POST", "/classify", body, **options)
        return status, json.loads(text)


class Served(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        cls.small = small_run.SmallRun(STOKER, cls.folder)

    def check(self, path, found):
        """What /classify says is what `stoker predict` says."""
        said = self.small.said[str(path)]
        self.assertEqual(found["label"], "x" if said[0] > said[1] else "y")
        probabilities = {entry["label"]: entry["probability"] for entry in found["classes"]}
        self.assertAlmostEqual(probabilities["x"], said[0], places=5)
        self.assertAlmostEqual(probabilities["y"], said[1], places=5)

    def keep_asking(self, server, stop, wrong, count=None):
        """Asks for one image after another until told to stop; notes what is not right."""
        number = 0
        while not stop.is_set():
            path = self.small.images[number % len(self.small.images)]
            number += 1
            status, found = server.classify(path.read_bytes())
            try:
                self.assertEqual(status, 200, found)
                self.check(path, found)
            except AssertionError as error:
                wrong.append(error)
            if count is not None:
                count.append(1)


class Answers(Served):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.server = cls.enterClassContext(Server(cls.small.weights))

    def test_classify_equals_predict(self):
        for path in self.small.images:
            status, found = self.server.classify(path.read_bytes())
            self.assertEqual(status, 200, found)
            self.check(path, found)

    def test_many_clients(self):
        stop, wrong, count = threading.Event(), [], []
        threads = [threading.Thread(target=self.keep_asking, args=(self.server, stop, wrong, count)) for _ in range(16)]
        for thread in threads:
            thread.start()
        time.sleep(2)
        stop.set()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])
        self.assertGreater(len(count), 32)

    def test_topk(self):
        body = self.small.images[0].read_bytes()
        _, _, text = self.server.ask("POST", "/classify?topk=1", body)
        self.assertEqual(len(json.loads(text)["classes"]), 1)
        self.assertEqual(self.server.ask("POST", "/classify?topk=x", body)[0], 400)

    def test_bad_images_and_paths(self):
        status, found = self.server.classify(b"no image")
        self.assertEqual(status, 400)
        self.assertIn("error", found)
        self.assertEqual(self.server.classify(b"")[0], 400)
        self.assertEqual(self.server.ask("GET", "/classify")[0], 405)
        self.assertEqual(self.server.ask("POST", "/v2/health/live")[0], 405)
        for path in ("/", "/../etc/passwd", "/v2/models/other/infer", "/v2/models/small/nothing", "/classify/"):
            self.assertEqual(self.server.ask("GET", path)[0], 404, path)

    def test_deadline(self):
        body = self.small.images[0].read_bytes()
        self.assertEqual(self.server.classify(body, headers={"X-Timeout-Ms": "0"})[0], 504)
        self.assertEqual(self.server.classify(body, headers={"X-Timeout-Ms": "5000"})[0], 200)
        self.assertEqual(self.server.classify(body, headers={"X-Timeout-Ms": "soon"})[0], 400)

    def test_health_and_metadata(self):
        for path in ("/v2/health/live", "/v2/health/ready", "/v2/models/small/ready", "/v2/models/small/versions/1/ready"):
            self.assertEqual(self.server.ask("GET", path)[0], 200, path)
        server = json.loads(self.server.ask("GET", "/v2")[2])
        self.assertEqual(server["name"], "stoker")
        model = json.loads(self.server.ask("GET", "/v2/models/small")[2])
        self.assertEqual(model["parameters"]["classes"], ["x", "y"])
        self.assertEqual(model["inputs"][2]["shape"], [-1, 3, 16, 16])

    def infer(self, request, binary=None):
        text = json.dumps(request).encode()
        headers = {} if binary is None else {"Inference-Header-Content-Length": str(len(text))}
        status, answered, body = self.server.ask("POST", "/v2/models/small/infer", text + (binary or b""), headers)
        size = int(answered.get("Inference-Header-Content-Length", len(body)))
        return status, json.loads(body[:size]), body[size:]

    def test_infer_with_json(self):
        paths = self.small.images[:5]
        tensor = {"name": "image", "datatype": "BYTES", "shape": [5], "data": [base64.b64encode(path.read_bytes()).decode() for path in paths]}
        status, found, _ = self.infer({"id": "seven", "inputs": [tensor]})
        self.assertEqual(status, 200, found)
        self.assertEqual((found["id"], found["model_name"]), ("seven", "small"))
        outputs = {output["name"]: output for output in found["outputs"]}
        self.assertEqual(outputs["probabilities"]["shape"], [5, 2])
        for number, path in enumerate(paths):
            for place in (0, 1):
                self.assertAlmostEqual(outputs["probabilities"]["data"][2 * number + place], self.small.said[str(path)][place], places=5)
            best = int(self.small.said[str(path)][1] > self.small.said[str(path)][0])
            self.assertEqual((outputs["class"]["data"][number], outputs["label"]["data"][number]), (best, "xy"[best]))
        tensor["data"][3] = base64.b64encode(b"no image").decode()
        status, found, _ = self.infer({"inputs": [tensor]})
        self.assertEqual(status, 400)
        self.assertIn("image 3", found["error"])

    def test_infer_with_binary_data(self):
        data = self.small.images[2].read_bytes()
        binary = struct.pack("<I", len(data)) + data
        tensor = {"name": "image", "datatype": "BYTES", "shape": [1], "parameters": {"binary_data_size": len(binary)}}
        status, found, rest = self.infer({"inputs": [tensor], "outputs": [{"name": "probabilities", "parameters": {"binary_data": True}}]}, binary)
        self.assertEqual(status, 200, found)
        self.assertEqual(found["outputs"][0]["parameters"]["binary_data_size"], 8)
        for value, said in zip(struct.unpack("<2f", rest), self.small.said[str(self.small.images[2])], strict=True):
            self.assertAlmostEqual(value, said, places=5)

    def test_infer_with_pixels(self):
        # What helpers.png wrote for x/0.png.
        rows = [[[5 * x] * 3 for x in range(30)] for _ in range(24)]
        status, found, _ = self.infer({"inputs": [{"name": "pixels", "datatype": "UINT8", "shape": [1, 24, 30, 3], "data": [rows]}],
                                       "outputs": [{"name": "probabilities"}]})
        self.assertEqual(status, 200, found)
        said = self.small.said[str(next(path for path in self.small.images if str(path).endswith("x/0.png")))]
        self.assertAlmostEqual(found["outputs"][0]["data"][0], said[0], places=5)
        values = {"name": "values", "datatype": "FP32", "shape": [1, 3, 16, 16], "data": [0.5] * 768}
        self.assertEqual(self.infer({"inputs": [values]})[0], 200)
        values["shape"] = [1, 3, 8, 32]
        self.assertEqual(self.infer({"inputs": [values]})[0], 400)

    def test_metrics(self):
        self.server.classify(self.small.images[0].read_bytes())
        status, headers, text = self.server.ask("GET", "/metrics")
        self.assertEqual(status, 200)
        self.assertIn("text/plain", headers["Content-Type"])
        self.assertRegex(text.decode(), r'stoker_responses_total{route="classify",code="200"} [1-9]')
        self.assertRegex(text.decode(), r"stoker_images_total [1-9]")

    def test_triton_client(self):
        script = SOURCE / "tests" / "triton_client.py"
        python = os.environ.get("STOKER_TRITON_PYTHON", sys.executable)
        done = subprocess.run([python, script, f"127.0.0.1:{self.server.port}", str(self.small.images[0])], capture_output=True, text=True,
                              timeout=120, check=False)
        if done.returncode == 77:
            self.skipTest("needs a Python with tritonclient[http] as STOKER_TRITON_PYTHON")
        self.assertEqual(done.returncode, 0, done.stderr)
        found = json.loads(done.stdout)
        for answer in found["probabilities"]:
            for value, said in zip(answer, self.small.said[str(self.small.images[0])], strict=True):
                self.assertAlmostEqual(value, said, places=5)


class Limits(Served):
    def test_overload_gets_429_and_the_rest_right_answers(self):
        with Server(self.small.weights, "--queue", "2", "--max-batch", "1") as server:
            statuses, wrong = [], []

            def ask():
                for number in range(40):
                    path = self.small.images[number % len(self.small.images)]
                    status, found = server.classify(path.read_bytes())
                    statuses.append(status)
                    try:
                        if status == 200:
                            self.check(path, found)
                        else:
                            self.assertEqual(status, 429, found)
                    except AssertionError as error:
                        wrong.append(error)

            threads = [threading.Thread(target=ask) for _ in range(16)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            self.assertEqual(wrong, [])
            self.assertEqual(len(statuses), 640)
            self.assertGreater(statuses.count(429), 0)
            self.assertGreater(statuses.count(200), 10)
            self.assertEqual(server.ask("GET", "/v2/health/ready")[0], 200)

    def test_sizes(self):
        with Server(self.small.weights, "--max-body", "2000B", "--max-pixels", "500") as server:
            self.assertEqual(server.classify(b"x" * 2001)[0], 413)
            status, found = server.classify(self.small.images[0].read_bytes())
            self.assertEqual(status, 400)
            self.assertIn("500 pixels", found["error"])

    def test_token(self):
        token = self.folder / "token"
        token.write_text("0123456789abcdef0123\n", encoding="utf-8")
        token.chmod(0o600)
        body = self.small.images[0].read_bytes()
        with Server(self.small.weights, "--token-file", str(token)) as server:
            self.assertEqual(server.classify(body)[0], 401)
            for wrong in ("Bearer", "Bearer ", "Bearer 0123456789abcdef012", "Basic 0123456789abcdef0123", "Bearer 0123456789abcdef01234"):
                self.assertEqual(server.classify(body, headers={"Authorization": wrong})[0], 401)
            self.assertEqual(server.ask("GET", "/metrics")[0], 401)
            self.assertEqual(server.classify(body, headers={"Authorization": "Bearer 0123456789abcdef0123"})[0], 200)
            self.assertEqual(server.ask("GET", "/v2/health/ready")[0], 200)
        token.chmod(0o644)
        done = subprocess.run([STOKER, "serve", str(self.small.weights), "--token-file", str(token)], capture_output=True, text=True,
                              timeout=60, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("chmod 600", done.stderr)

    def test_sigterm_loses_no_accepted_request(self):
        with Server(self.small.weights, "--max-batch", "4") as server:
            answered, lost, refused = [], [], []

            def ask(offset):
                number = offset
                while True:
                    path = self.small.images[number % len(self.small.images)]
                    number += 1
                    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
                    try:
                        connection.connect()
                    except OSError:  # it has ended: nothing was accepted
                        refused.append(1)
                        return
                    try:
                        connection.request("POST", "/classify", path.read_bytes())
                        response = connection.getresponse()
                        found = json.loads(response.read())
                        self.assertEqual(response.status, 200, found)
                        self.check(path, found)
                        answered.append(1)
                    except Exception as error:  # noqa: BLE001: whatever it is, it is a lost request
                        lost.append(repr(error))
                        return
                    finally:
                        connection.close()

            threads = [threading.Thread(target=ask, args=(number,)) for number in range(16)]
            for thread in threads:
                thread.start()
            time.sleep(1)
            server.process.send_signal(signal.SIGTERM)
            self.assertEqual(server.process.wait(timeout=60), 0)
            for thread in threads:
                thread.join()
            self.assertEqual(lost, [])
            self.assertEqual(len(refused), 16)
            self.assertGreater(len(answered), 16)


class Hostile(Served):
    @unittest.skipUnless(HOSTILE.exists(), f"needs {HOSTILE}")
    def test_hostile_bodies_harm_nobody_else(self):
        files = sorted(path for path in HOSTILE.rglob("*") if path.is_file() and path.stat().st_size <= 1 << 22)
        self.assertGreater(len(files), 100)
        with Server(self.small.weights, "--decode-time", "3") as server:
            stop, wrong, statuses = threading.Event(), [], {}
            honest = [threading.Thread(target=self.keep_asking, args=(server, stop, wrong)) for _ in range(2)]
            for thread in honest:
                thread.start()
            for path in files:
                status, _, text = server.ask("POST", "/classify", path.read_bytes())
                statuses.setdefault(status, []).append(path)
                json.loads(text)
            stop.set()
            for thread in honest:
                thread.join()
            self.assertEqual(wrong, [])
            self.assertLessEqual(set(statuses), {200, 400}, {status: paths[:5] for status, paths in statuses.items()})
            self.assertGreater(len(statuses[400]), 20)

    def test_bytes_that_are_no_http(self):
        with Server(self.small.weights) as server:
            stop, wrong = threading.Event(), []
            honest = threading.Thread(target=self.keep_asking, args=(server, stop, wrong))
            honest.start()
            texts = [b"\0" * 100, b"GET", b"POST /classify HTTP/1.1\r\nContent-Length: -5\r\n\r\n",
                     b"POST /classify HTTP/1.1\r\nContent-Length: 5\r\nContent-Length: 7\r\n\r\nxxxxx",
                     b"POST /classify HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\nx",
                     b"GET /%00%ff HTTP/1.1\r\nHost: x\r\n\r\n", b"\x16\x03\x01\x02\x00\x01", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"]
            for text in texts:
                connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=5)
                connection.connect()
                with contextlib.suppress(OSError):
                    connection.sock.sendall(text)
                    connection.sock.settimeout(0.3)
                    connection.sock.recv(1000)
                connection.close()
            stop.set()
            honest.join()
            self.assertEqual(wrong, [])


if __name__ == "__main__":
    unittest.main()
