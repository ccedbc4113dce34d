"""What is asked about the database of a release, and what is answered."""

import json

from .content import BINARY_BUNDLE, BUNDLE
from .service import query


def listed(caller, path):
    return [item["id"] for item in caller.get(f"{path}{'&' if '?' in path else '?'}limit=100")["items"]]


def questions(callers):
    """Who asks what."""
    admin, ci = callers["admin"], callers["ci"]
    asked = []

    def ask(who, *paths):
        asked.extend((who, path) for path in paths)

    lists = ["/build", "/submit", "/update", "/env", "/api-keys", "/webhooks", "/credentials", "/runners", "/apps", "/usage",
             "/orgs", "/orgs/members", "/orgs/invitations"]
    of = {path: listed(ci if path in ("/build", "/submit", "/update") else admin, path) for path in lists}
    for path in lists:
        who = "ci" if path in ("/build", "/submit", "/update") else "admin"
        ask(who, f"{path}?limit=100", f"{path}?limit=1&offset=1", *(f"{path}?{query(id=id)}" for id in of[path]))
        ask("stranger", path, *(f"{path}?{query(id=id)}" for id in of[path][:1]))
        ask("member", path)
    for id in of["/build"]:
        ask("ci", *(f"{path}?{query(id=id)}" for path in ("/build/plan", "/build/log", "/fingerprints")))
    for id in of["/update"]:
        ask("ci", f"/fingerprints?{query(id=id)}")
    for id in of["/webhooks"]:
        ask("admin", f"/webhooks/deliveries?{query(id=id)}&limit=100")
    with_document = [id for id in of["/build"] + of["/update"]
                     if json.loads(ci.raw("GET", f"/api/fingerprints?{query(id=id)}")[2]).get("fingerprint")]
    ask("ci", *(f"/fingerprints/diff?{query(**{'from': a, 'to': b})}" for a, b in zip(with_document, with_document[1:])))
    ask("ci", f"/fingerprints/latest?{query(bundleId=BINARY_BUNDLE, platform='android')}")
    ask("ci", *(f"/build?{query(status=status)}" for status in ("queued", "running", "success", "failed", "canceled")))
    ask("ci", *(f"/submit?{query(status=status)}" for status in ("queued", "rolling_out", "success", "rejected", "canceled")))
    ask("ci", *(f"/update?{query(bundleId=BUNDLE, configuration=name)}" for name in ("production", "staging", "beta")))
    ask("admin", "/audit?limit=100", "/audit?limit=100&offset=100", f"/audit?{query(action='key.revoke')}", "/auth/session")
    ask("owner", "/auth/session", "/auth/sessions?limit=100", "/orgs", "/update?limit=100")
    ask("reader", "/build", "/update", "/env", "/api-keys")
    for bundle in (BUNDLE, BUNDLE.upper(), "com.example.theirs", "com.example.none"):
        for more in ({}, {"configuration": "production"}, {"configuration": "staging"}, {"configuration": "beta"},
                     {"configuration": "production", "deviceId": "device-1"}, {"configuration": "production", "deviceId": "device-3"},
                     {"configuration": "beta", "fingerprint": "00" * 32}, {"currentUpdateId": "update_none"}):
            ask("nobody", f"/update/check/{bundle}?{query(currentVersion='2.3.0', platform='android', **more)}")
        ask("nobody", f"/update/check/{bundle}?{query(currentVersion='9.0.0', platform='android')}",
            f"/update/check/{bundle}?{query(currentVersion='2.3.0', platform='ios', configuration='production', fingerprint='ab' * 32)}",
            f"/update/check/{bundle}?{query(currentVersion='two')}")
    ask("nobody", "/update", "/build")
    return asked


def answers(callers, asked):
    """What the server answers to each question."""
    told = []
    for who, path in asked:
        status, _, body = callers[who].raw("GET", "/api" + path)
        assert status < 500 and status != 429, body
        try:
            answer = json.loads(body)
        except ValueError:
            answer = body.decode()
        told.append({"as": who, "path": path, "status": status, "answer": answer})
    return told
