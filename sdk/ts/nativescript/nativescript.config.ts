/** What the NativeScript command line adds to the Xcode project of an app with this package. */
export default {
  ios: {
    SPMPackages: [{ name: 'Launchway', libs: ['LaunchwayApple'], path: './node_modules/@launchway/nativescript/platforms/ios/launchway' }],
  },
};
