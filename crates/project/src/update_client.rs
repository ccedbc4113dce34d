//! Update clients of other services in an app (`docs/reference/foreign-clients.md#clients-in-a-project`): which ones it
//! contains, how they are set up, and what changes when they ask a server of ours.

mod native;
mod scripts;
pub mod settings;
pub mod steps;
mod xml;

use crate::packages::Packages;

/// An update client of another service.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum UpdateClient {
    /// CodePush.
    Codepush,
    /// Expo Updates.
    Expo,
    /// Capgo.
    Capgo,
    /// hot-updater.
    HotUpdater,
}

impl UpdateClient {
    /// All of them.
    pub const ALL: [UpdateClient; 4] = [
        UpdateClient::Codepush,
        UpdateClient::Expo,
        UpdateClient::Capgo,
        UpdateClient::HotUpdater,
    ];

    /// The word for it in addresses of a server and in the output of commands.
    pub const fn as_str(self) -> &'static str {
        match self {
            UpdateClient::Codepush => "codepush",
            UpdateClient::Expo => "expo",
            UpdateClient::Capgo => "capgo",
            UpdateClient::HotUpdater => "hot-updater",
        }
    }

    /// The name for people.
    pub const fn title(self) -> &'static str {
        match self {
            UpdateClient::Codepush => "CodePush",
            UpdateClient::Expo => "Expo Updates",
            UpdateClient::Capgo => "Capgo",
            UpdateClient::HotUpdater => "hot-updater",
        }
    }

    /// The npm packages that contain it, the usual one first.
    pub const fn packages(self) -> &'static [&'static str] {
        match self {
            UpdateClient::Codepush => &[
                "react-native-code-push",
                "@revopush/react-native-code-push",
                "@code-push-next/react-native-code-push",
            ],
            UpdateClient::Expo => &["expo-updates"],
            UpdateClient::Capgo => &["@capgo/capacitor-updater", "@capgo/electron-updater"],
            UpdateClient::HotUpdater => &["@hot-updater/react-native"],
        }
    }

    /// The package of this client that an app depends on.
    pub fn package_in(self, packages: &Packages) -> Option<&'static str> {
        self.packages().iter().copied().find(|name| packages.depends_on(name))
    }
}

/// The clients that an app depends on, each with its package.
pub fn clients_in(packages: &Packages) -> Vec<(UpdateClient, &'static str)> {
    let of = |client: UpdateClient| Some((client, client.package_in(packages)?));
    UpdateClient::ALL.into_iter().filter_map(of).collect()
}

#[cfg(test)]
mod tests;
