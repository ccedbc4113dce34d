/** Updates of a React Native app. */
import { NativeEventEmitter, NativeModules } from 'react-native';
import { createLaunchway, type Launchway as Api } from '../../core/src/index.js';
import { moduleTransport, type NativeLaunchway } from './module.js';

export * from './api.js';

declare const __DEV__: boolean;

const native = NativeModules['Launchway'] as NativeLaunchway | undefined;

export const Launchway: Api = createLaunchway(
  moduleTransport({
    native: native ?? null,
    emitter: (module) => new NativeEventEmitter(module),
    isDevelopment: typeof __DEV__ !== 'undefined' && __DEV__,
  }),
);
