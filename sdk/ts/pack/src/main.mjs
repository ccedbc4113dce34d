/** Makes all packages in a folder that does not exist yet. */
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { packAndroid, packSwift } from './native.mjs';
import { npmPackages, packNpm } from './npm.mjs';
import { version } from './sources.mjs';

const out = resolve(process.argv[2]);
if (existsSync(out)) {
  console.error(`error: ${out} exists already; name a folder that does not exist`);
  process.exit(2);
}
mkdirSync(out, { recursive: true });
const work = mkdtempSync(join(tmpdir(), 'launchway-pack-'));
try {
  for (const name of npmPackages()) {
    console.log(packNpm(name, join(work, name), out));
  }
  console.log(packSwift(join(out, `launchway-swift-${version()}`)));
  console.log(packAndroid(join(out, `launchway-android-${version()}`)));
} finally {
  rmSync(work, { recursive: true });
}
