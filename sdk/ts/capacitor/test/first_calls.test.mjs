/** Calls that come at once, before Capacitor has loaded the implementation for browsers. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Launchway } from '../dist/capacitor/src/index.js';
import { OFFER, server, UPDATE } from './server.mjs';

test('calls at once share listeners and options', async () => {
  server.answers = () => [200, OFFER];
  const received = [];
  Launchway.addListener('updateAvailable', (payload) => received.push(payload));
  const configured = Launchway.configure({ serverUrl: 'https://updates.example.com/api', bundleId: 'com.example.app' });
  const checked = Launchway.check();
  await configured;
  assert.deepEqual(await checked, { status: 'available', update: UPDATE });
  assert.deepEqual(received, [{ update: UPDATE }]);
});
