/** The hook on the real templates of the iOS runtime, and what the package counts on in that of the Android runtime. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { fetchPackage, newFolder } from '../../react-native/long/packages.mjs';

const HOOK = fileURLToPath(new URL('../hooks/after-prepare.mjs', import.meta.url));
const CALL = 'config.BaseDir = [LaunchwayNativeScript baseDirectory:baseDir];';

/** Asserts that a source has these texts, in this order. */
function hasInOrder(source, texts) {
  let from = 0;
  for (const text of texts) {
    const at = source.indexOf(text, from);
    assert.ok(at >= 0, `\`${text}\` is missing, or not behind the text before it`);
    from = at + text.length;
  }
}

for (const version of ['8.6', '9.0', 'latest']) {
  test(`the hook points @nativescript/ios ${version} at updates`, () => {
    const app = newFolder();
    mkdirSync(join(app, 'platforms/ios'), { recursive: true });
    cpSync(join(fetchPackage(`@nativescript/ios@${version}`), 'framework/internal'), join(app, 'platforms/ios/internal'), { recursive: true });
    const files = ['main.m', 'NativeScriptStart.m'].map((name) => join(app, 'platforms/ios/internal', name)).filter((file) => existsSync(file));
    const before = files.map((file) => readFileSync(file, 'utf8'));

    const first = spawnSync(process.execPath, [HOOK], { cwd: app, encoding: 'utf8' });
    assert.equal(first.status, 0, first.stderr);
    const changed = files.map((file) => readFileSync(file, 'utf8'));
    changed.forEach((text, index) => {
      hasInOrder(text, ['[[NSBundle mainBundle] resourcePath];', 'TNSInitializeLiveSync();', CALL, 'initWithConfig:config];']);
      assert.equal(text.split('\n').length - before[index].split('\n').length, 4, text);
    });

    const second = spawnSync(process.execPath, [HOOK], { cwd: app, encoding: 'utf8' });
    assert.deepEqual([second.status, second.stdout], [0, '']);
    assert.deepEqual(files.map((file) => readFileSync(file, 'utf8')), changed);
  });
}

for (const version of ['8.6', '8.9', 'latest']) {
  test(`@nativescript/android ${version} starts files/app as expected`, () => {
    const sources = join(fetchPackage(`@nativescript/android@${version}`), 'framework/app/src/main/java/com/tns');
    const source = (name) => readFileSync(join(sources, name), 'utf8');
    hasInOrder(source('NativeScriptApplication.java'), ['void onCreate()', 'RuntimeHelper.initRuntime(this)', 'runtime.run()']);
    hasInOrder(source('RuntimeHelper.java'), [
      'context.getFilesDir()',
      'boolean removePreviouslyInstalledAssets = true;',
      'extractAssets(context, "app", outputDir, extractPolicy, removePreviouslyInstalledAssets)',
      'extractPolicy.setAssetsThumb(context);',
    ]);
    const policy = source('DefaultExtractPolicy.java');
    hasInOrder(policy, ['"assetsThumb"', 'public boolean shouldExtract(', 'if (oldAssetsThumb == null) {', '!currentThumb.equals(oldAssetsThumb)']);
    hasInOrder(policy, ['private String generateAssetsThumb(', 'long updateTime = packageInfo.lastUpdateTime;', 'return updateTime + "-" + code;']);
    hasInOrder(policy, ['private void saveNewAssetsThumb(', 'writer.write(newThumb);', 'writer.newLine();']);
    hasInOrder(policy, ['private static String getFilesDir(', 'context.getNoBackupFilesDir().getPath()']);
  });
}
