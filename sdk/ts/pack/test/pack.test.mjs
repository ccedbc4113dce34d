/** The packages: what is in them, that the same sources make the same bytes, and that an app compiles with them. */
import assert from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { filesBelow, TYPESCRIPT, version } from '../src/sources.mjs';
import { SAMPLES } from './samples.mjs';

const work = mkdtempSync(join(tmpdir(), 'launchway-pack-test-'));
const once = join(work, 'once');
const ARCHIVES = Object.keys(SAMPLES);

const again = join(work, 'again');
const run = promisify(execFile);
const pack = (to) => run(process.execPath, [join(TYPESCRIPT, 'pack/src/main.mjs'), to]);
const archive = (name) => join(once, `launchway-${name}-${version()}.tgz`);

/** Unpacks an archive as npm does. */
function unpack(name, to) {
  mkdirSync(to, { recursive: true });
  execFileSync('tar', ['-xzf', archive(name), '-C', to, '--strip-components=1']);
}

before(async () => {
  await Promise.all([pack(once), pack(again)]);
  ARCHIVES.forEach((name) => unpack(name, join(work, name)));
});

after(() => rmSync(work, { recursive: true }));

test('the folder has one package for each kind of app', () => {
  const expected = [...ARCHIVES.map((name) => `launchway-${name}-${version()}.tgz`), `launchway-android-${version()}`, `launchway-swift-${version()}`];
  assert.deepEqual(readdirSync(once).sort(), expected.sort());
});

test('the same sources make the same bytes', () => {
  assert.deepEqual(filesBelow(again), filesBelow(once));
  for (const file of filesBelow(once)) {
    assert.ok(readFileSync(join(again, file)).equals(readFileSync(join(once, file))), file);
  }
});

test('every package has version, licenses and the clients', () => {
  for (const name of ARCHIVES) {
    const files = filesBelow(join(work, name));
    const manifest = JSON.parse(readFileSync(join(work, name, 'package.json'), 'utf8'));
    assert.equal(manifest.version, version());
    assert.equal(manifest.name, `@launchway/${name}`);
    for (const key of ['devDependencies', 'scripts', 'launchway', 'private', 'dependencies']) {
      assert.equal(manifest[key], undefined, `${name} ${key}`);
    }
    for (const file of ['LICENSE-APACHE', 'LICENSE-MIT', 'README.md', manifest.main, manifest.types]) {
      assert.ok(files.includes(file), `${file} of ${name}`);
    }
    for (const end of ['/dev/launchway/core/device/Device.java', '/dev/launchway/LaunchwayProvider.java', '/LaunchwayCore/Boot/BootMachine.swift']) {
      assert.ok(files.some((file) => file.endsWith(end)), `${end} of ${name}`);
    }
  }
});

test('the folders for native apps say how they are added', () => {
  for (const [name, build] of [['android', 'build.gradle'], ['swift', 'Package.swift']]) {
    const files = filesBelow(join(once, `launchway-${name}-${version()}`));
    for (const file of ['LICENSE-APACHE', 'LICENSE-MIT', 'README.md', build]) {
      assert.ok(files.includes(file), `${file} of ${name}`);
    }
  }
});

test('plugins for Android start the client as its own module does', () => {
  // A framework names its entry file besides.
  const parts = (manifest) => readFileSync(manifest, 'utf8').replace(/<!--[^]*?-->|<meta-data android:name="dev\.launchway\.entryFile"[^>]*>|\s+/g, '');
  const own = parts(join(once, `launchway-android-${version()}`, 'src/main/AndroidManifest.xml'));
  assert.match(own, /<providerandroid:name="dev\.launchway\.LaunchwayProvider"/);
  for (const name of ['capacitor', 'react-native']) {
    assert.equal(parts(join(work, name, 'android/src/main/AndroidManifest.xml')), own, name);
  }
});

test('no package has tests or stand-ins', () => {
  const folders = [...ARCHIVES.map((name) => join(work, name)), join(once, `launchway-android-${version()}`), join(once, `launchway-swift-${version()}`)];
  for (const folder of folders) {
    const wrong = filesBelow(folder).filter((file) => /(^|\/)(test|tests|Tests|stubs|node_modules|build)\/|\.test\.|\.tmp$/.test(file));
    assert.deepEqual(wrong, []);
  }
});

test('Swift sources compile as one module and as several', () => {
  for (const name of ARCHIVES) {
    for (const file of filesBelow(join(work, name)).filter((file) => file.endsWith('.swift') && !file.endsWith('Package.swift'))) {
      const lines = readFileSync(join(work, name, file), 'utf8').split('\n');
      lines.forEach((line, index) => {
        if (/^import Launchway/.test(line)) {
          assert.equal(lines[index - 1], `#if canImport(${line.slice('import '.length)})`, `${name} ${file}`);
        }
      });
    }
  }
});

test('the Swift package has the folder of each target', () => {
  const folder = join(once, `launchway-swift-${version()}`);
  const manifest = readFileSync(join(folder, 'Package.swift'), 'utf8');
  const targets = [...manifest.matchAll(/\.target\(\s*name: "(\w+)"/g)].map(([, target]) => target);
  assert.deepEqual(targets.sort(), readdirSync(join(folder, 'Sources')).sort());
});

for (const [name, { modules, options, source }] of Object.entries(SAMPLES)) {
  test(`an app compiles with the package for ${name}`, async () => {
    const app = join(work, `app-${name}`);
    unpack(name, join(app, 'node_modules/@launchway', name));
    writeFileSync(join(app, 'package.json'), '{"name": "app", "private": true, "type": "module"}');
    writeFileSync(join(app, 'app.ts'), source);
    for (const module of modules) {
      mkdirSync(join(app, 'node_modules', module, '..'), { recursive: true });
      symlinkSync(join(TYPESCRIPT, 'node_modules', module), join(app, 'node_modules', module));
    }
    const compiler = [join(TYPESCRIPT, 'node_modules/typescript/bin/tsc'), '--strict', '--exactOptionalPropertyTypes', '--noEmit', ...options, 'app.ts'];
    await run(process.execPath, compiler, { cwd: app }).catch((error) => assert.fail(error.stdout));
  });
}

test('an existing folder is left alone', async () => {
  await assert.rejects(pack(once), { code: 2, stderr: /exists already/ });
});
