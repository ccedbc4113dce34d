/** The options of `configure`. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLaunchway } from '../dist/index.js';
import { nativePart } from './native.mjs';

const ALL = {
  serverUrl: 'https://updates.example.com/api',
  bundleId: 'com.example.app',
  configuration: 'production',
  checkOn: 'manual',
  apply: 'onBackground',
  readyMode: 'manual',
  readyTimeoutMs: 600000,
  wifiOnly: true,
  keepSlots: 10,
};

const REFUSED = [
  [undefined, 'options must be an object'],
  [null, 'options must be an object'],
  [[], 'options must be an object'],
  ['launch', 'options must be an object'],
  [{ checkon: 'launch' }, 'checkon is not an option; '],
  [{ toString: 'launch' }, 'toString is not an option; '],
  [{ ['__proto__']: 1 }, '__proto__ is not an option; '],
  [{ serverUrl: 'updates.example.com' }, 'serverUrl must be an address that starts with `https://` or `http://`'],
  [{ serverUrl: 'https://' }, 'serverUrl must be an address'],
  [{ bundleId: '' }, 'bundleId must be a text that is not empty'],
  [{ configuration: 1 }, 'configuration must be a text that is not empty'],
  [{ checkOn: 'start' }, 'checkOn must be `launch` or `resume` or `manual`'],
  [{ apply: null }, 'apply must be `nextLaunch` or `onBackground` or `immediate`'],
  [{ readyMode: true }, 'readyMode must be `auto` or `manual`'],
  [{ readyTimeoutMs: 999 }, 'readyTimeoutMs must be a whole number from 1000 to 600000'],
  [{ readyTimeoutMs: 600001 }, 'readyTimeoutMs must be a whole number'],
  [{ readyTimeoutMs: 1000.5 }, 'readyTimeoutMs must be a whole number'],
  [{ readyTimeoutMs: '20000' }, 'readyTimeoutMs must be a whole number'],
  [{ wifiOnly: 'yes' }, 'wifiOnly must be `true` or `false`'],
  [{ keepSlots: 0 }, 'keepSlots must be a whole number from 1 to 10'],
  [{ keepSlots: 11 }, 'keepSlots must be a whole number from 1 to 10'],
];

test('all options reach the native part', async () => {
  const native = nativePart({ configure: {} });
  await createLaunchway(native.transport).configure(ALL);
  assert.deepEqual(native.calls, [['configure', ALL]]);
});

test('options that are not set are not sent', async () => {
  const native = nativePart({ configure: {} });
  await createLaunchway(native.transport).configure({ wifiOnly: undefined, keepSlots: 1 });
  assert.deepEqual(native.calls, [['configure', { keepSlots: 1 }]]);
});

test('wrong options never reach the native part', async () => {
  const native = nativePart({ configure: {} });
  for (const [options, message] of REFUSED) {
    // Made by JSON, so that `__proto__` is a name like others.
    const given = options && JSON.parse(JSON.stringify(options));
    await assert.rejects(createLaunchway(native.transport).configure(given), (error) => {
      assert.equal(error.code, 'invalidArgument');
      assert.ok(error.message.startsWith(message), error.message);
      return true;
    });
  }
  assert.deepEqual(native.calls, []);
});
