// User journeys through the dashboard in a real browser: node journeys.mjs PROGRAM. Exits with 0 if all of them succeed.
// On every page: no request to another host, no violation of the content policy, no accessibility problem that axe
// rates serious or critical.

import assert from "node:assert/strict";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { chromium } from "playwright-core";
import { app, fill } from "./fill.mjs";
import { stickingOut } from "./fits.mjs";
import { lostConnection, refusedForms } from "./misfortunes.mjs";
import { openProvider } from "./provider.mjs";
import { LIMIT, api, read, serve, until, upload, zip } from "./serve.mjs";
import { shown } from "./totp.mjs";

const [program] = process.argv.slice(2);
const axe = read(createRequire(import.meta.url).resolve("axe-core/axe.min.js")).toString();
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] });
const wrong = [];

// `beside` is another host that a page may visit: a sign-in provider.
async function person(origin, { beside, ...options } = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
  context.setDefaultTimeout(LIMIT);
  const page = await context.newPage();
  page.on("request", (request) => { if (![origin, beside].includes(new URL(request.url()).origin)) wrong.push(`a request to ${request.url()}`); });
  page.on("pageerror", (error) => wrong.push(`${page.url()}: ${error}`));
  // The console also reports statuses such as 404; a page that is expected to refuse is not an error.
  page.on("console", (message) => {
    if (message.type() === "error" && !/Failed to load resource/.test(message.text())) wrong.push(`${page.url()}: ${message.text()}`);
  });
  return page;
}

async function signIn(page, server) {
  await page.goto(server.origin);
  await page.fill("#email", server.email);
  await page.fill("#password", server.password);
  await page.click("main button");
  await page.waitForSelector("nav.side, [role=alert]");
  if (!page.url().includes("/o/")) throw new Error(`signing in: ${await page.textContent("[role=alert]")}`);
  return new URL(page.url()).pathname;
}

// The owner's browser, signed in once for all journeys that need no separate sign-in.
let state;
const owner = (server, options = {}) => person(server.origin, { storageState: state, ...options });

async function firstRun() {
  const provider = await openProvider("ada@example.com");
  const server = await serve(program, provider.args);
  try {
    const page = await person(server.origin, { beside: provider.origin });
    await page.goto(server.link);
    await page.fill("#organization", "First & Co");
    await page.fill("#email", "ada@example.com");
    await page.fill("#password", "correct horse battery");
    await page.click("main button");
    await page.waitForSelector("text=First steps");
    await page.click("main >> text=Create API key");
    await page.fill("#name", "my laptop");
    await page.click("section.form button");
    const key = await page.textContent("#key");
    assert.match(key, /^lw_/);
    assert.match(await page.textContent("#next"), new RegExp(`launchway login --url ${server.origin}`));
    await page.click("nav >> text=Updates");
    await page.click("text=Publish an update");
    await page.fill("#bundleId", "com.example.first");
    await page.fill("#version", "1.0.1");
    await page.setInputFiles("#file", { name: "dist.zip", mimeType: "application/zip", buffer: zip("index.html", "<h1>first</h1>") });
    await page.click("form.upload button");
    await page.waitForSelector("text=The update is published.");
    const check = await fetch(`${server.origin}/api/update/check/com.example.first?currentVersion=1.0.0&platform=android&configuration=production`);
    assert.equal((await check.json()).updateAvailable, true);
    assert.equal((await fetch(`${server.origin}/api/update`, { headers: { authorization: `Bearer ${key}` } })).status, 200);
    // Sign out, and sign in again without a password.
    await page.click(".you summary");
    await page.click("text=Sign out");
    await page.click("text=Sign in through your organization’s provider");
    // The provider proves the address for the first time: the earlier password stops working, and the page says so.
    await page.click("text=Continue");
    await page.waitForSelector("nav.side");
    await page.context().close();
  } finally {
    await server.stop();
    provider.close();
  }
}

