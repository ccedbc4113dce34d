/** Updates of a NativeScript app. */
import { createLaunchway, type Launchway as Api, type Transport } from '../../core/src/index.js';
import type { AppleClient, JavaClient } from './native.js';
import { androidTransport, appleTransport, unavailableTransport } from './transports.js';

export * from './api.js';

// The bundler replaces the first; the runtimes have the others.
declare const __DEV__: boolean | undefined;
declare const dev: { readonly launchway?: JavaClient } | undefined;
declare const LaunchwayNativeScript: AppleClient | undefined;

export const Launchway: Api = createLaunchway(transport());

function transport(): Transport {
  if (typeof __DEV__ !== 'undefined' && __DEV__) {
    // It would report and confirm updates that do not run.
    return unavailableTransport('a development build runs the code of the command line; updates work in release builds');
  }
  if (typeof dev !== 'undefined' && dev.launchway) {
    return androidTransport(dev.launchway);
  }
  if (typeof LaunchwayNativeScript !== 'undefined') {
    return appleTransport(LaunchwayNativeScript);
  }
  return unavailableTransport('the app was built without the native part of @launchway/nativescript; build it again');
}
