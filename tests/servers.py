"""Servers for tests, on the loopback alone: files by HTTP with ranges, S3 (moto), and a proxy before either that breaks things."""

import http.client
import http.server
import os
import pathlib
import random
import re
import subprocess
import sys
import threading
import time
import urllib.parse

# Faults of a store that works: each request that is made again may succeed.
STORE_FAULTS = ("cut", "503", "429", "slow", "truncated", "flipped", "longer", "shorter", "reset")


class _Server:
    """An HTTP server in threads; `handle(request)` answers. Ends with the `with` block."""

    address = ("127.0.0.1", 0)

    def __init__(self):
        owner = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def answer(self):
                with owner.lock:
                    owner.requests.append((self.command, self.path, dict(self.headers)))
                try:
                    owner.handle(self)
                except (BrokenPipeError, ConnectionResetError):
                    self.close_connection = True

            do_GET = do_HEAD = do_PUT = do_POST = answer

            def log_message(self, *_):
                pass

        self.requests, self.lock = [], threading.Lock()
        self.server = self.listen(Handler)
        self.server.daemon_threads = True
        self.server.handle_error = lambda *_: None  # connections that a killed client drops
        self.url = "http://%s:%d" % self.server.server_address
        self.thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        self.thread.start()

    def listen(self, handler):
        return http.server.ThreadingHTTPServer(self.address, handler)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()

    def reply(self, request, status, body=b"", headers=None, length=None):
        request.send_response(status)
        for name, value in (headers or {}).items():
            request.send_header(name, value)
        request.send_header("Content-Length", str(len(body) if length is None else length))
        request.end_headers()
        if request.command != "HEAD":
            request.wfile.write(body)

    def count(self, text):
        with self.lock:
            return sum(1 for method, path, _ in self.requests if method == "GET" and text in path)


class FileServer(_Server):
    """A folder. Without `ranges` it sends whole files whatever is asked for, as Python's own server does."""

    def __init__(self, folder, ranges=True):
        self.folder, self.ranges = pathlib.Path(folder), ranges
        super().__init__()

    def handle(self, request):
        path = self.folder / urllib.parse.unquote(request.path).lstrip("/")
        if not path.is_file():
            return self.reply(request, 404)
        size = path.stat().st_size
        headers = {"ETag": '"%x-%x"' % (path.stat().st_mtime_ns, size)}
        wanted = re.fullmatch(r"bytes=(\d+)-(\d*)", request.headers.get("Range", ""))
        if not wanted or not self.ranges:
            return self.reply(request, 200, path.read_bytes(), headers)
        first, last = int(wanted[1]), int(wanted[2] or size - 1)
        headers["Content-Range"] = f"bytes {first}-{last}/{size}"
        with path.open("rb") as file:
            file.seek(first)
            return self.reply(request, 206, file.read(last - first + 1), headers)


class SlowShards(FileServer):
    """Holds whole shards back until `released` is set; parts of them and everything else come at once. Counts the bytes of bodies."""

    def __init__(self, folder):
        self.released, self.sent = threading.Event(), 0
        super().__init__(folder)

    def handle(self, request):
        part = re.fullmatch(r"bytes=[1-9]\d*-\d+", request.headers.get("Range", ""))
        if request.path.endswith(".tar") and not part:
            self.released.wait(60)
        super().handle(request)

    def reply(self, request, status, body=b"", headers=None, length=None):
        with self.lock:
            self.sent += len(body)
        super().reply(request, status, body, headers, length)

    def __exit__(self, *_):
        self.released.set()
        super().__exit__()


class Redirector(_Server):
    """Sends everybody elsewhere."""

    def __init__(self, target):
        self.target = target
        super().__init__()

    def handle(self, request):
        self.reply(request, 307, headers={"Location": self.target + request.path})


class FaultProxy(_Server):
    """Passes requests on and breaks a share of the answers: `kinds` of faults, by a generator with a seed.

    kinds: cut, 503, 429, slow, truncated, flipped, longer, shorter, reset, down, missing.
    """

    def __init__(self, upstream, kinds=(), share=1.0, seed=0, only="", limit=None):
        self.upstream = urllib.parse.urlsplit(upstream)
        self.kinds, self.share, self.only, self.limit = list(kinds), share, only, limit
        self.random, self.injected = random.Random(seed), []
        super().__init__()

    def choose(self, path):
        with self.lock:
            used_up = self.limit is not None and len(self.injected) >= self.limit
            if not self.kinds or self.only not in path or used_up or self.random.random() >= self.share:
                return None
            self.injected.append(self.random.choice(self.kinds))
            return self.injected[-1]

    def fetch(self, request):
        size = int(request.headers.get("Content-Length") or 0)
        body = request.rfile.read(size) if size else None
        connection = http.client.HTTPConnection(self.upstream.netloc, timeout=60)
        headers = {name: value for name, value in request.headers.items() if name.lower() not in ("connection",)}
        connection.request(request.command, request.path, body, headers)
        answer = connection.getresponse()
        kept = {name: value for name, value in answer.getheaders()
                if name.lower() in ("etag", "content-range", "last-modified", "content-type")}
        length = answer.getheader("Content-Length")
        content = answer.read()
        connection.close()
        return answer.status, kept, content, int(length or len(content))

    def handle(self, request):
        kind = self.choose(request.path)
        if kind in ("503", "429"):
            return self.reply(request, int(kind), b"<Code>SlowDown</Code>", {"Retry-After": "0"})
        if kind == "missing":
            return self.reply(request, 404)
        if kind in ("down", "reset"):
            request.close_connection = True
            return request.connection.close()
        if kind == "slow":
            time.sleep(4)  # longer than the tests' --store-timeout
        status, headers, body, length = self.fetch(request)
        if request.command == "HEAD":
            return self.reply(request, status, headers=headers, length=length)
        half = len(body) // 2
        if kind in ("cut", "longer", "shorter", "truncated"):
            request.close_connection = True
        if kind == "cut":
            return self.reply(request, status, body[:half], headers, length=len(body))
        if kind == "truncated":
            return self.reply(request, status, body[:half], headers)
        if kind == "longer":
            return self.reply(request, status, body, headers, length=len(body) + 1000)
        if kind == "shorter":
            return self.reply(request, status, body, headers, length=half)
        if kind == "flipped" and body:
            body = body[:half] + bytes([body[half] ^ 1]) + body[half + 1:]
        return self.reply(request, status, body, headers)


class S3Server:
    """moto in a process of its own, with one bucket."""

    CODE = ("import sys, threading\nfrom moto.server import ThreadedMotoServer\n"
            "import logging\nlogging.getLogger('werkzeug').setLevel(logging.CRITICAL)\n"
            "server = ThreadedMotoServer(ip_address='127.0.0.1', port=0, verbose=False)\nserver.start()\n"
            "print(server.get_host_and_port()[1], flush=True)\nsys.stdin.read()\n")

    def __init__(self, bucket="bucket"):
        self.process = subprocess.Popen([sys.executable, "-c", self.CODE], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, text=True, env={**os.environ, "MOTO_ALLOW_NONEXISTENT_REGION": "1"})
        self.url = f"http://127.0.0.1:{int(self.process.stdout.readline())}"
        connection = http.client.HTTPConnection(self.url.removeprefix("http://"), timeout=30)
        connection.request("PUT", f"/{bucket}", headers={"Authorization": "AWS4-HMAC-SHA256 Credential=x/20200101/us-east-1/s3/aws4_request"})
        assert connection.getresponse().status == 200

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()
