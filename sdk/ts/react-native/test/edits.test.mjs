/** The edits of native files, on small ones of the forms that the templates have. */
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { test } from 'node:test';

const { edit } = createRequire(import.meta.url)('../expo/edits.js');

const HOST = `class MainApplication : Application(), ReactApplication {
  override val reactNativeHost: ReactNativeHost = ReactNativeHostWrapper(
    this,
    object : DefaultReactNativeHost(this) {
      override fun getJSMainModuleName(): String = "index"
    }
  )
}
`;
const FACTORY = `import com.facebook.react.defaults.DefaultReactHost.getDefaultReactHost

class MainApplication : Application(), ReactApplication {
  override val reactHost: ReactHost by lazy {
    getDefaultReactHost(
      context = applicationContext,
      packageList = PackageList(this).packages,
    )
  }
}
`;
const SWIFT = `import UIKit
import React

class ReactNativeDelegate {
  override func bundleURL() -> URL? {
    return Bundle.main.url(forResource: "main", withExtension: "jsbundle")
  }
}
`;
const OBJECTIVE_C = `#import "AppDelegate.h"

#import <React/RCTBundleURLProvider.h>

- (NSURL *)bundleURL
{
  return [[NSBundle mainBundle] URLForResource:@"main" withExtension:@"jsbundle"];
}
`;

/** Language, file, and the lines that are new. */
const FILES = [
  [
    'kt',
    HOST,
    [
      '      override fun getJSBundleFile(): String? =',
      '          dev.launchway.reactnative.LaunchwayReactNative.jsBundleFile(this@MainApplication)',
    ],
  ],
  [
    'kt',
    FACTORY,
    ['      jsBundleFilePath =', '        dev.launchway.reactnative.LaunchwayReactNative.jsBundleFile(applicationContext),'],
  ],
  [
    'swift',
    SWIFT,
    [
      'import launchway_react_native',
      '    return LaunchwayReactNative.bundleURL() ?? Bundle.main.url(forResource: "main", withExtension: "jsbundle")',
    ],
  ],
  [
    'objcpp',
    OBJECTIVE_C,
    [
      '@interface LaunchwayReactNative : NSObject',
      '+ (nullable NSURL *)bundleURL;',
      '@end',
      '  return [LaunchwayReactNative bundleURL] ?: [[NSBundle mainBundle] URLForResource:@"main" withExtension:@"jsbundle"];',
    ],
  ],
];

test('each form gets its lines, once', () => {
  for (const [language, text, expected] of FILES) {
    const edited = edit(language, text, 'file');
    const before = text.split('\n');
    assert.deepEqual(edited.split('\n').filter((line) => !before.includes(line)), expected);
    assert.equal(edit(language, edited, 'file'), edited);
    assert.equal(edit(language, text.replaceAll('\n', '\r\n'), 'file'), edited.replaceAll('\n', '\r\n'));
  }
});

test('a file of another form stops with what to do', () => {
  for (const [language, text] of FILES) {
    for (const other of ['', text + text]) {
      assert.throws(() => edit(language, other, 'MainFile'), {
        message: /^@launchway\/react-native: cannot edit MainFile: found `.*` (0|2) times instead of once; .* make the edit yourself/,
      });
    }
  }
  assert.throws(() => edit('swift', SWIFT.replace('import React\n', ''), 'f'), /found `import React` 0 times/);
  assert.throws(() => edit('swift', SWIFT.replace('"main"', 'name'), 'f'), /found `Bundle\.main/);
  assert.throws(() => edit('kt', FACTORY.replace('context = applicationContext,', 'this,'), 'f'), /found `context = /);
});

test('a language without an edit is named', () => {
  assert.throws(() => edit('java', 'class MainApplication {}', 'MainApplication'), /its language java is not supported/);
});
