/** The transports over the native client: by Java's classes on Android, by a Swift class on iOS. */
import { LaunchwayError, type Transport } from '../../core/src/index.js';
import type { AppleClient, JavaBridge, JavaClient } from './native.js';

const NOT_STARTED = 'the client did not start; remove the folder platforms and build the app again';

export function androidTransport(client: JavaClient): Transport {
  const { Reply, Listener } = client.core.session.Bridge;
  const bridge = (): JavaBridge => {
    const launchway = client.Launchway.get();
    if (!launchway) {
      throw new LaunchwayError('notStarted', NOT_STARTED);
    }
    return launchway.bridge();
  };
  return {
    call: (method, argumentsJson) =>
      new Promise((resolve, reject) => {
        const reply = { resolve, reject: (code: string, message: string) => reject(new CodedError(code, message)) };
        bridge().call(method, argumentsJson, new Reply(reply));
      }),
    listen(receive) {
      // Calls say why where there is no client.
      if (!client.Launchway.get()) {
        return () => undefined;
      }
      bridge().listen(new Listener({ onEvent: receive }));
      return () => bridge().listen(null);
    },
  };
}

export function appleTransport(client: AppleClient): Transport {
  return {
    call: (method, argumentsJson) =>
      new Promise((resolve, reject) => {
        client.callArgumentsResolveReject(method, argumentsJson, resolve, (code, message) => reject(new CodedError(code, message)));
      }),
    listen(receive) {
      client.listen(receive);
      return () => client.listen(null);
    },
  };
}

/** Where there is nothing to call. */
export function unavailableTransport(reason: string): Transport {
  return {
    call: () => Promise.reject(new LaunchwayError('unavailable', reason)),
    listen: () => () => undefined,
  };
}

/** A rejection of the client, whose code the API checks. */
class CodedError extends Error {
  constructor(
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}
