// Fills a demo server with builds, submissions, updates and settings, and returns the pages that show them.

import { api, read, until, upload, zip } from "./serve.mjs";
import { beginTrust, newKey, signDraft } from "./trust.mjs";

const steps = [
  { name: "install", run: "printf '\\033[1madded 412 packages\\033[0m in 3s\\n'; for i in $(seq 1 400); do echo \"npm fetched package-$i\"; done" },
  { name: "test", run: "printf '\\033[32m✓\\033[0m 48 passed\\n\\033[33mwarning\\033[0m: peer dependency <b>react</b>\\n'" },
  { name: "pack", run: "mkdir -p out && echo app > out/site.zip && printf '\\033[31mnot\\033[0m an error\\n'" },
];

// An app that Google Play accepts.
export const app = "crates/binaries/tests/fixtures/v1-v2-v3.apk";

export async function fill(server) {
  const call = api(server.origin, server.key);
  const build = async (fields, list = steps, artifacts = [{ path: "out/site.zip", kind: "web" }]) => {
    const uploadId = await upload(call, zip("index.html", "<h1>hello</h1>"), "source.zip");
    return call("POST", "/build", { bundleId: "com.example.shop", platform: "android", source: { uploadId }, plan: { steps: list, artifacts }, ...fields });
  };
  const git = { branch: "main", commit: "4f0c2d1a9be81a34", message: "Show the cart's total" };
  const done = await build({ version: "2.4.0", buildNumber: "241", configuration: "production", git });
  const failed = await build({ version: "2.4.1", buildNumber: "242", configuration: "staging", git: { ...git, branch: "fix/checkout" } }, [...steps.slice(0, 2), { name: "compile", run: "echo 'error: cannot find symbol Cart' >&2; exit 3" }]);
  const over = async (id) => { const { status } = await call("GET", `/build?id=${id}`); return status !== "queued" && status !== "running"; };
  await until("both builds are over", async () => (await over(done.id)) && (await over(failed.id)));
  const packed = await call("POST", "/build", { bundleId: "com.example.app", platform: "android", distribution: "internal", version: "1.2.3", buildNumber: "42", git, source: { uploadId: await upload(call, zip("app.apk", read(app)), "source.zip") }, plan: { steps: [{ name: "compile", run: "echo packed" }], artifacts: [{ path: "app.apk", kind: "apk" }] } });
  await until("the app is built", () => over(packed.id));
  const waiting = await build({ platform: "ios", version: "2.4.0", configuration: "production", git, plan: { labels: ["os=macos"], steps: [steps[0]] } });
  const running = await build({ version: "2.5.0", buildNumber: "250", git: { ...git, branch: "next" } }, [{ name: "slow", run: "i=0; while :; do echo \"line $i\"; i=$((i+1)); sleep 0.5; done" }]);
  await until("the slow build runs", async () => (await call("GET", `/build?id=${running.id}`)).status === "running");
  const publish = async (fields) => call("POST", "/update", {
    uploadId: await upload(call, zip("index.html", `<h1>${JSON.stringify(fields)}</h1>`), "update.zip"),
    bundleId: "com.example.shop", platform: "android", configuration: "production", ...fields,
  });
  await publish({ version: "2.4.0", buildNumber: "1", releaseNotes: "The cart shows its total." });
  const update = await publish({ version: "2.4.1", buildNumber: "1", rollout: 25, releaseNotes: "Mends the checkout.\nThanks to all who wrote." });
  // It is offered to a quarter of the devices.
  for (let device = 0; device < 60; device++) {
    await report(server, update, `device-${device}`, ["downloaded", "installed", ...(device % 9 ? ["confirmed"] : ["crash", "rolled_back"])]);
  }
  const long = await publish({
    bundleId: "com.example.averylongorganization.department.applicationwithaverylongname", version: "12.345.678-beta.20261123.of.a.long.series", buildNumber: "2026112301",
    configuration: "production-of-europe-and-the-rest-of-the-world",
  });
  await signIn(server);
  const session = browserApi(server);
  await session("POST", "/env", { name: "SENTRY_AUTH_TOKEN", value: "a secret", bundleId: "com.example.shop" });
  await session("POST", "/env", { name: "API_URL", value: "https://api.example.com/v2", visibility: "plain", configurations: ["production"] });
  for (const [platform, configuration, key] of [["android", "Production", "Ab3dEf9hIjKlMnOpQrStUvWxYz0123456789-_"], ["ios", undefined, "k".repeat(100)]]) {
    await session("POST", "/deployment-keys", { bundleId: "com.example.shop", platform, configuration, key });
  }
  const hook = await session("POST", "/webhooks", { name: "Team chat", url: "http://127.0.0.1:9/hook", events: ["build.failed", "update.published"] });
  await session("POST", `/webhooks/test?id=${hook.id}`);
  for (let number = 1; number <= 12; number++) await session("POST", "/api-keys", { name: `Machine ${number}`, scopes: ["build"] });
  await session("POST", "/orgs/invitations", { email: "bob@example.com", role: "member" });
  const keystore = read("crates/credentials/tests/fixtures/rsa.jks").toString("base64");
  await session("POST", "/credentials", { kind: "android_keystore", content: keystore, password: "store-secret" });
  const account = read("crates/credentials/tests/fixtures/service-account.json").toString().replace("https://oauth2.googleapis.com", server.stores);
  await session("POST", "/credentials", { kind: "google_service_account", content: Buffer.from(account).toString("base64"), name: "Play Console" });
  const submit = async (fields) => call("POST", "/submit", { uploadId: await upload(call, read(app), "app.apk"), destination: "production", ...fields });
  const notes = [{ locale: "en-US", text: "The cart shows its total.\nThanks to all who wrote." }, { locale: "de-DE", text: "Der Korb zeigt seine Summe." }];
  const staged = await submit({ rollout: 20, releaseNotes: notes, options: { releaseName: "Spring" } });
  await until("users get the staged release", async () => {
    server.makeDue();
    return (await call("GET", `/submit?id=${staged.id}`)).status === "rolling_out";
  });
  await fetch(`${server.stores}/simulator/reviews`, { method: "POST", body: JSON.stringify({ outcomes: ["reject"] }) });
  const lost = await submit({ destination: "beta" });
  await until("the review refuses", async () => {
    server.makeDue();
    return (await call("GET", `/submit?id=${lost.id}`)).status === "rejected";
  });
  const { unsigned, revoked, sign } = await signedApp(session, publish);
  const path = (link) => link.slice(new URL(link).origin.length);
  // Returns the link of an invitation.
  const invite = async (email) => (await session("POST", "/orgs/invitations", { email, role: "member" })).link;
  return {
    invite,
    // For a visitor who is not signed in.
    openPages: [
      ["sign-in", "/"],
      ["invitation", path(await invite("new@example.com"))],
      ["install", path((await call("GET", `/build?id=${packed.id}`)).install.url)],
      ["device", "/device"],
      ["docs", "/docs"],
    ],
    done, failed, staged, waiting, running, update, hook, unsigned, sign,
    pages: [
      ["overview", ""],
      ["builds", "/builds"],
      ["builds-failed", "/builds?status=failed"],
      ["build", `/builds/${done.id}#L12`],
      ["build-failed", `/builds/${failed.id}`],
      ["build-app", `/builds/${packed.id}`],
      ["build-waiting", `/builds/${waiting.id}`],
      ["build-running", `/builds/${running.id}`, (page) => page.waitForSelector(".line .text:not(.loading):has-text('line')")],
      ["submissions", "/submissions"],
      ["submission", `/submissions/${staged.id}`],
      ["submission-rollout", `/submissions/${staged.id}`, async (page) => { await page.locator("#rollout").fill("50"); await page.click("text=Change rollout…"); await page.waitForSelector("form.confirm"); }],
      ["submission-rejected", `/submissions/${lost.id}`],
      ["submit", "/submissions/new"],
      ["submit-build", `/submissions/new?buildId=${packed.id}`, async (page) => { await page.click("text=More options"); }],
      ["submit-refused", "/submissions/new", async (page) => {
        await page.selectOption("#destination", "+other");
        await page.fill("[name=destinationOther]", "a/b");
        await page.setInputFiles("#file", { name: "app.apk", mimeType: "application/octet-stream", buffer: read(app) });
        await page.click("main form button");
        await page.waitForSelector("#destination-wrong");
      }],
      ["updates", "/updates"],
      ["update", `/updates/${update.id}`],
      ["update-long", `/updates/${long.id}`],
      ["update-rollout", `/updates/${update.id}`, async (page) => { await page.locator("#rollout").fill("50"); await page.click("text=Change rollout…"); await page.waitForSelector("form.confirm"); }],
      ["update-promote", `/updates/${update.id}/promote?configuration=staging`],
      ["update-outdated", `/updates/${update.id}`, async (page) => {
        await page.evaluate(() => { document.querySelector("main [name=revision]").value = "AAAAAAAAAAAAAAAAAAAAAA"; });
        await page.fill("#releaseNotes", "What I typed");
        await page.click("button:text-is('Save')");
        await page.waitForSelector("text=so nothing was saved");
      }],
      ["audience", "/updates/audience?bundleId=com.example.shop&platform=android&currentVersion=2.3.0&configuration=production&deviceId=device-1"],
      ["publish", "/updates/new"],
      ["publish-refused", "/updates/new", async (page) => {
        await page.fill("#bundleId", "com.example.shop");
        await page.fill("#version", "two");
        await page.setInputFiles("#file", { name: "dist.zip", mimeType: "application/zip", buffer: zip("index.html", "x") });
        await page.click("main form button");
        await page.waitForSelector("#version-wrong");
      }],
      ["apps", "/apps"],
      ["trust", "/trust?bundleId=com.example.signed"],
      ["trust-none", "/trust?bundleId=com.example.shop"],
      ["deployment-keys", "/deployment-keys"],
      ["deployment-keys-app", "/deployment-keys?bundleId=com.example.shop"],
      ["update-unsigned", `/updates/${unsigned.id}`],
      ["update-revoked", `/updates/${revoked.id}`],
      ["env", "/env"],
      ["credentials", "/credentials"],
      ["webhooks", "/webhooks"],
      ["webhook", `/webhooks/${hook.id}`, async (page) => { await page.click(".deliveries summary"); }],
      ["members", "/members"],
      ["runners", "/runners"],
      ["usage", "/usage"],
      ["audit", "/audit"],
      ["profile", "/profile"],
      ["two-factor", "/profile/two-factor"],
      ["nothing", "/builds/none"],
      ["menu", "/builds", async (page) => { await page.click(".you summary"); }],
      ["keys", "/api-keys"],
      ["key-made", "/api-keys", async (page) => { await page.fill("#name", "CI"); await page.click("section.form form button"); }],
    ],
  };
}

