/** The hook that points the files of the iOS runtime at updates. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { changed, changeStartFiles } from '../hooks/start-files.mjs';

const HOOK = fileURLToPath(new URL('../hooks/after-prepare.mjs', import.meta.url));

const MAIN = `#import <UIKit/UIKit.h>
#import <NativeScript/NativeScript.h>

int main(int argc, char *argv[]) {
    NSString* baseDir = [[NSBundle mainBundle] resourcePath];
    Config* config = [[Config alloc] init];
//    config.BaseDir = baseDir;
    config.BaseDir = baseDir;
    // config.BaseDir = baseDir;
}
`;
const START = MAIN.replace('int main(int argc, char *argv[])', '+(void)setup');

function project(files) {
  const folder = mkdtempSync(join(tmpdir(), 'launchway-'));
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  return folder;
}

const runHook = (folder) => spawnSync(process.execPath, [HOOK], { cwd: folder, encoding: 'utf8' });

test('the folder is chosen in one line, after a declaration', () => {
  const text = changed(MAIN, 'main.m');
  const added = text.split('\n').filter((line) => !MAIN.includes(line));
  assert.deepEqual(added, [
    '@interface LaunchwayNativeScript : NSObject',
    '+ (NSString *)baseDirectory:(NSString *)embedded;',
    '@end',
    '    config.BaseDir = [LaunchwayNativeScript baseDirectory:baseDir];',
  ]);
  assert.ok(text.indexOf('@interface') < text.indexOf('int main'));
  assert.ok(text.includes('    // config.BaseDir = baseDir;\n'));
});

test('a changed file stays as it is', () => {
  const once = changed(MAIN, 'main.m');
  assert.equal(changed(once, 'main.m'), once);
});

test('line ends stay those of the file', () => {
  const text = changed(MAIN.replaceAll('\n', '\r\n'), 'main.m');
  assert.equal(text, changed(MAIN, 'main.m').replaceAll('\n', '\r\n'));
});

test('an anchor that is missing or there twice stops', () => {
  const twice = MAIN.replace('\n    config.BaseDir = baseDir;', (line) => line + line);
  const half = changed(MAIN, 'main.m').replace('@interface LaunchwayNativeScript : NSObject', '');
  const reverted = changed(MAIN, 'main.m').replace('[LaunchwayNativeScript baseDirectory:baseDir]', 'baseDir');
  const texts = [
    '',
    twice,
    half,
    reverted,
    MAIN.replace('\n    config.BaseDir = baseDir;', '\n    config.BaseDir = [self folder];'),
    MAIN.replace('#import <NativeScript/NativeScript.h>', '@import NativeScript;'),
    `${MAIN}#import <NativeScript/NativeScript.h>\n`,
    changed(MAIN, 'main.m') + '    config.BaseDir = baseDir;\n',
  ];
  for (const text of texts) {
    assert.throws(() => changed(text, 'internal/main.m'), /internal\/main\.m must have .* once each/, text);
  }
});

test('no file is written unless all are understood', () => {
  const folder = project({ 'internal/main.m': MAIN, 'internal/NativeScriptStart.m': 'another start' });
  assert.throws(() => changeStartFiles(folder), /NativeScriptStart\.m must have/);
  assert.equal(readFileSync(join(folder, 'internal/main.m'), 'utf8'), MAIN);
  rmSync(folder, { recursive: true });
});

test('the hook changes each file once', () => {
  const folder = project({ 'platforms/ios/internal/main.m': MAIN, 'platforms/ios/internal/NativeScriptStart.m': START });
  assert.equal(runHook(folder).stdout.split('\n').length - 1, 2);
  const first = ['main.m', 'NativeScriptStart.m'].map((name) => readFileSync(join(folder, 'platforms/ios/internal', name), 'utf8'));
  assert.deepEqual(first, [changed(MAIN, ''), changed(START, '')]);
  const again = runHook(folder);
  assert.deepEqual([again.status, again.stdout, again.stderr], [0, '', '']);
  rmSync(folder, { recursive: true });
});

test('a runtime with one start file is changed, too', () => {
  const folder = project({ 'internal/main.m': MAIN });
  assert.equal(changeStartFiles(folder).length, 1);
  rmSync(folder, { recursive: true });
});

test('the hook ends the build with a message', () => {
  const folder = project({ 'platforms/ios/internal/main.m': 'int main() {}\n' });
  const { status, stderr } = runHook(folder);
  assert.equal(status, 1);
  assert.match(stderr, /^Launchway: cannot let updates start: .*0 and 0 times/);
  rmSync(join(folder, 'platforms/ios/internal/main.m'));
  assert.match(runHook(folder).stderr, /main\.m is missing/);
  rmSync(folder, { recursive: true });
});

test('a project without iOS has nothing to change', () => {
  const folder = project({ 'platforms/android/app/build.gradle': '' });
  const { status, stdout } = runHook(folder);
  assert.deepEqual([status, stdout], [0, '']);
  rmSync(folder, { recursive: true });
});
