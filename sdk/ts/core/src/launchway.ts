/** The API of every package, over a transport to the native part. */
import { checkResult, currentContent, downloadResult, failedUpdate, syncResult } from './answers.js';
import { LaunchwayError, launchwayError } from './errors.js';
import type { EventName, Events, ListenerHandle } from './events.js';
import { Listeners } from './listeners.js';
import { checkedOptions, type Options } from './options.js';
import type { CheckResult, CurrentContent, DownloadResult, FailedUpdate, SyncResult, UpdateInfo } from './results.js';
import { flag, type JsonObject, parseObject, text, update, updateOrNull, updates } from './shape.js';
import type { Transport } from './transport.js';

/** All promises reject with a `LaunchwayError`. */
export interface Launchway {
  /** Sets options for this process, over those that the binary was built with. */
  configure(options: Options): Promise<void>;
  /** Asks the server for an update. Downloads nothing. */
  check(): Promise<CheckResult>;
  /** Downloads and installs the update on offer, without making it the next content. */
  download(): Promise<DownloadResult>;
  /** Checks, downloads, installs and makes the update the next content. Most apps call this once at their start, and nothing else. */
  sync(): Promise<SyncResult>;
  /** Makes an installed update the next content. */
  next(id: string): Promise<UpdateInfo>;
  /** Starts the next content now. Rejects with `reloadUnsupported` where the framework cannot do that. */
  reload(): Promise<void>;
  /** Confirms the content that runs, and resolves with whether it was on trial. */
  notifyAppReady(): Promise<boolean>;
  current(): Promise<CurrentContent>;
  getNext(): Promise<UpdateInfo | null>;
  /** The updates that are installed. */
  list(): Promise<UpdateInfo[]>;
  /** Runs the content of the binary from the next start on. */
  reset(): Promise<void>;
  /** The last update that was rolled back or could not be installed. */
  getFailedUpdate(): Promise<FailedUpdate | null>;
  getDeviceId(): Promise<string>;
  addListener<Name extends EventName>(event: Name, callback: (payload: Events[Name]) => void): ListenerHandle;
}

export function createLaunchway(transport: Transport): Launchway {
  const listeners = new Listeners(transport);
  const call = <Result>(method: string, read: (fields: JsonObject) => Result, given: object = {}): Promise<Result> =>
    callNative(transport, method, given, read);
  const nothing = () => undefined;
  return {
    configure: async (options) => call('configure', nothing, checkedOptions(options)),
    check: () => call('check', checkResult),
    download: () => call('download', downloadResult),
    sync: () => call('sync', syncResult),
    next: async (id) => call('next', (fields) => update(fields, 'update'), { id: updateId(id) }),
    reload: () => call('reload', nothing),
    notifyAppReady: () => call('notifyAppReady', (fields) => flag(fields, 'confirmed')),
    current: () => call('current', currentContent),
    getNext: () => call('getNext', (fields) => updateOrNull(fields, 'update')),
    list: () => call('list', (fields) => updates(fields, 'updates')),
    reset: () => call('reset', nothing),
    getFailedUpdate: () => call('getFailedUpdate', failedUpdate),
    getDeviceId: () => call('getDeviceId', (fields) => text(fields, 'deviceId')),
    addListener: (event, callback) => listeners.add(event, callback),
  };
}

async function callNative<Result>(
  transport: Transport,
  method: string,
  given: object,
  read: (fields: JsonObject) => Result,
): Promise<Result> {
  let answer: unknown;
  try {
    answer = await transport.call(method, JSON.stringify(given));
  } catch (reason) {
    throw launchwayError(reason);
  }
  try {
    return read(parseObject(answer));
  } catch (error) {
    throw new LaunchwayError('unknown', `the native part answered ${method} in a form that this version does not know: ${(error as Error).message}`);
  }
}

function updateId(id: unknown): string {
  if (typeof id !== 'string' || id === '') {
    throw new LaunchwayError('invalidArgument', 'id must be the id of an update');
  }
  return id;
}
