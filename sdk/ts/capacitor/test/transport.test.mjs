/** The transport over Capacitor's bridge. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pluginTransport } from '../dist/capacitor/src/plugin.js';

const rejecting = (reason) => pluginTransport({ call: () => Promise.reject(reason), addListener: () => Promise.reject(reason) });

test('a call passes texts through', async () => {
  const calls = [];
  const plugin = {
    call: async (call) => {
      calls.push(call);
      return { result: '{"confirmed":true}' };
    },
  };
  assert.equal(await pluginTransport(plugin).call('notifyAppReady', '{}'), '{"confirmed":true}');
  assert.deepEqual(calls, [{ method: 'notifyAppReady', arguments: '{}' }]);
});

test('an app that was built without the plugin says so', async () => {
  for (const code of ['UNIMPLEMENTED', 'UNAVAILABLE']) {
    const reason = Object.assign(new Error('"Launchway" plugin is not implemented on android'), { code });
    await assert.rejects(rejecting(reason).call('sync', '{}'), { name: 'LaunchwayError', code: 'unavailable', message: /not implemented/ });
  }
});

test('other rejections pass through', async () => {
  const reason = Object.assign(new Error('no server'), { code: 'network' });
  await assert.rejects(rejecting(reason).call('sync', '{}'), (error) => error === reason);
});

test('events pass through until nobody listens', async () => {
  let receive = null;
  let removed = 0;
  const plugin = {
    addListener: async (event, callback) => {
      assert.equal(event, 'launchway');
      receive = callback;
      return { remove: async () => void removed++ };
    },
  };
  const received = [];
  const stop = pluginTransport(plugin).listen((name, payload) => received.push([name, payload]));
  receive({ name: 'nextSet', payload: '{}' });
  assert.deepEqual(received, [['nextSet', '{}']]);
  stop();
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(removed, 1);
});

test('listening without the plugin rejects nothing', async () => {
  rejecting(new Error('no plugin')).listen(() => undefined)();
  await new Promise((resolve) => setImmediate(resolve));
});
