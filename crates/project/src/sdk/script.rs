//! Adds the import and the call of the SDK to a script. Nothing is executed or parsed as a whole: only the imports at
//! its top are read.

/// The call that most apps need. Updates never stop an app from working, so that an error is only logged.
pub const CALL: &str = "Launchway.sync().catch(console.warn)";

/// The lines that an app needs, for people.
pub fn lines(package: &str) -> [String; 2] {
    [format!("import {{ Launchway }} from '{package}';"), format!("{CALL};")]
}

/// Whether a script calls `sync()` of the SDK outside of a comment.
pub fn calls_sync(text: &str) -> bool {
    let packages = ["@launchway/", "dev.launchway.", "import LaunchwayApple"];
    let imports = packages.iter().any(|package| text.contains(package));
    let code = text.lines().map(str::trim_start).filter(|line| {
        let is_comment = ["//", "/*", "*"].iter().any(|start| line.starts_with(*start));
        !is_comment
    });
    let mut code = code.map(|line| line.to_ascii_lowercase().replace("?.", "."));
    // In Swift a closure may replace the parentheses.
    let named = ["launchway.sync(", "launchway.sync {", "launchway.start().sync {"];
    code.any(|line| named.iter().any(|call| line.contains(*call)) || (imports && line.contains(".sync(")))
}

/// The script with the import of `package` after its other imports, and the call behind it. `None` for a script that is not
/// a module.
pub fn with_call(text: &str, package: &str) -> Option<String> {
    let imports = Imports::read(text);
    if imports.count == 0 && text.contains("require(") {
        return None;
    }
    let end = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let mut lines_above = text[..imports.end].lines();
    let has_semicolons = imports.count == 0 || lines_above.any(|line| line.trim_end().ends_with(';'));
    let stop = if has_semicolons { ";" } else { "" };
    let (before, behind) = text.split_at(imports.end);
    let mut added = String::new();
    if !before.is_empty() && !before.ends_with('\n') {
        added.push_str(end);
    }
    let quote = imports.quote.unwrap_or('\'');
    let [import, call] = lines(package).map(|line| {
        let line = line.trim_end_matches(';').replace('\'', &quote.to_string());
        format!("{line}{stop}{end}")
    });
    added.push_str(&import);
    added.push_str(end);
    added.push_str(&call);
    if !behind.is_empty() && !behind.starts_with(['\r', '\n']) {
        added.push_str(end);
    }
    Some(format!("{before}{added}{behind}"))
}

/// The imports at the top of a script.
#[derive(Debug, Default, PartialEq)]
struct Imports {
    count: usize,
    /// Where the line after the last one begins; 0 if there is none.
    end: usize,
    /// The quotes that they use.
    quote: Option<char>,
}

impl Imports {
    fn read(text: &str) -> Self {
        let mut found = Self::default();
        let mut at = 0;
        loop {
            at = skip_blank(text, at);
            let rest = &text[at..];
            let Some((after, quote)) = import(rest).or_else(|| directive(rest)) else {
                return found;
            };
            at += after;
            if rest.starts_with("import") {
                found.count += 1;
                found.quote = found.quote.or(quote);
            }
            let line = text[at..].find('\n').map_or(text.len(), |end| at + end + 1);
            let tail = text[at..line].trim();
            let is_comment = tail.starts_with("//") || (tail.starts_with("/*") && tail.ends_with("*/"));
            if !tail.is_empty() && !is_comment {
                found.end = at;
                return found;
            }
            found.end = line;
        }
    }
}

/// The length of the import statement at the start of a text, and its quote.
fn import(text: &str) -> Option<(usize, Option<char>)> {
    let rest = text.strip_prefix("import")?;
    if rest.starts_with(|letter: char| letter.is_alphanumeric() || "_$.(".contains(letter)) {
        return None;
    }
    let mut at = text.len() - rest.len();
    while let Some(letter) = text[at..].chars().next() {
        match letter {
            '/' if text[at..].starts_with("//") || text[at..].starts_with("/*") => at = skip_blank(text, at),
            '\'' | '"' => {
                let close = text[at + 1..].find([letter, '\n'])?;
                if !text[at + 1 + close..].starts_with(letter) {
                    return None;
                }
                return Some((statement_end(text, at + close + 2), Some(letter)));
            }
            // Another form of TypeScript, which is one line.
            '=' | ';' | '(' => return Some((text[at..].find('\n').map_or(text.len(), |end| at + end), None)),
            letter => at += letter.len_utf8(),
        }
    }
    None
}

/// The end of an import whose name ends at `at`: with its attributes and semicolon.
fn statement_end(text: &str, at: usize) -> usize {
    let rest = text[at..].trim_start_matches([' ', '\t']);
    let has_attributes = ["with", "assert"].iter().any(|word| {
        rest.strip_prefix(word)
            .is_some_and(|rest| rest.trim_start().starts_with('{'))
    });
    let end = match (has_attributes, rest.find('}')) {
        (true, Some(close)) => text.len() - rest.len() + close + 1,
        _ => at,
    };
    let rest = text[end..].trim_start_matches([' ', '\t']);
    match rest.starts_with(';') {
        true => text.len() - rest.len() + 1,
        false => end,
    }
}

