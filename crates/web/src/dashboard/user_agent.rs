//! Browsers and systems by the names that people use, from what browsers say of themselves.

/// The maximum number of characters of an unknown program that are shown.
const MAX_SHOWN: usize = 60;

/// Products and their names. A browser also names those that it descends from, so the order decides.
const BROWSERS: [(&str, &str); 14] = [
    ("Edg/", "Edge"),
    ("EdgA/", "Edge"),
    ("EdgiOS/", "Edge"),
    ("OPR/", "Opera"),
    ("SamsungBrowser/", "Samsung Internet"),
    ("Vivaldi/", "Vivaldi"),
    ("FxiOS/", "Firefox"),
    ("Firefox/", "Firefox"),
    ("CriOS/", "Chrome"),
    ("HeadlessChrome/", "Chrome without a window"),
    ("Chrome/", "Chrome"),
    ("launchway/", "launchway"),
    ("curl/", "curl"),
    ("Wget/", "Wget"),
];

/// Parts of the text and the systems that they mean. Phones also name the system that theirs descends from.
const SYSTEMS: [(&str, &str); 8] = [
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Android", "Android"),
    ("CrOS", "ChromeOS"),
    ("Windows", "Windows"),
    ("Macintosh", "macOS"),
    ("Mac OS X", "macOS"),
    ("Linux", "Linux"),
];

/// A user agent for reading, such as `Firefox 140 on Linux`; an unknown one is shortened.
pub fn readable(agent: &str) -> String {
    let Some(browser) = browser(agent) else {
        return match agent.chars().count() {
            0 => "Unknown".to_owned(),
            1..=MAX_SHOWN => agent.to_owned(),
            _ => format!("{}…", agent.chars().take(MAX_SHOWN).collect::<String>()),
        };
    };
    let system = SYSTEMS.iter().find(|(part, _)| agent.contains(part));
    system.map_or(browser.clone(), |(_, name)| format!("{browser} on {name}"))
}

/// The browser with its main version.
fn browser(agent: &str) -> Option<String> {
    let known = BROWSERS
        .iter()
        .find_map(|(product, name)| Some((*name, version(agent, product)?)));
    // Safari says its version elsewhere, and others call themselves Safari, too.
    let safari = || agent.contains("Safari/").then(|| version(agent, "Version/")).flatten();
    let (name, version) = known.or_else(|| Some(("Safari", safari()?)))?;
    Some(format!("{name} {version}"))
}

/// The digits after the name of a product.
fn version<'a>(agent: &'a str, product: &str) -> Option<&'a str> {
    let (_, rest) = agent.split_once(product)?;
    let end = rest.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(rest.len());
    Some(&rest[..end]).filter(|digits| (1..=6).contains(&digits.len()))
}

#[cfg(test)]
mod tests {
    use super::readable;

    #[test]
    fn browsers_have_the_names_that_people_use() {
        let apple = "Mozilla/5.0 (iPhone; CPU iPhone OS 19_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko)";
        let chrome = "AppleWebKit/537.36 (KHTML, like Gecko) Chrome/143.0.0.0";
        for (agent, name) in [
            (
                "Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0",
                "Firefox 145 on Linux",
            ),
            (
                format!("Mozilla/5.0 (Windows NT 10.0; Win64; x64) {chrome} Safari/537.36").as_str(),
                "Chrome 143 on Windows",
            ),
            (
                format!("Mozilla/5.0 (Windows NT 10.0; Win64; x64) {chrome} Safari/537.36 Edg/143.0.1").as_str(),
                "Edge 143 on Windows",
            ),
            (
                format!("Mozilla/5.0 (Linux; Android 10; K) {chrome} Mobile Safari/537.36").as_str(),
                "Chrome 143 on Android",
            ),
            (
                format!("{apple} Version/19.1 Mobile/15E148 Safari/604.1").as_str(),
                "Safari 19 on iPhone",
            ),
            (
                format!("{apple} CriOS/143.0.1 Mobile/15E148 Safari/604.1").as_str(),
                "Chrome 143 on iPhone",
            ),
            (
                "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 Version/26.0 Safari/605.1.15",
                "Safari 26 on macOS",
            ),
            ("curl/8.14.1", "curl 8"),
            ("An old phone", "An old phone"),
            ("Chrome/", "Chrome/"),
            ("", "Unknown"),
        ] {
            assert_eq!(readable(agent), name);
        }
        assert_eq!(readable(&"ü".repeat(500)), format!("{}…", "ü".repeat(60)));
    }
}
