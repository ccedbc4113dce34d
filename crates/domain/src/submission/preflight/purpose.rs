//! Apple's purpose strings: which key of Info.plist an app needs that names a class of the system (ITMS-90683).

/// A class, and the keys of which one must be there.
const NEEDED: &[(&str, &[&str])] = &[
    (
        "AVCaptureDevice",
        &["NSCameraUsageDescription", "NSMicrophoneUsageDescription"],
    ),
    ("AVAudioRecorder", &["NSMicrophoneUsageDescription"]),
    ("ATTrackingManager", &["NSUserTrackingUsageDescription"]),
    ("CBCentralManager", &["NSBluetoothAlwaysUsageDescription"]),
    ("CBPeripheralManager", &["NSBluetoothAlwaysUsageDescription"]),
    (
        "CLLocationManager",
        &[
            "NSLocationWhenInUseUsageDescription",
            "NSLocationAlwaysAndWhenInUseUsageDescription",
        ],
    ),
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
    ("LAContext", &["NSFaceIDUsageDescription"]),
    ("MPMediaQuery", &["NSAppleMusicUsageDescription"]),
    ("NFCNDEFReaderSession", &["NFCReaderUsageDescription"]),
    ("NFCTagReaderSession", &["NFCReaderUsageDescription"]),
    (
        "PHPhotoLibrary",
        &["NSPhotoLibraryUsageDescription", "NSPhotoLibraryAddUsageDescription"],
    ),
    ("SFSpeechRecognizer", &["NSSpeechRecognitionUsageDescription"]),
];

/// The keys that are missing, the first choice where one of several would do. Each stands once, in the order of the table.
pub fn missing_purpose_strings(system_classes: &[String], info_keys: &[String]) -> Vec<&'static str> {
    let mut missing = Vec::new();
    for (class, keys) in NEEDED {
        let used = system_classes.iter().any(|name| name == class);
        let said = keys.iter().any(|key| info_keys.iter().any(|known| known == key));
        if let Some(first) = keys.first().filter(|first| used && !said && !missing.contains(*first)) {
            missing.push(*first);
        }
    }
    missing
}
