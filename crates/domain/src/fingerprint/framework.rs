//! The frameworks that a fingerprint document knows (`docs/reference/fingerprints.md#plugins`).

words! {
    /// What an app is made with.
    Framework, error = "must be nativescript, capacitor, react-native, expo, flutter or native",
    /// NativeScript.
    NativeScript = "nativescript",
    /// Capacitor, Cordova plugins included.
    Capacitor = "capacitor",
    /// React Native without Expo.
    ReactNative = "react-native",
    /// Expo.
    Expo = "expo",
    /// Flutter.
    Flutter = "flutter",
    /// No framework: a plain Gradle or Xcode project.
    Native = "native",
}
