//! The edits of React Native's native projects: the app asks the SDK which bundle to load. A file is edited only where
//! its anchor is exactly once; otherwise people have to add the lines.

/// A native file that names the bundle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NativeFile {
    /// `MainApplication.kt`.
    Kotlin,
    /// `MainApplication.java`.
    Java,
    /// `AppDelegate.swift`.
    Swift,
    /// `AppDelegate.mm` or `.m`.
    ObjectiveC,
}

/// An addition beside an anchor.
struct Rule {
    /// A text that must be in the file exactly once.
    anchor: &'static str,
    /// What is done there.
    action: Action,
}

enum Action {
    /// Changes nothing: the other rules depend on this anchor.
    Keep,
    /// Adds lines after that of the anchor, indented like the line that follows.
    After(&'static [&'static str]),
    /// Replaces the anchor.
    Replace(&'static str),
}

const SWIFT_BUNDLE: &str = "Bundle.main.url(forResource: \"main\", withExtension: \"jsbundle\")";
const OBJECTIVE_C_BUNDLE: &str = "[[NSBundle mainBundle] URLForResource:@\"main\" withExtension:@\"jsbundle\"]";

const JAVA_METHOD: [&str; 5] = [
    "@Override",
    "protected String getJSBundleFile() {",
    "  return dev.launchway.reactnative.LaunchwayReactNative.jsBundleFile(MainApplication.this);",
    "}",
    "",
];

impl NativeFile {
    /// The kind of a file with this name.
    pub fn of_name(name: &str) -> Option<Self> {
        match name {
            "MainApplication.kt" => Some(Self::Kotlin),
            "MainApplication.java" => Some(Self::Java),
            "AppDelegate.swift" => Some(Self::Swift),
            "AppDelegate.mm" | "AppDelegate.m" => Some(Self::ObjectiveC),
            _ => None,
        }
    }

    /// Whether a file of this kind asks the SDK.
    pub fn asks_sdk(self, text: &str) -> bool {
        let mark = match self {
            Self::Kotlin | Self::Java => "LaunchwayReactNative.jsBundleFile(",
            Self::Swift => "LaunchwayReactNative.bundleURL(",
            Self::ObjectiveC => "[LaunchwayReactNative bundleURL",
        };
        text.contains(mark)
    }