async function liveLog(server, made, home) {
  const page = await owner(server);
  await page.goto(`${server.origin}${home}/builds/${made.running.id}`);
  await page.waitForSelector(".log-view .line");
  // It follows: new lines appear without a reload.
  const last = async () => Number((await page.textContent(".line:last-child .text"))?.replace("line ", "")) || 0;
  const before = await last();
  await until("more lines come", async () => (await last()) > before);
  assert.equal(await page.getAttribute("text=Following", "aria-pressed"), "true");
  // It continues when the window is resized, for example when a phone is rotated.
  for (const height of [1600, 500, 800]) {
    await page.setViewportSize({ width: 390, height });
    const shown = await last();
    await until("the end is in sight", async () => (await last()) > shown);
  }
  assert.equal(await page.getAttribute("text=Following", "aria-pressed"), "true");
  // It pauses when the reader scrolls up.
  await page.locator(".log-view").evaluate((view) => { view.scrollTop = 0; });
  await page.waitForSelector(".log-bar >> text=Follow");
  await page.fill(".search", "line 3");
  await page.waitForSelector(".line.found");
  assert.equal(await page.textContent(".line.found .text"), "line 3");
  await page.click("text=Cancel build…");
  await page.click("button:text-is('Cancel build')");
  await page.waitForSelector(".title .status:has-text('Canceled')");
  await page.context().close();
}

// A log that grows while its phases are folded, with lines that arrive in two halves.
async function growingLog(server, home) {
  const call = api(server.origin, server.key);
  const uploadId = await upload(call, zip("index.html", "x"), "source.zip");
  const steps = [{ name: "first", run: "seq 30" }, { name: "grow", run: "i=0; while [ $i -lt 200 ]; do printf \"row $i \"; sleep 0.05; echo end; i=$((i+1)); done" }];
  const build = await call("POST", "/build", { bundleId: "com.example.grows", platform: "android", source: { uploadId }, plan: { steps } });
  const page = await owner(server);
  await page.goto(`${server.origin}${home}/builds/${build.id}`);
  await page.waitForSelector(".line .text:has-text('row 5 end')");
  await page.click("text=Fold phases");
  await until("only the phases are left", async () => (await page.locator(".line").count()) < 20);
  await until("the build goes on", async () => /row 40 end/.test(await (await fetch(`${server.origin}/api/build/log?id=${build.id}`, { headers: { authorization: `Bearer ${server.key}` } })).text()));
  assert.ok((await page.locator(".line").count()) < 20);
  await page.click(".twist[aria-label='Phase grow']");
  // Each row appears once, in its place, during growth and at the end.
  const inOrder = async () => {
    const lines = await page.locator(".line").evaluateAll((lines) => lines.map((line) => [Number(line.querySelector(".number").textContent), line.querySelector(".text").textContent]));
    const rows = lines.map(([number, text]) => [number, /^row (\d+) end$/.exec(text)?.[1]]).filter(([, row]) => row !== undefined);
    assert.equal(new Set(rows.map(([number, row]) => number - row)).size, 1, JSON.stringify(lines));
  };
  await page.click("text=Follow");
  await page.waitForSelector(".line .text:has-text('row 60 end')");
  await inOrder();
  await page.waitForSelector(".title .status:has-text('Success')");
  await page.waitForSelector(".line .text:has-text('row 199 end')");
  await inOrder();
  await page.context().close();
}

async function longLog(server, home) {
  const call = api(server.origin, server.key);
  const uploadId = await upload(call, zip("index.html", "x"), "source.zip");
  const steps = [{ name: "first", run: "echo \"<b>bold</b>\"; printf '\\033[31mred\\033[0m\\n'" }, { name: "count", run: "seq 1000000" }];
  const build = await call("POST", "/build", { bundleId: "com.example.long", platform: "android", source: { uploadId }, plan: { steps } });
  await until("the long build is over", async () => (await call("GET", `/build?id=${build.id}`)).status === "success");
  const page = await owner(server);
  await page.goto(`${server.origin}${home}/builds/${build.id}#L500000`);
  await page.waitForSelector(".line.marked");
  const marked = Number(await page.textContent(".line.marked .text"));
  assert.ok(marked > 499_000 && marked < 500_000, `${marked}`);
  // However long the log is, the page contains only the visible part.
  assert.ok((await page.locator(".line").count()) < 200);
  await page.locator(".log-view").evaluate((view) => { view.scrollTop = view.scrollHeight; });
  await page.waitForSelector(".line .text:text-is('1000000')");
  await page.fill(".search", "777777");
  await page.waitForSelector(".line.found .text:text-is('777777')");
  await page.fill(".search", "");
  await page.click("text=Fold phases");
  await until("only the phases are left", async () => (await page.locator(".line").count()) < 20);
  await page.click(".twist[aria-label='Phase first']");
  await page.waitForSelector(".line .text:text-is('<b>bold</b>')");
  assert.equal(await page.textContent(".line .c1"), "red");
  await page.context().close();
}

