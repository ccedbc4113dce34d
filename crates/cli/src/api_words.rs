//! Messages of the server with the words of the command line, where they name fields and endpoints of its API.

/// What to do, as the server says it, and as a command or flag.
const COMMANDS: [(&str, &str); 11] = [
    (
        "Publish its bytes again with sourceUpdateId",
        "Publish its bytes again with `launchway update promote`",
    ),
    (
        "Publish it again with sourceUpdateId",
        "Publish it again with `launchway update promote`",
    ),
    (
        "An admin can add one with POST /credentials",
        "An admin can add one with `launchway credential add`",
    ),
    (
        "Specify one of them in credentialId",
        "Specify one of them with --credential",
    ),
    ("choose one with alias", "choose one with --alias"),
    ("send it as keyPassword", "set LAUNCHWAY_CREDENTIAL_KEY_PASSWORD"),
    (
        "with options.usesNonExemptEncryption",
        "with --uses-non-exempt-encryption",
    ),
    ("with options.draft", "with --draft"),
    (
        "with options.changesNotSentForReview",
        "with --changes-not-sent-for-review",
    ),
    (
        "without options.changesNotSentForReview",
        "without --changes-not-sent-for-review",
    ),
    ("Fetch GET /trust and try again", "Run the command again"),
];

/// The text with commands and flags in place of what they are in the API.
pub fn in_commands(text: &str) -> String {
    let replace = |text: String, (api, command): &(&str, &str)| text.replace(api, command);
    COMMANDS.iter().fold(text.to_owned(), replace)
}

#[cfg(test)]
mod tests {
    use super::*;
    use launchway_domain::submission::error::SubmissionErrorCode;

    #[test]
    fn no_fix_of_a_submission_names_a_field_of_the_api() {
        for code in SubmissionErrorCode::ALL {
            let told = in_commands(code.fix());
            assert!(!told.contains("options."), "{code}: {told}");
        }
        assert_eq!(
            in_commands("A withdrawn update stays withdrawn. Publish its bytes again with sourceUpdateId."),
            "A withdrawn update stays withdrawn. Publish its bytes again with `launchway update promote`."
        );
    }
}
