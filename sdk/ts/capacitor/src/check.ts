/** The check for updates by `fetch`, for pages in a browser. */
import { type Available, LaunchwayError, type NoUpdate, type Options, type StoreUpdateRequired } from '../../core/src/index.js';

export interface Running {
  readonly version: string;
  readonly buildNumber: string;
  readonly updateId: string;
  readonly deviceId: string;
}

const MAX_ANSWER = 256 * 1024;
const TIMEOUT_MS = 30_000;

export async function askServer(options: Options, running: Running): Promise<NoUpdate | Available | StoreUpdateRequired> {
  const answer = await fetchText(checkUrl(options, running));
  let fields: Record<string, unknown>;
  try {
    fields = Object(JSON.parse(answer)) as Record<string, unknown>;
  } catch {
    throw invalid('it is not JSON');
  }
  const available = fields['updateAvailable'];
  if (available === false) {
    return { status: 'none' };
  }
  if (available !== true) {
    throw invalid('updateAvailable is not a boolean');
  }
  if (fields['requiresStoreUpdate'] === true) {
    return { status: 'storeUpdateRequired', reason: text(fields, 'compatibilityReason') };
  }
  return {
    status: 'available',
    update: {
      id: text(fields, 'id'),
      version: text(fields, 'version'),
      buildNumber: text(fields, 'buildNumber'),
      sha256: text(fields, 'sha256'),
      size: size(fields, 'size'),
    },
  };
}

function checkUrl(options: Options, running: Running): string {
  const { serverUrl, bundleId, configuration } = options;
  if (serverUrl === undefined || bundleId === undefined) {
    throw new LaunchwayError('notConfigured', 'a page in a browser has no settings of its own; call configure with serverUrl and bundleId');
  }
  const query = new URLSearchParams({
    currentVersion: running.version,
    currentBuild: running.buildNumber,
    currentUpdateId: running.updateId,
    deviceId: running.deviceId,
  });
  if (configuration !== undefined) {
    query.set('configuration', configuration);
  }
  return `${serverUrl.replace(/\/+$/, '')}/update/check/${encodeURIComponent(bundleId)}?${query}`;
}

async function fetchText(url: string): Promise<string> {
  let response: Response;
  let answer: string;
  try {
    response = await fetch(url, { cache: 'no-store', credentials: 'omit', signal: AbortSignal.timeout(TIMEOUT_MS) });
    answer = await response.text();
  } catch (error) {
    throw new LaunchwayError('network', `the server cannot be reached: ${(error as Error).message}`);
  }
  if (response.status !== 200) {
    throw new LaunchwayError('server', `the server answered the check with status ${response.status}`);
  }
  if (answer.length > MAX_ANSWER) {
    throw invalid('it is longer than 256 KiB');
  }
  return answer;
}

function text(fields: Record<string, unknown>, name: string): string {
  const value = fields[name];
  if (typeof value !== 'string' || value === '') {
    throw invalid(`${name} is not a text`);
  }
  return value;
}

function size(fields: Record<string, unknown>, name: string): number {
  const value = fields[name];
  if (!Number.isSafeInteger(value) || (value as number) < 0) {
    throw invalid(`${name} is not a size`);
  }
  return value as number;
}

function invalid(what: string): LaunchwayError {
  return new LaunchwayError('invalidAnswer', `the server answered the check in a form that this version does not know: ${what}`);
}
