// An OpenID Connect provider that knows one address and never prompts. Returns its address, the server's settings for it, and
// a function that stops it.

import { generateKeyPairSync, sign } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";

export async function openProvider(email) {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const text = (value) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const issued = new Map();
  let origin;
  const provider = createServer(async (request, response) => {
    const url = new URL(request.url, origin);
    const json = (value) => response.setHeader("content-type", "application/json").end(JSON.stringify(value));
    if (url.pathname === "/.well-known/openid-configuration") {
      json({ issuer: origin, authorization_endpoint: `${origin}/authorize`, token_endpoint: `${origin}/token`, jwks_uri: `${origin}/keys` });
    } else if (url.pathname === "/keys") {
      json({ keys: [{ ...publicKey.export({ format: "jwk" }), kid: "one", use: "sig", alg: "ES256" }] });
    } else if (url.pathname === "/authorize") {
      const asked = url.searchParams, code = String(issued.size);
      issued.set(code, asked.get("nonce"));
      response.writeHead(303, { location: `${asked.get("redirect_uri")}?${new URLSearchParams({ code, state: asked.get("state") })}` }).end();
    } else {
      let form = "";
      for await (const piece of request) form += piece;
      const nonce = issued.get(new URLSearchParams(form).get("code"));
      const claims = { iss: origin, aud: "launchway", exp: Date.now() / 1000 + 60, nonce, email, email_verified: true };
      const input = `${text({ alg: "ES256", kid: "one" })}.${text(claims)}`;
      const signature = sign("sha256", Buffer.from(input), { key: privateKey, dsaEncoding: "ieee-p1363" });
      json({ token_type: "Bearer", access_token: "unused", id_token: `${input}.${signature.toString("base64url")}` });
    }
  });
  await new Promise((done) => provider.listen(0, "127.0.0.1", done));
  origin = `http://127.0.0.1:${provider.address().port}`;
  const folder = mkdtempSync(join(tmpdir(), "launchway-"));
  const secret = join(folder, "client-secret");
  writeFileSync(secret, "the secret of the client");
  const args = ["--oidc-issuer", origin, "--oidc-client-id", "launchway", "--oidc-client-secret-file", secret];
  const close = () => { provider.close(); rmSync(folder, { recursive: true }); };
  return { origin, args, close };
}
