//! The saved logins: one for production, one for development, in a file that only its owner can read.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use launchway_client::BaseUrl;
use launchway_domain::api_key::ApiKey;
use serde::{Deserialize, Serialize};

use crate::environment::Environment;
use crate::failure::Failure;
use crate::private_file;
use crate::service::Service;

/// A server and the key for it.
#[derive(Clone, Debug, PartialEq)]
pub struct Login {
    pub url: BaseUrl,
    pub key: ApiKey,
    /// The organization to act in; the key's own unless the user chose one.
    pub org: Option<String>,
}

/// The file of the saved logins, `launchway/login.toml` in the user's configuration directory.
#[derive(Debug)]
pub struct LoginFile {
    path: Option<PathBuf>,
}

#[derive(Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Written {
    #[serde(skip_serializing_if = "Option::is_none")]
    production: Option<WrittenLogin>,
    #[serde(skip_serializing_if = "Option::is_none")]
    development: Option<WrittenLogin>,
}

#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct WrittenLogin {
    url: String,
    key: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    org: Option<String>,
}

impl Written {
    fn entry(&mut self, service: Service) -> &mut Option<WrittenLogin> {
        match service {
            Service::Production => &mut self.production,
            Service::Development => &mut self.development,
        }
    }
}

impl LoginFile {
    /// The file below `XDG_CONFIG_HOME`, or else `.config` in the home directory.
    pub fn of(environment: &Environment) -> Result<Self, Failure> {
        Ok(Self {
            path: private_file::directory(environment).map(|directory| directory.join("login.toml")),
        })
    }

    /// The login for `service`, if there is one, with a warning when others can read it. Fails when the file is
    /// damaged.
    pub fn load(&self, service: Service) -> Result<(Option<Login>, Option<String>), Failure> {
        let Some(path) = &self.path else {
            return Ok((None, None));
        };
        let mut written = read(path)?;
        let Some(login) = written.entry(service).take() else {
            return Ok((None, None));
        };
        let (Ok(url), Some(key)) = (login.url.parse(), ApiKey::parse(&login.key)) else {
            return Err(damaged(path));
        };
        let org = login.org;
        Ok((Some(Login { url, key, org }), open_to_others(path)))
    }

    /// Saves the login for `service` without changing the other one. Returns the path.
    pub fn save(&self, service: Service, login: &Login) -> Result<&Path, Failure> {
        let path = self.path.as_deref().ok_or_else(|| {
            Failure::failed("no directory to save the login in").hint("set HOME or XDG_CONFIG_HOME to a directory")
        })?;
        let mut written = read(path)?;
        *written.entry(service) = Some(WrittenLogin {
            url: login.url.to_string(),
            key: login.key.reveal().to_owned(),
            org: login.org.clone(),
        });
        write(path, &written)?;
        Ok(path)
    }

    /// Saves the organization to act in with the login for `service`. Fails when there is no login.
    pub fn choose_org(&self, service: Service, org: &str) -> Result<(), Failure> {
        let missing = || Failure::failed("no saved login to save the organization with");
        let path = self.path.as_deref().ok_or_else(missing)?;
        let mut written = read(path)?;
        written.entry(service).as_mut().ok_or_else(missing)?.org = Some(org.to_owned());
        write(path, &written)
    }

    /// Deletes the login for `service`. Returns whether there was one.
    pub fn remove(&self, service: Service) -> Result<bool, Failure> {
        let Some(path) = &self.path else { return Ok(false) };
        let mut written = read(path)?;
        if written.entry(service).take().is_none() {
            return Ok(false);
        }
        write(path, &written)?;
        Ok(true)
    }
}

fn read(path: &Path) -> Result<Written, Failure> {
    match fs::read_to_string(path) {
        // The parser's message may contain a part of the key.
        Ok(text) => toml::from_str(&text).map_err(|_| damaged(path)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Written::default()),
        Err(error) => Err(Failure::failed(format!("cannot read {}: {error}", path.display()))),
    }
}

fn write(path: &Path, written: &Written) -> Result<(), Failure> {
    let unwritable = |error| Failure::failed(format!("cannot write {}: {error}", path.display()));
    let text = toml::to_string(written).map_err(unwritable)?;
    private_file::write(path, &text)
}

fn open_to_others(path: &Path) -> Option<String> {
    let shown = path.display();
    private_file::is_open_to_others(path)
        .then(|| format!("other users can read {shown}, which holds an API key; run chmod 600 {shown}"))
}