    /// The ways to edit such a file, of which the first one that fits is taken. Each is a list of rules that must all fit.
    fn ways(self) -> &'static [&'static [Rule]] {
        match self {
            Self::Kotlin => &[
                &[Rule {
                    anchor: "DefaultReactNativeHost(this) {",
                    action: Action::After(&[
                        "override fun getJSBundleFile(): String? =",
                        "    dev.launchway.reactnative.LaunchwayReactNative.jsBundleFile(this@MainApplication)",
                        "",
                    ]),
                }],
                &[
                    // Functions of this name in other packages have other parameters.
                    Rule {
                        anchor: "import com.facebook.react.defaults.DefaultReactHost.getDefaultReactHost\n",
                        action: Action::Keep,
                    },
                    Rule {
                        anchor: "context = applicationContext,",
                        action: Action::After(&[
                            "jsBundleFilePath =",
                            "  dev.launchway.reactnative.LaunchwayReactNative.jsBundleFile(applicationContext),",
                        ]),
                    },
                ],
            ],
            Self::Java => &[&[Rule {
                anchor: "new DefaultReactNativeHost(this) {",
                action: Action::After(&JAVA_METHOD),
            }]],
            Self::Swift => &[&[
                Rule {
                    anchor: "\nimport React\n",
                    action: Action::Replace("\nimport React\nimport launchway_react_native\n"),
                },
                Rule {
                    anchor: SWIFT_BUNDLE,
                    action: Action::Replace(
                        "LaunchwayReactNative.bundleURL() ?? Bundle.main.url(forResource: \"main\", withExtension: \"jsbundle\")",
                    ),
                },
            ]],
            Self::ObjectiveC => &[&[
                Rule {
                    anchor: "#import \"AppDelegate.h\"\n",
                    // The class is in Swift, and the name of its header depends on how pods are linked.
                    action: Action::Replace(
                        "#import \"AppDelegate.h\"\n\n@interface LaunchwayReactNative : NSObject\n+ (nullable NSURL *)bundleURL;\n@end\n",
                    ),
                },
                Rule {
                    anchor: OBJECTIVE_C_BUNDLE,
                    action: Action::Replace(
                        "[LaunchwayReactNative bundleURL] ?: [[NSBundle mainBundle] URLForResource:@\"main\" withExtension:@\"jsbundle\"]",
                    ),
                },
            ]],
        }
    }

    /// The text with the edit; `None` if no way fits.
    pub fn with_sdk(self, text: &str) -> Option<String> {
        let is_crlf = text.contains("\r\n");
        let plain = text.replace("\r\n", "\n");
        let edited = self.ways().iter().find_map(|rules| apply(&plain, rules))?;
        Some(match is_crlf {
            true => edited.replace('\n', "\r\n"),
            false => edited,
        })
    }

    /// The lines that people have to add.
    pub fn lines(self) -> Vec<&'static str> {
        match self {
            Self::Kotlin => vec![
                "jsBundleFilePath = dev.launchway.reactnative.LaunchwayReactNative.jsBundleFile(applicationContext),",
            ],
            Self::Java => JAVA_METHOD[..4].to_vec(),
            Self::Swift => vec![
                "import launchway_react_native",
                "LaunchwayReactNative.bundleURL() ?? Bundle.main.url(forResource: \"main\", withExtension: \"jsbundle\")",
            ],
            Self::ObjectiveC => vec![
                "@interface LaunchwayReactNative : NSObject",
                "+ (nullable NSURL *)bundleURL;",
                "@end",
                "return [LaunchwayReactNative bundleURL] ?: [[NSBundle mainBundle] URLForResource:@\"main\" withExtension:@\"jsbundle\"];",
            ],
        }
    }

    /// Where the lines belong.
    pub fn place(self) -> &'static str {
        match self {
            Self::Kotlin => "as an argument of getDefaultReactHost, or as getJSBundleFile of the ReactNativeHost",
            Self::Java => "in the ReactNativeHost",
            Self::Swift | Self::ObjectiveC => "in bundleURL, where it returns main.jsbundle",
        }
    }
}

/// The text with all rules; `None` if an anchor is not there exactly once.
fn apply(text: &str, rules: &[Rule]) -> Option<String> {
    rules.iter().try_fold(text.to_owned(), |text, rule| match rule.action {
        Action::Keep => only(&text, rule.anchor).map(|_| text.clone()),
        Action::Replace(with) => {
            let at = only(&text, rule.anchor)?;
            let end = at + rule.anchor.len();
            Some(format!("{}{with}{}", &text[..at], &text[end..]))
        }
        Action::After(lines) => after_line(&text, rule.anchor, lines),
    })
}

/// The text with these lines after that of the anchor, indented like the line that follows; `None` if the anchor is not
/// there exactly once.
pub(super) fn after_line(text: &str, anchor: &str, lines: &[&str]) -> Option<String> {
    let end = only(text, anchor)? + anchor.len();
    let line = match anchor.ends_with('\n') {
        true => end,
        false => text[end..].find('\n').map_or(text.len(), |more| end + more + 1),
    };
    let next = text[line..]
        .lines()
        .find(|line| !line.trim().is_empty())
        .unwrap_or_default();
    let indent = &next[..next.len() - next.trim_start().len()];
    let indented = lines.iter().map(|line| match *line {
        "" => "\n".to_owned(),
        line => format!("{indent}{line}\n"),
    });
    let indented = indented.collect::<String>();
    Some(format!("{}{indented}{}", &text[..line], &text[line..]))
}

/// Where the anchor is, if that is one place.
fn only(text: &str, anchor: &str) -> Option<usize> {
    let mut found = text.match_indices(anchor);
    match (found.next(), found.next()) {
        (Some((at, _)), None) => Some(at),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
