// The client of CodePush, unmodified: asks a server, and tells it what became of an update. Reads a request of the test from each line,
// and writes the outcome on a line.

import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';

const require = createRequire(import.meta.url);
const { AcquisitionManager, AcquisitionStatus } = require('code-push/script/acquisition-sdk.js');

const VERBS = ['GET', 'HEAD', 'POST'];
const requester = {
  request(verb, url, bodyOrCallback, maybeCallback) {
    const callback = maybeCallback ?? bodyOrCallback;
    const body = maybeCallback ? bodyOrCallback : undefined;
    const headers = { 'content-type': 'application/json' };
    fetch(url, { method: VERBS[verb], body, headers })
      .then(async (response) => callback(null, { statusCode: response.status, body: await response.text() }))
      .catch((error) => callback(error, null));
  },
};

/** Runs one call of the client with a callback. */
const ask = (call) => new Promise((resolve) => call((error, result) => resolve({ error: error?.message, result })));

async function answer({ act, phone, current, update, previous }) {
  const manager = new AcquisitionManager(requester, phone);
  switch (act) {
    case 'check': {
      const running = current ?? { appVersion: phone.appVersion };
      return ask((done) => manager.queryUpdateWithCurrentPackage({ ...running, appVersion: phone.appVersion }, done));
    }
    case 'download': {
      const response = await fetch(update.downloadUrl);
      const bytes = (await response.arrayBuffer()).byteLength;
      const { error } = await ask((done) => manager.reportStatusDownload(update, done));
      return { error, result: { status: response.status, bytes } };
    }
    case 'confirm':
    case 'fail': {
      const status = act === 'confirm' ? AcquisitionStatus.DeploymentSucceeded : AcquisitionStatus.DeploymentFailed;
      return ask((done) => manager.reportStatusDeploy(update, status, previous, phone.deploymentKey, done));
    }
    default:
      return { error: `no such act: ${act}` };
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  console.log(JSON.stringify(await answer(JSON.parse(line))));
}