// An app with signed updates: one of two signatures on a draft, an update that waits behind it, and a revoked one.
async function signedApp(session, publish) {
  const bundleId = "com.example.signed";
  const [ada, ben, ci] = ["Ada", "Ben", "CI of staging"].map(newKey);
  const revoked = await publish({ bundleId, version: "1.0.0", buildNumber: "1" });
  await beginTrust(session, bundleId, [ada, newKey("Recovery key")], {
    "c-production": { keys: [ada, ben], threshold: 2, days: 180, revoked: [revoked.sha256] },
    "c-staging": { keys: [ci], threshold: 1, days: 12 },
  });
  const unsigned = await publish({ bundleId, version: "1.1.0", buildNumber: "1" });
  await signDraft(session, bundleId, "c-production", ada);
  await publish({ bundleId, version: "1.1.1", buildNumber: "1", platform: "ios" });
  // Adds the second signature.
  const sign = () => signDraft(session, bundleId, "c-production", ben);
  return { unsigned, revoked, sign };
}

// Reports like a device that was offered the update before.
async function report(server, update, device, kinds) {
  const question = new URLSearchParams({ currentVersion: "2.3.0", platform: "android", configuration: "production", deviceId: device });
  const answer = await (await fetch(`${server.origin}/api/update/check/com.example.shop?${question}`)).json();
  if (!answer.reportToken) return;
  const details = {
    rolled_back: { reason: "TypeError: cart is <undefined>" },
    crash: { stack: `TypeError: cart is <undefined>\n    at ${"aVeryLongNameOfMinifiedCode".repeat(8)} (index.android.bundle:1:2345678)\n`.padEnd(2000, "    at f (app.js:1:1)\n") },
  };
  const events = kinds.map((type) => ({ type, updateId: answer.id, at: new Date().toISOString(), ...details[type] }));
  await fetch(`${server.origin}/api/update/report/com.example.shop`, {
    method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ reportToken: answer.reportToken, events }),
  });
}

async function signIn(server) {
  const answer = await fetch(`${server.origin}/api/auth/sign-in`, {
    method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ email: server.email, password: server.password }),
  });
  server.cookie = answer.headers.get("set-cookie").split(";")[0];
}

// Calls like the owner's browser.
function browserApi(server) {
  return async (method, path, body) => {
    const answer = await fetch(`${server.origin}/api${path}`, {
      method,
      headers: { cookie: server.cookie, origin: server.origin, ...(body ? { "content-type": "application/json" } : {}) },
      body: body ? JSON.stringify(body) : undefined,
    });
    const json = await answer.json();
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(json)}`);
    return json;
  };
}
