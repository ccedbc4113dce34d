/** The config plugin for Expo: edits the native projects that `expo prebuild` makes. */
const { createRunOncePlugin, withAppDelegate, withMainApplication } = require('expo/config-plugins');
const { edit } = require('./expo/edits.js');
const { name, version } = require('./package.json');

function edited(config, file) {
  config.modResults.contents = edit(config.modResults.language, config.modResults.contents, file);
  return config;
}

function withLaunchway(config) {
  const android = withMainApplication(config, (mod) => edited(mod, 'MainApplication'));
  return withAppDelegate(android, (mod) => edited(mod, 'AppDelegate'));
}

module.exports = createRunOncePlugin(withLaunchway, name, version);
