# SPDX-License-Identifier: Apache-2.0
"""A web server with bad manners, on a port of its own, and a listener that only counts."""
import http.server
import json
import socket
import threading
from urllib.parse import parse_qs, urlsplit


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, body=b"", status=200, headers=(), length=True):
        self.send_response(status)
        for name, text in headers:
            self.send_header(name, text)
        if length:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def any(self):
        url = urlsplit(self.path)
        query = {k: v[0] for k, v in parse_qs(url.query).items()}
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.server.seen.append((self.command, self.path))
        try:
            getattr(self, "at_" + url.path.strip("/"), self.at_none)(query, body)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = any

    def at_none(self, query, body):
        self.answer(b"nothing here", 404)

    def at_hello(self, query, body):
        self.answer("h\u00e4llo\n".encode(), headers=[("X-One", "1"), ("X-One", "2"), ("Content-Type", "text/plain")])

    def at_echo(self, query, body):
        told = {"method": self.command, "headers": {k.lower(): v for k, v in self.headers.items()},
                "body": body.decode()}
        self.answer(json.dumps(told).encode())

    def at_count(self, query, body):
        n = int(query["n"])
        self.answer(b"moved", 302, [("Location", f"/count?n={n - 1}")]) if n else self.answer(b"arrived")

    def at_to(self, query, body):
        self.answer(b"moved", int(query.get("status", 302)), [("Location", query["url"])])

    def at_stall(self, query, body):
        self.server.stop.wait()

    def at_drip(self, query, body):
        self.answer(length=False, headers=[("Connection", "close")])
        while not self.server.stop.wait(0.2):
            self.wfile.write(b".")
            self.wfile.flush()

    def at_endless(self, query, body):
        self.answer(length=False, headers=[("Connection", "close")])
        while True:
            self.wfile.write(b"e" * 65536)
            self.server.sent += 65536

    def at_bytes(self, query, body):
        self.answer(bytes.fromhex(query["hex"]))

    def at_short(self, query, body):
        self.answer(b"x" * 10, length=False, headers=[("Content-Length", "100"), ("Connection", "close")])
        self.close_connection = True

    def at_headers(self, query, body):
        self.answer(b"many", headers=[(f"X-{i}", "y" * 1000) for i in range(90)])


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, address=("127.0.0.1", 0), family=socket.AF_INET):
        self.address_family = family
        self.seen, self.sent, self.connections, self.stop = [], 0, 0, threading.Event()
        super().__init__(address, Handler)
        self.port = self.server_address[1]
        threading.Thread(target=self.serve_forever, args=(0.05,), daemon=True).start()

    def verify_request(self, request, client_address):
        self.connections += 1
        return True

    def handle_error(self, request, client_address):
        pass

    def close(self):
        self.stop.set()
        self.shutdown()
        self.server_close()
