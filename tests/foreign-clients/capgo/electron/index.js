// What the client needs of Electron. `userData` is the folder of the desktop app that starts next.

const app = {
  userData: '',
  isPackaged: true,
  getPath: () => app.userData,
  getVersion: () => '1.0.0',
  on: () => {},
};
const nothing = { on: () => {}, handle: () => {}, removeHandler: () => {} };

module.exports = {
  app,
  safeStorage: { isEncryptionAvailable: () => false },
  ipcMain: nothing,
  globalShortcut: { register: () => {}, unregister: () => {} },
  BrowserWindow: { getAllWindows: () => [] },
  Menu: class {},
  MenuItem: class {},
  dialog: {},
};
