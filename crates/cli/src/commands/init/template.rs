//! The text of a new `launchway.toml`. Pure.

use launchway_domain::platform::Platform;
use launchway_project::framework::Framework;

use super::ids::Ids;

/// The known values of the project.
#[derive(Debug, Default)]
pub struct Answers {
    pub ids: Ids,
    pub url: Option<String>,
    /// The directory with the content of an update.
    pub dir: Option<String>,
    pub framework: Option<Framework>,
}

/// Renders the file. Unknown values become comments.
pub fn write(answers: &Answers) -> String {
    let known = match answers.framework {
        Some(framework) => format!(
            "# The framework of this project is {}. It is built with the usual commands of that framework. The\n\
             # keys of a profile change that: steps, labels, env, artifacts, cache, and more.",
            framework.title()
        ),
        None => "# The framework of this project was not detected: set it, or define steps.".to_owned(),
    };
    let lines = [
        "# Settings of this project for launchway. A line that starts with # is a comment.".to_owned(),
        String::new(),
        app(&answers.ids),
        String::new(),
        "[server]".to_owned(),
        "# The server for builds and updates. Its API key is never here: `launchway login` saves it.".to_owned(),
        line("url", answers.url.as_deref(), "https://launchway.example.com"),
        "# For --dev.".to_owned(),
        line("dev_url", None, "https://launchway-dev.example.com"),
        String::new(),
        known,
        "[build.production]".to_owned(),
        line(
            "framework",
            None,
            answers.framework.map_or("capacitor", Framework::as_str),
        ),
        "# It selects environment variables, and apps check for updates of it.".to_owned(),
        line("configuration", Some("production"), ""),
        line("build_type", None, "release"),
        line("distribution", None, "store"),
        String::new(),
        "# Another profile, for `launchway build --profile staging`.".to_owned(),
        "# [build.staging]".to_owned(),
        line("extends", None, "production"),
        line("configuration", None, "staging"),
        String::new(),
        "[update]".to_owned(),
        "# Only apps of this configuration are offered an update, unless a flag says otherwise.".to_owned(),
        line("configuration", Some("production"), ""),
        packed(answers.framework).to_owned(),
        line("dir", answers.dir.as_deref(), "dist"),
    ];
    lines.join("\n") + "\n"
}

/// What an update contains.
fn packed(framework: Option<Framework>) -> &'static str {
    match framework {
        Some(Framework::NativeScript | Framework::Expo | Framework::ReactNative) => {
            "# The directory that is packed. Without it, `launchway update` runs the bundler of the framework."
        }
        _ => "# The directory that is packed: the built web app or bundle.",
    }
}

/// The app: for all platforms, or for each.
fn app(ids: &Ids) -> String {
    let mut lines = vec!["[app]".to_owned(), "# The default is the native project's.".to_owned()];
    match ids {
        Ids::One(id) => {
            lines.push(line("bundle_id", id.as_deref(), "com.example.app"));
            lines.push("# If it differs on a platform.".to_owned());
            for platform in [Platform::Android, Platform::Ios] {
                lines.push(format!("# [app.{platform}]"));
                lines.push(line("bundle_id", None, "com.example.app"));
            }
        }
        Ids::Several(several) => {
            for (platform, id) in several {
                lines.push(format!("[app.{platform}]"));
                lines.push(line("bundle_id", id.as_deref(), "com.example.app"));
            }
        }
    }
    lines.join("\n")
}

/// `key = "value"`, or an example in a comment.
fn line(key: &str, value: Option<&str>, example: &str) -> String {
    let off = if value.is_some() { "" } else { "# " };
    let text = toml::Value::String(value.unwrap_or(example).to_owned());
    format!("{off}{key} = {text}")
}

#[cfg(test)]
mod tests {
    use launchway_project::file;

    use super::*;

    #[test]
    fn what_is_written_can_be_read() {
        let full = Answers {
            ids: Ids::One(Some("com.example.app".to_owned())),
            url: Some("https://launchway.example.com".to_owned()),
            dir: Some("a \"quoted\" \\ dir".to_owned()),
            framework: Some(Framework::Capacitor),
        };
        let project = file::parse(&write(&full)).expect("it is right");
        assert_eq!(project.app.bundle_id.as_deref(), Some("com.example.app"));
        assert_eq!(project.server.url, full.url);
        assert_eq!(project.update.dir, full.dir.clone().map(Into::into));
        assert_eq!(project.update.configuration.as_deref(), Some("production"));
        assert_eq!(project.build["production"].configuration.as_deref(), Some("production"));
        let empty = file::parse(&write(&Answers::default())).expect("it is right");
        assert_eq!(
            (empty.app.bundle_id, empty.server.url, empty.update.dir),
            (None, None, None)
        );
    }

    #[test]
    fn platforms_that_differ_have_their_own_lines() {
        let several = Answers {
            ids: Ids::Several(vec![
                (Platform::Ios, Some("com.example.App".to_owned())),
                (Platform::Android, None),
            ]),
            ..Answers::default()
        };
        let project = file::parse(&write(&several)).expect("it is right");
        let on = |platform| project.bundle_id(None, platform).map(|stated| stated.value);
        assert_eq!(on(Platform::Ios).as_deref(), Some("com.example.App"));
        assert_eq!((on(Platform::Android), on(Platform::Visionos)), (None, None));
    }

    #[test]
    fn what_is_off_can_be_turned_on() {
        let is_setting = |line: &str| {
            let key = line.split(' ').next().unwrap_or_default();
            line.starts_with('[')
                || (line.contains(" = ") && key.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_'))
        };
        let text: String = write(&Answers::default())
            .lines()
            .map(|line| match line.strip_prefix("# ").filter(|line| is_setting(line)) {
                Some(setting) => format!("{setting}\n"),
                None => format!("{line}\n"),
            })
            .collect();
        let project = file::parse(&text).expect("it is right");
        assert_eq!(project.build["staging"].extends.as_deref(), Some("production"));
        assert!(project.server.dev_url.is_some() && project.update.dir.is_some());
    }
}
