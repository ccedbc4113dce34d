/** An app of a certain Capacitor with the packed plugin, from the npm registry. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { SAMPLES } from '../../pack/test/samples.mjs';
import { SDK, version } from '../../pack/src/sources.mjs';

export const run = (program, given, cwd) => {
  try {
    return execFileSync(program, given, { cwd, encoding: 'utf8', stdio: 'pipe' });
  } catch (error) {
    throw new Error(`${program} ${given.join(' ')}\n${error.stdout}\n${error.stderr}`);
  }
};

/** The folder of all packages. */
export function packed(work) {
  const out = join(work, 'packages');
  run(join(SDK, 'pack'), [out]);
  return out;
}

export class Project {
  constructor(work, packages, capacitor) {
    this.folder = join(work, `capacitor-${capacitor}`);
    mkdirSync(join(this.folder, 'www'), { recursive: true });
    this.write('package.json', '{"name": "app", "version": "1.0.0", "private": true, "type": "module"}');
    this.write('capacitor.config.json', '{"appId": "com.example.app", "appName": "App", "webDir": "www"}');
    this.write('www/index.html', '<!doctype html>');
    this.write('app.ts', SAMPLES.capacitor.source);
    const parts = ['core', 'cli', 'android', 'ios'].map((part) => `@capacitor/${part}@${capacitor}`);
    // The command line of Capacitor 8 needs Node 22.
    const given = [...parts, 'node@22', 'typescript@5.9.3', join(packages, `launchway-capacitor-${version()}.tgz`)];
    run('npm', ['install', '--no-audit', '--no-fund', '--loglevel=error', ...given], this.folder);
  }

  write(path, text) {
    writeFileSync(join(this.folder, path), text);
  }

  read(path) {
    return readFileSync(join(this.folder, path), 'utf8');
  }

  /** The source of Capacitor itself. */
  source(path) {
    return this.read(`node_modules/@capacitor/${path}`);
  }

  compile(resolution) {
    const module = resolution === 'nodenext' ? 'nodenext' : 'esnext';
    const options = ['--strict', '--noEmit', '--target', 'es2022', '--module', module, '--moduleResolution', resolution];
    return run(process.execPath, ['node_modules/typescript/bin/tsc', ...options, 'app.ts'], this.folder);
  }

  /** With Swift packages, which need no program of Apple's. */
  addIos() {
    try {
      this.cap('add', 'ios', '--packagemanager', 'SPM');
    } catch {
      // Capacitor 7 takes the new project for one of CocoaPods, at first.
      this.cap('update', 'ios');
    }
  }

  /** Capacitor's command line. */
  cap(...given) {
    return run('node_modules/node/bin/node', ['node_modules/@capacitor/cli/bin/capacitor', ...given], this.folder);
  }
}
