/** The plugin in a browser. It asks the server for updates, and installs none: a page is updated by its own server. */
import { WebPlugin } from '@capacitor/core';
import { checkedOptions, type CheckResult, LaunchwayError, type Options } from '../../core/src/index.js';
import { askServer } from './check.js';
import { EVENT, type LaunchwayPlugin } from './plugin.js';

/** What a page without a store binary reports as its version; any update is newer. */
export const PAGE = { version: '0.0.0', buildNumber: '0', updateId: 'embedded:0' } as const;

const DEVICE_ID_KEY = 'launchway.deviceId';

export class LaunchwayWeb extends WebPlugin implements LaunchwayPlugin {
  private options: Options = {};

  async call(call: { method: string; arguments: string }): Promise<{ result: string }> {
    return { result: JSON.stringify(await this.answer(call.method, JSON.parse(call.arguments))) };
  }

  private async answer(method: string, given: unknown): Promise<object> {
    switch (method) {
      case 'configure':
        this.options = { ...this.options, ...checkedOptions(given) };
        return {};
      case 'check':
        return this.check();
      case 'current':
        return { embedded: true, ...PAGE, trial: false };
      case 'notifyAppReady':
        return { confirmed: false };
      case 'getNext':
        return { update: null };
      case 'list':
        return { updates: [] };
      case 'getFailedUpdate':
        return { update: null, reason: null };
      case 'getDeviceId':
        return { deviceId: deviceId() };
      default:
        throw new LaunchwayError('unavailable', `${method} works in the app on a phone; a browser can only check for updates`);
    }
  }

  private async check(): Promise<CheckResult> {
    const result = await askServer(this.options, { ...PAGE, deviceId: deviceId() });
    switch (result.status) {
      case 'available':
        this.emit('updateAvailable', { update: result.update });
        break;
      case 'storeUpdateRequired':
        this.emit('storeUpdateRequired', { reason: result.reason });
        break;
      case 'none':
        this.emit('noUpdateAvailable', {});
    }
    return result;
  }

  private emit(name: string, payload: object): void {
    this.notifyListeners(EVENT, { name, payload: JSON.stringify(payload) });
  }
}

/** An id that stays in this browser, or in this page where storage is not allowed. */
function deviceId(): string {
  try {
    const stored = localStorage.getItem(DEVICE_ID_KEY);
    if (stored) {
      return stored;
    }
    const created = randomId();
    localStorage.setItem(DEVICE_ID_KEY, created);
    return created;
  } catch {
    return (pageId ??= randomId());
  }
}

let pageId: string | null = null;

function randomId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
