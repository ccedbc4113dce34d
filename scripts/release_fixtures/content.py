"""What the database of a release is filled with, through the API of the release's own program."""

import base64
import hashlib
import io
import json
import re
import urllib.parse
import zipfile
from pathlib import Path

from .service import PASSWORD, Caller, Runner, iso, query, totp, until

CRATES = Path(__file__).resolve().parent.parent.parent / "crates"
BUNDLE = "com.example.shop"
# The app in the binaries' own fixtures.
BINARY_BUNDLE = "com.example.app"


def read(path):
    return (CRATES / path).read_bytes()


def zipped(name, content):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr(name, content)
    return out.getvalue()


def document(native, plugins):
    digest = lambda text: hashlib.sha256(text.encode()).hexdigest()
    return {"alg": "lwfp-1", "framework": "capacitor", "native": digest(native), "platform": "android",
            "plugins": plugins, "resources": digest("")}


def people(stand, nobody):
    """Two organizations, their members and what they may: gives the callers."""
    org = stand.admin("create-org", "--name", "Example Apps")["id"]
    other = stand.admin("create-org", "--name", "Strangers", "--tier", "free")["id"]
    for home, name, role in [(org, "ada", "owner"), (org, "grace", "admin"), (org, "bob", "member"), (other, "eve", "owner")]:
        stand.admin("create-user", "--email", f"{name}@example.com", "--org", home, "--role", role, stdin=PASSWORD + "\n")
    key = lambda home, name, *more: nobody.bearer(stand.admin("create-key", "--org", home, "--name", name, *more)["key"])
    callers = {
        "admin": key(org, "terraform", "--admin"),
        "ci": key(org, "CI", "--scopes", "build,submit,update"),
        "reader": key(org, "reader", "--scopes", "update"),
        "stranger": key(other, "theirs", "--scopes", "build,submit,update"),
        "owner": nobody.sign_in("ada@example.com"),
        "member": nobody.sign_in("bob@example.com"),
    }
    owner = callers["owner"]
    grace = nobody.sign_in("grace@example.com")
    page = grace.form(f"/o/{org}/profile/two-factor", None)
    token = next(token for token in re.findall(r'name="token" value="([^"]+)"', page) if token != "sign-out")
    page = grace.form(f"/o/{org}/profile/two-factor", {"token": token, "present": PASSWORD})
    secret = re.search(r'id="secret">([^<]+)<', page)[1].replace(" ", "")
    grace.form(f"/o/{org}/profile/two-factor/confirm", {"token": token, "code": totp(secret)})
    revoked = owner.post("/api-keys", {"name": "old laptop", "scopes": ["update"]})
    owner.call("DELETE", f"/api-keys?{query(id=revoked['id'])}")
    link = owner.post("/orgs/invitations", {"email": "new@example.com", "role": "member"})["link"]
    token = urllib.parse.parse_qs(urllib.parse.urlsplit(link).query)["token"][0]
    nobody.post("/auth/invitation", {"token": token, "password": PASSWORD})
    owner.post("/orgs/invitations", {"email": "waiting@example.com", "role": "admin"})
    stand.admin("reset-password", "--email", "bob@example.com")
    for decision in [{}, {"refuse": "refuse"}, None]:
        login = nobody.post("/auth/device", {"name": "laptop", "scopes": ["update"]})
        if decision is not None:
            owner.form("/device", {"token": "confirm", "code": login["userCode"], "org": org, **decision})
    owner.post("/runners/tokens")
    return callers


