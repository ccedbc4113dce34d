#!/usr/bin/env node
// Called by the NativeScript command line once a native project is prepared. The first line makes it a program of its
// own, which every version of the command line runs in the same way, in the project's folder.
import { changeStartFiles } from './start-files.mjs';

try {
  for (const path of changeStartFiles('platforms/ios')) {
    console.log(`Launchway: ${path} starts updates`);
  }
} catch (error) {
  console.error(`Launchway: ${error.message}`);
  process.exitCode = 1;
}
