/**
 * The npm packages. Each is a folder beside this one whose package.json says with `files` what is copied, and with
 * `launchway.android` and `launchway.ios` where the native client goes.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { copyJava, copySwift } from './native.mjs';
import { copyIfThere, copyLicenses, TYPESCRIPT, version, write } from './sources.mjs';

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
  for (const file of files) {
    if (!copyIfThere(join(from, file), join(work, file))) {
      throw new Error(`${join(from, file)} is missing; package.json names it, and \`npm run build\` makes \`dist\``);
    }
  }
  if (sources.android) {
    copyJava(join(work, sources.android));
  }
  if (sources.ios) {
    copySwift(join(work, sources.ios));
  }
  copyLicenses(work);
  write(join(work, 'package.json'), `${JSON.stringify({ ...manifest, version: version() }, null, 2)}\n`);
  const given = ['pack', '--silent', '--ignore-scripts', '--pack-destination', out];
  const archive = execFileSync('npm', given, { cwd: work, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
  return join(out, archive.trim());
}
