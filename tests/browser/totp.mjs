// An authenticator app.

import { createHmac } from "node:crypto";

// The code that an authenticator app shows this many steps of 30 seconds from now (RFC 6238).
export function shown(secret, ahead = 0) {
  let bits = "";
  for (const letter of secret) bits += "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".indexOf(letter).toString(2).padStart(5, "0");
  const key = Buffer.from(bits.match(/.{8}/g).map((byte) => parseInt(byte, 2)));
  const step = Buffer.alloc(8);
  step.writeBigInt64BE(BigInt(Math.floor(Date.now() / 30_000) + ahead));
  const mac = createHmac("sha1", key).update(step).digest();
  const word = mac.readUInt32BE(mac[19] & 15) & 0x7fffffff;
  return String(word % 1_000_000).padStart(6, "0");
}