def settings(stand, callers):
    """Webhooks, credentials, environment variables, apps."""
    owner = callers["owner"]
    hooks = [("good", "generic", ["*"]), ("bad", "slack", ["build.failed", "update.published"]), ("gone", "teams", ["webhook.test"])]
    for name, kind, events in hooks:
        made = owner.post("/webhooks", {"name": name, "url": f"{stand.receiver}/{name}", "events": events, "type": kind})
        owner.post(f"/webhooks/test?{query(id=made['id'])}")
    owner.post(f"/webhooks/rotate-secret?{query(id=owner.get('/webhooks')['items'][-1]['id'])}")
    encoded = lambda content: base64.b64encode(content).decode()
    account = read("credentials/tests/fixtures/service-account.json").replace(
        b"https://oauth2.googleapis.com", stand.stores.origin.encode())
    for made in [
        {"kind": "android_keystore", "content": encoded(read("credentials/tests/fixtures/rsa.jks")), "password": "store-secret"},
        {"kind": "google_service_account", "content": encoded(account), "name": "Play Console"},
        {"kind": "app_store_connect_key", "content": encoded(read("credentials/tests/fixtures/store-connect.p8")),
         "keyId": "ABCDE12345", "issuerId": "57246542-96fe-1a63-e053-0824d011072a"},
    ]:
        owner.post("/credentials", made)
    for made in [
        {"name": "SENTRY_AUTH_TOKEN", "value": "a secret", "bundleId": BUNDLE},
        {"name": "API_URL", "value": "https://api.example.com/v2", "visibility": "plain", "configurations": ["production"]},
        {"name": "GOOGLE_SERVICES", "value": "{}", "kind": "file", "path": "app/google-services.json", "platforms": ["android"]},
    ]:
        owner.post("/env", made)
    deleted = owner.post("/apps", {"bundleId": "com.example.Abandoned", "name": "Abandoned"})
    owner.call("DELETE", f"/apps?{query(id=deleted['id'])}")
    callers["stranger"].post("/apps", {"bundleId": "com.example.theirs"})


def report(nobody, device, kinds, **question):
    asked = query(currentVersion="2.3.0", platform="android", deviceId=device, **question)
    told = nobody.get(f"/update/check/{BUNDLE}?{asked}")
    if "reportToken" in told:
        events = [{"type": kind, "updateId": told["id"], "at": iso(), **({"reason": "TypeError: <cart>"} if kind == "failed" else {})}
                  for kind in kinds]
        nobody.post(f"/update/report/{BUNDLE}", {"reportToken": told["reportToken"], "events": events})


def updates(callers, nobody):
    """Updates in each state, with rollouts, configurations and fingerprints, and what devices report of them."""
    ci = callers["ci"]
    count = iter(range(1000))

    def publish(caller=ci, **fields):
        if "sourceUpdateId" not in fields:
            fields["uploadId"] = caller.upload(zipped("index.html", f"<h1>{next(count)}</h1>"))
        body = {"bundleId": BUNDLE, "platform": "android", **fields}
        return caller.post("/update", body, {"idempotency-key": f"publish-{next(count)}"})["id"]

    change = lambda id, **fields: ci.call("PATCH", f"/update?{query(id=id)}", fields)
    publish(version="2.4.0", releaseNotes="The cart shows its total.\nThanks.")
    staged = publish(version="2.4.1", configuration="production", rollout=25, mandatory=True)
    for device in range(40):
        report(nobody, f"device-{device}", ["downloaded", "installed", "failed" if device % 9 == 0 else "confirmed"],
               configuration="production")
    change(staged, rollout=60)
    paused = publish(version="2.4.1", configuration="staging", buildNumber="7")
    change(paused, status="paused")
    withdrawn = publish(version="2.5.0", configuration="staging")
    change(withdrawn, status="withdrawn")
    gone = publish(version="2.5.1", configuration="staging")
    ci.call("DELETE", f"/update?{query(id=gone)}")
    publish(version="2.6.0", configuration="beta", fingerprint=document("one", {"cart": "1.0.0"}))
    publish(version="2.6.1", configuration="beta", fingerprint=document("two", {"cart": "1.1.0"}), rollout=0)
    publish(version="2.4.2", configuration="staging", sourceUpdateId=staged)
    publish(version="2.6.0", platform="ios", configuration="production", fingerprint="ab" * 32)
    publish(callers["stranger"], bundleId="com.example.theirs", version="1.0.1")
    for device in range(5):
        report(nobody, f"device-{device}", ["downloaded", "rolled_back"])
    ci.upload(zipped("index.html", "never used"))
    announced = zipped("index.html", "never sent")
    ci.post("/uploads", {"fileName": "never.zip", "size": len(announced), "sha256": hashlib.sha256(announced).hexdigest()})


