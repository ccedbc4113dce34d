// Starts a server of its own with the demo, beside it stores that are simulated, and fills it with what a team has after some weeks. Gives its address, a key,
// the owner's address and password, and how to stop it.

import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { chmodSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

const ready = /Sign in at (\S+)\/ as (\S+) with the password (\S+)\./;

async function freePort() {
  const server = createServer();
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  const { port } = server.address();
  await new Promise((done) => server.close(done));
  return port;
}

export async function serve(program, args = ["--demo"]) {
  const folder = mkdtempSync(join(tmpdir(), "launchway-"));
  // Builds run as another user, who must come through.
  chmodSync(folder, 0o755);
  const listen = `127.0.0.1:${await freePort()}`;
  // Nothing is ever submitted to a real store.
  const stores = `http://127.0.0.1:${await freePort()}`;
  const simulator = spawn(program, ["store-simulator", "--listen", new URL(stores).host], { cwd: folder, stdio: "ignore" });
  const child = spawn(program, ["serve", "--listen", listen, "--data-dir", join(folder, "data"), "--allow-private-webhooks", "--check-limit", "0", "--app-store-connect-url", stores, "--google-play-url", stores, "--target-sdk-floor", "34", ...args], {
    cwd: folder,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let printed = "";
  child.stdout.on("data", (piece) => { printed += piece; });
  child.stderr.on("data", () => {});
  const stop = async () => {
    const ended = [child, simulator].map((process) => new Promise((done) => process.once("exit", done)));
    child.kill("SIGTERM");
    simulator.kill("SIGTERM");
    await Promise.all(ended);
    rmSync(folder, { recursive: true, force: true });
  };
  const wanted = args.includes("--demo") ? ready : /setup\?token=\S+/;
  await until(`the server says ${wanted}`, () => wanted.test(printed));
  await until("the stores answer", () => fetch(`${stores}/simulator`).then(() => true, () => false));
  const origin = `http://${listen}`;
  if (!args.includes("--demo")) return { origin, stop, link: /\S+setup\?token=\S+/.exec(printed)[0] };
  const [, , email, password] = ready.exec(printed);
  const key = /echo (lw_\S+)/.exec(printed)[1];
  return { origin, stop, stores, email, password, key };
}

export async function until(what, isSo) {
  const end = Date.now() + 60_000;
  while (!(await isSo())) {
    if (Date.now() > end) throw new Error(`not within a minute: ${what}`);
    await new Promise((done) => setTimeout(done, 50));
  }
}

export function api(origin, key) {
  return async (method, path, body) => {
    const answer = await fetch(`${origin}/api${path}`, {
      method,
      headers: { authorization: `Bearer ${key}`, ...(body ? { "content-type": "application/json" } : {}) },
      body: body ? JSON.stringify(body) : undefined,
    });
    const json = await answer.json();
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(json)}`);
    return json;
  };
}

// Announces and sends a file; gives the upload's id.
export async function upload(call, bytes, fileName) {
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  const made = await call("POST", "/uploads", { fileName, size: bytes.length, sha256 });
  const sent = await fetch(made.url, { method: made.method, body: bytes });
  if (!sent.ok) throw new Error(`sending ${fileName}: ${sent.status}`);
  return made.id;
}

// A ZIP of one stored file, written by hand: it needs no library.
export function zip(name, text) {
  const data = Buffer.from(text), file = Buffer.from(name);
  const crc = Buffer.alloc(4);
  crc.writeUInt32LE(crc32(data));
  const size = Buffer.alloc(4);
  size.writeUInt32LE(data.length);
  const length = Buffer.from([file.length & 255, file.length >> 8]);
  const shared = Buffer.concat([Buffer.from([10, 0, 0, 0, 0, 0, 0, 0, 0x21, 0]), crc, size, size, length, Buffer.from([0, 0])]);
  const local = Buffer.concat([Buffer.from("PK\x03\x04", "latin1"), shared, file, data]);
  const entry = Buffer.concat([Buffer.from("PK\x01\x02\x0a\x00", "latin1"), shared, Buffer.alloc(14), file]);
  const end = Buffer.alloc(22);
  end.write("PK\x05\x06", "latin1");
  end.writeUInt16LE(1, 8);
  end.writeUInt16LE(1, 10);
  end.writeUInt32LE(entry.length, 12);
  end.writeUInt32LE(local.length, 16);
  return Buffer.concat([local, entry, end]);
}

function crc32(data) {
  let crc = ~0;
  for (const byte of data) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return ~crc >>> 0;
}

export const read = (path) => readFileSync(path);