async function submission(server, made, home) {
  const page = await owner(server);
  await page.goto(`${server.origin}${home}`);
  await page.click("nav >> text=Submissions");
  await page.click(`th a[href$="${made.staged.id}"]`);
  await page.waitForSelector(".timeline >> text=Rolling out");
  await page.locator("#rollout").fill("50");
  await page.click("text=Change rollout…");
  await page.waitForSelector("td:has-text('20 %') + td:has-text('50 %')");
  await page.click("button:text-is('Raise rollout')");
  await page.waitForSelector("text=The change will be sent to the store in a moment");
  // The page follows what the store does.
  await page.waitForSelector("dd:text-is('50 %')");
  await page.click("text=Halt…");
  await page.click("text=Halt rollout");
  await page.waitForSelector(".title .status:has-text('Halted')");
  await page.click("text=Resume…");
  await page.click("button:text-is('Resume rollout')");
  await page.waitForSelector(".title .status:has-text('Rolling out')");
  // Another submission, from the browser.
  await page.goto(`${server.origin}${home}/submissions/new`);
  await page.selectOption("#destination", "internal");
  await page.fill("#text-1", "What is <new>");
  await page.setInputFiles("#file", { name: "app.apk", mimeType: "application/octet-stream", buffer: read(app) });
  await page.click("form.upload button");
  await page.waitForSelector("text=The submission is queued");
  await page.waitForSelector("dd:has-text('What is <new>')");
  // Its state no longer changes between the confirmation and the deletion.
  await page.waitForSelector(".title .status.good, .title .status.bad");
  await page.click("text=Delete…");
  await page.click("text=Delete submission");
  await page.waitForSelector("text=The submission is deleted");
  await page.context().close();
}

async function redelivery(server, home) {
  let requests = 0;
  const receiver = createServer((request, response) => { requests += 1; request.resume(); response.end("ok"); });
  await new Promise((done) => receiver.listen(0, "127.0.0.1", done));
  try {
    const page = await owner(server);
    await page.goto(`${server.origin}${home}/webhooks`);
    await page.fill("#name", "Receiver");
    await page.fill("#url", `http://127.0.0.1:${receiver.address().port}/`);
    await page.click("section.form button");
    assert.match(await page.textContent("#secret"), /^whsec_/);
    await page.click("th >> text=Receiver");
    await page.click("text=Send a test");
    await page.waitForSelector("text=A test event is being sent");
    const delivered = async () => { await page.reload(); return page.locator(".deliveries > li:has(.status.good)").count(); };
    await until("the test was delivered", async () => (await delivered()) === 1);
    await page.click(".deliveries summary");
    await page.waitForSelector(".tries >> text=200");
    await page.click("text=Send it again");
    await page.waitForSelector("text=The event is being sent again");
    await until("it was delivered again", async () => (await delivered()) === 2);
    assert.equal(requests, 2);
    await page.context().close();
  } finally {
    receiver.close();
  }
}

async function invitation(server, home) {
  const page = await owner(server);
  await page.goto(`${server.origin}${home}/members`);
  await page.fill("#email", "eve@example.com");
  await page.click("text=Create the link");
  const link = await page.textContent("#link");
  const guest = await person(server.origin);
  await guest.goto(link);
  await guest.fill("#password", "correct horse battery");
  await guest.click("main button");
  await guest.waitForURL(`**${home}`);
  assert.equal(await guest.locator("nav >> text=API keys").count(), 0);
  await page.reload();
  await page.waitForSelector("th >> text=eve@example.com");
  await guest.context().close();
  await page.context().close();
}

