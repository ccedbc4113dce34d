// The platforms of apps. The raw value is the name in metadata and answers.

enum Platform: String {
    case ios
    case android
    case visionos
}
