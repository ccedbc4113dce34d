import { NativeScriptConfig } from '@nativescript/core';

export default {
  id: 'com.example.nativescript',
  appPath: 'app',
  appResourcesPath: 'App_Resources',
  hooks: [{ type: 'after-prepare', script: './node_modules/@launchway/nativescript/hooks/after-prepare.mjs' }],
} as NativeScriptConfig;
