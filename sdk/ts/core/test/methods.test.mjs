/** The methods of the API: what they ask of the native part, and what they make of its answers. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLaunchway, ERROR_CODES, LaunchwayError } from '../dist/index.js';
import { nativePart, UPDATE } from './native.mjs';

const withSize = (size) => ({ ...UPDATE, size });

/** Method, its arguments, the native answer, and what the app gets. */
const ANSWERS = [
  ['configure', [{ checkOn: 'resume' }], {}, undefined],
  ['check', [], { status: 'none' }, { status: 'none' }],
  ['check', [], { status: 'available', update: UPDATE }, { status: 'available', update: UPDATE }],
  ['check', [], { status: 'quarantined', update: UPDATE }, { status: 'quarantined', update: UPDATE }],
  ['check', [], { status: 'storeUpdateRequired', reason: 'r' }, { status: 'storeUpdateRequired', reason: 'r' }],
  ['download', [], { status: 'none' }, { status: 'none' }],
  ['download', [], { status: 'downloaded', update: UPDATE }, { status: 'downloaded', update: UPDATE }],
  ['download', [], { status: 'waitsForWifi', update: UPDATE }, { status: 'waitsForWifi', update: UPDATE }],
  ['sync', [], { status: 'none', update: null }, { status: 'none' }],
  ['sync', [], { status: 'staged', update: UPDATE }, { status: 'staged', update: UPDATE }],
  ['sync', [], { status: 'current', update: UPDATE }, { status: 'current', update: UPDATE }],
  ['sync', [], { status: 'quarantined', update: UPDATE }, { status: 'quarantined', update: UPDATE }],
  ['sync', [], { status: 'waitsForWifi', update: UPDATE }, { status: 'waitsForWifi', update: UPDATE }],
  ['sync', [], { status: 'storeUpdateRequired', reason: 'r' }, { status: 'storeUpdateRequired', reason: 'r' }],
  ['next', ['u1'], { update: UPDATE }, UPDATE],
  ['reload', [], {}, undefined],
  ['notifyAppReady', [], { confirmed: true }, true],
  [
    'current',
    [],
    { embedded: true, updateId: 'embedded:3', version: '1.0.0', buildNumber: '3', trial: false, more: 1 },
    { embedded: true, updateId: 'embedded:3', version: '1.0.0', buildNumber: '3', trial: false },
  ],
  ['getNext', [], { update: null }, null],
  ['getNext', [], { update: UPDATE }, UPDATE],
  ['list', [], { updates: [UPDATE, UPDATE] }, [UPDATE, UPDATE]],
  ['reset', [], {}, undefined],
  ['getFailedUpdate', [], { update: null, reason: null }, null],
  ['getFailedUpdate', [], { update: UPDATE, reason: 'crash' }, { update: UPDATE, reason: 'crash' }],
  ['getDeviceId', [], { deviceId: 'd' }, 'd'],
];

/** Method and native answers of another form. */
const WRONG = {
  configure: ['', '[]', 'null', '"x"', '{'],
  check: [{}, { status: 'available' }, { status: 'later' }, { status: 1 }, { status: 'storeUpdateRequired' }],
  download: [{ status: 'available', update: UPDATE }, { status: 'downloaded', update: null }],
  sync: [{ status: 'staged', update: [] }, { status: 'current', update: { ...UPDATE, id: 1 } }, { status: 'downloaded', update: UPDATE }],
  next: [{}, { update: null }, { update: { ...UPDATE, sha256: undefined } }],
  notifyAppReady: [{}, { confirmed: 'true' }, { confirmed: 1 }],
  current: [{}, { embedded: true, updateId: null, version: '1.0.0', buildNumber: '3', trial: false }],
  getNext: [{}, { update: 'u1' }, { update: withSize(-1) }, { update: withSize(1.5) }, { update: withSize('1') }],
  list: [{}, { updates: UPDATE }, { updates: [UPDATE, null] }],
  getFailedUpdate: [{}, { update: UPDATE, reason: null }],
  getDeviceId: [{}, { deviceId: 1 }],
};

test('each method asks the native part and reads its answer', async () => {
  for (const [method, given, answer, expected] of ANSWERS) {
    const native = nativePart({ [method]: answer });
    const result = await createLaunchway(native.transport)[method](...given);
    assert.deepEqual(result, expected, method);
    const sent = method === 'next' ? { id: 'u1' } : (given[0] ?? {});
    assert.deepEqual(native.calls, [[method, sent]]);
  }
});

test('every method of the API is among those tested', () => {
  const methods = Object.keys(createLaunchway(nativePart().transport)).filter((name) => name !== 'addListener');
  assert.deepEqual(new Set(ANSWERS.map(([method]) => method)), new Set(methods));
});

test('a size that is not known is left out', async () => {
  const { size: _, ...known } = UPDATE;
  for (const update of [known, withSize(null)]) {
    assert.deepEqual(await createLaunchway(nativePart({ getNext: { update } }).transport).getNext(), known);
  }
});

test('an answer of another form rejects', async () => {
  for (const [method, answers] of Object.entries(WRONG)) {
    for (const answer of answers) {
      const launchway = createLaunchway(nativePart({ [method]: answer }).transport);
      await assert.rejects(launchway[method](method === 'next' ? 'u1' : {}), (error) => {
        assert.ok(error instanceof LaunchwayError);
        assert.equal(error.code, 'unknown');
        assert.match(error.message, new RegExp(`answered ${method} in a form`));
        return true;
      });
    }
  }
});

test('a rejection keeps its code and message', async () => {
  for (const code of ERROR_CODES) {
    const { transport } = nativePart({ sync: Object.assign(new Error('no server'), { code }) });
    await assert.rejects(createLaunchway(transport).sync(), { name: 'LaunchwayError', code, message: 'no server' });
  }
});

test('a rejection without a known code is unknown', async () => {
  const reasons = [new Error('x'), { code: 'EIO', message: 'x' }, 'x', { code: 7, message: '' }, null, undefined];
  for (const reason of reasons) {
    const transport = { call: () => Promise.reject(reason), listen: () => () => undefined };
    await assert.rejects(createLaunchway(transport).sync(), { name: 'LaunchwayError', code: 'unknown' });
  }
});

test('a transport that throws rejects', async () => {
  const call = () => {
    throw new Error('gone');
  };
  await assert.rejects(createLaunchway({ call, listen: () => () => undefined }).sync(), { code: 'unknown', message: 'gone' });
});

test('next takes only an id', async () => {
  const native = nativePart({ next: { update: UPDATE } });
  for (const id of [undefined, null, '', 7, {}]) {
    await assert.rejects(createLaunchway(native.transport).next(id), { code: 'invalidArgument' });
  }
  assert.deepEqual(native.calls, []);
});