async function endedSession(server, home) {
  const [one, other] = [await owner(server), await person(server.origin, { userAgent: "An old phone" })];
  await signIn(other, server);
  await other.goto(`${server.origin}${home}/apps`);
  await other.fill("#bundleId", "com.example.typed");
  await one.goto(`${server.origin}${home}/profile`);
  await one.click("tr:has-text('An old phone') >> text=End session");
  await one.waitForSelector("text=The session has ended");
  // The earlier input is still there after the sign-in, and was not submitted.
  await other.click("main form button");
  await other.waitForSelector("text=Your entries are kept");
  await other.fill("#email", server.email);
  await other.fill("#password", server.password);
  await other.click("main button");
  await other.waitForURL(`**${home}/apps?kept=*`);
  assert.equal(await other.inputValue("#bundleId"), "com.example.typed");
  assert.equal(await other.locator("td >> text=com.example.typed").count(), 0);
  await other.click("main form button");
  await other.waitForSelector("td >> text=com.example.typed");
  await other.context().clearCookies();
  await other.goto(`${server.origin}${home}/builds`);
  await other.waitForSelector("text=Sign in");
  // Back to the requested page.
  await other.fill("#email", server.email);
  await other.fill("#password", server.password);
  await other.click("main button");
  await other.waitForURL(`**${home}/builds`);
  await one.context().close();
  await other.context().close();
}

// Looks for accessibility problems of a page.
async function look(page, name) {
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => globalThis.axe.run());
  const { width } = page.viewportSize();
  for (const { id, impact, nodes } of violations) {
    if (impact === "serious" || impact === "critical") wrong.push(`${name} ${width}: ${id} at ${nodes.map((node) => node.html).slice(0, 3).join(" | ")}`);
  }
  if (await page.evaluate(() => document.documentElement.scrollWidth > innerWidth)) wrong.push(`${name} is wider than ${width}`);
  await page.evaluate(() => { for (const fold of document.querySelectorAll("main details")) fold.open = true; });
  for (const html of await page.evaluate(stickingOut)) wrong.push(`${name} ${width}: leaves its card: ${html}`);
}

async function accessible(server, made, home) {
  for (const [colorScheme, width] of [["light", 1280], ["dark", 390], ["light", 320]]) {
    const options = { colorScheme, viewport: { width, height: 844 }, bypassCSP: true };
    const guest = await person(server.origin, options);
    for (const [name, path] of made.openPages) {
      await guest.goto(server.origin + path);
      await look(guest, `${name} ${colorScheme}`);
    }
    await guest.context().close();
    const page = await owner(server, options);
    for (const [name, path, act] of made.pages) {
      await page.goto(`${server.origin}${home}${path}`);
      if (act) await act(page);
      await look(page, `${name} ${colorScheme}`);
    }
    await page.context().close();
  }
}

// The part of an element that a pointer can reach, after scrolling it into view as a reader would.
const reached = (element) => {
  element.scrollIntoView({ block: "nearest", inline: "nearest" });
  const { left, top, width, height } = element.getBoundingClientRect();
  const [x, y] = [left + width / 2, top + height / 2];
  const hit = document.elementFromPoint(x, y);
  // Scrolling stops at whole pixels.
  const inside = left >= -1 && top >= -1 && left + width <= innerWidth + 1 && top + height <= innerHeight + 1;
  return inside && (hit === element || element.contains(hit));
};

// Each link to a confirmation, including those in the first and last rows, and the button there, is reachable at every width.
async function confirmations(server, made, home) {
  const pages = ["/api-keys", "/members", "/env", "/credentials", "/apps", "/deployment-keys?bundleId=com.example.shop", "/runners", `/updates/${made.update.id}`, `/submissions/${made.staged.id}`, `/webhooks/${made.hook.id}`, `/builds/${made.done.id}`, `/builds/${made.waiting.id}`];
  const tried = new Set();
  for (const [width, looked] of [[390, pages], [768, pages.slice(0, 2)], [1440, pages]]) {
    const page = await owner(server, { viewport: { width, height: 844 } });
    const reach = async (locator, name) => { if (!(await locator.evaluate(reached))) wrong.push(`${name} is out of reach at ${width}`); };
    for (const path of looked) {
      await page.goto(`${server.origin}${home}${path}`);
      const ways = page.locator("main a.button:has-text('…'), main form[method=get] button:has-text('…')");
      const count = await ways.count();
      if (count === 0 && path !== "/runners") wrong.push(`${path} leads to no confirmation`);
      for (let at = 0; at < count; at++) await reach(ways.nth(at), `${path}: ${await ways.nth(at).textContent()}`);
      const links = await page.locator("main a.button:has-text('…')").evaluateAll((links) => links.map((link) => link.href));
      for (const link of links) {
        const kind = link.replace(/[0-9a-z]{26}/g, "");
        if (tried.has(kind) && link !== links.at(-1)) continue;
        tried.add(kind);
        await page.goto(link);
        await reach(page.locator("form.confirm button"), link);
        await reach(page.locator("form.confirm a"), link);
      }
    }
    await page.context().close();
  }
  // With the keyboard only, from a row far down to the end.
  const page = await owner(server);
  await page.goto(`${server.origin}${home}/api-keys`);
  const rows = await page.locator("tbody tr").count();
  await page.locator("tr:has(th:has-text('Machine 2')) td.act a").focus();
  await page.keyboard.press("Enter");
  await page.waitForSelector("form.confirm");
  await page.locator(".crumb a").focus();
  await page.keyboard.press("Tab");
  while (!(await page.evaluate(() => document.activeElement.matches("form.confirm button")))) await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await page.waitForSelector("text=The key is revoked.");
  assert.equal(await page.locator("tbody tr").count(), rows);
  await page.context().close();
}

