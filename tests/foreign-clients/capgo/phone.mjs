// The client of Capgo for desktop apps, unmodified: asks a server, installs, and tells it what became of an update. Reads a request of
// the test from each line, and writes the outcome on a line.

import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, relative } from 'node:path';
import { createInterface } from 'node:readline';

const require = createRequire(import.meta.url);
const { ElectronUpdater } = require('@capgo/electron-updater');
const electron = require('electron');

// The client shortens no timeout by itself: how long an app has to say that it started.
const READY_TIMEOUT = 60_000;
const CRASH_TIMEOUT = 1;

const window = { on: () => {}, loadFile: async () => {}, loadURL: async () => {} };
const apps = new Map();

/** Starts an app of a device, which keeps its folder. */
async function start({ device, config, crashes }) {
  const folder = apps.get(device)?.folder ?? mkdtempSync(join(process.cwd(), 'device-'));
  if (!apps.has(device)) {
    const manifest = { bundles: {}, currentBundleId: 'builtin', nextBundleId: null, lastSuccessfulBundleId: null,
      failedUpdate: null, delayConditions: [], customId: null, channel: null };
    writeFileSync(join(folder, 'electron-updater-storage.json'), JSON.stringify({ deviceId: device, manifest }));
  }
  apps.get(device)?.updater.cleanup();
  electron.app.userData = folder;
  const appReadyTimeout = crashes ? CRASH_TIMEOUT : READY_TIMEOUT;
  const updater = new ElectronUpdater({ ...config, appReadyTimeout, directUpdate: true, disableJSLogging: true });
  await updater.initialize(window, '/builtin/index.html');
  apps.set(device, { folder, updater });
  return updater;
}

async function answer(request) {
  const { act, device } = request;
  const updater = apps.get(device)?.updater;
  switch (act) {
    case 'install':
      apps.delete(device);
      await start(request);
      return null;
    case 'start':
      await start(request);
      return null;
    case 'check':
      return updater.getLatest();
    case 'sync': {
      // What the client does by itself: asks, downloads, verifies, unpacks and starts an update.
      await updater.checkForUpdates();
      const { bundle } = await updater.notifyAppReady();
      return bundle;
    }
    case 'crash': {
      const failed = new Promise((resolve) => updater.addListener('updateFailed', resolve));
      await updater.checkForUpdates();
      return (await failed).bundle;
    }
    case 'install_files': {
      // What it downloads and verifies of an update, file by file.
      const { id } = await updater.download(request.update);
      const folder = join(apps.get(device).folder, 'capgo-bundles', id, 'www');
      const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((file) => file.isFile());
      const paths = files.map((file) => relative(folder, join(file.parentPath, file.name))).sort();
      return Object.fromEntries(paths.map((path) => [path, readFileSync(join(folder, path), 'utf8')]));
    }
    case 'reset':
      await updater.reset();
      return (await updater.notifyAppReady()).bundle;
    case 'set_channel':
      return updater.setChannel({ channel: request.channel });
    case 'unset_channel':
      return updater.unsetChannel({});
    case 'channel':
      return updater.getChannel();
    case 'channels':
      return updater.listChannels();
    default:
      throw new Error(`no such act: ${act}`);
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  const outcome = await answer(JSON.parse(line)).then(
    (result) => ({ result: result ?? null }),
    (error) => ({ error: error.message }),
  );
  console.log(JSON.stringify(outcome));
}
process.exit(0);
