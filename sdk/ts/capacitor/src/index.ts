/** Updates of a Capacitor app: the native part on phones, the check alone in a browser. */
import { registerPlugin } from '@capacitor/core';
import { createLaunchway, type Launchway as Api } from '../../core/src/index.js';
import { type LaunchwayPlugin, pluginTransport } from './plugin.js';

export * from './api.js';

const plugin = registerPlugin<LaunchwayPlugin>('Launchway', {
  web: () => import('./web.js').then(({ LaunchwayWeb }) => new LaunchwayWeb()),
});

export const Launchway: Api = createLaunchway(pluginTransport(plugin));