// A page that is open while someone else changes its resource: it follows the change, and its input is not lost.
async function staleTab(server, made, home) {
  const page = await owner(server);
  await page.goto(`${server.origin}${home}/updates/${made.update.id}`);
  const call = api(server.origin, server.key);
  await page.fill("#releaseNotes", "Typed here");
  await call("PATCH", `/update?id=${made.update.id}`, { status: "paused", releaseNotes: "Typed there" });
  await page.waitForSelector(".title .status:has-text('Paused')");
  assert.equal(await page.inputValue("#releaseNotes"), "Typed here");
  await page.click("button:text-is('Save')");
  await page.waitForSelector("text=so nothing was saved");
  await page.waitForSelector("td:has-text('Typed here') + td:has-text('Typed there')");
  assert.equal(await page.inputValue("#releaseNotes"), "Typed here");
  await page.click("button:text-is('Save')");
  await page.waitForSelector("text=The update is changed");
  await page.click("text=Resume…");
  await page.waitForSelector("form.confirm");
  await call("PATCH", `/update?id=${made.update.id}`, { rollout: 60 });
  await page.click("button:text-is('Resume update')");
  await page.waitForSelector("text=This changed after you loaded the page");
  await page.click("button:text-is('Resume update')");
  await page.waitForSelector(".title .status:has-text('Published')");
  await page.context().close();
}

async function twoFactor(server, made, home) {
  const mia = { origin: server.origin, email: "mia@example.com", password: "correct horse battery" };
  const page = await person(server.origin, { bypassCSP: true });
  await page.goto(await made.invite(mia.email));
  await page.fill("#password", mia.password);
  await page.click("main button");
  await page.click(".you summary");
  await page.click("text=Profile and sessions");
  await page.click("main >> text=Turn them on");
  await page.fill("#present", mia.password);
  await page.click("text=Add an authenticator app");
  const secret = (await page.textContent("#secret")).trim();
  await look(page, "an app is added");
  await page.fill("#code", "no");
  await page.click("text=Turn codes on");
  await page.waitForSelector("#code-wrong");
  await page.fill("#code", shown(secret));
  await page.click("text=Turn codes on");
  const recovery = (await page.textContent("#recovery")).trim().split(/\s+/);
  assert.equal(recovery.length, 10);
  await look(page, "recovery codes");
  // The password alone no longer signs in; a code of the app does, and each recovery code does once.
  for (const [code, isRight] of [[shown(secret, 1), true], [recovery[3], true], [recovery[3], false]]) {
    const other = await person(server.origin, { bypassCSP: true });
    await other.goto(server.origin);
    await other.fill("#email", mia.email);
    await other.fill("#password", mia.password);
    await other.click("main button");
    await other.waitForSelector("text=Enter your code");
    await look(other, "the second step");
    const half = await other.context().newPage();
    await half.goto(`${server.origin}${home}`);
    assert.equal(await half.locator("#password").count(), 1);
    await other.fill("#one-time-code", code);
    await other.click("main button");
    await other.waitForSelector(isRight ? "nav.side" : "[role=alert]");
    await other.context().close();
  }
  await page.goto(page.url().replace(/\/confirm$/, ""));
  await page.fill("#present", mia.password);
  await page.fill("#code", recovery[4]);
  await page.click("main button.danger");
  await page.waitForSelector("text=Codes are off.");
  await page.context().close();
}

