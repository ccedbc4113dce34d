/** The events of the API and their listeners. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLaunchway } from '../dist/index.js';
import { nativePart, UPDATE } from './native.mjs';

const PAYLOADS = {
  updateAvailable: { update: UPDATE },
  noUpdateAvailable: {},
  storeUpdateRequired: { reason: 'r' },
  downloadProgress: { id: 'u1', received: 1, total: 2 },
  downloadComplete: { update: UPDATE },
  downloadFailed: { update: UPDATE, code: 'noSpace', message: 'm' },
  nextSet: { update: UPDATE },
  updateApplied: { update: null },
  appReady: { update: UPDATE },
  updateFailed: { update: UPDATE, reason: 'r' },
  rolledBack: { update: UPDATE, reason: 'r' },
};

/** In place of the test runner, for which it is a failure. */
function firstUnhandledRejection() {
  const runners = process.listeners('unhandledRejection');
  process.removeAllListeners('unhandledRejection');
  return new Promise((resolve) => {
    process.once('unhandledRejection', (error) => {
      runners.forEach((runner) => process.on('unhandledRejection', runner));
      resolve(error);
    });
  });
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

test('each event reaches its listener alone', () => {
  const native = nativePart();
  const launchway = createLaunchway(native.transport);
  const received = [];
  for (const event of Object.keys(PAYLOADS)) {
    launchway.addListener(event, (payload) => received.push([event, payload]));
  }
  Object.entries(PAYLOADS).forEach(([event, payload]) => native.emit(event, payload));
  assert.deepEqual(received, Object.entries(PAYLOADS));
});

test('all listeners share one subscription', () => {
  const native = nativePart();
  const launchway = createLaunchway(native.transport);
  assert.equal(native.receivers.size, 0);
  const handles = [launchway.addListener('nextSet', () => undefined), launchway.addListener('appReady', () => undefined)];
  assert.equal(native.receivers.size, 1);
  handles[0].remove();
  assert.equal(native.receivers.size, 1);
  handles[1].remove();
  handles[1].remove();
  assert.equal(native.receivers.size, 0);
  launchway.addListener('nextSet', () => undefined);
  assert.equal(native.receivers.size, 1);
});

test('a removed listener receives nothing', () => {
  const native = nativePart();
  const launchway = createLaunchway(native.transport);
  const received = [];
  const callback = (payload) => received.push(payload);
  launchway.addListener('nextSet', callback);
  launchway.addListener('nextSet', callback).remove();
  native.emit('nextSet', PAYLOADS.nextSet);
  assert.deepEqual(received, [PAYLOADS.nextSet]);
});

test('a listener that removes another is obeyed later', () => {
  const native = nativePart();
  const launchway = createLaunchway(native.transport);
  const received = [];
  launchway.addListener('nextSet', () => second.remove());
  const second = launchway.addListener('nextSet', () => received.push(2));
  native.emit('nextSet', PAYLOADS.nextSet);
  native.emit('nextSet', PAYLOADS.nextSet);
  assert.deepEqual(received, [2]);
});

test('a listener that throws does not keep it from others', async () => {
  const native = nativePart();
  const launchway = createLaunchway(native.transport);
  const unhandled = firstUnhandledRejection();
  const received = [];
  launchway.addListener('nextSet', () => {
    throw new Error('a mistake of the app');
  });
  launchway.addListener('nextSet', (payload) => received.push(payload));
  native.emit('nextSet', PAYLOADS.nextSet);
  assert.deepEqual(received, [PAYLOADS.nextSet]);
  assert.equal((await unhandled).message, 'a mistake of the app');
});

test('what happened before waits for the first listener', async () => {
  const native = nativePart();
  const launchway = createLaunchway(native.transport);
  // The first listener of all makes the native part deliver what it held.
  launchway.addListener('downloadProgress', () => undefined);
  native.emit('rolledBack', PAYLOADS.rolledBack);
  native.emit('updateApplied', PAYLOADS.updateApplied);
  native.emit('nextSet', PAYLOADS.nextSet);
  const received = [];
  for (const event of ['rolledBack', 'updateApplied', 'nextSet']) {
    launchway.addListener(event, (payload) => received.push([event, payload]));
  }
  assert.deepEqual(received, []);
  await settled();
  launchway.addListener('rolledBack', () => received.push('once more'));
  await settled();
  assert.deepEqual(received, [
    ['rolledBack', PAYLOADS.rolledBack],
    ['updateApplied', PAYLOADS.updateApplied],
  ]);
});

test('only the newest events wait', async () => {
  const native = nativePart();
  const launchway = createLaunchway(native.transport);
  launchway.addListener('downloadProgress', () => undefined);
  for (let count = 0; count < 1000; count++) {
    native.emit('rolledBack', { update: UPDATE, reason: String(count) });
  }
  const received = [];
  launchway.addListener('rolledBack', ({ reason }) => received.push(reason));
  await settled();
  assert.deepEqual(received, Array.from({ length: 16 }, (_, index) => String(984 + index)));
});

test('unknown events and wrong payloads are skipped', () => {
  const native = nativePart();
  const launchway = createLaunchway(native.transport);
  const received = [];
  Object.keys(PAYLOADS).forEach((event) => launchway.addListener(event, (payload) => received.push(payload)));
  native.emit('toString', {});
  native.emit('somethingNew', {});
  const events = Object.keys(PAYLOADS).filter((event) => event !== 'noUpdateAvailable');
  for (const payload of ['', '{', '[]', 'null', {}, { update: 1, reason: 1, id: 1 }]) {
    events.forEach((event) => native.emit(event, payload));
  }
  native.emit('noUpdateAvailable', '');
  native.emit('downloadFailed', { update: UPDATE, code: 'EIO', message: 'm' });
  native.emit('downloadProgress', { id: 'u1', received: -1, total: 2 });
  assert.deepEqual(received, []);
});

test('only known events and functions can be listened with', () => {
  const native = nativePart();
  const launchway = createLaunchway(native.transport);
  assert.throws(() => launchway.addListener('updateReady', () => undefined), { code: 'invalidArgument' });
  assert.throws(() => launchway.addListener('nextSet'), { code: 'invalidArgument' });
  assert.equal(native.receivers.size, 0);
});
