//! The request by which a hot-updater client asks for an update (`docs/reference/hot-updater.md#check`).

use std::borrow::Cow;

use launchway_domain::percent::decode_path;
use launchway_domain::platform::Platform;
use launchway_domain::version::Version;

use super::answer::Refusal;
use super::bundle_id::BundleId;
use super::coerce::coerce;
use super::cohort::Cohort;

/// The maximum length of the path of a check in bytes, without the address and the app.
const MAX_PATH_BYTES: usize = 2048;

/// By what an app finds the bundles that run in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UpdateStrategy<'p> {
    /// The hash of its native code, which a bundle names.
    Fingerprint(Cow<'p, str>),
    /// Its version, which a bundle's range includes; `None` if what it sent contains no version, and is in no range.
    AppVersion(Option<Version>),
}

/// A request for an update.
#[derive(Clone, Debug)]
pub struct UpdateCheck<'p> {
    /// How bundles are matched.
    pub strategy: UpdateStrategy<'p>,
    /// The platform: iOS or Android.
    pub platform: Platform,
    /// The channel, which is our configuration.
    pub channel: Cow<'p, str>,
    /// The id of the built-in content: the time at which the app was built. Older bundles are not offered to it.
    pub min_bundle_id: BundleId,
    /// The id of the bundle that the app runs; `min_bundle_id` or [`BundleId::NIL`] if that is the built-in content. A client that
    /// changes its channel sends `min_bundle_id`, too.
    pub current_bundle_id: BundleId,
    /// The cohort.
    pub cohort: Cohort,
}

impl<'p> UpdateCheck<'p> {
    /// Reads the path of a request, after the app: `{strategy}/{platform}/{value}/{channel}/{minBundleId}/{bundleId}[/{cohort}]`.
    ///
    /// # Errors
    /// The path has another form, or names another platform, or an id is no UUID.
    pub fn read(path: &'p str) -> Result<Self, Refusal> {
        if path.len() > MAX_PATH_BYTES {
            return Err(Refusal::NotFound);
        }
        let path = path.strip_suffix('/').unwrap_or(path);
        let mut segments = path.split('/').map(lossy);
        let mut next = || {
            segments
                .next()
                .filter(|segment| !segment.is_empty())
                .ok_or(Refusal::NotFound)
        };
        let strategy = next()?;
        let (platform, value, channel, min_bundle_id, current_bundle_id) =
            (next()?, next()?, next()?, next()?, next()?);
        let cohort = segments.next();
        if segments.next().is_some() || cohort.as_deref() == Some("") {
            return Err(Refusal::NotFound);
        }
        let strategy = match &*strategy {
            "fingerprint" => UpdateStrategy::Fingerprint(value),
            "app-version" => UpdateStrategy::AppVersion(coerce(&value)),
            _ => return Err(Refusal::NotFound),
        };
        let platform = match &*platform {
            "ios" => Platform::Ios,
            "android" => Platform::Android,
            _ => return Err(Refusal::Platform),
        };
        let id = |text: Cow<'_, str>| BundleId::parse(&text).map_err(|_| Refusal::BundleId);
        Ok(Self {
            strategy,
            platform,
            channel,
            min_bundle_id: id(min_bundle_id)?,
            current_bundle_id: id(current_bundle_id)?,
            cohort: cohort.map_or(Cohort::Unsaid, |cohort| Cohort::read(&cohort)),
        })
    }

    /// Whether the app runs its built-in content, as far as the ids tell.
    pub fn is_built_in(&self) -> bool {
        self.current_bundle_id <= self.min_bundle_id
    }
}

fn lossy(segment: &str) -> Cow<'_, str> {
    match decode_path(segment) {
        Cow::Borrowed(bytes) => String::from_utf8_lossy(bytes),
        Cow::Owned(bytes) => Cow::Owned(String::from_utf8_lossy(&bytes).into_owned()),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const MIN: &str = "0190a8c6-0000-7000-8000-000000000000";
    const CURRENT: &str = "0190a8c7-0000-7000-8000-000000000000";

    #[test]
    fn the_forms_of_the_path_are_read() {
        let path = format!("app-version/ios/1.2/production/{MIN}/{CURRENT}");
        let check = UpdateCheck::read(&path).unwrap();
        assert_eq!(check.strategy, UpdateStrategy::AppVersion(Version::parse("1.2.0").ok()));
        assert_eq!((check.platform, &*check.channel), (Platform::Ios, "production"));
        assert_eq!(check.min_bundle_id.as_str(), MIN);
        assert_eq!(check.current_bundle_id.as_str(), CURRENT);
        assert_eq!(check.cohort, Cohort::Unsaid);
        assert!(!check.is_built_in());

        let path = format!("fingerprint/android/a%2Fb/beta%201/{MIN}/{MIN}/%37/");
        let check = UpdateCheck::read(&path).unwrap();
        assert_eq!(check.strategy, UpdateStrategy::Fingerprint("a/b".into()));
        assert_eq!((check.platform, &*check.channel), (Platform::Android, "beta 1"));
        assert_eq!(check.cohort, Cohort::Number(7));
        assert!(check.is_built_in());

        let path = format!("app-version/ios/beta/production/{MIN}/{}/qa", BundleId::NIL);
        let check = UpdateCheck::read(&path).unwrap();
        assert_eq!(
            (check.strategy, check.cohort),
            (UpdateStrategy::AppVersion(None), Cohort::Named)
        );
    }

    #[test]
    fn other_paths_are_refused() {
        for (path, expected) in [
            (String::new(), Refusal::NotFound),
            ("version".to_owned(), Refusal::NotFound),
            (format!("app-version/ios/1/production/{MIN}"), Refusal::NotFound),
            (format!("app-version/ios/1//{MIN}/{CURRENT}"), Refusal::NotFound),
            (
                format!("app-version/ios/1/production/{MIN}/{CURRENT}//"),
                Refusal::NotFound,
            ),
            (
                format!("app-version/ios/1/production/{MIN}/{CURRENT}/1/2"),
                Refusal::NotFound,
            ),
            (format!("other/ios/1/production/{MIN}/{CURRENT}"), Refusal::NotFound),
            (
                format!("app-version/web/1/production/{MIN}/{CURRENT}"),
                Refusal::Platform,
            ),
            (
                format!("app-version/visionos/1/production/{MIN}/{CURRENT}"),
                Refusal::Platform,
            ),
            (
                format!("app-version/ios/1/production/null/{CURRENT}"),
                Refusal::BundleId,
            ),
            (format!("app-version/ios/1/production/{MIN}/v3"), Refusal::BundleId),
            (
                format!(
                    "app-version/ios/{}/production/{MIN}/{CURRENT}",
                    "1".repeat(MAX_PATH_BYTES)
                ),
                Refusal::NotFound,
            ),
        ] {
            assert_eq!(UpdateCheck::read(&path).err(), Some(expected), "{path}");
        }
    }

    proptest! {
        #[test]
        fn any_path_is_read_or_refused(path in ".{0,80}|(fingerprint|app-version)(/(ios|[a-z%0-9]{0,4})){2}(/[a-z0-9%./-]{0,12}){1,6}") {
            let _ = UpdateCheck::read(&path);
        }

        #[test]
        fn any_value_channel_and_cohort_is_read(value in "[^/]{1,20}", channel in "[^/]{1,20}", cohort in "[^/]{1,20}") {
            let path = format!("app-version/ios/{value}/{channel}/{MIN}/{CURRENT}/{cohort}");
            prop_assert!(UpdateCheck::read(&path).is_ok());
        }
    }
}
