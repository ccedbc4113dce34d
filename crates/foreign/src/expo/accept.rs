//! Content negotiation: which form of answer a client accepts (RFC 9110, sections 12.4.2 and 12.5.1).

/// The longest `Accept` header that is read, in bytes; the rest of a longer one counts as absent.
const MAX_ACCEPT_BYTES: usize = 1024;

/// A form of an answer. Earlier ones are preferred among those that a client accepts equally.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Form {
    /// `multipart/mixed`: a manifest or a directive, with extensions.
    Multipart,
    /// `application/expo+json`: a manifest alone.
    ExpoJson,
    /// `application/json`: a manifest alone.
    Json,
}

impl Form {
    /// All forms, in order of preference.
    pub const ALL: [Form; 3] = [Form::Multipart, Form::ExpoJson, Form::Json];

    /// The media type, without parameters.
    pub fn media_type(self) -> &'static str {
        match self {
            Form::Multipart => "multipart/mixed",
            Form::ExpoJson => "application/expo+json",
            Form::Json => "application/json",
        }
    }
}

/// The form that an `Accept` header prefers; without a header, the most capable one. `None` if it accepts none of them.
pub fn preferred(accept: Option<&str>) -> Option<Form> {
    let Some(accept) = accept.map(str::trim).filter(|accept| !accept.is_empty()) else {
        return Some(Form::Multipart);
    };
    let end = accept.floor_char_boundary(MAX_ACCEPT_BYTES);
    // Of equal qualities the first wins, which is the preferred form.
    let mut best: Option<(u16, Form)> = None;
    for form in Form::ALL {
        let quality = quality_of(form, &accept[..end]);
        if quality > best.map_or(0, |(quality, _)| quality) {
            best = Some((quality, form));
        }
    }
    best.map(|(_, form)| form)
}

/// The quality of a form in thousandths: that of the most specific range that names it; 0 if none does.
fn quality_of(form: Form, accept: &str) -> u16 {
    let (kind, _) = form.media_type().split_once('/').unwrap_or_default();
    let mut found = (0, 0);
    for range in accept.split(',') {
        let mut parts = range.split(';').map(str::trim);
        let name = parts.next().unwrap_or_default();
        let of_kind = || {
            name.strip_suffix("/*")
                .is_some_and(|named| named.eq_ignore_ascii_case(kind))
        };
        let specificity = match name {
            _ if name.eq_ignore_ascii_case(form.media_type()) => 3,
            _ if of_kind() => 2,
            "*/*" => 1,
            _ => continue,
        };
        if specificity > found.0 {
            found = (specificity, quality(parts));
        }
    }
    found.1
}

/// The `q` among parameters in thousandths, 1000 without one. A malformed one counts as 0: the client's wish is unknown.
fn quality<'a>(parameters: impl Iterator<Item = &'a str>) -> u16 {
    for parameter in parameters {
        let Some((name, value)) = parameter.split_once('=') else {
            continue;
        };
        if name.trim().eq_ignore_ascii_case("q") {
            return thousandths(value.trim()).unwrap_or(0);
        }
    }
    1000
}

fn thousandths(value: &str) -> Option<u16> {
    let (whole, fraction) = value.split_once('.').unwrap_or((value, ""));
    if !matches!(whole, "0" | "1") || fraction.len() > 3 || !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let fraction: u16 = format!("{fraction:0<3}").parse().ok()?;
    let quality = if whole == "1" { 1000 + fraction } else { fraction };
    (quality <= 1000).then_some(quality)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::Form::{ExpoJson, Json, Multipart};
    use super::*;

    #[test]
    fn the_form_of_the_highest_quality_is_chosen() {
        let padded = format!("text/html{}, application/json", ", text/html".repeat(200));
        for (accept, expected) in [
            (None, Some(Multipart)),
            (Some(""), Some(Multipart)),
            (
                Some("multipart/mixed,application/expo+json,application/json"),
                Some(Multipart),
            ),
            (
                Some("application/expo+json;q=0.9, application/json;q=0.8, multipart/mixed"),
                Some(Multipart),
            ),
            (
                Some("application/expo+json, application/json;q=0.9, multipart/mixed;q=0.8"),
                Some(ExpoJson),
            ),
            (Some("application/json"), Some(Json)),
            (Some("application/json, application/expo+json"), Some(ExpoJson)),
            (Some("APPLICATION/JSON ; Q=1.000"), Some(Json)),
            (Some("*/*"), Some(Multipart)),
            (Some("application/*"), Some(ExpoJson)),
            (Some("*/*;q=0.1, application/json;q=0.2"), Some(Json)),
            (Some("*/*, multipart/mixed;q=0"), Some(ExpoJson)),
            (Some("multipart/*;q=0, application/expo+json;q=0, */*"), Some(Json)),
            (
                Some("multipart/mixed;boundary=x;q=0.5, application/json;q=0.4"),
                Some(Multipart),
            ),
            (Some("text/html"), None),
            (Some("multipart/mixed;q=0"), None),
            (Some("multipart/mixed;q=2, application/json;q=-1"), None),
            (Some("multipart/mixed;q=nonsense, application/json;q=0.001"), Some(Json)),
            (Some(&padded), None),
        ] {
            assert_eq!(preferred(accept), expected, "{accept:.80?}");
        }
    }

    proptest! {
        #[test]
        fn every_header_is_read(accept in ".{0,1500}", range in "[a-z*/;=q.,0-9 ]{0,80}") {
            preferred(Some(&accept));
            preferred(Some(&range));
        }
    }
}
