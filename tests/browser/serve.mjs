// Starts a server with the demo, and simulated stores beside it. Returns its address, a key, the owner's address
// and password, and a function that stops it.

import { execFileSync, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { chmodSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

const setUp = /http\S+setup\?token=\S+(?=\s)/;
const listens = /http:\/\/[^\s,]+(?=[\s,])/;
const ready = /Sign in at (\S+)\/ as (\S+) with the password (\S+)\./;

const DUE = `
import sqlite3, sys
with sqlite3.connect(sys.argv[1], timeout=60) as db:
    db.execute("UPDATE submissions SET due_at = 0 WHERE due_at > 0")
`;

// The root of the repository: tests run this from a copy.
const root = process.env.REPOSITORY ?? join(import.meta.dirname, "../..");

// Starts one of our programs on a port that the system chooses, and waits for the expected output.
async function start(program, args, folder, wanted) {
  const child = spawn(program, args, { cwd: folder, stdio: ["ignore", "pipe", "pipe"] });
  let printed = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (piece) => { printed += piece; });
  const ended = new Promise((done) => child.once("exit", done));
  ended.then((code) => { if (code) console.error(`${args[0]} ended with ${code}:\n${printed}`); });
  await until(`${args[0]} says ${wanted}`, () => wanted.test(printed));
  const stop = () => { child.kill("SIGTERM"); return ended; };
  return { found: (pattern) => pattern.exec(printed), printed: () => printed, stop };
}

export async function serve(program, args = ["--demo"]) {
  const folder = mkdtempSync(join(tmpdir(), "launchway-"));
  // Builds run as another user, who must be able to traverse this directory.
  chmodSync(folder, 0o755);
  // Nothing is ever submitted to a real store.
  const simulator = await start(program, ["store-simulator", "--listen", "127.0.0.1:0", "--speed", "1000000"], folder, listens);
  const [stores] = simulator.found(listens);
  const isDemo = args.includes("--demo");
  const server = await start(program, ["serve", "--listen", "127.0.0.1:0", "--data-dir", join(folder, "data"), "--allow-private-webhooks", "--check-limit", "0", "--app-store-connect-url", stores, "--google-play-url", stores, "--target-sdk-floor", "34", ...args], folder, isDemo ? ready : setUp);
  const stop = async () => {
    await Promise.all([server.stop(), simulator.stop()]);
    rmSync(folder, { recursive: true, force: true });
  };
  if (!isDemo) {
    const [link] = server.found(setUp);
    return { origin: new URL(link).origin, stop, log: server.printed, link };
  }
  const [, origin, email, password] = server.found(ready);
  // The server polls after a minute, but the simulated stores take no time: this makes the next poll due now.
  const makeDue = () => execFileSync("python3", ["-c", DUE, join(folder, "data/launchway.db")]);
  return { origin, stop, log: server.printed, stores, makeDue, email, password, key: server.found(/echo (lw_\S+)/)[1] };
}

// The timeout for every wait, however busy the machine is.
export const LIMIT = 180_000;

export async function until(what, isSo) {
  const end = Date.now() + LIMIT;
  while (!(await isSo())) {
    if (Date.now() > end) throw new Error(`not in time: ${what}`);
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

// Announces and sends a file; returns the upload's id.
export async function upload(call, bytes, fileName) {
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  const made = await call("POST", "/uploads", { fileName, size: bytes.length, sha256 });
  const sent = await fetch(made.url, { method: made.method, body: bytes });
  if (!sent.ok) throw new Error(`sending ${fileName}: ${sent.status}`);
  return made.id;
}

// A ZIP with one stored file, written by hand so that no library is needed.
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

// A file of the repository.
export const read = (path) => readFileSync(resolve(root, path));