/// The length of a directive such as `'use strict';`.
fn directive(text: &str) -> Option<(usize, Option<char>)> {
    let quote = text.chars().next().filter(|letter| matches!(letter, '\'' | '"'))?;
    let inner = text[1..].split_once(quote)?.0;
    if !inner.starts_with("use ") || inner.contains('\n') {
        return None;
    }
    Some((statement_end(text, inner.len() + 2), None))
}

/// The position after white space and comments.
fn skip_blank(text: &str, mut at: usize) -> usize {
    loop {
        let rest = &text[at..];
        let blank = rest.len()
            - rest
                .trim_start_matches(|letter: char| letter.is_whitespace() || letter == '\u{feff}')
                .len();
        let rest = &rest[blank..];
        let comment = if rest.starts_with("//") || (at + blank == 0 && rest.starts_with("#!")) {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |end| end + 2)
        } else {
            0
        };
        at += blank + comment;
        if comment == 0 {
            return at;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const PACKAGE: &str = "@launchway/react-native";

    fn with(text: &str) -> String {
        with_call(text, PACKAGE).unwrap()
    }

    #[test]
    fn import_and_call_follow_the_imports() {
        let text = "import { AppRegistry } from 'react-native';\nimport App from './App';\n\nAppRegistry.run('Sample', () => App);\n";
        let expected = "import { AppRegistry } from 'react-native';\nimport App from './App';\n\
                        import { Launchway } from '@launchway/react-native';\n\n\
                        Launchway.sync().catch(console.warn);\n\n\
                        AppRegistry.run('Sample', () => App);\n";
        assert_eq!(with(text), expected);
    }

    #[test]
    fn the_style_of_the_file_is_kept() {
        let text = "// Starts the app.\r\nimport {\r\n  a, // don't\r\n  b,\r\n} from \"x\"\r\nimport \"./style.css\"\r\nrun(a, b)";
        let expected = "// Starts the app.\r\nimport {\r\n  a, // don't\r\n  b,\r\n} from \"x\"\r\nimport \"./style.css\"\r\n\
                        import { Launchway } from \"@launchway/react-native\"\r\n\r\n\
                        Launchway.sync().catch(console.warn)\r\n\r\nrun(a, b)";
        assert_eq!(with(text), expected);
    }

    #[test]
    fn a_module_may_import_nothing_or_everything() {
        let own = "import { Launchway } from '@launchway/react-native';\n\n\
                   Launchway.sync().catch(console.warn);\n";
        let rows = [
            ("", own.to_owned()),
            ("start();\n", format!("{own}\nstart();\n")),
            ("import './a';", format!("import './a';\n{own}")),
            (
                "'use client';\n\nstart();\n",
                format!("'use client';\n{own}\nstart();\n"),
            ),
            (
                "import a from './a.json' with { type: 'json' };\nimport b = require('b');\nimport type { C } from 'c';\nx;\n",
                format!(
                    "import a from './a.json' with {{ type: 'json' }};\nimport b = require('b');\nimport type {{ C }} from 'c';\n{own}\nx;\n"
                ),
            ),
            ("import './a'; start();\n", format!("import './a';\n{own}\n start();\n")),
            (
                "import './a'; /* b\n c */ d();\n",
                format!("import './a';\n{own}\n /* b\n c */ d();\n"),
            ),
            ("import('./a');\n", format!("{own}\nimport('./a');\n")),
            ("import.meta.x;\n", format!("{own}\nimport.meta.x;\n")),
        ];
        for (text, expected) in rows {
            assert_eq!(with(text), expected, "{text}");
        }
        assert_eq!(with_call("const a = require('a');\n", PACKAGE), None);
    }

    #[test]
    fn a_call_is_found_in_its_forms_but_not_in_a_comment() {
        let calls = [
            "import { Launchway } from '@launchway/capacitor';\nLaunchway.sync();",
            "import { Launchway as updates } from '@launchway/capacitor'\nawait updates\n  .sync()",
            "globalThis.Capacitor?.Plugins?.Launchway?.sync()",
            "launchway.sync(new Callback() {",
            "import dev.launchway.Launchway;\nLaunchway.start(this).calls().sync(callback);",
            "import LaunchwayApple\nupdates.sync()",
            "import LaunchwayApple\nlaunchway.sync { result in print(result) }",
            "import LaunchwayApple\nLaunchway.start().sync { print($0) }",
        ];
        for text in calls {
            assert!(calls_sync(text), "{text}");
        }
        let others = [
            "import { Launchway } from '@launchway/capacitor';\n// Launchway.sync();",
            "import { Launchway } from '@launchway/capacitor';\n/*\n * Launchway.sync();\n */",
            "database.sync();",
            "import LaunchwayApple\nqueue.sync { start() }",
            "",
        ];
        for text in others {
            assert!(!calls_sync(text), "{text}");
        }
    }

    proptest! {
        /// Any text gets the call once, and loses nothing.
        #[test]
        fn any_text_keeps_every_letter(text in "(import |'use strict'|from|['\"{}();=\\n\r/* a-cé]){0,40}") {
            if let Some(with) = with_call(&text, PACKAGE) {
                prop_assert!(calls_sync(&with), "{}", with);
                let [import, call] = lines(PACKAGE);
                let added = import.len() + call.len();
                prop_assert!(with.len() >= text.len() + added - 2 && with.len() <= text.len() + added + 10);
            }
        }
    }
}
