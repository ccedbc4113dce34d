import { NativeScriptConfig } from '@nativescript/core';

export default {
  id: 'com.example.nativescript',
  appPath: 'app',
  appResourcesPath: 'App_Resources',
} as NativeScriptConfig;
