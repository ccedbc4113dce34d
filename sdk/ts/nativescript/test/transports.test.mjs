/** The transports over Java's classes and the Swift class. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLaunchway } from '../../core/dist/index.js';
import { androidTransport, appleTransport, unavailableTransport } from '../dist/nativescript/src/transports.js';

/** A client that answers `sync` with a rejection, and everything else with an empty object. */
function bridge() {
  const calls = [];
  return {
    calls,
    listener: null,
    call(method, argumentsJson, reply) {
      calls.push([method, argumentsJson]);
      if (method === 'sync') {
        reply.reject('network', 'no server');
      } else {
        reply.resolve('{}');
      }
    },
    listen(listener) {
      this.listener = listener;
    },
  };
}

/** As the runtime on Android shows it: only objects that its constructors made are Java's. */
function java(started) {
  class Reply {
    constructor(methods) {
      Object.assign(this, methods);
    }
  }
  class Listener extends Reply {}
  const checked = {
    call(method, argumentsJson, reply) {
      assert.ok(reply instanceof Reply);
      started.call(method, argumentsJson, reply);
    },
    listen(listener) {
      assert.ok(listener === null || listener instanceof Listener);
      started.listen(listener);
    },
  };
  return {
    Launchway: { get: () => (started ? { bridge: () => checked } : null) },
    core: { session: { Bridge: { Reply, Listener } } },
  };
}

/** As the runtime on iOS shows it: blocks are functions. */
function swift(started) {
  return {
    callArgumentsResolveReject: (method, argumentsJson, resolve, reject) => started.call(method, argumentsJson, { resolve, reject }),
    listen: (receive) => started.listen(receive && { onEvent: receive }),
  };
}

const PLATFORMS = { android: (client) => androidTransport(java(client)), ios: (client) => appleTransport(swift(client)) };

for (const [platform, transport] of Object.entries(PLATFORMS)) {
  test(`calls and answers pass through on ${platform}`, async () => {
    const client = bridge();
    assert.equal(await transport(client).call('next', '{"id":"u1"}'), '{}');
    assert.deepEqual(client.calls, [['next', '{"id":"u1"}']]);
  });

  test(`a rejection keeps its code on ${platform}`, async () => {
    const launchway = createLaunchway(transport(bridge()));
    await assert.rejects(launchway.sync(), { name: 'LaunchwayError', code: 'network', message: 'no server' });
  });

  test(`events pass through until nobody listens on ${platform}`, () => {
    const client = bridge();
    const received = [];
    const stop = transport(client).listen((name, payload) => received.push([name, payload]));
    client.listener.onEvent('nextSet', '{}');
    assert.deepEqual(received, [['nextSet', '{}']]);
    stop();
    assert.equal(client.listener, null);
  });
}

test('a client that did not start rejects calls', async () => {
  const transport = androidTransport(java(null));
  await assert.rejects(transport.call('sync', '{}'), { code: 'notStarted' });
  transport.listen(() => assert.fail('an event'))();
});

test('where there is no client calls reject', async () => {
  const launchway = createLaunchway(unavailableTransport('built without it'));
  await assert.rejects(launchway.sync(), { code: 'unavailable', message: 'built without it' });
  launchway.addListener('nextSet', () => assert.fail('an event')).remove();
});

test('a process without a runtime has no client', async () => {
  const { Launchway } = await import('../dist/nativescript/src/index.js');
  await assert.rejects(Launchway.current(), { code: 'unavailable', message: /without the native part/ });
});
