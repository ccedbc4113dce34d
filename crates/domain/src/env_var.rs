//! Environment variables of builds: names, scopes and precedence (`docs/reference/environment.md#scope`).

use std::cmp::Reverse;

use crate::bundle_id::BundleId;
use crate::configuration::Configuration;
use crate::id::EnvVarId;
use crate::platform::Platform;
use crate::time::EpochMs;

/// The maximum size of a value in bytes.
pub const MAX_VALUE_SIZE: usize = 64 << 10;
/// The maximum number of characters of a name or path.
pub const MAX_NAME_LENGTH: usize = 255;
/// The maximum number of configurations in a scope.
pub const MAX_CONFIGURATIONS: usize = 50;
/// The variable that the command line reads the signing key of updates from. No server stores it and no build gets it
/// (`docs/reference/environment.md#signing-keys-of-updates`).
pub const SIGNING_KEY: &str = "LAUNCHWAY_SIGNING_KEY";

words! {
    /// How a build gets the value.
    EnvVarKind:
    /// As an environment variable.
    Variable = "variable",
    /// As a file; the environment variable holds its path.
    File = "file",
}

words! {
    /// Who may read the value again.
    Visibility:
    /// Everybody who may list variables.
    Plain = "plain",
    /// Only builds.
    Secret = "secret",
}

/// The builds that a variable applies to. An empty part matches every build.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EnvVarScope {
    /// The app; `None` for every app.
    pub bundle_id: Option<BundleId>,
    /// The configurations, sorted and unique; empty for every build, also those without a configuration.
    pub configurations: Vec<Configuration>,
    /// The platforms, sorted and unique; empty for every platform.
    pub platforms: Vec<Platform>,
}

/// The properties of a build that scopes are matched against.
#[derive(Clone, Debug)]
pub struct BuildScope<'a> {
    /// Its app.
    pub bundle_id: &'a BundleId,
    /// Its configuration.
    pub configuration: Option<&'a Configuration>,
    /// Its platform.
    pub platform: Platform,
}

impl EnvVarScope {
    /// Makes a scope; the lists may be unsorted and may contain duplicates.
    pub fn new(
        bundle_id: Option<BundleId>,
        mut configurations: Vec<Configuration>,
        mut platforms: Vec<Platform>,
    ) -> EnvVarScope {
        configurations.sort();
        configurations.dedup();
        platforms.sort();
        platforms.dedup();
        EnvVarScope {
            bundle_id,
            configurations,
            platforms,
        }
    }

    /// Whether a build is within the scope.
    pub fn matches(&self, build: &BuildScope<'_>) -> bool {
        let app = self.bundle_id.as_ref().is_none_or(|bundle| bundle == build.bundle_id);
        let named = |label: &Configuration| self.configurations.contains(label);
        let configuration = self.configurations.is_empty() || build.configuration.is_some_and(named);
        app && configuration && (self.platforms.is_empty() || self.platforms.contains(&build.platform))
    }

    /// How narrow the scope is; greater is narrower. It compares first whether the scope names the app, then how few
    /// configurations it names, then how few platforms.
    fn narrowness(&self) -> impl Ord + use<> {
        let few = |count: usize| (count > 0).then_some(Reverse(count));
        (
            self.bundle_id.is_some(),
            few(self.configurations.len()),
            few(self.platforms.len()),
        )
    }
}

/// An environment variable without its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EnvVar {
    /// `env_…`.
    pub id: EnvVarId,
    /// `[A-Za-z_][A-Za-z0-9_]*`.
    pub name: String,
    /// How a build receives it.
    pub kind: EnvVarKind,
    /// The file's path in the workspace of a build; set for files only.
    pub path: Option<String>,
    /// Who may read the value back.
    pub visibility: Visibility,
    /// The builds it applies to.
    pub scope: EnvVarScope,
    /// The actor that created it, as text.
    pub created_by: String,
    /// When it was created.
    pub created_at: EpochMs,
    /// When its value was last set.
    pub updated_at: EpochMs,
}

/// The variables that a build receives. Of those with the same name, the one with the narrowest scope wins; of equally
/// narrow ones, the one that was set last. Sorted by name.
pub fn resolve<'v>(variables: &'v [EnvVar], build: &BuildScope<'_>) -> Vec<&'v EnvVar> {
    let mut within: Vec<&EnvVar> = variables
        .iter()
        .filter(|variable| variable.scope.matches(build))
        .collect();
    within.sort_by(|a, b| {
        let rank = |variable: &EnvVar| (variable.scope.narrowness(), variable.updated_at, variable.id);
        a.name.cmp(&b.name).then_with(|| rank(b).cmp(&rank(a)))
    });
    within.dedup_by(|later, first| later.name == first.name);
    within
}

/// Whether a text is a valid name of an environment variable: `[A-Za-z_][A-Za-z0-9_]*`.
pub fn is_name(text: &str) -> bool {
    let letter = |byte: u8| byte.is_ascii_alphabetic() || byte == b'_';
    let first = text.bytes().next().is_some_and(letter);
    first && text.len() <= MAX_NAME_LENGTH && text.bytes().all(|byte| letter(byte) || byte.is_ascii_digit())
}

