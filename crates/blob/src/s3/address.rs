//! Parses `s3://BUCKET[/PREFIX]?endpoint=…&region=…&path_style=…`: the address of a bucket.

use http::Uri;
use launchway_domain::percent;

use crate::{BlobError, Key};

/// The parsed and validated address of a bucket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Address {
    pub bucket: String,
    pub region: String,
    /// The prefix of every key in the bucket.
    pub prefix: Option<Key>,
    /// Whether the bucket is in the path rather than in the host.
    pub path_style: bool,
    /// Scheme, host and port.
    pub origin: String,
    /// The `Host` header of requests.
    pub host: String,
    /// The path of a URL up to the key, with a slash at both ends.
    pub base_path: String,
    /// The path of the endpoint, without a trailing slash.
    endpoint_path: String,
}

impl Address {
    /// Parses a URL; `default_region` applies if it names none.
    pub fn parse(url: &str, default_region: Option<&str>) -> Result<Address, BlobError> {
        let wrong = |what: &str| BlobError::Settings(what.to_owned());
        let rest = url
            .strip_prefix("s3://")
            .ok_or_else(|| wrong("the address must start with s3://"))?;
        let (place, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (bucket, prefix) = place.split_once('/').unwrap_or((place, ""));
        if Key::new(bucket).is_err() {
            return Err(wrong(
                "the bucket's name must have only letters, digits, `.`, `_` and `-`",
            ));
        }
        let prefix = match prefix.trim_end_matches('/') {
            "" => None,
            prefix => Some(Key::new(prefix).map_err(|error| BlobError::Settings(error.to_string()))?),
        };
        let parameters = Parameters::read(query)?;
        let region = parameters
            .region
            .as_deref()
            .or(default_region)
            .unwrap_or("us-east-1")
            .to_owned();
        if Key::new(&region).is_err() || region.contains('/') {
            return Err(wrong("region must be a name such as eu-central-1"));
        }
        // Wildcard certificates do not cover a bucket with a dot as a host name.
        let path_style = parameters
            .path_style
            .unwrap_or(parameters.endpoint.is_some() || bucket.contains('.'));
        let endpoint = parameters
            .endpoint
            .unwrap_or_else(|| format!("https://s3.{region}.amazonaws.com"));
        let (scheme, authority, endpoint_path) = endpoint_parts(&endpoint).ok_or_else(|| {
            // Not repeated, because it may contain a password.
            wrong("endpoint must be an address such as https://storage.example.com, without user, query or escapes")
        })?;
        let (host, bucket_path) = if path_style {
            (authority, format!("/{bucket}"))
        } else {
            (format!("{bucket}.{authority}"), String::new())
        };
        let key_prefix = prefix.as_ref().map(|prefix| format!("{prefix}/")).unwrap_or_default();
        Ok(Address {
            bucket: bucket.to_owned(),
            region,
            origin: format!("{scheme}://{host}"),
            base_path: format!("{endpoint_path}{bucket_path}/{key_prefix}"),
            prefix,
            path_style,
            host,
            endpoint_path,
        })
    }

    /// The prefix of every key with its slash, or an empty text.
    pub fn key_prefix(&self) -> &str {
        let length = self.prefix.as_ref().map_or(0, |prefix| prefix.as_str().len() + 1);
        &self.base_path[self.base_path.len() - length..]
    }

    /// The endpoint in the form that `object_store` expects: with the bucket only if it is part of the host.
    pub fn library_endpoint(&self) -> String {
        format!("{}{}", self.origin, self.endpoint_path)
    }
}

#[derive(Default)]
struct Parameters {
    endpoint: Option<String>,
    region: Option<String>,
    path_style: Option<bool>,
}

impl Parameters {
    fn read(query: &str) -> Result<Parameters, BlobError> {
        let mut parameters = Parameters::default();
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let value = percent::decode(value)
                .filter(|value| !value.is_empty())
                .ok_or_else(|| BlobError::Settings(format!("{name} is not valid UTF-8")))?;
            match (name, value.as_str()) {
                ("endpoint", _) => parameters.endpoint = Some(value),
                ("region", _) => parameters.region = Some(value),
                ("path_style", "true") => parameters.path_style = Some(true),
                ("path_style", "false") => parameters.path_style = Some(false),
                ("path_style", _) => return Err(BlobError::Settings("path_style must be true or false".to_owned())),
                _ => {
                    return Err(BlobError::Settings(format!(
                        "`{name}` is unknown; the parameters are endpoint, region and path_style"
                    )));
                }
            }
        }
        Ok(parameters)
    }
}

