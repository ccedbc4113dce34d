// Shows which version runs, and which versions this device has run before.
'use strict';

const version = globalThis.APP_VERSION;
const show = (id, text) => {
  document.getElementById(id).textContent = text;
};
const day = (milliseconds) => new Date(milliseconds).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'short' });

// An app may be denied storage, or find something there that it did not write. Then it begins anew.
function load() {
  try {
    const { starts, versions } = JSON.parse(localStorage.getItem('sample-app'));
    if (Number.isInteger(starts) && Array.isArray(versions)) {
      return { starts, versions: versions.filter((known) => typeof known?.version === 'string' && Number.isFinite(known.since)) };
    }
  } catch {
    // As on the first start.
  }
  return { starts: 0, versions: [] };
}

function save(state) {
  try {
    localStorage.setItem('sample-app', JSON.stringify(state));
  } catch {
    // It is only missing next time.
  }
}

function showConnection() {
  show('connection', navigator.onLine ? 'Online' : 'Offline');
}

const state = load();
state.starts += 1;
let current = state.versions.find((known) => known.version === version);
if (!current) {
  current = { version, since: Date.now() };
  state.versions.unshift(current);
}
// A device that updates for years must not fill its storage.
state.versions.length = Math.min(state.versions.length, 20);
save(state);

show('running', `You are running version ${version} of the sample app`);
show('version', version);
show('since', day(current.since));
show('starts', String(state.starts));
for (const known of state.versions) {
  const item = document.createElement('li');
  const name = document.createElement('span');
  const since = document.createElement('time');
  name.textContent = known.version;
  since.dateTime = new Date(known.since).toISOString();
  since.textContent = day(known.since);
  item.append(name, since);
  document.getElementById('earlier').append(item);
}
showConnection();
addEventListener('online', showConnection);
addEventListener('offline', showConnection);
