/** The package compiles with the real types of React Native. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { fetchPackage, newFolder } from './packages.mjs';

const OWN = fileURLToPath(new URL('..', import.meta.url));
const COMPILER = join(OWN, '../node_modules/typescript/bin/tsc');

/** Version, and where its types begin. */
const VERSIONS = [
  ['0.76', 'types/index.d.ts'],
  ['latest', 'types_generated/index.d.ts'],
];

for (const [version, types] of VERSIONS) {
  test(`it compiles with React Native ${version}`, () => {
    const native = fetchPackage(`react-native@${version}`);
    const config = join(newFolder(), 'tsconfig.json');
    const compilerOptions = {
      noEmit: true,
      rootDir: '/',
      // The types of React and of what React Native consists of are not here.
      skipLibCheck: true,
      paths: { 'react-native': [join(native, types)] },
    };
    writeFileSync(config, JSON.stringify({ extends: join(OWN, 'tsconfig.json'), compilerOptions, include: [join(OWN, 'src')] }));
    const { status, stdout } = spawnSync(process.execPath, [COMPILER, '--project', config], { encoding: 'utf8' });
    assert.equal(status, 0, stdout);
  });
}
