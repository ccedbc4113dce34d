/** The native sources: inside the npm packages, and as packages of their own for other apps. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { copyFile, copyIfThere, copyLicenses, filesBelow, SDK, TYPESCRIPT, write } from './sources.mjs';

const ANDROID = join(SDK, 'android');
const IOS = join(SDK, 'ios');

const JAVA = ['core', 'platform'].map((part) => join(ANDROID, part, 'src/main/java'));
const SWIFT_TARGETS = ['LaunchwayCore', 'LaunchwayApple'];

/** Copies the Java client below the source folder of a plugin. */
export function copyJava(to) {
  for (const folder of JAVA) {
    for (const file of filesBelow(folder)) {
      copyFile(join(folder, file), join(to, file));
    }
  }
}

/** Copies the Swift client into a folder, one folder for each of its modules. */
export function copySwift(to) {
  for (const target of SWIFT_TARGETS) {
    const folder = join(IOS, 'Sources', target);
    for (const file of filesBelow(folder)) {
      write(join(to, target, file), guardImports(readFileSync(join(folder, file), 'utf8')));
    }
  }
}

/** CocoaPods compiles the sources of a plugin as one module, in which modules of ours cannot be imported. */
export function guardImports(swift) {
  return swift.replace(/(?<!^#if .*\n)^((?:public |@_exported )?import (Launchway\w+))$/gm, '#if canImport($2)\n$1\n#endif');
}

/** The Swift package for apps without a framework. */
export function packSwift(to) {
  copySwift(join(to, 'Sources'));
  finish('swift', to);
  return to;
}

/** The Android library for apps without a framework. */
export function packAndroid(to) {
  copyJava(join(to, 'src/main/java'));
  copyFile(join(ANDROID, 'platform/src/main/AndroidManifest.xml'), join(to, 'src/main/AndroidManifest.xml'));
  finish('android', to);
  return to;
}

/** Adds what only the package has, which is beside this folder, and the licenses. */
function finish(kind, to) {
  copyIfThere(join(TYPESCRIPT, 'pack', kind), to);
  copyLicenses(to);
}
