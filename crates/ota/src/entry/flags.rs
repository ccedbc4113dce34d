//! The two bytes that begin the record of an update: which of its fields follow.

use launchway_domain::platform::Platform;

/// The flags of an update.
#[derive(Clone, Copy, Debug, Default)]
pub struct Flags(pub u16);

/// Two bits for a field that may be missing, or equal to that of the update before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presence {
    /// There is none.
    Missing,
    /// It follows.
    Follows,
    /// It is that of the update before.
    Repeated,
    /// It is kept elsewhere.
    Elsewhere,
}

/// Where the bits of the configuration are.
pub const CONFIGURATION: u32 = 2;
/// Where the bits of the fingerprint are.
pub const FINGERPRINT: u32 = 4;
/// Where the bits of the release notes are.
pub const NOTES: u32 = 6;

impl Flags {
    /// The app must install the update at once.
    pub const MANDATORY: u16 = 1 << 8;
    /// The rollout is not full, and follows.
    pub const PARTIAL: u16 = 1 << 9;
    /// The version is that of the update before.
    pub const SAME_VERSION: u16 = 1 << 10;
    /// The version follows as a text.
    pub const VERSION_TEXT: u16 = 1 << 11;
    /// The build number is that of the update before.
    pub const SAME_BUILD: u16 = 1 << 12;
    /// The build number has leading zeros, and follows as a text, too.
    pub const BUILD_TEXT: u16 = 1 << 13;
    /// The update was not created at the time of its id.
    pub const OTHER_TIME: u16 = 1 << 14;
    /// The package is written in its compact form.
    pub const COMPACT: u16 = 1 << 15;

    /// Sets a bit if a condition holds.
    pub fn set(&mut self, bit: u16, is_set: bool) {
        if is_set {
            self.0 |= bit;
        }
    }

    /// Whether a bit is set.
    pub fn has(self, bit: u16) -> bool {
        self.0 & bit != 0
    }

    /// Sets the two bits of a field.
    pub fn set_presence(&mut self, shift: u32, presence: Presence) {
        self.0 |= (presence as u16) << shift;
    }

    /// The two bits of a field.
    pub fn presence(self, shift: u32) -> Presence {
        match (self.0 >> shift) & 3 {
            0 => Presence::Missing,
            1 => Presence::Follows,
            2 => Presence::Repeated,
            _ => Presence::Elsewhere,
        }
    }

    /// Sets the platform.
    pub fn set_platform(&mut self, platform: Platform) {
        self.0 |= platform as u16;
    }

    /// The platform.
    pub fn platform(self) -> Platform {
        let [ios, android, visionos] = Platform::ALL;
        match self.0 & 3 {
            0 => ios,
            1 => android,
            _ => visionos,
        }
    }
}

impl Presence {
    /// How a field that may be missing is written after that of the update before.
    pub fn of<T: PartialEq>(field: &Option<T>, before: &Option<T>) -> Presence {
        match field {
            None => Presence::Missing,
            Some(_) if field == before => Presence::Repeated,
            Some(_) => Presence::Follows,
        }
    }
}
