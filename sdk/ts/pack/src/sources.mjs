/** The places of the sources, and how they are copied. */
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

export const SDK = fileURLToPath(new URL('../../..', import.meta.url));
export const TYPESCRIPT = join(SDK, 'ts');
const ROOT = join(SDK, '..');

/** The version of the whole product, by the workspace's manifest. */
export function version() {
  const manifest = readFileSync(join(ROOT, 'Cargo.toml'), 'utf8');
  const [, found] = /^\[workspace\.package\]\nversion = "([^"]+)"$/m.exec(manifest) ?? [];
  if (!found) {
    throw new Error('Cargo.toml does not begin [workspace.package] with a version');
  }
  return found;
}

export function copyLicenses(to) {
  for (const name of ['LICENSE-APACHE', 'LICENSE-MIT']) {
    copyFile(join(ROOT, name), join(to, name));
  }
}

/** All files below a folder, as sorted relative paths. */
export function filesBelow(folder) {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  return files.map((entry) => relative(folder, join(entry.parentPath ?? entry.path, entry.name))).sort();
}

/** Copies what is there, a file or a folder, and returns whether something is. */
export function copyIfThere(from, to) {
  if (!existsSync(from)) {
    return false;
  }
  cpSync(from, to, { recursive: true });
  return true;
}

export function copyFile(from, to) {
  write(to, readFileSync(from));
}

export function write(path, content) {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
}
