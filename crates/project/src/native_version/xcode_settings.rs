//! Resolves build settings as Xcode does: layers that inherit, `$(NAME)` in values, and settings files with includes.

use std::collections::BTreeMap;

use crate::packages::join;
use crate::source::Source;

/// Lookups for one value. Settings can refer to one another in cycles.
const MOST_LOOKUPS: usize = 200;
/// Bytes of an expanded value. Settings can double one another.
const LONGEST: usize = 4096;
/// Settings files that are read for one configuration.
const MOST_FILES: usize = 20;

/// Values by name.
pub type Settings = BTreeMap<String, String>;

/// The settings of a target, the nearest layer first.
#[derive(Debug, Default)]
pub struct Layers {
    /// The layers: target, file of the target, project, file of the project.
    pub layers: Vec<Settings>,
    /// The settings that Xcode itself defines.
    pub given: Settings,
    /// The prefix of the platform's SDK name, for settings such as `NAME[sdk=iphoneos*]`.
    pub sdk: &'static str,
}

impl Layers {
    /// The expanded value of a setting; `None` when it is not set or cannot be computed here.
    pub fn resolve(&self, name: &str) -> Option<String> {
        let mut left = MOST_LOOKUPS;
        self.lookup(name, 0, &mut left)
    }

    fn lookup(&self, name: &str, from: usize, left: &mut usize) -> Option<String> {
        *left = left.checked_sub(1)?;
        let found = self.layers.iter().enumerate().skip(from);
        let mut found = found.filter_map(|(at, layer)| Some((at, self.in_layer(layer, name)?)));
        match found.next() {
            Some((at, value)) => self.expand(name, value, at, left),
            None => match self.given.get(name) {
                // A defined value may refer to others.
                Some(value) => self.expand(name, value, self.layers.len(), left),
                None => None,
            },
        }
    }

    fn in_layer<'a>(&self, layer: &'a Settings, name: &str) -> Option<&'a String> {
        let for_sdk = layer.get(&format!("{name}[sdk={}*]", self.sdk));
        for_sdk.or_else(|| layer.get(name))
    }

    fn expand(&self, name: &str, value: &str, at: usize, left: &mut usize) -> Option<String> {
        let mut whole = String::new();
        let mut rest = value;
        while let Some(start) = rest.find('$') {
            whole.push_str(&rest[..start]);
            let close = match rest[start + 1..].chars().next() {
                Some('(') => ')',
                Some('{') => '}',
                _ => return None,
            };
            let inner = &rest[start + 2..];
            let end = inner.find(close)?;
            whole.push_str(&self.reference(name, &inner[..end], at, left)?);
            if whole.len() > LONGEST {
                return None;
            }
            rest = &inner[end + 1..];
        }
        whole.push_str(rest);
        (whole.len() <= LONGEST).then_some(whole)
    }

    /// Expands the content of the parentheses: a name, followed by operators after colons.
    fn reference(&self, name: &str, reference: &str, at: usize, left: &mut usize) -> Option<String> {
        let mut parts = reference.split(':');
        let named = parts.next()?;
        let mut value = match named {
            "inherited" => self.lookup(name, at + 1, left),
            _ if named == name => self.lookup(name, at + 1, left),
            _ => self.lookup(named, 0, left),
        };
        for operator in parts {
            let plain = |with: char, others: &'static str| {
                move |letter: char| match letter.is_ascii_alphanumeric() || others.contains(letter) {
                    true => letter,
                    false => with,
                }
            };
            value = match (operator, operator.strip_prefix("default=")) {
                (_, Some(default)) => value
                    .filter(|value| !value.is_empty())
                    .or_else(|| Some(default.to_owned())),
                ("rfc1034identifier", _) => value.map(|value| value.chars().map(plain('-', ".-")).collect()),
                ("c99extidentifier" | "identifier", _) => {
                    value.map(|value| value.chars().map(plain('_', "_")).collect())
                }
                ("lower", _) => value.map(|value| value.to_lowercase()),
                ("upper", _) => value.map(|value| value.to_uppercase()),
                _ => return None,
            };
        }
        value
    }
}