// With scripts disabled every form does the same.
async function withoutScripts(server, home) {
  const page = await person(server.origin, { javaScriptEnabled: false });
  await signIn(page, server);
  await page.goto(`${server.origin}${home}/updates/new`);
  await page.fill("#bundleId", "com.example.plain");
  await page.fill("#version", "1.0.1");
  await page.setInputFiles("#file", { name: "dist.zip", mimeType: "application/zip", buffer: zip("index.html", "<h1>plain</h1>") });
  await page.click("form.upload button");
  await page.waitForSelector("text=The update is published.");
  await page.click("text=Pause…");
  await page.waitForSelector("h1:has-text('Pause 1.0.1')");
  await page.click("button:text-is('Pause update')");
  await page.waitForSelector(".title .status:has-text('Paused')");
  // The session has ended when the form is sent.
  await page.fill("#releaseNotes", "Typed without scripts");
  await page.context().clearCookies();
  await page.click("button:text-is('Save')");
  await page.waitForSelector("text=Your entries are kept");
  await page.fill("#email", server.email);
  await page.fill("#password", server.password);
  await page.click("main button");
  await page.waitForSelector("text=Nothing was sent yet");
  assert.equal(await page.inputValue("#releaseNotes"), "Typed without scripts");
  await page.click("button:text-is('Save')");
  await page.waitForSelector("text=The update is changed");
  await page.context().close();
}

let failed = 0;
// The server whose log explains a failure.
let running;
async function step(name, run) {
  const begun = Date.now();
  const logged = running?.log().length;
  try {
    await run();
    assert.deepEqual(wrong.splice(0), []);
    console.log(`ok ${name}, ${((Date.now() - begun) / 1000).toFixed(1)} s`);
  } catch (error) {
    failed += 1;
    console.log(`FAILED ${name}, ${((Date.now() - begun) / 1000).toFixed(1)} s: ${error.stack}`);
    if (running) console.log(`The server logged meanwhile:\n${running.log().slice(logged)}`);
    wrong.length = 0;
  }
}

// An update that awaits its second signature shows the command for it, and is published while somebody looks at it.
async function signing(server, made, home) {
  const page = await owner(server);
  await page.goto(`${server.origin}${home}/updates/${made.unsigned.id}`);
  assert.equal(await page.textContent("#sign"), `launchway update sign ${made.unsigned.id}`);
  assert(!(await page.content()).includes(made.unsigned.sha256.slice(0, 10)), "the page shows the hash");
  await page.waitForSelector("button.copy:not([hidden])");
  await made.sign();
  await page.waitForSelector(".status.good:has-text('Published')");
  await page.waitForSelector("#sign", { state: "detached" });
  await page.goto(`${server.origin}${home}/trust?bundleId=${made.unsigned.bundleId}`);
  await page.waitForSelector("tr:has-text('c-production'):has-text('lists 1')");
  await page.context().close();
}

try {
  await step("first run", firstRun);
  const server = await serve(program);
  running = server;
  try {
    const made = await fill(server);
    const probe = await person(server.origin);
    const home = await signIn(probe, server);
    state = await probe.context().storageState();
    await probe.context().close();
    await step("confirmations", () => confirmations(server, made, home));
    await step("accessible", () => accessible(server, made, home));
    await step("signing", () => signing(server, made, home));
    await step("live log", () => liveLog(server, made, home));
    await step("growing log", () => growingLog(server, home));
    await step("lost connection", () => lostConnection(owner, server, home));
    await step("long log", () => longLog(server, home));
    await step("submission", () => submission(server, made, home));
    await step("refused forms", () => refusedForms(owner, server, home, wrong));
    await step("stale tab", () => staleTab(server, made, home));
    await step("redelivery", () => redelivery(server, home));
    await step("two-factor codes", () => twoFactor(server, made, home));
    await step("invitation", () => invitation(server, home));
    await step("ended session", () => endedSession(server, home));
    await step("without scripts", () => withoutScripts(server, home));
  } finally {
    await server.stop();
  }
} finally {
  await browser.close();
}
process.exitCode = failed ? 1 : 0;
