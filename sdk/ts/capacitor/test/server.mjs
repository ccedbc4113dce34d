/** A server whose answers a test sets, in place of `fetch`. */
import { after, before } from 'node:test';

export const OFFER = {
  updateAvailable: true,
  requiresStoreUpdate: false,
  platform: 'android',
  version: '1.2.0',
  buildNumber: '7',
  releaseNotes: '',
  url: 'https://updates.example.com/p.zip',
  expiresAt: '2026-01-01T00:00:00.000Z',
  compatibilityReason: null,
  id: 'u1',
  sha256: 'ab'.repeat(32),
  size: 4096,
  mandatory: false,
};

export const UPDATE = { id: 'u1', version: '1.2.0', buildNumber: '7', sha256: 'ab'.repeat(32), size: 4096 };

/** The requests of the test file, and `answers`, which returns a status and a body or throws. */
export const server = { requests: [], answers: () => [200, { updateAvailable: false, message: '' }] };

const { fetch } = globalThis;

before(() => {
  globalThis.fetch = async (url, init) => {
    server.requests.push({ url: new URL(url), init });
    const [status, body] = server.answers();
    return new Response(typeof body === 'string' ? body : JSON.stringify(body), { status });
  };
});

after(() => {
  globalThis.fetch = fetch;
});
