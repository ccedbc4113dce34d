/** For each npm package an app that uses its whole API, what else it needs, and how it is compiled. */
const USE = `
async function everything(): Promise<void> {
  const options: Options = { checkOn: 'resume', apply: 'immediate', readyMode: 'manual', readyTimeoutMs: 5000, wifiOnly: true, keepSlots: 3 };
  await Launchway.configure(options);
  const result: SyncResult = await Launchway.sync();
  if (result.status === 'storeUpdateRequired') {
    console.log(result.reason);
  } else if (result.status !== 'none') {
    console.log(result.update.version);
  }
  const found = await Launchway.download();
  if (found.status === 'downloaded') {
    const update: UpdateInfo = await Launchway.next(found.update.id);
    console.log(update.size ?? 0);
  }
  const checked = await Launchway.check();
  console.log(checked.status === 'available' && checked.update.buildNumber);
  const confirmed: boolean = await Launchway.notifyAppReady();
  const { embedded, trial } = await Launchway.current();
  console.log(confirmed, embedded, trial, (await Launchway.getNext())?.id, (await Launchway.list()).length);
  console.log((await Launchway.getFailedUpdate())?.reason, (await Launchway.getDeviceId()).length);
  const handle = Launchway.addListener('downloadProgress', ({ received, total }) => console.log(received / total));
  Launchway.addListener('rolledBack', ({ update, reason }) => console.log(update.id, reason));
  handle.remove();
  await Launchway.reset();
  await Launchway.reload();
}

everything().catch((error: unknown) => {
  const code: ErrorCode | null = error instanceof LaunchwayError ? error.code : null;
  console.log(code === 'network');
});

// @ts-expect-error: not an option
Launchway.configure({ checkon: 'launch' }).catch(() => undefined);
// @ts-expect-error: not an event
Launchway.addListener('updateReady', () => undefined);
`;

const importing = (name) => `import { type ErrorCode, Launchway, LaunchwayError, type Options, type SyncResult, type UpdateInfo } from '@launchway/${name}';\n${USE}`;

const BUNDLER = ['--target', 'es2022', '--module', 'esnext', '--moduleResolution', 'bundler'];

export const SAMPLES = {
  capacitor: {
    modules: ['@capacitor/core'],
    options: [...BUNDLER, '--skipLibCheck'],
    source: importing('capacitor'),
  },
  'react-native': { modules: [], options: BUNDLER, source: importing('react-native') },
  nativescript: { modules: [], options: BUNDLER, source: importing('nativescript') },
};
