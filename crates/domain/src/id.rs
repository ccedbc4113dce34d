//! Identifiers: TypeIDs, which are a prefix that names the resource and a UUIDv7 in base32
//! (`docs/reference/conventions.md#ids`).

use std::fmt;
use std::marker::PhantomData;
use std::str::FromStr;

use uuid::Uuid;

const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
const SUFFIX_LENGTH: usize = 26;
const NO_DIGIT: u8 = u8::MAX;
/// The value of each byte as a digit. A table, because a start with a million updates parses several million ids.
const PLACES: [u8; 256] = {
    let mut places = [NO_DIGIT; 256];
    let mut place = 0;
    while place < ALPHABET.len() {
        places[ALPHABET[place] as usize] = place as u8;
        place += 1;
    }
    places
};

/// The resource that an id identifies. Implemented only by the marker types of this module.
pub trait Kind: Copy + Eq + std::hash::Hash + Ord + fmt::Debug + Send + Sync + 'static {
    /// The text before the underscore, such as `update`.
    const PREFIX: &'static str;
}

/// The identifier of one resource of kind `K`, written `<prefix>_<26 characters>`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Id<K: Kind> {
    uuid: Uuid,
    kind: PhantomData<K>,
}

/// The text is not an identifier of the expected kind. An id that names nothing is "not found" at the edge, whatever its
/// form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not an identifier of this kind")]
pub struct IdError;

impl<K: Kind> Id<K> {
    /// Makes an identifier from the time in epoch milliseconds and ten random bytes (RFC 9562, UUIDv7).
    pub fn new(now_ms: i64, random: [u8; 10]) -> Self {
        let millis = u64::try_from(now_ms).unwrap_or(0);
        Self::from_uuid(uuid::Builder::from_unix_timestamp_millis(millis, &random).into_uuid())
    }

    /// The identifier that carries this UUID.
    pub const fn from_uuid(uuid: Uuid) -> Self {
        Self {
            uuid,
            kind: PhantomData,
        }
    }

    /// When the identifier was created, in epoch milliseconds.
    pub const fn created_at(&self) -> i64 {
        (self.uuid.as_u128() >> 80) as i64
    }

    /// The UUID inside.
    pub const fn uuid(&self) -> Uuid {
        self.uuid
    }

    /// Appends the text of the identifier, faster than formatting does.
    pub fn push_to(&self, out: &mut String) {
        out.push_str(K::PREFIX);
        out.push('_');
        out.push_str(std::str::from_utf8(&self.suffix()).unwrap_or_default());
    }

    fn suffix(&self) -> [u8; SUFFIX_LENGTH] {
        let mut suffix = [0u8; SUFFIX_LENGTH];
        // Words of twelve characters: a processor shifts them faster than the whole, and side by side.
        let number = self.uuid.as_u128();
        let words = [number >> 120, number >> 60, number].map(|word| word as u64 & (u64::MAX >> 4));
        let (first, rest) = suffix.split_at_mut(2);
        let (second, third) = rest.split_at_mut(12);
        for (place, mut word) in [first, second, third].into_iter().zip(words) {
            for character in place.iter_mut().rev() {
                *character = ALPHABET[(word & 31) as usize];
                word >>= 5;
            }
        }
        suffix
    }
}

impl<K: Kind> fmt::Display for Id<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let suffix = self.suffix();
        write!(f, "{}_{}", K::PREFIX, std::str::from_utf8(&suffix).unwrap_or_default())
    }
}

impl<K: Kind> fmt::Debug for Id<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl<K: Kind> FromStr for Id<K> {
    type Err = IdError;