/// Whether a text is a valid path of a file in a build's workspace: relative, with `/`, and without `..`.
pub fn is_path(text: &str) -> bool {
    let part = |part: &str| !part.is_empty() && part != "." && part != "..";
    let forbidden = |letter: char| letter.is_control() || letter == '\\';
    text.len() <= MAX_NAME_LENGTH && !text.contains(forbidden) && text.split('/').all(part)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn labels(names: &[&str]) -> Vec<Configuration> {
        names.iter().map(|name| name.parse().expect("a label")).collect()
    }

    fn variable(number: u8, bundle: Option<&str>, configurations: &[&str], platforms: &[Platform]) -> EnvVar {
        EnvVar {
            id: EnvVarId::new(0, [number; 10]),
            name: "TOKEN".to_owned(),
            kind: EnvVarKind::Variable,
            path: None,
            visibility: Visibility::Secret,
            scope: EnvVarScope::new(
                bundle.map(|bundle| bundle.parse().expect("a bundle id")),
                labels(configurations),
                platforms.to_vec(),
            ),
            created_by: String::new(),
            created_at: 0,
            updated_at: 0,
        }
    }

    #[test]
    fn the_narrower_scope_wins() {
        let bundle: BundleId = "com.example.app".parse().expect("a bundle id");
        let production: Configuration = "production".parse().expect("a label");
        let build = BuildScope {
            bundle_id: &bundle,
            configuration: Some(&production),
            platform: Platform::Ios,
        };
        // From the widest to the narrowest; each takes precedence over those before it.
        let ranked = [
            variable(9, None, &[], &[]),
            variable(8, None, &[], &[Platform::Ios, Platform::Android]),
            variable(7, None, &[], &[Platform::Ios]),
            variable(6, None, &["production", "staging"], &[]),
            variable(5, None, &["production"], &[]),
            variable(4, None, &["production"], &[Platform::Ios]),
            variable(3, Some("COM.example.app"), &[], &[]),
            variable(2, Some("com.example.app"), &[], &[Platform::Ios]),
            variable(1, Some("com.example.app"), &["production"], &[]),
        ];
        for count in 1..=ranked.len() {
            assert_eq!(resolve(&ranked[..count], &build), [&ranked[count - 1]], "{count}");
            let reversed: Vec<_> = ranked[..count].iter().rev().cloned().collect();
            assert_eq!(resolve(&reversed, &build), [&ranked[count - 1]], "{count} reversed");
        }
        let elsewhere = [
            variable(1, Some("com.example.other"), &[], &[]),
            variable(2, None, &["staging"], &[]),
            variable(3, None, &[], &[Platform::Android]),
        ];
        assert!(resolve(&elsewhere, &build).is_empty());
        let unnamed = BuildScope {
            configuration: None,
            ..build
        };
        assert_eq!(resolve(&ranked[..5], &unnamed), [&ranked[2]]);
    }

    #[test]
    fn of_equally_narrow_ones_the_last_set_wins() {
        let bundle: BundleId = "com.example.app".parse().expect("a bundle id");
        let label: Configuration = "a".parse().expect("a label");
        let build = BuildScope {
            bundle_id: &bundle,
            configuration: Some(&label),
            platform: Platform::Android,
        };
        let older = EnvVar {
            updated_at: 1,
            ..variable(9, None, &["a", "b"], &[])
        };
        let newer = EnvVar {
            updated_at: 2,
            ..variable(1, None, &["a", "c"], &[])
        };
        let other = EnvVar {
            name: "A".to_owned(),
            ..older.clone()
        };
        assert_eq!(
            resolve(&[older, newer.clone(), other.clone()], &build),
            [&other, &newer]
        );
    }

    #[test]
    fn names_and_paths() {
        for name in ["A", "_", "a1_B", &"x".repeat(255)] {
            assert!(is_name(name), "{name}");
        }
        for name in ["", "1A", "A-B", "A B", "Ä", "A=", "A\0", &"x".repeat(256)] {
            assert!(!is_name(name), "{name}");
        }
        for path in [
            "google-services.json",
            "android/app/google-services.json",
            "a b/ü",
            "..a",
            "...",
            ".env",
        ] {
            assert!(is_path(path), "{path}");
        }
        for path in [
            "",
            "/etc/passwd",
            "a/../b",
            "..",
            ".",
            "./a",
            "a//b",
            "a/",
            "a\\b",
            "C:\\x",
            "a\nb",
            "a\0",
        ] {
            assert!(!is_path(path), "{path}");
        }
    }

    proptest! {
        #[test]
        fn each_name_comes_once_whatever_the_order(picks in prop::collection::vec((0u8..9, 0u8..3), 0..20)) {
            let bundle: BundleId = "com.example.app".parse().expect("a bundle id");
            let build = BuildScope { bundle_id: &bundle, configuration: None, platform: Platform::Ios };
            let variables: Vec<EnvVar> = picks.iter().enumerate().map(|(at, (scope, name))| EnvVar {
                id: EnvVarId::new(at as i64, [0; 10]),
                name: format!("N{name}"),
                updated_at: at as i64,
                ..match scope {
                    0..3 => variable(0, None, &[], &[]),
                    3..6 => variable(0, Some("com.example.app"), &[], &[]),
                    _ => variable(0, None, &[], &[Platform::Ios, Platform::Android]),
                }
            }).collect();
            let mut reversed = variables.clone();
            reversed.reverse();
            let resolved = resolve(&variables, &build);
            prop_assert_eq!(&resolved, &resolve(&reversed, &build));
            prop_assert!(resolved.windows(2).all(|pair| pair[0].name < pair[1].name));
            for variable in &variables {
                prop_assert!(resolved.iter().any(|winner| winner.name == variable.name
                    && winner.scope.narrowness() >= variable.scope.narrowness()));
            }
        }
    }
}
