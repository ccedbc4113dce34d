// The client of hot-updater, unmodified, on a phone of the test: checks with the client's own resolver, and installs what it is told.
// React Native and the native part are the test's. Reads a request from each line, and writes the outcome on a line.

import { createHash } from 'node:crypto';
import Module, { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';

const require = createRequire(import.meta.url);
const client = join(dirname(require.resolve('@hot-updater/react-native/package.json')), 'lib/commonjs');
globalThis.__DEV__ = false;

let phone;

/** The native part: it downloads an archive, verifies it as the real one does, and runs it from the next start on. */
const native = {
  getConstants: () => ({
    MIN_BUNDLE_ID: phone.minBundleId,
    APP_VERSION: phone.appVersion,
    CHANNEL: phone.switchedTo ?? phone.channel,
    DEFAULT_CHANNEL: phone.channel,
    FINGERPRINT_HASH: phone.fingerprint ?? null,
  }),
  getBundleId: () => phone.running ?? null,
  getCohort: () => phone.cohort,
  async updateBundle({ bundleId, channel, fileUrl, fileHash }) {
    if (fileUrl !== null) {
      const response = await fetch(fileUrl);
      const archive = Buffer.from(await response.arrayBuffer());
      const sha256 = createHash('sha256').update(archive).digest('hex');
      if (!response.ok || fileHash !== sha256) throw new Error(`${response.status}, ${sha256} is not ${fileHash}`);
    }
    phone.running = fileUrl === null ? null : bundleId;
    phone.switchedTo = channel === phone.channel ? undefined : channel;
    return true;
  },
};

const stubs = {
  react: {},
  'react-native': {
    Platform: { get OS() { return phone.platform; } },
    NativeEventEmitter: class { addListener() { return { remove: () => {} }; } },
    TurboModuleRegistry: { getEnforcing: () => native },
  },
};
const load = Module._load;
Module._load = (name, ...rest) => stubs[name] ?? load(name, ...rest);

/** The client in an app that has just started. */
function start() {
  for (const path of Object.keys(require.cache)) {
    if (path.startsWith(client)) delete require.cache[path];
  }
  const { createDefaultResolver } = require(join(client, 'DefaultResolver.js'));
  const { checkForUpdate } = require(join(client, 'checkForUpdate.js'));
  let failure;
  const check = (channel) => checkForUpdate({
    resolver: createDefaultResolver(phone.baseURL),
    updateStrategy: phone.fingerprint ? 'fingerprint' : 'appVersion',
    channel,
    requestTimeout: 60_000,
    onError: (error) => { failure = error; },
  });
  return async (channel) => {
    const update = await check(channel);
    if (failure) throw failure;
    return update;
  };
}

async function answer(request) {
  phone = request.phone;
  const update = await start()(request.channel);
  if (request.act === 'check') return { update };
  const installed = update ? await update.updateBundle() : false;
  return { update, installed, phone };
}

for await (const line of createInterface({ input: process.stdin })) {
  const outcome = await answer(JSON.parse(line)).then(
    (result) => ({ result }),
    (error) => ({ error: error.message }),
  );
  console.log(JSON.stringify(outcome));
}
