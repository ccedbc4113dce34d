/** The edits of the native files of a React Native app: it asks the SDK which bundle to load. */

const KOTLIN_CALL = 'dev.launchway.reactnative.LaunchwayReactNative.jsBundleFile(';
const SWIFT_BUNDLE = 'Bundle.main.url(forResource: "main", withExtension: "jsbundle")';
const OBJECTIVE_C_BUNDLE = '[[NSBundle mainBundle] URLForResource:@"main" withExtension:@"jsbundle"]';

/** `MainApplication.kt` */
function editKotlin(text) {
  if (text.includes(KOTLIN_CALL)) {
    return text;
  }
  if (count(text, 'DefaultReactNativeHost(this) {') > 0) {
    return afterLine(text, 'DefaultReactNativeHost(this) {', [
      'override fun getJSBundleFile(): String? =',
      `    ${KOTLIN_CALL}this@MainApplication)`,
      '',
    ]);
  }
  // Only functions of this name are known to have the parameter.
  only(text, 'getDefaultReactHost(\n');
  return afterLine(text, 'context = applicationContext,', ['jsBundleFilePath =', `  ${KOTLIN_CALL}applicationContext),`]);
}

/** `AppDelegate.swift` */
function editSwift(text) {
  if (text.includes('LaunchwayReactNative.bundleURL(')) {
    return text;
  }
  const withImport = replaceOnly(text, '\nimport React\n', '\nimport React\nimport launchway_react_native\n');
  return replaceOnly(withImport, SWIFT_BUNDLE, `LaunchwayReactNative.bundleURL() ?? ${SWIFT_BUNDLE}`);
}

/** `AppDelegate.mm`. The class is in Swift, and the name of its header depends on how pods are linked. */
function editObjectiveC(text) {
  if (text.includes('[LaunchwayReactNative bundleURL')) {
    return text;
  }
  const declaration = '#import "AppDelegate.h"\n\n@interface LaunchwayReactNative : NSObject\n+ (nullable NSURL *)bundleURL;\n@end\n';
  const declared = replaceOnly(text, '#import "AppDelegate.h"\n', declaration);
  return replaceOnly(declared, OBJECTIVE_C_BUNDLE, `[LaunchwayReactNative bundleURL] ?: ${OBJECTIVE_C_BUNDLE}`);
}

const EDITS = { kt: editKotlin, swift: editSwift, objcpp: editObjectiveC, objc: editObjectiveC };

/** The file's text with the edit, or as it is if it was edited before. Throws if its form is not known. */
function edit(language, text, file) {
  const change = EDITS[language];
  if (!change) {
    throw new Error(`@launchway/react-native: cannot edit ${file}: its language ${language} is not supported`);
  }
  const isCrlf = text.includes('\r\n');
  let edited;
  try {
    edited = change(text.replaceAll('\r\n', '\n'));
  } catch (error) {
    throw new Error(
      `@launchway/react-native: cannot edit ${file}: ${error.message}; another plugin may have changed it. ` +
        'List @launchway/react-native first in the plugins, or make the edit yourself as its README says.',
    );
  }
  return isCrlf ? edited.replaceAll('\n', '\r\n') : edited;
}

function count(text, anchor) {
  return text.split(anchor).length - 1;
}

function only(text, anchor) {
  const found = count(text, anchor);
  if (found !== 1) {
    throw new Error(`found \`${anchor.trim()}\` ${found} times instead of once`);
  }
  return text.indexOf(anchor);
}

function replaceOnly(text, anchor, replacement) {
  const at = only(text, anchor);
  return text.slice(0, at) + replacement + text.slice(at + anchor.length);
}

/** Adds lines after that of the anchor, indented like the line that follows. */
function afterLine(text, anchor, lines) {
  const at = text.indexOf('\n', only(text, anchor)) + 1;
  const next = text.slice(at).split('\n').find((line) => line.trim() !== '') ?? '';
  const indent = next.slice(0, next.length - next.trimStart().length);
  return text.slice(0, at) + lines.map((line) => (line === '' ? '\n' : `${indent}${line}\n`)).join('') + text.slice(at);
}

module.exports = { edit };
