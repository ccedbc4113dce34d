/** The config plugin on the real templates of React Native and Expo, run by the real config plugins of Expo. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { fetchPackage, newFolder } from './packages.mjs';

const OWN = fileURLToPath(new URL('..', import.meta.url));
const KOTLIN = 'android/app/src/main/java/com/helloworld/MainApplication.kt';

/** Package, where its project is, and its app delegate. */
const TEMPLATES = [
  ['@react-native-community/template@0.76', 'template', 'AppDelegate.mm'],
  ['@react-native-community/template@0.79', 'template', 'AppDelegate.swift'],
  ['@react-native-community/template@0.82', 'template', 'AppDelegate.swift'],
  ['@react-native-community/template@latest', 'template', 'AppDelegate.swift'],
  ['expo-template-bare-minimum@52', '.', 'AppDelegate.mm'],
  ['expo-template-bare-minimum@54', '.', 'AppDelegate.swift'],
  ['expo-template-bare-minimum@latest', '.', 'AppDelegate.swift'],
];

const CALLS = {
  '.kt': 'dev.launchway.reactnative.LaunchwayReactNative.jsBundleFile(',
  '.mm': '[LaunchwayReactNative bundleURL] ?: [[NSBundle mainBundle] URLForResource:@"main" withExtension:@"jsbundle"]',
  '.swift': 'LaunchwayReactNative.bundleURL() ?? Bundle.main.url(forResource: "main", withExtension: "jsbundle")',
};

/** Installs Expo's config plugins and a copy of ours, and returns what applies them to a project. */
function expo(folder) {
  const install = ['install', '--prefix', folder, '--no-audit', '--no-fund', '--loglevel=error', '@expo/config-plugins@latest'];
  execFileSync('npm', install, { stdio: 'pipe' });
  for (const file of ['app.plugin.js', 'expo', 'package.json']) {
    cpSync(join(OWN, file), join(folder, 'node_modules/@launchway/react-native', file), { recursive: true });
  }
  // What `expo/config-plugins` is, without the rest of Expo.
  mkdirSync(join(folder, 'node_modules/expo'), { recursive: true });
  writeFileSync(join(folder, 'node_modules/expo/config-plugins.js'), "module.exports = require('@expo/config-plugins');\n");
  const require = createRequire(join(folder, 'index.js'));
  const plugin = require('@launchway/react-native/app.plugin.js');
  const { compileModsAsync } = require('@expo/config-plugins');
  return async (project) => {
    const config = { name: 'HelloWorld', slug: 'app', ios: { bundleIdentifier: 'com.helloworld' }, android: { package: 'com.helloworld' } };
    const withPlugin = plugin({ ...config, _internal: { projectRoot: project } });
    await compileModsAsync(withPlugin, { projectRoot: project, platforms: ['android', 'ios'] });
  };
}

let apply = null;

for (const [template, place, delegate] of TEMPLATES) {
  test(`the plugin edits ${template} once`, async () => {
    const project = join(fetchPackage(template), place);
    apply ??= expo(newFolder());
    const files = [KOTLIN, `ios/HelloWorld/${delegate}`].map((file) => join(project, file));
    const before = files.map((file) => readFileSync(file, 'utf8'));
    await apply(project);
    const edited = files.map((file) => readFileSync(file, 'utf8'));
    files.forEach((file, index) => {
      const call = CALLS[/\.\w+$/.exec(file)[0]];
      assert.equal(edited[index].split(call).length - 1, 1, file);
      const lost = before[index].split('\n').filter((line) => !edited[index].split('\n').includes(line));
      assert.ok(lost.length <= 1, `${file} lost ${lost.join('\n')}`);
    });
    await apply(project);
    assert.deepEqual(files.map((file) => readFileSync(file, 'utf8')), edited);
  });
}
