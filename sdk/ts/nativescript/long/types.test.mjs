/** An app compiles with the packed package and the real types of NativeScript 8 and 9. */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { SAMPLES } from '../../pack/test/samples.mjs';
import { newFolder } from '../../react-native/long/packages.mjs';

const TYPESCRIPT = fileURLToPath(new URL('../..', import.meta.url));
const EXAMPLE = join(TYPESCRIPT, '../../examples/nativescript-app/app');

for (const version of ['8', '9']) {
  test(`an app of NativeScript ${version} compiles`, () => {
    const app = newFolder();
    const install = ['install', '--prefix', app, '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
    execFileSync('npm', [...install, `@nativescript/core@${version}`, `@nativescript/types@${version}`], { stdio: 'pipe' });
    for (const part of ['dist', 'package.json']) {
      cpSync(join(TYPESCRIPT, 'nativescript', part), join(app, 'node_modules/@launchway/nativescript', part), { recursive: true });
    }
    writeFileSync(join(app, 'sample.ts'), SAMPLES.nativescript.source);
    cpSync(EXAMPLE, join(app, 'app'), { recursive: true });
    const options = ['--strict', '--noEmit', '--skipLibCheck', ...SAMPLES.nativescript.options, '--types', '@nativescript/types'];
    const compiler = join(TYPESCRIPT, 'node_modules/typescript/bin/tsc');
    const { status, stdout } = spawnSync(process.execPath, [compiler, ...options, 'sample.ts', 'app/app.ts'], { cwd: app, encoding: 'utf8' });
    assert.equal(status, 0, stdout);
  });
}
