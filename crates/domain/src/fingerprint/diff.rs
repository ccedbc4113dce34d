//! Describes the differences between two fingerprint documents in sentences: the `compatibilityReason` of the check
//! (`docs/reference/updates.md#reasons`).

use std::fmt;

use super::document::FingerprintDocument;
use super::framework::Framework;
use crate::platform::Platform;

/// The maximum number of changes that a reason names.
pub const NAMED_CHANGES: usize = 3;
/// The reason if the differences are unknown.
pub const NATIVE_CODE_DIFFERS: &str = "The native code of this update differs from the installed app";

/// One difference. Its `Display` is a sentence for people, without a full stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change<'d> {
    /// The frameworks differ.
    Framework {
        /// The framework of the installed app.
        from: Framework,
        /// The framework of the update.
        to: Framework,
    },
    /// The platforms differ.
    Platform {
        /// The platform of the installed app.
        from: Platform,
        /// The platform of the update.
        to: Platform,
    },
    /// The update has a plugin that the installed app lacks.
    PluginAdded {
        /// Its name.
        name: &'d str,
        /// Its version.
        version: &'d str,
    },
    /// The update lacks a plugin that the installed app has.
    PluginRemoved {
        /// Its name.
        name: &'d str,
        /// Its version.
        version: &'d str,
    },
    /// Both have the plugin, in different versions.
    PluginVersion {
        /// Its name.
        name: &'d str,
        /// The version in the installed app.
        from: &'d str,
        /// The version in the update.
        to: &'d str,
    },
    /// The app resources folders differ.
    Resources,
    /// The native sources differ.
    NativeSource,
}

impl fmt::Display for Change<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Change::Framework { from, to } => write!(f, "Framework changed: {from} -> {to}"),
            Change::Platform { from, to } => write!(f, "Platform changed: {from} -> {to}"),
            Change::PluginAdded { name, version } => write!(f, "Native plugin added: {name} {version}"),
            Change::PluginRemoved { name, version } => write!(f, "Native plugin removed: {name} {version}"),
            Change::PluginVersion { name, from, to } => {
                write!(f, "Native plugin version changed: {name} {from} -> {to}")
            }
            Change::Resources => f.write_str("App resources changed"),
            Change::NativeSource => f.write_str("Native source changed"),
        }
    }
}

/// The differences of `to` from `from`: framework, platform, plugins by name, resources, native source. Empty exactly if
/// the documents are equal.
pub fn diff<'d>(from: &'d FingerprintDocument, to: &'d FingerprintDocument) -> Vec<Change<'d>> {
    let mut changes = Vec::new();
    if from.framework() != to.framework() {
        changes.push(Change::Framework {
            from: from.framework(),
            to: to.framework(),
        });
    }
    if from.platform() != to.platform() {
        changes.push(Change::Platform {
            from: from.platform(),
            to: to.platform(),
        });
    }
    changes.extend(plugin_changes(from, to));
    if from.resources() != to.resources() {
        changes.push(Change::Resources);
    }
    if from.native() != to.native() {
        changes.push(Change::NativeSource);
    }
    changes
}

fn plugin_changes<'d>(from: &'d FingerprintDocument, to: &'d FingerprintDocument) -> Vec<Change<'d>> {
    let (before, after) = (from.plugins(), to.plugins());
    let kept_or_removed = before.iter().filter_map(|(name, from)| match after.get(name) {
        None => Some((name, Change::PluginRemoved { name, version: from })),
        Some(to) if to != from => Some((name, Change::PluginVersion { name, from, to })),
        Some(_) => None,
    });
    let added = after.iter().filter(|(name, _)| !before.contains_key(*name));
    let added = added.map(|(name, version)| (name, Change::PluginAdded { name, version }));
    let mut changes: Vec<_> = kept_or_removed.chain(added).collect();
    changes.sort_by_key(|(name, _)| *name);
    changes.into_iter().map(|(_, change)| change).collect()
}

