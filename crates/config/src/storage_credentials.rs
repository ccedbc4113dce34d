//! The credentials of an S3 bucket, from the standard AWS variables, in the order in which AWS's own tools look for them.

use std::path::PathBuf;

use launchway_blob::s3::{Authorization, Credentials, INSTANCE_METADATA, RoleSource};
use reqwest::Url;

/// The address at which ECS serves the credentials of its containers.
const ECS: &str = "http://169.254.170.2";
/// The hosts whose credentials may travel without encryption: those of ECS and EKS, and this machine.
const LOCAL: [&str; 6] = [
    "169.254.170.2",
    "169.254.170.23",
    "[fd00:ec2::23]",
    "127.0.0.1",
    "[::1]",
    "localhost",
];

/// The credentials of a bucket.
#[derive(Clone, Debug)]
pub enum StorageCredentials {
    /// Keys that do not change by themselves.
    Keys(Credentials),
    /// Those of a role, which expire and are renewed.
    Role {
        /// Where they come from.
        source: RoleSource,
        /// The region if the storage URL names none.
        region: Option<String>,
    },
}

/// The credentials that the environment names; `None` if it has half a key, or refuses the metadata of the instance.
#[expect(clippy::disallowed_methods, reason = "settings are read here, and only here")]
pub fn credentials_from_environment() -> Option<StorageCredentials> {
    credentials(|name| std::env::var(name).ok())
}

fn credentials(variable: impl Fn(&str) -> Option<String>) -> Option<StorageCredentials> {
    let read = |name: &str| variable(name).filter(|value| !value.is_empty());
    let region = read("AWS_REGION").or_else(|| read("AWS_DEFAULT_REGION"));
    match (read("AWS_ACCESS_KEY_ID"), read("AWS_SECRET_ACCESS_KEY")) {
        (Some(access_key_id), Some(secret_access_key)) => Some(StorageCredentials::Keys(Credentials {
            access_key_id,
            secret_access_key,
            session_token: read("AWS_SESSION_TOKEN"),
            expiration: read("AWS_CREDENTIAL_EXPIRATION"),
            region,
        })),
        (None, None) => Some(StorageCredentials::Role {
            source: role(&read, region.as_deref())?,
            region,
        }),
        // A mistake, which must not lead to other credentials.
        _ => None,
    }
}

fn role(read: &impl Fn(&str) -> Option<String>, region: Option<&str>) -> Option<RoleSource> {
    if let (Some(token_file), Some(role_arn)) = (read("AWS_WEB_IDENTITY_TOKEN_FILE"), read("AWS_ROLE_ARN")) {
        let usual = || format!("https://sts.{}.amazonaws.com", region.unwrap_or("us-east-1"));
        return Some(RoleSource::WebIdentity {
            role_arn,
            session_name: read("AWS_ROLE_SESSION_NAME").unwrap_or_else(|| "launchway".to_owned()),
            token_file: PathBuf::from(token_file),
            endpoint: without_slash(read("AWS_ENDPOINT_URL_STS").unwrap_or_else(usual)),
        });
    }
    let relative = read("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI").map(|path| format!("{ECS}{path}"));
    if let Some(url) = relative.or_else(|| read("AWS_CONTAINER_CREDENTIALS_FULL_URI")) {
        let file = read("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE").map(|file| Authorization::File(file.into()));
        let authorization = file.or_else(|| read("AWS_CONTAINER_AUTHORIZATION_TOKEN").map(Authorization::Value));
        return is_confidential(&url).then_some(RoleSource::Container { url, authorization });
    }
    if read("AWS_EC2_METADATA_DISABLED").is_some_and(|value| value.eq_ignore_ascii_case("true")) {
        return None;
    }
    let endpoint = read("AWS_EC2_METADATA_SERVICE_ENDPOINT").unwrap_or_else(|| INSTANCE_METADATA.to_owned());
    Some(RoleSource::Instance {
        endpoint: without_slash(endpoint),
    })
}

fn without_slash(url: String) -> String {
    url.trim_end_matches('/').to_owned()
}

/// Whether nobody on the network reads what a URL serves.
fn is_confidential(url: &str) -> bool {
    let Ok(url) = Url::parse(url) else { return false };
    let host = url.host_str().unwrap_or_default();
    url.scheme() == "https" || (url.scheme() == "http" && LOCAL.contains(&host))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(variables: &[(&str, &str)]) -> Option<StorageCredentials> {
        credentials(|name| {
            let known = variables.iter().find(|(known, _)| *known == name);
            known.map(|(_, value)| (*value).to_owned())
        })
    }

    fn role_of(variables: &[(&str, &str)]) -> RoleSource {
        match found(variables) {
            Some(StorageCredentials::Role { source, .. }) => source,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn keys_come_first_and_half_a_key_is_refused() {
        let keys = [
            ("AWS_ACCESS_KEY_ID", "id"),
            ("AWS_SECRET_ACCESS_KEY", "secret"),
            ("AWS_ROLE_ARN", "r"),
        ];
        assert!(matches!(found(&keys), Some(StorageCredentials::Keys(keys)) if keys.access_key_id == "id"));
        assert!(found(&keys[..1]).is_none() && found(&keys[1..2]).is_none());
    }

    #[test]
    fn a_role_is_found_where_the_platform_puts_it() {
        let web = [
            ("AWS_WEB_IDENTITY_TOKEN_FILE", "/var/token"),
            ("AWS_ROLE_ARN", "arn:aws:iam::1:role/a"),
            ("AWS_REGION", "eu-west-3"),
            ("AWS_CONTAINER_CREDENTIALS_FULL_URI", "http://127.0.0.1/"),
        ];
        let RoleSource::WebIdentity {
            endpoint, session_name, ..
        } = role_of(&web)
        else {
            panic!("another source");
        };
        assert_eq!(
            (endpoint.as_str(), session_name.as_str()),
            ("https://sts.eu-west-3.amazonaws.com", "launchway")
        );
        let ecs = role_of(&[("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "/v2/credentials/x")]);
        let url = "http://169.254.170.2/v2/credentials/x".to_owned();
        assert_eq!(
            ecs,
            RoleSource::Container {
                url,
                authorization: None
            }
        );
        let eks = role_of(&[
            (
                "AWS_CONTAINER_CREDENTIALS_FULL_URI",
                "http://169.254.170.23/v1/credentials",
            ),
            ("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", "/var/run/token"),
        ]);
        assert!(matches!(
            eks,
            RoleSource::Container {
                authorization: Some(Authorization::File(_)),
                ..
            }
        ));
        let endpoint = INSTANCE_METADATA.to_owned();
        assert_eq!(role_of(&[("AWS_ACCESS_KEY_ID", "")]), RoleSource::Instance { endpoint });
        assert!(found(&[("AWS_EC2_METADATA_DISABLED", "true")]).is_none());
    }

    #[test]
    fn the_credentials_of_a_container_stay_confidential() {
        for (url, is_taken) in [
            ("https://credentials.example.com/a", true),
            ("http://[fd00:ec2::23]/v1", true),
            ("http://credentials.example.com/a", false),
            ("http://169.254.170.2.example.com/", false),
            ("http://169.254.170.2@example.com/", false),
            ("file:///etc/passwd", false),
            ("no url", false),
        ] {
            let found = found(&[("AWS_CONTAINER_CREDENTIALS_FULL_URI", url)]);
            assert_eq!(found.is_some(), is_taken, "{url}");
        }
        // A path that leads to another host is not one of ECS.
        assert!(found(&[("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "@example.com/")]).is_none());
    }
}
