// What a phone with Expo's client reads and verifies, with Expo's own parsers and certificates, unmodified. Reads a request of the test
// from each line, and writes the outcome on a line.
import { createHash } from "node:crypto";
import { createInterface } from "node:readline";
import certificates from "@expo/code-signing-certificates";
import { parseMultipartMixedResponseAsync } from "@expo/multipart-body-parser";
import forge from "node-forge";
import { parseDictionary } from "structured-headers";

/** Whether a signature of a part is by the key of the certificate that the app contains. */
function isBy(certificatePEM, body, header) {
  const certificate = certificates.convertCertificatePEMToCertificate(certificatePEM);
  const signature = parseDictionary(header).get("sig")[0];
  const digest = forge.md.sha256.create().update(body, "utf8");
  try {
    return certificate.publicKey.verify(digest.digest().getBytes(), forge.util.decode64(signature));
  } catch {
    // A signature by another key is no block of this one.
    return false;
  }
}

async function check({ url, headers, certificate }) {
  const response = await fetch(url, { headers });
  const body = Buffer.from(await response.arrayBuffer());
  const named = Object.fromEntries(response.headers);
  const type = named["content-type"] ?? "";
  let parts = [];
  if (type.startsWith("multipart/mixed")) {
    parts = await parseMultipartMixedResponseAsync(type, body);
  } else if (body.length > 0) {
    parts = [{ name: response.ok ? "manifest" : "error", headers: response.headers, body: body.toString() }];
  }
  const read = (part) => {
    const signature = part.headers.get("expo-signature") ?? null;
    const isVerified = signature !== null && certificate != null && isBy(certificate, part.body, signature);
    return { body: JSON.parse(part.body), text: part.body, signature, isVerified };
  };
  return { status: response.status, headers: named, parts: Object.fromEntries(parts.map((part) => [part.name, read(part)])) };
}

/** Downloads the files of a manifest as a phone does, and compares their hashes. */
async function download({ manifest, encoding }) {
  const files = [manifest.launchAsset, ...manifest.assets];
  const outcomes = await Promise.all(
    files.map(async ({ url, hash, contentType }) => {
      const response = await fetch(url, { headers: { "accept-encoding": encoding } });
      const bytes = Buffer.from(await response.arrayBuffer());
      const isWhole = createHash("sha256").update(bytes).digest("base64url") === hash;
      const isAsSaid = response.headers.get("content-type") === contentType;
      const isForever = response.headers.get("cache-control") === "public, max-age=31536000, immutable";
      return { isGood: response.status === 200 && isWhole && isAsSaid && isForever, coding: response.headers.get("content-encoding") };
    }),
  );
  const count = (test) => outcomes.filter(test).length;
  const coded = (name) => count(({ coding }) => coding === name);
  return { files: files.length, good: count(({ isGood }) => isGood), gzip: coded("gzip"), brotli: coded("br") };
}

/** A key of a developer, and the certificate that their app contains. */
function keys() {
  const keyPair = certificates.generateKeyPair();
  const certificate = certificates.generateSelfSignedCodeSigningCertificate({
    keyPair,
    validityNotBefore: new Date(Date.UTC(2020, 0)),
    validityNotAfter: new Date(Date.UTC(2099, 0)),
    commonName: "App",
  });
  const { privateKeyPEM } = certificates.convertKeyPairToPEM(keyPair);
  return { key: privateKeyPEM, certificate: certificates.convertCertificateToCertificatePEM(certificate) };
}

/** Signs a text with a developer's key. */
function sign({ key, text }) {
  const digest = forge.md.sha256.create().update(text, "utf8");
  return { signature: forge.util.encode64(certificates.convertPrivateKeyPEMToPrivateKey(key).sign(digest)) };
}

const ACTS = { check, download, keys, sign };
for await (const line of createInterface({ input: process.stdin })) {
  const request = JSON.parse(line);
  console.log(JSON.stringify(await ACTS[request.act](request)));
}
