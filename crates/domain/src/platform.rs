//! The platforms an app is made for (spec part 2).

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