/// Why an update needs a store release, for people: at most [`NAMED_CHANGES`] changes from the installed app's document to
/// the update's, then the number of further changes. Returns [`NATIVE_CODE_DIFFERS`] if a document is unknown, if both are
/// equal, or if their algorithms differ, because such hashes cannot be compared.
pub fn reason(from: Option<&FingerprintDocument>, to: Option<&FingerprintDocument>) -> String {
    let comparable = from.zip(to).filter(|(from, to)| from.algorithm() == to.algorithm());
    let changes = comparable.map(|(from, to)| diff(from, to)).unwrap_or_default();
    if changes.is_empty() {
        return NATIVE_CODE_DIFFERS.to_owned();
    }
    let mut parts: Vec<_> = changes.iter().take(NAMED_CHANGES).map(Change::to_string).collect();
    if changes.len() > NAMED_CHANGES {
        parts.push(format!("and {} more", changes.len() - NAMED_CHANGES));
    }
    parts.join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fingerprint::Algorithm;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    fn document(plugins: &[(&str, &str)]) -> FingerprintDocument {
        changed(Framework::NativeScript, Platform::Android, plugins, '0', '0')
    }

    fn changed(
        framework: Framework,
        platform: Platform,
        plugins: &[(&str, &str)],
        resources: char,
        native: char,
    ) -> FingerprintDocument {
        let plugins = plugins
            .iter()
            .map(|(name, version)| (name.to_string(), version.to_string()))
            .collect();
        let hash = |digit: char| digit.to_string().repeat(64);
        FingerprintDocument::new(
            Algorithm::Lwfp1,
            framework,
            platform,
            plugins,
            hash(resources),
            hash(native),
        )
        .unwrap()
    }

    fn sentences(from: &FingerprintDocument, to: &FingerprintDocument) -> Vec<String> {
        diff(from, to).iter().map(Change::to_string).collect()
    }

    #[test]
    fn names_every_change_in_order() {
        let from = document(&[("@nativescript/camera", "4.5.0"), ("b", "1.0.0"), ("same", "1.0.0")]);
        let plugins = [("@nativescript/camera", "5.0.0"), ("a", "2.0.0"), ("same", "1.0.0")];
        let to = changed(Framework::Capacitor, Platform::Ios, &plugins, '1', '2');
        assert_eq!(
            sentences(&from, &to),
            [
                "Framework changed: nativescript -> capacitor",
                "Platform changed: android -> ios",
                "Native plugin version changed: @nativescript/camera 4.5.0 -> 5.0.0",
                "Native plugin added: a 2.0.0",
                "Native plugin removed: b 1.0.0",
                "App resources changed",
                "Native source changed",
            ]
        );
    }

    #[test]
    fn a_reason_names_three_changes_and_counts_the_rest() {
        let none = document(&[]);
        let added = |count: usize| document(&[("a", "1"), ("b", "2"), ("c", "3"), ("d", "4"), ("e", "5")][..count]);
        for (count, expected) in [
            (1, "Native plugin added: a 1"),
            (
                3,
                "Native plugin added: a 1; Native plugin added: b 2; Native plugin added: c 3",
            ),
            (
                4,
                "Native plugin added: a 1; Native plugin added: b 2; Native plugin added: c 3; and 1 more",
            ),
            (
                5,
                "Native plugin added: a 1; Native plugin added: b 2; Native plugin added: c 3; and 2 more",
            ),
        ] {
            assert_eq!(reason(Some(&none), Some(&added(count))), expected);
        }
        let camera = |version| document(&[("@nativescript/camera", version)]);
        assert_eq!(
            reason(Some(&camera("4.5.0")), Some(&camera("5.0.0"))),
            "Native plugin version changed: @nativescript/camera 4.5.0 -> 5.0.0"
        );
    }

    #[test]
    fn an_unknown_reason_says_that_the_native_code_differs() {
        let known = document(&[]);
        for (from, to) in [
            (None, None),
            (Some(&known), None),
            (None, Some(&known)),
            (Some(&known), Some(&known)),
        ] {
            assert_eq!(
                reason(from, to),
                "The native code of this update differs from the installed app"
            );
        }
    }

    fn plugins() -> impl Strategy<Value = BTreeMap<String, String>> {
        prop::collection::btree_map("[a-e]", "[12]", 0..5)
    }

    proptest! {
        #[test]
        fn applying_the_plugin_changes_gives_the_other_document(before in plugins(), after in plugins()) {
            let make = |plugins: &BTreeMap<String, String>| {
                let plugins: Vec<_> = plugins.iter().map(|(name, version)| (name.as_str(), version.as_str())).collect();
                document(&plugins)
            };
            let (from, to) = (make(&before), make(&after));
            let mut replayed = before.clone();
            for change in diff(&from, &to) {
                match change {
                    Change::PluginAdded { name, version } => {
                        prop_assert_eq!(replayed.insert(name.to_owned(), version.to_owned()), None);
                    }
                    Change::PluginRemoved { name, version } => {
                        prop_assert_eq!(replayed.remove(name), Some(version.to_owned()));
                    }
                    Change::PluginVersion { name, from, to } => {
                        prop_assert_ne!(from, to);
                        prop_assert_eq!(replayed.insert(name.to_owned(), to.to_owned()), Some(from.to_owned()));
                    }
                    other => prop_assert!(false, "{}", other),
                }
            }
            prop_assert_eq!(replayed, after);
        }
    }
}
