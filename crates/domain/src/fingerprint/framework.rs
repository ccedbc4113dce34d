//! The frameworks of fingerprint documents (`docs/reference/fingerprints.md#plugins`).

words! {
    /// The framework of an app.
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
