//! Variables of the environment that look like settings but are none, such as misspelled ones.

use std::collections::BTreeSet;

use super::RawSettings;

/// The start of the name of every setting.
const PREFIX: &str = "LAUNCHWAY_";
/// What is logged: read by the log, not with the settings.
const LOG: &str = "LAUNCHWAY_LOG";

/// The names in the environment that start like a setting, but are not the name of one.
#[expect(clippy::disallowed_methods, reason = "settings are read here, and only here")]
pub fn unknown_variables() -> Vec<String> {
    unknown(std::env::vars_os().filter_map(|(name, _)| name.into_string().ok()))
}

fn unknown(names: impl Iterator<Item = String>) -> Vec<String> {
    let known = known();
    let unknown: BTreeSet<String> = names
        .filter(|name| name.starts_with(PREFIX) && !known.contains(name))
        .collect();
    unknown.into_iter().collect()
}

fn known() -> BTreeSet<String> {
    let command = <RawSettings as clap::Args>::augment_args(clap::Command::new("settings"));
    let names = command.get_arguments().filter_map(|argument| argument.get_env());
    let names = names.map(|name| name.to_string_lossy().into_owned());
    names.chain([LOG.to_owned()]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_misspelled_variable_is_found() {
        let names = [
            "LAUNCHWAY_PUBLIC_URL",
            "LAUNCHWAY_PUBLIC_ULR",
            "LAUNCHWAY_LOG",
            "PATH",
            "LAUNCHWAY_SERVER_CONFIG",
        ];
        assert_eq!(unknown(names.into_iter().map(str::to_owned)), ["LAUNCHWAY_PUBLIC_ULR"]);
        assert!(known().len() > 30);
    }
}
