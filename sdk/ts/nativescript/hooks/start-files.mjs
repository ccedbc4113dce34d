/** Points the files that start the iOS runtime at the content that the SDK chose. */
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Relative to the native project. Runtimes before 8.5 have only the first. */
const REQUIRED = 'internal/main.m';
const OPTIONAL = ['internal/NativeScriptStart.m'];

const IMPORT = '#import <NativeScript/NativeScript.h>';
const FOLDER = 'config.BaseDir = baseDir;';
const CHOSEN_FOLDER = 'config.BaseDir = [LaunchwayNativeScript baseDirectory:baseDir];';
// The class is in Swift, whose header has the name of the app.
const DECLARATION = ['@interface LaunchwayNativeScript : NSObject', '+ (NSString *)baseDirectory:(NSString *)embedded;', '@end'];

/** Changes the files of a native project that need it, and returns their paths. Throws if it does not know one of them. */
export function changeStartFiles(project) {
  if (!existsSync(project)) {
    return [];
  }
  if (!existsSync(join(project, REQUIRED))) {
    throw new Error(`${join(project, REQUIRED)} is missing; remove the native project and prepare it anew`);
  }
  const paths = [REQUIRED, ...OPTIONAL].map((path) => join(project, path)).filter((path) => existsSync(path));
  // All are understood before one is written.
  const changes = paths.map((path) => ({ path, before: readFileSync(path, 'utf8') })).map((file) => ({ ...file, after: changed(file.before, file.path) }));
  const due = changes.filter(({ before, after }) => before !== after);
  for (const { path, after } of due) {
    writeFileSync(`${path}.launchway`, after);
    renameSync(`${path}.launchway`, path);
  }
  return due.map(({ path }) => path);
}

/** The text of a file that starts the runtime, with the SDK's folder. A text that has it stays as it is. */
export function changed(text, path) {
  const counts = [DECLARATION[0], CHOSEN_FOLDER, IMPORT, FOLDER].map((line) => lines(text, line).length);
  if (counts.join() === '1,1,1,0') {
    return text;
  }
  if (counts.join() !== '0,0,1,1') {
    throw new Error(
      `cannot let updates start: ${path} must have \`${IMPORT}\` and \`${FOLDER}\` once each, and has them ${counts[2]} and ${counts[3]} times; ` +
        'remove the native project and prepare it anew; if that does not help, this version of the iOS runtime is not supported',
    );
  }
  const declaration = (end) => ['', ...DECLARATION].map((line) => line + end).join('');
  const withFolder = changeLine(text, FOLDER, (line) => line.replace(FOLDER, CHOSEN_FOLDER));
  return changeLine(withFolder, IMPORT, (line) => line + declaration(line.endsWith('\r\n') ? '\r\n' : '\n'));
}

function changeLine(text, statement, change) {
  const [{ index, line }] = lines(text, statement);
  return text.slice(0, index) + change(line) + text.slice(index + line.length);
}

/** The lines that hold a statement and nothing else, so that one in a comment does not count. */
function lines(text, statement) {
  return [...text.matchAll(/[^\n]*(\n|$)/g)].map((match) => ({ index: match.index, line: match[0] })).filter(({ line }) => line.trim() === statement);
}
