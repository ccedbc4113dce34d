"""A receiver of webhooks as its users write them, with the published package of Standard Webhooks. Prints its port, then
a line of JSON for each request. Each line on standard input is the secret to verify with from then on."""

import json
import os
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from standardwebhooks.webhooks import Webhook

state = {"secret": ""}


def tell(line):
    print(json.dumps(line), flush=True)


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        headers = {name.lower(): value for name, value in self.headers.items()}
        told = {"id": headers.get("webhook-id"), "verified": True}
        try:
            event = Webhook(state["secret"]).verify(body, headers)
            told["type"] = event["type"]
        except Exception as error:
            told["verified"] = False
            told["error"] = repr(error)
        tell(told)
        self.send_response(204 if told["verified"] else 401)
        self.end_headers()

    def log_message(self, *_):
        pass


server = ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
threading.Thread(target=server.serve_forever, daemon=True).start()
tell({"port": server.server_address[1]})
for line in sys.stdin:
    state["secret"] = line.strip()
    tell({"ready": True})
os._exit(0)