fn damaged(path: &Path) -> Failure {
    Failure::failed(format!("{} is damaged", path.display())).hint("delete it and run `launchway login` again")
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "lw_77777777777777777777777777777777777777774E8RLv";

    fn file_in(directory: &Path) -> LoginFile {
        let home = directory.to_str().expect("a path of text");
        LoginFile::of(&Environment::from([("HOME", home)])).expect("a place")
    }

    fn login(address: &str) -> Login {
        Login {
            url: address.parse().expect("an address"),
            key: ApiKey::parse(KEY).expect("a key"),
            org: None,
        }
    }

    #[test]
    fn keeps_the_two_services_apart() {
        let home = tempfile::tempdir().expect("a temporary directory");
        let file = file_in(home.path());
        assert_eq!(file.load(Service::Production).expect("no file"), (None, None));
        let (production, development) = (login("https://a.example"), login("https://b.example"));
        file.save(Service::Production, &production).expect("space");
        file.save(Service::Development, &development).expect("space");
        assert_eq!(file.load(Service::Production).expect("a file").0, Some(production));
        assert!(file.remove(Service::Production).expect("space"));
        assert!(!file.remove(Service::Production).expect("space"));
        assert_eq!(file.load(Service::Production).expect("a file").0, None);
        assert_eq!(file.load(Service::Development).expect("a file").0, Some(development));
    }

    #[test]
    fn the_chosen_organization_goes_with_its_login() {
        let home = tempfile::tempdir().expect("a temporary directory");
        let file = file_in(home.path());
        file.choose_org(Service::Production, "org_1").expect_err("no login");
        file.save(Service::Production, &login("https://a.example"))
            .expect("space");
        file.choose_org(Service::Production, "org_1").expect("space");
        let org = |file: &LoginFile| file.load(Service::Production).expect("a file").0.expect("a login").org;
        assert_eq!(org(&file).as_deref(), Some("org_1"));
        file.save(Service::Production, &login("https://a.example"))
            .expect("space");
        assert_eq!(org(&file), None, "another login, another organization");
    }

    #[test]
    fn lies_where_the_standard_says() {
        let rows = [
            (
                "/configuration",
                "/home/ada",
                Some("/configuration/launchway/login.toml"),
            ),
            ("relative", "/home/ada", Some("/home/ada/.config/launchway/login.toml")),
            ("", "/home/ada", Some("/home/ada/.config/launchway/login.toml")),
            ("", "", None),
        ];
        for (config_home, home, expected) in rows {
            let environment = Environment::from([("XDG_CONFIG_HOME", config_home), ("HOME", home)]);
            let file = LoginFile::of(&environment).expect("a place");
            assert_eq!(file.path.as_deref(), expected.map(Path::new));
        }
    }

    #[cfg(unix)]
    #[test]
    fn only_its_owner_can_read_it_and_it_says_so_when_that_changed() {
        use std::os::unix::fs::PermissionsExt;
        let home = tempfile::tempdir().expect("a temporary directory");
        let file = file_in(home.path());
        let path = file
            .save(Service::Production, &login("https://a.example"))
            .expect("space")
            .to_owned();
        let mode = |path: &Path| fs::metadata(path).expect("it is there").permissions().mode() & 0o777;
        assert_eq!((mode(&path), mode(path.parent().expect("a directory"))), (0o600, 0o700));
        assert_eq!(file.load(Service::Production).expect("a file").1, None);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).expect("it is ours");
        assert!(
            file.load(Service::Production)
                .expect("a file")
                .1
                .is_some_and(|warning| warning.contains("chmod 600"))
        );
        file.save(Service::Production, &login("https://a.example"))
            .expect("space");
        assert_eq!(mode(&path), 0o600, "writing it again closes it");
    }

    #[test]
    fn a_damaged_file_is_an_error_that_shows_no_key() {
        let home = tempfile::tempdir().expect("a temporary directory");
        let file = file_in(home.path());
        let path = file
            .save(Service::Production, &login("https://a.example"))
            .expect("space")
            .to_owned();
        for text in [
            format!("[production]\nkey = {KEY}"),
            format!("[production]\nurl = 'x'\nkey = '{KEY}'"),
        ] {
            fs::write(&path, text).expect("space");
            let failure = file.load(Service::Production).expect_err("damaged");
            assert!(
                failure.message.ends_with("is damaged") && !format!("{failure:?}").contains(KEY),
                "{failure:?}"
            );
        }
    }
}
