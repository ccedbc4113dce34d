/** Updates of a Capacitor app: the native part on phones, the check alone in a browser. */
import { registerPlugin } from '@capacitor/core';
import { createLaunchway, type Launchway as Api } from '../../core/src/index.js';
import { type LaunchwayPlugin, pluginTransport } from './plugin.js';

export * from './api.js';

// Capacitor asks for it again by each call until the first one has it: all must get the same.
let web: Promise<LaunchwayPlugin> | null = null;

const plugin = registerPlugin<LaunchwayPlugin>('Launchway', {
  web: () => (web ??= import('./web.js').then(({ LaunchwayWeb }) => new LaunchwayWeb())),
});

export const Launchway: Api = createLaunchway(pluginTransport(plugin));