def builds(callers):
    """Builds in each state, with logs and artifacts: gives one that has an app, and the runner that is at work."""
    ci = callers["ci"]
    runner = Runner(callers["admin"], ["arch=x86_64", "os=linux"])
    plan = {"steps": [{"name": "compile", "run": "make"}], "artifacts": [{"path": "out/*.apk", "kind": "apk"}]}
    git = {"branch": "main", "commit": "4f0c2d1a9be81a34", "message": "Show the cart's total", "dirty": False}

    def queue(**fields):
        source = {"uploadId": ci.upload(zipped("index.html", "<h1>hello</h1>"), "source.zip")}
        body = {"bundleId": BUNDLE, "platform": "android", "source": source, "plan": plan, "git": git, **fields}
        return ci.post("/build", body)["id"]

    done = queue(bundleId=BINARY_BUNDLE, version="1.2.3", buildNumber="42", distribution="internal")
    runner.take()
    runner.log("".join(f"line {number} of a log\n" for number in range(500)))
    runner.renew(("fetch", 0), ("compile", 0))
    runner.artifact("apk", "app.apk", read("binaries/tests/fixtures/v1-v2-v3.apk"))
    runner.log("\x1b[32mdone\x1b[0m\n")
    runner.finish("success", fingerprint=document("three", {"camera": "2.0.0"}), warnings=["The cache was empty"])
    failed = queue(version="2.4.1", buildNumber="auto", configuration="production", priority=5)
    runner.take()
    runner.log("error: cannot find symbol\n")
    runner.renew(("fetch", 0), ("compile", 1))
    runner.finish("failed", {"code": "STEP_FAILED", "phase": "compile", "message": "The step compile ended with 1"})
    ci.post(f"/build/retry?{query(id=failed)}")
    runner.take()
    runner.finish("canceled")
    ci.post(f"/build/cancel?{query(id=queue(version='2.4.2'))}")
    deleted = queue(version="2.4.3")
    ci.post(f"/build/cancel?{query(id=deleted)}")
    ci.call("DELETE", f"/build?{query(id=deleted)}")
    # A newer release goes on with what this one leased, so these run when the database is taken.
    for _ in range(2):
        queue(source={"git": {"url": "https://git.example.com/app.git", "ref": "main"}}, configuration="staging")
        runner.take()
        runner.log("still at it\n")
        runner.renew(("fetch", 0), ("compile", None))
        runner.artifact("apk", "app.apk", b"announced only", send=False)
    ci.post(f"/build/cancel?{query(id=runner.build['buildId'])}")
    queue(platform="ios", version="2.4.0", plan={**plan, "labels": ["os=macos"]})
    Runner(callers["admin"], ["os=linux"])
    last = callers["admin"].get("/runners")["items"][0]["id"]
    callers["admin"].call("DELETE", f"/runners?{query(id=last)}")
    return done, runner.call


def submissions(stand, callers, build):
    """Submissions in the states that the simulated stores lead to."""
    ci = callers["ci"]
    apk, ipa = read("binaries/tests/fixtures/v1-v2-v3.apk"), read("binaries/tests/fixtures/binary.ipa")
    notes = [{"locale": "en-US", "text": "The cart shows its total.\nThanks."}, {"locale": "de-DE", "text": "Der Korb."}]

    def submit(status, **fields):
        made = ci.post("/submit", fields)["id"]

        def there():
            stand.make_due()
            found = ci.get(f"/submit?{query(id=made)}")["status"]
            if found in ("failed", "success", "rejected") and found != status:
                raise SystemExit(json.dumps(ci.get(f"/submit?{query(id=made)}"), indent=1))
            return found == status

        until(f"a submission is {status}", there)
        return made

    submit("success", buildId=build, destination="internal")
    submit("rolling_out", uploadId=ci.upload(apk, "app.apk"), destination="production", rollout=20, releaseNotes=notes,
           options={"releaseName": "Spring"})
    steer = Caller(stand.stores.origin)
    steer.raw("POST", "/simulator/reviews", json.dumps({"outcomes": ["reject"]}), "application/json")
    submit("rejected", uploadId=ci.upload(apk, "app.apk"), destination="beta")
    submit("success", uploadId=ci.upload(ipa, "app.ipa"), destination="app_store", releaseNotes=notes[:1],
           options={"usesNonExemptEncryption": False})
    # No store answers these.
    steer.raw("POST", "/simulator/faults", json.dumps({"kind": "status", "status": 503, "times": 1000}), "application/json")
    canceled = ci.post("/submit", {"uploadId": ci.upload(ipa, "app.ipa"), "destination": "testflight"})["id"]
    ci.post(f"/submit/cancel?{query(id=canceled)}")
    ci.post("/submit", {"uploadId": ci.upload(apk, "app.apk"), "destination": "alpha"})
