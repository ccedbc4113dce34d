#!/usr/bin/env node
// Starts the program of the package that npm installed for this system and processor, with the same arguments, input, output,
// signals and exit code.
import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { constants } from 'node:os';

const name = `@launchway/cli-${process.platform}-${process.arch}`;
const supported = ['darwin-arm64', 'darwin-x64', 'linux-arm64', 'linux-x64'];

function fail(message, hint) {
  process.stderr.write(`error: ${message}\nhint: ${hint}\n`);
  process.exit(1);
}

function find() {
  try {
    return createRequire(import.meta.url).resolve(`${name}/bin/launchway`);
  } catch {
    if (!supported.includes(`${process.platform}-${process.arch}`)) {
      fail(
        `there is no launchway for ${process.platform} on ${process.arch}`,
        'compile it from source: cargo install --path crates/cli',
      );
    }
    return fail(
      `the package ${name}, which contains the program, is not installed`,
      'install @launchway/cli again, on this system and without --omit=optional',
    );
  }
}

let child;
// Whoever ends this process means the program. A terminal sends its signals to both, and the program decides what they mean.
process.on('SIGTERM', () => child?.kill('SIGTERM'));
for (const signal of ['SIGINT', 'SIGHUP', 'SIGQUIT']) {
  process.on(signal, () => {});
}
child = spawn(find(), process.argv.slice(2), { stdio: 'inherit' });
child.on('error', (error) => fail(`cannot start the program: ${error.message}`, `install ${name} again`));
child.on('exit', (code, signal) => process.exit(code ?? 128 + constants.signals[signal]));
