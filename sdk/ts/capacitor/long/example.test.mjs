/** The example app: what Capacitor writes into it is committed, so that a build finds nothing to change. */
import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { filesBelow, SDK, version } from '../../pack/src/sources.mjs';
import { packed, run } from './project.mjs';

const work = mkdtempSync(join(tmpdir(), 'launchway-example-'));
after(() => rmSync(work, { recursive: true }));

test('a sync of Capacitor changes nothing in the example', () => {
  const example = join(SDK, '../examples/capacitor-app');
  const app = join(work, 'app');
  const isSource = (path) => !/\/(node_modules|dist)(\/|$)/.test(path.slice(example.length));
  cpSync(example, app, { recursive: true, filter: isSource });
  const given = ['node@22', join(packed(work), `launchway-capacitor-${version()}.tgz`)];
  run('npm', ['install', '--no-save', '--no-audit', '--no-fund', '--loglevel=error', ...given], app);
  run('npm', ['run', 'build'], app);
  run('node_modules/node/bin/node', ['node_modules/@capacitor/cli/bin/capacitor', 'sync'], app);
  for (const file of filesBelow(example).filter((file) => isSource(join(example, file)))) {
    assert.equal(readFileSync(join(app, file), 'latin1'), readFileSync(join(example, file), 'latin1'), file);
  }
});