/// Scheme, authority as clients send it in `Host`, and path without a trailing slash.
fn endpoint_parts(endpoint: &str) -> Option<(&'static str, String, String)> {
    let uri: Uri = endpoint.parse().ok()?;
    let (scheme, default_port) = match uri.scheme_str()? {
        "https" => ("https", 443),
        "http" => ("http", 80),
        _ => return None,
    };
    let authority = uri.authority()?;
    let path = uri.path().trim_end_matches('/');
    let is_plain = !authority.as_str().contains('@')
        && !authority.host().is_empty()
        && (authority.port_u16().is_some() || authority.as_str() == authority.host())
        && uri.query().is_none()
        && !endpoint.contains('#')
        && (path.is_empty() || Key::new(path.strip_prefix('/')?).is_ok());
    let host = authority.host().to_ascii_lowercase();
    let host = match authority.port_u16() {
        Some(port) if port != default_port => format!("{host}:{port}"),
        _ => host,
    };
    is_plain.then(|| (scheme, host, path.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url_of(settings: &str) -> (String, String, String) {
        let address = Address::parse(settings, Some("eu-west-3")).unwrap();
        (
            format!("{}{}", address.origin, address.base_path),
            address.host.clone(),
            address.library_endpoint(),
        )
    }

    #[test]
    fn reads_where_the_bucket_is() {
        let cases = [
            (
                "s3://box",
                "https://box.s3.eu-west-3.amazonaws.com/",
                "https://box.s3.eu-west-3.amazonaws.com",
            ),
            (
                "s3://my.box",
                "https://s3.eu-west-3.amazonaws.com/my.box/",
                "https://s3.eu-west-3.amazonaws.com",
            ),
            (
                "s3://box/a/b/?region=x-1",
                "https://box.s3.x-1.amazonaws.com/a/b/",
                "https://box.s3.x-1.amazonaws.com",
            ),
            (
                "s3://box?endpoint=http://127.0.0.1:9000",
                "http://127.0.0.1:9000/box/",
                "http://127.0.0.1:9000",
            ),
            (
                "s3://box?endpoint=http%3A%2F%2F[::1]:9000/",
                "http://[::1]:9000/box/",
                "http://[::1]:9000",
            ),
            (
                "s3://box/p?endpoint=https://H.example:443/s3",
                "https://h.example/s3/box/p/",
                "https://h.example/s3",
            ),
            (
                "s3://box?endpoint=https://h.example&path_style=false",
                "https://box.h.example/",
                "https://box.h.example",
            ),
        ];
        for (settings, url, endpoint) in cases {
            let (found, host, library) = url_of(settings);
            assert_eq!((found.as_str(), library.as_str()), (url, endpoint), "{settings}");
            assert!(
                url.starts_with(&format!("http://{host}/")) || url.starts_with(&format!("https://{host}/")),
                "{host}"
            );
        }
        assert_eq!(Address::parse("s3://box", None).unwrap().region, "us-east-1");
        assert_eq!(Address::parse("s3://box/a/b", None).unwrap().key_prefix(), "a/b/");
        assert_eq!(Address::parse("s3://box", None).unwrap().key_prefix(), "");
    }

    #[test]
    fn says_what_is_wrong() {
        let cases = [
            ("http://box", "the address must start with s3://"),
            ("s3://", "the bucket's name"),
            ("s3://b c", "the bucket's name"),
            ("s3://box/..", "an object key has segments"),
            ("s3://box?regoin=x", "`regoin` is unknown"),
            ("s3://box?region=", "region is not valid UTF-8"),
            ("s3://box?region=a/b", "region must be a name"),
            ("s3://box?path_style=yes", "path_style must be true or false"),
            ("s3://box?endpoint=example.com", "endpoint must be an address"),
            ("s3://box?endpoint=ftp://example.com", "endpoint must be an address"),
            (
                "s3://box?endpoint=https://me:pw@example.com",
                "endpoint must be an address",
            ),
            (
                "s3://box?endpoint=https://example.com%3Fx",
                "endpoint must be an address",
            ),
            (
                "s3://box?endpoint=https://example.com:99999",
                "endpoint must be an address",
            ),
            (
                "s3://box?endpoint=https://example.com/a//b",
                "endpoint must be an address",
            ),
        ];
        for (settings, text) in cases {
            let error = Address::parse(settings, None).unwrap_err().to_string();
            assert!(error.contains(text), "{settings}: {error}");
        }
    }
}
