//! Passwords on the command line, which every user of the machine can read.

use std::ffi::OsString;

/// The arguments that contain a password in a URL, as flag names. Does not return the password.
pub fn passwords(arguments: impl IntoIterator<Item = OsString>) -> Vec<String> {
    let mut named = Vec::new();
    let mut flag = String::new();
    for argument in arguments {
        let argument = argument.to_string_lossy();
        let (name, value) = match argument.strip_prefix("--") {
            Some(rest) => rest.split_once('=').unwrap_or((rest, "")),
            None => (flag.as_str(), &*argument),
        };
        if has_password(value) {
            named.push(format!("--{name}"));
        }
        flag = name.to_owned();
    }
    named
}

/// Whether a text is a URL with a password, before the host or in its query.
fn has_password(value: &str) -> bool {
    let Some((_, rest)) = value.split_once("://") else {
        return false;
    };
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let user = authority.rsplit_once('@').map_or("", |(user, _)| user);
    let in_user = user.split_once(':').is_some_and(|(_, password)| !password.is_empty());
    let query = rest.split_once('?').map_or("", |(_, query)| query);
    let in_query = query
        .split('&')
        .filter_map(|pair| pair.split_once('='))
        .any(|(name, value)| {
            let name = name.to_ascii_lowercase();
            !value.is_empty() && (name.contains("password") || name.contains("secret"))
        });
    in_user || in_query
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_in_a_url_is_found_and_not_shown() {
        for (line, expected) in [
            ("--database-url postgres://ada:hunter2@db/launchway", "--database-url"),
            ("--database-url=postgres://ada:hunter2@db/launchway", "--database-url"),
            (
                "--database-url=postgres://db/launchway?sslmode=require&password=hunter2",
                "--database-url",
            ),
            (
                "serve --storage-url s3://bucket?secret_access_key=hunter2",
                "--storage-url",
            ),
            (
                "--public-url https://a:hunter2@b --database-url postgres://c:hunter2@d",
                "--public-url --database-url",
            ),
            ("--database-url postgres://ada@db/launchway", ""),
            ("--database-url postgres://ada:@db/launchway?password=", ""),
            ("--database-url sqlite:data/a:b@c", ""),
            ("--public-url https://launchway.example:8443/a@b:c", ""),
            ("--listen 127.0.0.1:1 --no-runner serve", ""),
        ] {
            let found = passwords(line.split(' ').map(OsString::from));
            assert_eq!(found.join(" "), expected, "{line}");
        }
    }
}
