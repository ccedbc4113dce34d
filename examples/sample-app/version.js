// The version of this app, here and nowhere else. Change it before publishing an update.
globalThis.APP_VERSION = '1.0.0';
