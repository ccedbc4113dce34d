/** The transport over the native module of React Native. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { moduleTransport } from '../dist/react-native/src/module.js';

const NEVER = () => assert.fail('the native part was used');

test('a call passes texts through', async () => {
  const calls = [];
  const native = {
    call: async (...given) => {
      calls.push(given);
      return '{"confirmed":true}';
    },
  };
  const transport = moduleTransport({ native, emitter: NEVER, isDevelopment: false });
  assert.equal(await transport.call('notifyAppReady', '{}'), '{"confirmed":true}');
  assert.deepEqual(calls, [['notifyAppReady', '{}']]);
});

test('rejections pass through', async () => {
  const reason = Object.assign(new Error('no server'), { code: 'network' });
  const transport = moduleTransport({ native: { call: () => Promise.reject(reason) }, emitter: NEVER, isDevelopment: false });
  await assert.rejects(transport.call('sync', '{}'), (error) => error === reason);
});

test('an app without the native part says so', async () => {
  const transport = moduleTransport({ native: null, emitter: NEVER, isDevelopment: false });
  await assert.rejects(transport.call('sync', '{}'), { code: 'unavailable', message: /without the native part/ });
  transport.listen(NEVER)();
});

test('a development build changes nothing', async () => {
  const transport = moduleTransport({ native: { call: NEVER }, emitter: NEVER, isDevelopment: true });
  await assert.rejects(transport.call('sync', '{}'), { code: 'unavailable', message: /release builds/ });
  transport.listen(NEVER)();
});

test('events pass through until nobody listens', () => {
  let removed = 0;
  let receive = null;
  const native = { call: NEVER };
  const emitter = (module) => {
    assert.equal(module, native);
    return {
      addListener: (event, callback) => {
        assert.equal(event, 'launchway');
        receive = callback;
        return { remove: () => removed++ };
      },
    };
  };
  const received = [];
  const stop = moduleTransport({ native, emitter, isDevelopment: false }).listen((name, payload) => received.push([name, payload]));
  receive({ name: 'nextSet', payload: '{}' });
  assert.deepEqual(received, [['nextSet', '{}']]);
  stop();
  assert.equal(removed, 1);
});
