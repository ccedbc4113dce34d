//! Quotes text from a project for a shell.

/// Quotes a text, so that every shell reads it unchanged.
pub fn quote(text: &str) -> String {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "_-./:=+@%,".contains(letter);
    if !text.is_empty() && text.chars().all(plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn any_shell_reads_it_as_it_is() {
        for text in [
            "plain/path-1.0",
            "",
            "two words",
            "it's",
            "'; touch /tmp/x; '",
            "$(id) `id` $HOME",
            "a\nb",
            "\\",
            "*",
            "~",
            "{a,b}",
            "!!",
            "é😀",
            "\"",
            "#",
            "&|<>();",
        ] {
            let script = format!("printf %s {}", quote(text));
            for shell in ["sh", "bash"] {
                let output = Command::new(shell).args(["-c", &script]).output().expect("a shell");
                assert_eq!(String::from_utf8_lossy(&output.stdout), text, "{shell}");
            }
        }
        assert_eq!(quote("ios/App.xcworkspace"), "ios/App.xcworkspace");
        assert_eq!(quote("My App"), "'My App'");
    }
}
