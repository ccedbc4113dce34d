// Calls the SDK in a browser and shows what it answers. The query of the address has the options of `configure`.
import { Launchway } from '@launchway/capacitor';

const options = Object.fromEntries(new URLSearchParams(location.search));

function show(name, value) {
  const line = document.createElement('p');
  line.textContent = `${name} ${typeof value === 'string' ? value : JSON.stringify(value ?? null)}`;
  document.body.append(line);
}

async function showResult(name, call) {
  try {
    show(name, await call());
  } catch (error) {
    show(name, `${error.name} ${error.code}: ${error.message}`);
  }
}

Launchway.addListener('updateAvailable', ({ update }) => show('event', `updateAvailable ${update.version}`));
await showResult('check-before', () => Launchway.check());
await showResult('configure', () => Launchway.configure(options));
await showResult('check', () => Launchway.check());
for (const method of ['sync', 'download', 'reload', 'current', 'list']) {
  await showResult(method, () => Launchway[method]());
}
const id = await Launchway.getDeviceId();
show('device', id === (await Launchway.getDeviceId()) && id === localStorage.getItem('launchway.deviceId') ? 'kept' : 'lost');
show('end', '');
