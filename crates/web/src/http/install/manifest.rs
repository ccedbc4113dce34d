//! The property list from which Apple's systems install an app.

use launchway_domain::percent;
use launchway_ops::api_error::ApiError;
use plist::{Dictionary, Value};

/// The URL behind the button of the page, which makes the system read the manifest at `manifest_url`.
pub fn link(manifest_url: &str) -> String {
    format!(
        "itms-services://?action=download-manifest&url={}",
        percent::encode(manifest_url)
    )
}

/// The manifest of an app whose bytes are at `url`.
pub fn write(url: &str, bundle_id: &str, version: &str, title: &str) -> Result<Vec<u8>, ApiError> {
    let texts = |pairs: &[(&str, &str)]| -> Dictionary {
        pairs
            .iter()
            .map(|(name, text)| ((*name).to_owned(), Value::from(plain(text))))
            .collect()
    };
    let asset = texts(&[("kind", "software-package"), ("url", url)]);
    let metadata = texts(&[
        ("bundle-identifier", bundle_id),
        ("bundle-version", version),
        ("kind", "software"),
        ("title", title),
    ]);
    let mut item = Dictionary::new();
    item.insert("assets".to_owned(), Value::Array(vec![Value::Dictionary(asset)]));
    item.insert("metadata".to_owned(), Value::Dictionary(metadata));
    let mut manifest = Dictionary::new();
    manifest.insert("items".to_owned(), Value::Array(vec![Value::Dictionary(item)]));
    let mut bytes = Vec::new();
    Value::Dictionary(manifest)
        .to_writer_xml(&mut bytes)
        .map_err(|error| ApiError::Internal(format!("writing a manifest: {error}")))?;
    Ok(bytes)
}

/// XML allows no control characters, not even escaped.
fn plain(text: &str) -> String {
    text.chars()
        .map(|letter| if letter.is_control() { ' ' } else { letter })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_an_app_is_called_the_manifest_says_it() {
        let (url, title) = ("https://example.com/a?x=1&y=<2>", "Tom & \"Jerry\" </string>\u{1}ü");
        let bytes = write(url, "com.example.app", "1.2.3", title).expect("written");
        let read = Value::from_reader_xml(bytes.as_slice()).expect("a property list");
        let item = &read.as_dictionary().expect("a dictionary")["items"]
            .as_array()
            .expect("items")[0];
        let item = item.as_dictionary().expect("an item");
        let asset = item["assets"].as_array().expect("assets")[0]
            .as_dictionary()
            .expect("an asset");
        assert_eq!(asset["url"].as_string(), Some(url));
        assert_eq!(asset["kind"].as_string(), Some("software-package"));
        let metadata = item["metadata"].as_dictionary().expect("metadata");
        assert_eq!(metadata["title"].as_string(), Some("Tom & \"Jerry\" </string> ü"));
        assert_eq!(metadata["bundle-identifier"].as_string(), Some("com.example.app"));
        assert_eq!(metadata["bundle-version"].as_string(), Some("1.2.3"));
    }

    #[test]
    fn the_link_carries_the_whole_url() {
        assert_eq!(
            link("https://a/b?c=d&e=f"),
            "itms-services://?action=download-manifest&url=https%3A%2F%2Fa%2Fb%3Fc%3Dd%26e%3Df"
        );
    }
}
