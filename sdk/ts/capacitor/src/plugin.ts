/** The transport over Capacitor's bridge: one method and one event for everything. */
import type { PluginListenerHandle } from '@capacitor/core';
import { LaunchwayError, type Transport } from '../../core/src/index.js';

/** The event of the plugin that carries all events of the API. */
export const EVENT = 'launchway';

export interface CarriedEvent {
  name: string;
  payload: string;
}

/** What the plugin has on every platform. */
export interface LaunchwayPlugin {
  call(call: { method: string; arguments: string }): Promise<{ result: string }>;
  addListener(event: typeof EVENT, receive: (event: CarriedEvent) => void): Promise<PluginListenerHandle>;
}

/** Codes with which Capacitor itself rejects where an app was built without the plugin. */
const MISSING: readonly unknown[] = ['UNIMPLEMENTED', 'UNAVAILABLE'];

export function pluginTransport(plugin: LaunchwayPlugin): Transport {
  return {
    async call(method, argumentsJson) {
      try {
        return (await plugin.call({ method, arguments: argumentsJson })).result;
      } catch (reason) {
        const { code, message } = Object(reason) as { code?: unknown; message?: unknown };
        throw MISSING.includes(code) ? new LaunchwayError('unavailable', String(message)) : reason;
      }
    },
    listen(receive) {
      const handle = plugin.addListener(EVENT, ({ name, payload }) => receive(name, payload));
      // Without the plugin there are no events; the calls say why.
      handle.catch(() => undefined);
      return () => {
        handle.then((added) => added.remove()).catch(() => undefined);
      };
    },
  };
}
