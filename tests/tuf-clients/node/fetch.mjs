// tuf-js, unmodified, as a client of Launchway: fetch.mjs URL ROOT TARGET FOLDER.
//
// Trusts the file ROOT, refreshes from the repository at URL, and downloads TARGET to FOLDER/update.zip. A refusal ends
// it with the name of the error.
import { copyFileSync, existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { Updater } from "tuf-js";

const [url, root, target, folder] = process.argv.slice(2);
const metadata = join(folder, "metadata");
mkdirSync(metadata, { recursive: true });
if (!existsSync(join(metadata, "root.json"))) {
  copyFileSync(root, join(metadata, "root.json"));
}
try {
  const updater = new Updater({
    metadataBaseUrl: url,
    metadataDir: metadata,
    targetBaseUrl: `${url}/targets`,
    targetDir: folder,
  });
  await updater.refresh();
  const found = await updater.getTargetInfo(target);
  if (!found) {
    throw new Error("no such target");
  }
  await updater.downloadTarget(found, join(folder, "update.zip"));
} catch (error) {
  process.stderr.write(`${error.constructor.name}: ${error.message}\n`);
  process.exit(1);
}
