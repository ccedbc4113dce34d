// Shows which version runs and what the SDK does.
import { Launchway } from '@launchway/capacitor';
import { VERSION } from './version.js';

Launchway.sync().catch((error) => show(`${error.code}: ${error.message}`));

document.getElementById('version').textContent = VERSION;

function show(text) {
  const item = document.createElement('li');
  item.textContent = text;
  document.getElementById('events').append(item);
}

for (const event of ['updateAvailable', 'downloadComplete', 'nextSet', 'updateApplied', 'appReady', 'rolledBack', 'updateFailed']) {
  Launchway.addListener(event, ({ update, reason }) => {
    const name = update ? `${update.version} (${update.buildNumber})` : 'the content of the binary';
    show(reason ? `${event}: ${name}, ${reason}` : `${event}: ${name}`);
  });
}

Launchway.current()
  .then(({ embedded, version, buildNumber, trial }) => {
    const origin = embedded ? 'from the binary' : trial ? 'an update on trial' : 'an update';
    document.getElementById('running').textContent = `Runs ${version} (${buildNumber}), ${origin}`;
  })
  .catch((error) => show(`${error.code}: ${error.message}`));
