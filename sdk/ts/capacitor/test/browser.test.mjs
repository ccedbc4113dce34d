/** The package in a browser: it can check, and says that it cannot install. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Launchway, LaunchwayError } from '../dist/capacitor/src/index.js';
import { OFFER, server, UPDATE } from './server.mjs';

const SETTINGS = { serverUrl: 'https://updates.example.com/api/', bundleId: 'com.example.app', configuration: 'production' };

const WRONG_ANSWERS = [
  '',
  '{',
  'null',
  '[]',
  '{}',
  { updateAvailable: 1 },
  { ...OFFER, id: undefined },
  { ...OFFER, version: '' },
  { ...OFFER, buildNumber: 7 },
  { ...OFFER, sha256: null },
  { ...OFFER, size: -1 },
  { ...OFFER, size: '4096' },
  { ...OFFER, requiresStoreUpdate: true, compatibilityReason: null },
  ' '.repeat(256 * 1024) + '{"updateAvailable":false}',
];

test('without settings a check says what to do', async () => {
  await assert.rejects(Launchway.check(), { code: 'notConfigured', message: /call configure with serverUrl and bundleId/ });
  await Launchway.configure({ serverUrl: SETTINGS.serverUrl });
  await assert.rejects(Launchway.check(), { code: 'notConfigured' });
  assert.deepEqual(server.requests, []);
});

test('a check asks the server for what a page can run', async () => {
  await Launchway.configure(SETTINGS);
  assert.deepEqual(await Launchway.check(), { status: 'none' });
  const { url, init } = server.requests.pop();
  assert.equal(url.origin + url.pathname, 'https://updates.example.com/api/update/check/com.example.app');
  assert.deepEqual(Object.fromEntries(url.searchParams), {
    currentVersion: '0.0.0',
    currentBuild: '0',
    currentUpdateId: 'embedded:0',
    deviceId: await Launchway.getDeviceId(),
    configuration: 'production',
  });
  assert.equal(init.credentials, 'omit');
  assert.equal(init.cache, 'no-store');
});

test('a check reports an update', async () => {
  await Launchway.configure(SETTINGS);
  server.answers = () => [200, OFFER];
  const received = [];
  const handle = Launchway.addListener('updateAvailable', (payload) => received.push(payload));
  assert.deepEqual(await Launchway.check(), { status: 'available', update: UPDATE });
  assert.deepEqual(received, [{ update: UPDATE }]);
  handle.remove();
});

test('a check reports that a store release is needed', async () => {
  await Launchway.configure(SETTINGS);
  server.answers = () => [200, { ...OFFER, requiresStoreUpdate: true, compatibilityReason: 'new camera' }];
  assert.deepEqual(await Launchway.check(), { status: 'storeUpdateRequired', reason: 'new camera' });
});

test('answers of another form are refused', async () => {
  await Launchway.configure(SETTINGS);
  for (const answer of WRONG_ANSWERS) {
    server.answers = () => [200, answer];
    await assert.rejects(Launchway.check(), { name: 'LaunchwayError', code: 'invalidAnswer' }, JSON.stringify(answer).slice(0, 80));
  }
});

test('a server that is away or refuses is told apart', async () => {
  await Launchway.configure(SETTINGS);
  server.answers = () => [404, { error: 'not found' }];
  await assert.rejects(Launchway.check(), { code: 'server', message: /status 404/ });
  server.answers = () => {
    throw new TypeError('fetch failed');
  };
  await assert.rejects(Launchway.check(), { code: 'network', message: /fetch failed/ });
});

test('what only a phone can do is unavailable', async () => {
  for (const method of ['download', 'sync', 'reload', 'reset']) {
    await assert.rejects(Launchway[method](), (error) => {
      assert.ok(error instanceof LaunchwayError);
      assert.equal(error.code, 'unavailable');
      return error.message === `${method} works in the app on a phone; a browser can only check for updates`;
    });
  }
  await assert.rejects(Launchway.next('u1'), { code: 'unavailable' });
});

test('the page is the embedded content', async () => {
  assert.deepEqual(await Launchway.current(), {
    embedded: true,
    updateId: 'embedded:0',
    version: '0.0.0',
    buildNumber: '0',
    trial: false,
  });
  assert.equal(await Launchway.notifyAppReady(), false);
  assert.equal(await Launchway.getNext(), null);
  assert.deepEqual(await Launchway.list(), []);
  assert.equal(await Launchway.getFailedUpdate(), null);
});

test('a browser with storage keeps its device id', async () => {
  const withoutStorage = await Launchway.getDeviceId();
  assert.match(withoutStorage, /^[0-9a-f]{32}$/);
  assert.equal(await Launchway.getDeviceId(), withoutStorage);
  const stored = new Map();
  globalThis.localStorage = { getItem: (key) => stored.get(key) ?? null, setItem: (key, value) => stored.set(key, value) };
  const created = await Launchway.getDeviceId();
  assert.deepEqual([...stored.values()], [created]);
  assert.equal(await Launchway.getDeviceId(), created);
  delete globalThis.localStorage;
});
