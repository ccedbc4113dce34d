//! Apple's purpose strings: which key of Info.plist an app needs if its code refers to a system class. Apple states on each
//! key's page under `developer.apple.com/documentation/bundleresources/information-property-list` that apps that use the class
//! require it. The table contains only those without which App Store Connect refuses an upload (ITMS-90683). Location is not
//! among them: there ITMS-90683 is a warning, and the delivery succeeds. Nor is Face ID, whose absence shows only at run time;
//! nor tracking, whose key obliges the app to declare in App Store Connect that it tracks.

/// A class, and the keys of which at least one is required.
pub const PURPOSE_STRINGS: &[(&str, &[&str])] = &[
    (
        "AVCaptureDevice",
        &["NSCameraUsageDescription", "NSMicrophoneUsageDescription"],
    ),
    ("AVAudioRecorder", &["NSMicrophoneUsageDescription"]),
    ("CBCentralManager", &["NSBluetoothAlwaysUsageDescription"]),
    ("CBPeripheralManager", &["NSBluetoothAlwaysUsageDescription"]),
    ("CMMotionActivityManager", &["NSMotionUsageDescription"]),
    ("CMPedometer", &["NSMotionUsageDescription"]),
    ("CNContactStore", &["NSContactsUsageDescription"]),
    (
        "EKEventStore",
        &[
            "NSCalendarsUsageDescription",
            "NSCalendarsFullAccessUsageDescription",
            "NSCalendarsWriteOnlyAccessUsageDescription",
            "NSRemindersUsageDescription",
            "NSRemindersFullAccessUsageDescription",
        ],
    ),
    (
        "HKHealthStore",
        &["NSHealthShareUsageDescription", "NSHealthUpdateUsageDescription"],
    ),
    ("HMHomeManager", &["NSHomeKitUsageDescription"]),
    ("MPMediaQuery", &["NSAppleMusicUsageDescription"]),
    ("NFCNDEFReaderSession", &["NFCReaderUsageDescription"]),
    ("NFCTagReaderSession", &["NFCReaderUsageDescription"]),
    (
        "PHPhotoLibrary",
        &["NSPhotoLibraryUsageDescription", "NSPhotoLibraryAddUsageDescription"],
    ),
    ("SFSpeechRecognizer", &["NSSpeechRecognitionUsageDescription"]),
];

/// Every key of the table; some appear twice.
pub fn purpose_keys() -> impl Iterator<Item = &'static str> {
    PURPOSE_STRINGS.iter().flat_map(|(_, keys)| keys.iter().copied())
}

/// The missing keys, the first choice where several would do. Each appears once, in the order of the table.
pub fn missing_purpose_strings(system_classes: &[String], info_keys: &[String]) -> Vec<&'static str> {
    let mut missing = Vec::new();
    for (class, keys) in PURPOSE_STRINGS {
        let used = system_classes.iter().any(|name| name == class);
        let said = keys.iter().any(|key| info_keys.iter().any(|known| known == key));
        if let Some(first) = keys.first().filter(|first| used && !said && !missing.contains(*first)) {
            missing.push(*first);
        }
    }
    missing
}
