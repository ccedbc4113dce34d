"""The programs that fixtures of a release are made with: a server, simulated stores, a receiver of webhooks, a runner."""

import base64
import hashlib
import hmac
import http.client
import http.server
import json
import re
import shutil
import sqlite3
import struct
import subprocess
import sys
import threading
import time
import urllib.parse
from datetime import datetime, timezone
from pathlib import Path

PASSWORD = "correct horse battery"
LIMIT = 60
OCTETS = "application/octet-stream"
FORM = "application/x-www-form-urlencoded"


def until(what, is_so):
    end = time.monotonic() + LIMIT
    while time.monotonic() < end:
        found = is_so()
        if found:
            return found
        time.sleep(0.1)
    raise SystemExit(f"not within {LIMIT} seconds: {what}")


def iso(seconds=None):
    at = time.time() if seconds is None else seconds
    return datetime.fromtimestamp(at, timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.000Z")


def query(**fields):
    return urllib.parse.urlencode(fields)


class Process:
    """A program of ours that says in a line where it listens."""

    def __init__(self, arguments, folder, log):
        self.log = open(folder / log, "ab")
        self.child = subprocess.Popen(arguments, cwd=folder, stdout=subprocess.PIPE, stderr=self.log, text=True)
        for line in self.child.stdout:
            if found := re.search(r"http://[^\s,]+", line):
                self.origin = found[0]
                break
        else:
            raise SystemExit(f"{arguments} did not start: {(folder / log).read_text()}")
        # A full pipe would block it.
        threading.Thread(target=self.child.stdout.read, daemon=True).start()

    def kill(self):
        self.child.kill()
        self.child.wait()


class Caller:
    """Calls one server, as nobody, as the holder of a token, or as a browser."""

    def __init__(self, origin, headers=None):
        self.origin, self.headers = origin, headers or {}

    def bearer(self, token):
        return Caller(self.origin, {"authorization": f"Bearer {token}"})

    def move(self, origin):
        self.origin = origin
        if "origin" in self.headers:
            self.headers["origin"] = origin

    def raw(self, method, path, body=None, kind=None, headers=None):
        url = urllib.parse.urlsplit(path if path.startswith("http") else self.origin + path)
        connection = http.client.HTTPConnection(url.netloc, timeout=LIMIT)
        sent = {**self.headers, **(headers or {})}
        if kind:
            sent["content-type"] = kind
        connection.request(method, f"{url.path}?{url.query}" if url.query else url.path, body=body, headers=sent)
        answer = connection.getresponse()
        return answer.status, answer.headers, answer.read()

    def call(self, method, path, body=None, headers=None):
        sent = None if body is None else json.dumps(body)
        status, _, content = self.raw(method, "/api" + path, sent, sent and "application/json", headers)
        if status >= 300:
            raise SystemExit(f"{method} {path}: {status} {content.decode()}")
        return json.loads(content) if content else None

    def get(self, path):
        return self.call("GET", path)

    def post(self, path, body=None, headers=None):
        return self.call("POST", path, body, headers)

    def upload(self, content, name="update.zip"):
        asked = {"fileName": name, "size": len(content), "sha256": hashlib.sha256(content).hexdigest()}
        made = self.post("/uploads", asked)
        status, _, text = self.raw("PUT", made["url"], content, OCTETS)
        assert status < 300, text
        return made["id"]

    def sign_in(self, email):
        status, headers, body = self.raw(
            "POST", "/api/auth/sign-in", json.dumps({"email": email, "password": PASSWORD}), "application/json"
        )
        assert status == 200, body
        return Caller(self.origin, {"cookie": headers["set-cookie"].split(";")[0], "origin": self.origin})

    def form(self, path, fields):
        """A page's HTML, or what a form that is sent there answers."""
        if fields is None:
            _, _, body = self.raw("GET", path)
        else:
            status, _, body = self.raw("POST", path, urllib.parse.urlencode(fields), FORM)
            assert status < 400, body.decode()
        return body.decode()


class Receiver(http.server.BaseHTTPRequestHandler):
    """A receiver of webhooks: takes what goes to /good, refuses the rest."""

    def do_POST(self):
        self.rfile.read(int(self.headers["content-length"]))
        self.send_response(200 if self.path == "/good" else 410 if self.path == "/gone" else 500)
        self.end_headers()

    log_message = lambda *_: None


def totp(secret):
    key = base64.b32decode(secret)
    mac = hmac.digest(key, struct.pack(">Q", int(time.time()) // 30), "sha1")
    return f"{(struct.unpack('>I', mac[mac[19] & 15:][:4])[0] & 0x7FFFFFFF) % 1_000_000:06}"


class Stand:
    """One database with a server on it, and what the server talks to."""

    def __init__(self, program, folder, database, stores, receiver):
        self.program, self.folder, self.database, self.stores, self.receiver = program, folder, database, stores, receiver
        self.settings = ["--data-dir", str(folder / "data"), *(["--database-url", database] if database else [])]
        self.server = None

    def start(self, *more):
        self.server = Process(
            [self.program, "serve", "--listen", "127.0.0.1:0", "--no-runner", "--check-limit", "0",
             "--allow-private-webhooks", "--target-sdk-floor", "34", "--app-store-connect-url", self.stores.origin,
             "--google-play-url", self.stores.origin, *self.settings, *more],
            self.folder, "server.log",
        )
        self.origin = self.server.origin
        return Caller(self.origin)

    def admin(self, *arguments, stdin=""):
        done = subprocess.run([self.program, *self.settings, "admin", *arguments, "--json"], input=stdin, text=True,
                              capture_output=True, cwd=self.folder)
        if done.returncode:
            raise SystemExit(f"admin {arguments}: {done.stderr}")
        return json.loads(done.stdout)

    def sql(self, statement):
        if self.database:
            subprocess.run([postgres("psql"), "-q", "-v", "ON_ERROR_STOP=1", "-c", statement, self.database], check=True)
        else:
            with sqlite3.connect(self.folder / "data/launchway.db", timeout=60) as file:
                file.execute(statement)

    def make_due(self):
        """A store that answers in no time is asked again after minutes: behind the server's back that is now."""
        self.sql("UPDATE submissions SET due_at = 0 WHERE due_at > 0")


def postgres(name):
    found = shutil.which(name) or next(iter(sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"), reverse=True)), None)
    return str(found or sys.exit(f"{name} is not installed"))


class Runner:
    """A runner that does as it is told."""

    def __init__(self, admin, labels):
        token = admin.post("/runners/tokens")["token"]
        self.labels = labels
        asked = {"name": "mac-mini-1", "labels": labels, "slots": 2, "version": "0.1.0"}
        self.call = admin.bearer(admin.bearer(token).post("/runner/enrol", asked)["token"])

    def take(self):
        asked = {"labels": self.labels, "version": "0.1.0", "waitSeconds": 0}
        lease = until("a build to take", lambda: self.call.post("/runner/lease", asked)["lease"])
        self.build = {"buildId": lease["buildId"], "attempt": lease["attempt"]}
        self.logged, self.artifacts, self.phases = 0, [], []

    def log(self, text):
        where = query(id=self.build["buildId"], attempt=self.build["attempt"], offset=self.logged)
        status, _, body = self.call.raw("POST", f"/api/runner/log?{where}", text.encode(), OCTETS)
        assert status == 200, body
        self.logged = json.loads(body)["logOffset"]

    def artifact(self, kind, name, content, send=True):
        asked = {"kind": kind, "name": name, "size": len(content), "sha256": hashlib.sha256(content).hexdigest()}
        target = self.call.post("/runner/artifacts", {**self.build, **asked})
        if send:
            status, _, body = self.call.raw("PUT", target["url"], content, OCTETS)
            assert status < 300, body
            self.artifacts.append(target["id"])

    def renew(self, *phases):
        self.phases = [
            {"name": name, "startedAt": iso(time.time() - 9), "finishedAt": None if code is None else iso(), "exitCode": code}
            for name, code in phases
        ]
        self.call.post("/runner/renew", {**self.build, "phases": self.phases})

    def finish(self, status, error=None, fingerprint=None, warnings=()):
        self.call.post("/runner/finish", {
            **self.build, "status": status, "error": error, "phases": self.phases, "artifacts": self.artifacts,
            "logSize": self.logged, "fingerprint": fingerprint, "warnings": list(warnings),
        })
