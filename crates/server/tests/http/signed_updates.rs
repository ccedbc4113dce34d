//! Signed updates under attack by whoever holds the server and every secret on it: the phone of an app whose developers sign
//! runs nothing that they did not sign, and says why (`docs/reference/trust.md#attacks`). And clients of others.

mod attacker;
mod files;
mod foreign_clients;
mod keys;
mod packages;
mod phone;
mod scene;