    fn from_str(text: &str) -> Result<Self, IdError> {
        let suffix = text
            .strip_prefix(K::PREFIX)
            .and_then(|rest| rest.strip_prefix('_'))
            .ok_or(IdError)?;
        let digits = suffix.as_bytes();
        // 26 characters encode 130 bits; the first may hold only the upper three of 128.
        if digits.len() != SUFFIX_LENGTH || digits[0] > b'7' {
            return Err(IdError);
        }
        let mut value = 0u128;
        for digit in digits {
            let place = PLACES[usize::from(*digit)];
            if place == NO_DIGIT {
                return Err(IdError);
            }
            value = value << 5 | u128::from(place);
        }
        Ok(Self::from_uuid(Uuid::from_u128(value)))
    }
}

impl<K: Kind> serde::Serialize for Id<K> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

macro_rules! kinds {
    ($($name:ident, $alias:ident, $prefix:literal, $what:literal;)*) => {$(
        #[doc = concat!("Marks the id of ", $what, ".")]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name;

        impl Kind for $name {
            const PREFIX: &'static str = $prefix;
        }

        #[doc = concat!("The id of ", $what, ": `", $prefix, "_…`.")]
        pub type $alias = Id<$name>;
    )*};
}

kinds! {
    Org, OrgId, "org", "an organization";
    User, UserId, "user", "a user";
    Session, SessionId, "session", "a browser session";
    DeviceLogin, DeviceLoginId, "login", "a sign-in that waits for a user to confirm it";
    Invitation, InvitationId, "invitation", "an invitation to an organization";
    Key, KeyId, "key", "an API key";
    App, AppId, "app", "an app";
    Upload, UploadId, "upload", "an upload";
    Package, PackageId, "package", "the stored bytes of an update";
    Update, UpdateId, "update", "an over-the-air update";
    Event, EventId, "event", "an event of the outbox";
    Build, BuildId, "build", "a build";
    Runner, RunnerId, "runner", "a machine that runs builds";
    Artifact, ArtifactId, "artifact", "a file that a build produced";
    EnvVar, EnvVarId, "env", "an environment variable";
    Credential, CredentialId, "credential", "a credential for signing or for a store";
    Webhook, WebhookId, "webhook", "a webhook";
    Submission, SubmissionId, "submission", "a submission to a store";
    Delivery, DeliveryId, "delivery", "the delivery of an event to a webhook";
    DeploymentKey, DeploymentKeyId, "deploykey", "a deployment key of an app";
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn writes_the_published_form() {
        // Vector of the TypeID specification 0.3: prefix_01h455vb4pex5vsknk084sn02q.
        let uuid = Uuid::parse_str("01890a5d-ac96-774b-bcce-b302099a8057").expect("a UUID");
        let id = UpdateId::from_uuid(uuid);
        assert_eq!(id.to_string(), "update_01h455vb4pex5vsknk084sn02q");
        assert_eq!("update_01h455vb4pex5vsknk084sn02q".parse(), Ok(id));
        assert_eq!(id.created_at(), 0x0189_0a5d_ac96);
        assert_eq!(
            UpdateId::new(1_700_000_000_123, [255; 10]).created_at(),
            1_700_000_000_123
        );
    }

    #[test]
    fn refuses_every_other_form() {
        for text in [
            "",
            "update",
            "update_",
            "key_01h455vb4pex5vsknk084sn02q",
            "update_81h455vb4pex5vsknk084sn02q",
            "update_01H455VB4PEX5VSKNK084SN02Q",
            "update_01h455vb4pex5vsknk084sn02",
            "update_01h455vb4pex5vsknk084sn02qq",
            "update_01h455vb4pex5vsknk084sn02l",
        ] {
            assert_eq!(text.parse::<UpdateId>(), Err(IdError), "{text}");
        }
    }

    proptest! {
        #[test]
        fn reads_what_it_writes_and_sorts_by_time(now in 0i64..(1 << 47), later in 1i64..1000, random: [u8; 10]) {
            let id = KeyId::new(now, random);
            prop_assert_eq!(id.to_string().parse(), Ok(id));
            prop_assert!(KeyId::new(now + later, random).to_string() > id.to_string());
        }
    }
}
