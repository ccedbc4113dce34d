/** The transport over the native module: one method and one event for everything. */
import { LaunchwayError, type Transport } from '../../core/src/index.js';

/** The event of the module that carries all events of the API. */
export const EVENT = 'launchway';

export interface CarriedEvent {
  name: string;
  payload: string;
}

export interface NativeLaunchway {
  call(method: string, argumentsJson: string): Promise<string>;
  addListener(event: string): void;
  removeListeners(count: number): void;
}

export interface Emitter {
  // React Native has no types for what events carry.
  addListener(event: string, receive: (event: any) => void): { remove(): void };
}

export interface Platform {
  /** Null: the app was built without the native part. */
  native: NativeLaunchway | null;
  emitter: (native: NativeLaunchway) => Emitter;
  /** Whether the code comes from the bundler of a developer. */
  isDevelopment: boolean;
}

const MISSING = 'the app was built without the native part of @launchway/react-native; build it again';
// It would report and confirm updates that do not run.
const DEVELOPMENT = 'a development build runs the code of Metro; updates work in release builds';

export function moduleTransport({ native, emitter, isDevelopment }: Platform): Transport {
  if (native === null || isDevelopment) {
    const reason = native === null ? MISSING : DEVELOPMENT;
    return {
      call: () => Promise.reject(new LaunchwayError('unavailable', reason)),
      listen: () => () => undefined,
    };
  }
  return {
    call: (method, argumentsJson) => native.call(method, argumentsJson),
    listen(receive) {
      const listener = emitter(native).addListener(EVENT, ({ name, payload }: CarriedEvent) => receive(name, payload));
      return () => listener.remove();
    },
  };
}