/// The settings in an `.xcconfig` file and its includes. A missing file has no settings, as with Xcode's `#include?`;
/// the files that Flutter and CocoaPods generate are not in the source.
pub fn read_settings(project: &Source, place: &str) -> Settings {
    let mut settings = Settings::new();
    read_file(project, place, &mut settings, &mut Vec::new());
    settings
}

fn read_file(project: &Source, place: &str, settings: &mut Settings, seen: &mut Vec<String>) {
    if seen.len() == MOST_FILES || seen.iter().any(|other| other == place) {
        return;
    }
    seen.push(place.to_owned());
    let folder = place.rsplit_once('/').map_or("", |(folder, _)| folder);
    for line in project.text(place).unwrap_or_default().lines() {
        let line = line.split("//").next().unwrap_or_default().trim();
        if let Some(rest) = line.strip_prefix("#include") {
            if let Some(name) = rest.split('"').nth(1) {
                read_file(project, &join(folder, name), settings, seen);
            }
        } else if let Some((name, value)) = assignment(line) {
            let value = value.trim().trim_end_matches(';');
            settings.insert(name.trim().to_owned(), value.to_owned());
        }
    }
}

/// Name and value of a line. The name may have conditions in brackets, such as `[sdk=iphoneos*]`.
fn assignment(line: &str) -> Option<(&str, &str)> {
    let mut brackets = 0_usize;
    for (at, letter) in line.char_indices() {
        match letter {
            '[' => brackets += 1,
            ']' => brackets = brackets.saturating_sub(1),
            '=' if brackets == 0 => return Some((&line[..at], &line[at + 1..])),
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layers(layers: &[&[(&str, &str)]]) -> Layers {
        let layer = |values: &&[(&str, &str)]| -> Settings {
            values
                .iter()
                .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
                .collect()
        };
        Layers {
            layers: layers.iter().map(layer).collect(),
            given: layer(&&[("TARGET_NAME", "My App"), ("PRODUCT_NAME", "$(TARGET_NAME)")][..]),
            sdk: "iphoneos",
        }
    }

    #[test]
    fn values_name_others_and_inherit() {
        let settings = layers(&[
            &[
                ("ID", "org.example.$(PRODUCT_NAME:rfc1034identifier)"),
                ("A", "$(inherited).b"),
                ("C", "${C}.d"),
            ],
            &[
                ("A", "a"),
                ("C", "c"),
                ("S", "all"),
                ("S[sdk=iphoneos*]", "phone"),
                ("S[sdk=xros*]", "vision"),
            ],
        ]);
        let rows = [
            ("ID", Some("org.example.My-App")),
            ("A", Some("a.b")),
            ("C", Some("c.d")),
            ("S", Some("phone")),
            ("X", None),
        ];
        for (name, expected) in rows {
            assert_eq!(settings.resolve(name).as_deref(), expected, "{name}");
        }
        let settings = layers(&[&[
            ("D", "$(NONE:default=x).$(PRODUCT_NAME:lower)"),
            ("U", "$(NONE)"),
            ("O", "$(PRODUCT_NAME:odd)"),
            ("L", "$(L2)"),
            ("L2", "$(L)"),
            ("B", "$("),
            ("E", "$"),
        ]]);
        assert_eq!(settings.resolve("D").as_deref(), Some("x.my app"));
        for name in ["U", "O", "L", "B", "E"] {
            assert_eq!(settings.resolve(name), None, "{name}");
        }
    }

    #[test]
    fn values_that_double_one_another_end() {
        let doubling: Vec<(String, String)> = (0..64)
            .map(|number| (format!("A{number}"), format!("$(A{0})$(A{0})", number + 1)))
            .chain([("A64".to_owned(), "x".to_owned())])
            .collect();
        let pairs: Vec<(&str, &str)> = doubling.iter().map(|(name, value)| (&**name, &**value)).collect();
        assert_eq!(layers(&[&pairs]).resolve("A0"), None);
    }
}
