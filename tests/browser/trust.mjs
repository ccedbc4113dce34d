// The developers of an app with signed updates: their keys, and metadata of The Update Framework that they sign.

import { createHash, generateKeyPairSync, randomBytes, sign } from "node:crypto";

// The canonical form that is signed. Names and texts here are ASCII.
function canonical(value) {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (value && typeof value === "object") return `{${Object.keys(value).sort().map((name) => `${canonical(name)}:${canonical(value[name])}`).join(",")}}`;
  return typeof value === "string" ? `"${value.replace(/[\\"]/g, "\\$&")}"` : String(value);
}

export function newKey(name) {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  return { ...listed(publicKey.export({ type: "spki", format: "pem" }), name), privateKey };
}

// A public key as metadata lists it, and its id.
function listed(pem, name) {
  const value = { keytype: "ecdsa", scheme: "ecdsa-sha2-nistp256", keyval: { public: pem } };
  const id = createHash("sha256").update(canonical(value)).digest("hex");
  return { id, value: name ? { ...value, "x-launchway-name": name } : value };
}

export function signature(signed, key) {
  return { keyid: key.id, sig: sign("sha256", Buffer.from(canonical(signed)), key.privateKey).toString("hex") };
}

const keysOf = (keys) => Object.fromEntries(keys.map((key) => [key.id, key.value]));
const names = (keys, threshold = 1) => ({ keyids: keys.map((key) => key.id), threshold });

// Begins signed updates for an app. `roles` has the keys, threshold, lifetime in days and revoked packages of each role.
export async function beginTrust(call, bundleId, rootKeys, roles) {
  const identity = { repository: randomBytes(16).toString("hex"), bundleId };
  const online = listed((await call("POST", "/trust/online-key", { bundleId })).publicKey);
  const file = (type, days, body, keys) => {
    const expires = new Date(Date.now() + days * 86_400_000).toISOString().replace(/\.\d+/, "");
    const signed = { _type: type, spec_version: "1.0.31", version: 1, expires, "x-launchway": identity, ...body };
    return JSON.stringify({ signatures: keys.map((key) => signature(signed, key)), signed });
  };
  const root = file("root", 365, {
    consistent_snapshot: true,
    keys: keysOf([...rootKeys, online]),
    roles: { root: names(rootKeys), targets: names(rootKeys), snapshot: names([online]), timestamp: names([online]) },
  }, rootKeys.slice(0, 1));
  const delegated = Object.entries(roles).map(([name, { keys, threshold }]) => ({ name, ...names(keys, threshold), paths: [`${name}/*/*`], terminating: true }));
  const targets = file("targets", 365, {
    targets: {},
    delegations: { keys: keysOf(Object.values(roles).flatMap((role) => role.keys)), roles: delegated },
  }, rootKeys.slice(0, 1));
  const signed = Object.entries(roles).map(([name, { keys, days, revoked }]) => [name, file("targets", days, { targets: {}, ...(revoked ? { "x-revoked": revoked } : {}) }, keys)]);
  await call("POST", "/trust", { bundleId, roots: [root], roles: { targets, ...Object.fromEntries(signed) } });
}

// Adds the signature of a key to the draft of a role.
export async function signDraft(call, bundleId, role, key) {
  const draft = await call("GET", `/trust/drafts?bundleId=${bundleId}&role=${role}`);
  const made = signature(JSON.parse(draft.metadata).signed, key);
  await call("POST", "/trust/signatures", { bundleId, role, version: draft.version, signatures: [made] });
}
