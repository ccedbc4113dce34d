//! The platforms of apps (`docs/reference/service.md#platforms`).

words! {
    /// A platform.
    Platform, error = "platform must be ios, android or visionos",
    /// iPhone and iPad.
    Ios = "ios",
    /// Android phones and tablets.
    Android = "android",
    /// Apple Vision.
    Visionos = "visionos",
}
