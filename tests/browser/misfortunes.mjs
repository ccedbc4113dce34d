// Journeys in which something goes wrong: a form is refused, a connection is lost. `owner` opens a page of the owner's browser.

import assert from "node:assert/strict";
import { connect, createServer } from "node:net";
import { api, until, upload, zip } from "./serve.mjs";

// A connection to the server that can be cut, and that can go dead without an end.
async function throughWire(origin) {
  const { hostname, port } = new URL(origin);
  const sockets = new Set();
  let isCut = false, isDead = false;
  const wire = createServer((near) => {
    if (isCut) { near.destroy(); return; }
    const far = connect(Number(port), hostname);
    for (const [one, other] of [[near, far], [far, near]]) {
      sockets.add(one);
      one.on("data", (bytes) => { if (!isDead) other.write(bytes); });
      one.on("error", () => other.destroy());
      one.on("close", () => { sockets.delete(one); other.destroy(); });
    }
  });
  await new Promise((done) => wire.listen(0, "127.0.0.1", done));
  return {
    origin: `http://127.0.0.1:${wire.address().port}`,
    cut: () => { isCut = true; for (const socket of sockets) socket.destroy(); },
    mend: () => { isCut = isDead = false; },
    die: () => { isDead = true; },
    close: () => { wire.close(); for (const socket of sockets) socket.destroy(); },
  };
}

// A page that is no longer connected says so, and follows again when it is.
export async function lostConnection(owner, server, home) {
  const call = api(server.origin, server.key);
  const uploadId = await upload(call, zip("index.html", "x"), "source.zip");
  const steps = [{ name: "slow", run: "i=0; while :; do echo \"line $i\"; i=$((i+1)); sleep 0.5; done" }];
  const build = await call("POST", "/build", { bundleId: "com.example.wire", platform: "android", source: { uploadId }, plan: { steps } });
  const wire = await throughWire(server.origin);
  try {
    const page = await owner({ origin: wire.origin });
    await page.clock.install();
    await page.goto(`${wire.origin}${home}/builds/${build.id}`);
    await page.waitForSelector(".line .text:has-text('line 3')");
    assert.equal(await page.textContent("#connection"), "");
    // Cut off: an error arrives.
    wire.cut();
    await page.waitForSelector("#connection:has-text('The connection is lost. This page shows the state of')");
    wire.mend();
    const last = async () => Number((await page.textContent(".line:last-child .text"))?.replace("line ", "")) || 0;
    await page.waitForSelector("#connection:empty", { state: "attached" });
    const before = await last();
    await until("it follows again", async () => (await last()) > before);
    // Dead: nothing arrives any more, not even an error.
    wire.die();
    await page.clock.fastForward(45_000);
    await page.clock.fastForward(5_000);
    await page.waitForSelector("#connection:has-text('This page shows the state of')");
    wire.mend();
    await until("the dead connection is replaced", async () => {
      await page.clock.fastForward(10_000);
      return (await page.textContent("#connection")) === "";
    });
    // The session ends meanwhile.
    await page.context().clearCookies();
    wire.cut();
    wire.mend();
    await page.waitForSelector("#connection:has-text('Your session has ended')");
    await page.click("text=Sign in again");
    await page.waitForSelector("#password");
    await page.context().close();
  } finally {
    wire.close();
    await call("POST", `/build/cancel?id=${build.id}`);
  }
}

// What is in sight: the part of the window that no bar covers.
const inSight = (element) => {
  const { top, bottom } = element.getBoundingClientRect();
  return top >= document.querySelector("nav.side").getBoundingClientRect().bottom - 1 && bottom <= innerHeight + 1;
};

// A refused form shows what is wrong, however small the window and long the page: the field has the focus, and its message is in sight.
export async function refusedForms(owner, server, home, wrong) {
  const apk = { name: "app.apk", mimeType: "application/octet-stream", buffer: Buffer.from("none") };
  const forms = [
    ["/apps", { bundleId: "n o" }, "bundleId"],
    ["/updates/new", { bundleId: "com.example.shop", version: "two" }, "version", apk],
    ["/updates/new", { bundleId: "com.example.shop", version: "9.0.0" }, null, apk],
    ["/submissions/new", { destination: "a/b" }, "destination", apk],
    ["/deployment-keys", { bundleId: "com.example.shop", key: "short" }, "key"],
    ["/env", { name: "1 2" }, "name"],
    ["/api-keys", { name: "CI" }, "scopes"],
    ["/webhooks", { name: "Chat", url: "ftp://example.com/" }, "url"],
    ["/profile", { current: "not this one", password: "correct horse battery" }, "current"],
  ];
  for (const javaScriptEnabled of [true, false]) {
    const page = await owner(server, { viewport: { width: 320, height: 568 }, javaScriptEnabled });
    for (const [path, fields, wanted, file] of forms) {
      await page.goto(`${server.origin}${home}${path}`);
      const last = Object.keys(fields).at(-1);
      for (const [name, value] of Object.entries(fields)) {
        if (name === "destination") await page.selectOption("#destination", "+other");
        await page.fill(name === "destination" ? "[name=destinationOther]" : `main #${name}`, value);
      }
      if (path === "/api-keys") for (const box of await page.locator("main [name=scopes]").all()) await box.uncheck();
      if (file) await page.setInputFiles("#file", file);
      await page.locator(`form:has(#${last}) button`).last().click();
      const message = page.locator(wanted ? `#${wanted}-wrong` : "main .problem");
      await message.waitFor();
      const focused = page.locator(":focus");
      const isRight = await focused.evaluate((element, name) => (name ? [name, `${name}-wrong`].includes(element.id) : element.matches(".problem")), wanted);
      if (!isRight) wrong.push(`${path} has the focus elsewhere than at ${wanted ?? "the message"}`);
      if (!(await (javaScriptEnabled ? message : focused).evaluate(inSight))) wrong.push(`${path} hides what is wrong with ${wanted ?? "it"}`);
    }
    await page.context().close();
  }
}
