//! What `check-config` found, one line each, with what to do about it.

use std::fmt;

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// As it should be.
    Ok,
    /// The server starts, but something will probably not work as intended.
    Warning,
    /// The server does not start, or does not work.
    Error,
}

impl Level {
    const fn word(self) -> &'static str {
        match self {
            Level::Ok => "ok",
            Level::Warning => "warning",
            Level::Error => "error",
        }
    }
}

/// The result of one check.
#[derive(Debug)]
pub struct Finding {
    /// How bad it is.
    pub level: Level,
    /// What was checked, in one word.
    subject: &'static str,
    text: String,
    /// What to do; absent if all is well.
    remedy: Option<String>,
}

impl Finding {
    /// Something that is as it should be.
    pub fn ok(subject: &'static str, text: impl Into<String>) -> Finding {
        Finding {
            level: Level::Ok,
            subject,
            text: text.into(),
            remedy: None,
        }
    }

    /// Something that is probably not intended.
    pub fn warning(subject: &'static str, text: impl Into<String>, remedy: impl Into<String>) -> Finding {
        Finding {
            level: Level::Warning,
            remedy: Some(remedy.into()),
            ..Finding::ok(subject, text)
        }
    }

    /// Something that keeps the server from starting or working.
    pub fn error(subject: &'static str, text: impl Into<String>, remedy: impl Into<String>) -> Finding {
        Finding {
            level: Level::Error,
            ..Finding::warning(subject, text, remedy)
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:<8} {:<10} {}", self.level.word(), self.subject, self.text)?;
        match &self.remedy {
            Some(remedy) => write!(f, "\n{:<19} → {remedy}", ""),
            None => Ok(()),
        }
    }
}
