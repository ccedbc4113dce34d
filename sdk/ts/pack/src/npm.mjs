/**
 * The npm packages. Each is a folder beside this one whose package.json says with `files` what is copied, and with
 * `launchway.android` and `launchway.ios` where the native client goes.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { copyJava, copySwift } from './native.mjs';
import { copyIfThere, copyLicenses, TYPESCRIPT, version, write } from './sources.mjs';

const COMPILER = join(TYPESCRIPT, 'node_modules/typescript/bin/tsc');

/** The folders of packages that are for apps, in the order of the workspace. */
export function npmPackages() {
  const { workspaces } = JSON.parse(readFileSync(join(TYPESCRIPT, 'package.json'), 'utf8'));
  return workspaces.filter((name) => !manifestOf(name).private);
}

function manifestOf(name) {
  return JSON.parse(readFileSync(join(TYPESCRIPT, name, 'package.json'), 'utf8'));
}

/** Assembles a package in `work`, writes its archive into `out`, and returns the archive's path. */
export function packNpm(name, work, out) {
  const from = join(TYPESCRIPT, name);
  const { launchway: sources = {}, devDependencies, scripts, files, ...manifest } = manifestOf(name);
  for (const file of files.filter((file) => file !== 'dist')) {
    if (!copyIfThere(join(from, file), join(work, file))) {
      throw new Error(`${join(from, file)} is missing; package.json names it`);
    }
  }
  run(process.execPath, [COMPILER, '--project', from, '--outDir', join(work, 'dist')]);
  if (sources.android) {
    copyJava(join(work, sources.android));
  }
  if (sources.ios) {
    copySwift(join(work, sources.ios));
  }
  copyLicenses(work);
  write(join(work, 'package.json'), `${JSON.stringify({ ...manifest, version: version() }, null, 2)}\n`);
  const archive = run('npm', ['pack', '--silent', '--ignore-scripts', '--pack-destination', out], work).trim();
  return join(out, archive);
}

function run(program, given, folder) {
  return execFileSync(program, given, { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
}
