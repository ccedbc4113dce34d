/** Packages of npm's registry, unpacked without what they depend on. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';

const work = mkdtempSync(join(tmpdir(), 'launchway-packages-'));
after(() => rmSync(work, { recursive: true }));

let folders = 0;

/** An empty folder for the tests of this file. */
export function newFolder() {
  const folder = join(work, String(folders++));
  mkdirSync(folder);
  return folder;
}

/** The folder with the files of a package, such as `react-native@0.76`. */
export function fetchPackage(wanted) {
  const folder = newFolder();
  const archive = execFileSync('npm', ['pack', '--silent', wanted], { cwd: folder, encoding: 'utf8' }).trim().split('\n').pop();
  execFileSync('tar', ['-xzf', archive, '--exclude=*.xcframework', '--exclude=*.aar', '--exclude=*.zip'], { cwd: folder });
  rmSync(join(folder, archive));
  return join(folder, 'package');
}
