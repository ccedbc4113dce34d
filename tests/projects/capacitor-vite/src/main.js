// Counts its own starts with a native plugin, so that the bundle holds real plugin code.
import { Capacitor } from '@capacitor/core';
import { Preferences } from '@capacitor/preferences';

const { value } = await Preferences.get({ key: 'starts' });
const starts = Number(value ?? 0) + 1;
await Preferences.set({ key: 'starts', value: String(starts) });

document.querySelector('#text').textContent = `Start ${starts} on ${Capacitor.getPlatform()}`;
