//! The languages of release notes, as each app store spells them.

use super::Store;

/// The locales of App Store Connect ("Managing metadata in your app by using locale shortcodes"), sorted.
#[rustfmt::skip]
const APP_STORE: [&str; 50] = [
    "ar-SA", "bn-BD", "ca", "cs", "da", "de-DE", "el", "en-AU", "en-CA", "en-GB", "en-US", "es-ES", "es-MX", "fi", "fr-CA", "fr-FR", "gu-IN", "he", "hi", "hr", "hu", "id", "it", "ja", "kn-IN", "ko", "ml-IN", "mr-IN", "ms", "nl-NL", "no", "or-IN", "pa-IN", "pl", "pt-BR", "pt-PT", "ro", "ru", "sk", "sl-SI", "sv", "ta-IN", "te-IN", "th", "tr", "uk", "ur-PK", "vi", "zh-Hans", "zh-Hant",
];
/// The languages of the Play Console ("Translate and localize your app"), sorted.
#[rustfmt::skip]
const GOOGLE_PLAY: [&str; 87] = [
    "af", "am", "ar", "az-AZ", "be", "bg", "bn-BD", "ca", "cs-CZ", "da-DK", "de-DE", "el-GR", "en-AU", "en-CA", "en-GB", "en-IN", "en-SG", "en-US", "en-ZA", "es-419", "es-ES", "es-US", "et", "eu-ES", "fa", "fa-AE", "fa-AF", "fa-IR", "fi-FI", "fil", "fr-CA", "fr-FR", "gl-ES", "gu", "hi-IN", "hr", "hu-HU", "hy-AM", "id", "is-IS", "it-IT", "iw-IL", "ja-JP", "ka-GE", "kk", "km-KH", "kn-IN", "ko-KR", "ky-KG", "lo-LA", "lt", "lv", "mk-MK", "ml-IN", "mn-MN", "mr-IN", "ms", "ms-MY", "my-MM", "ne-NP", "nl-NL", "no-NO", "pa", "pl-PL", "pt-BR", "pt-PT", "rm", "ro", "ru-RU", "si-LK", "sk", "sl", "sq", "sr", "sv-SE", "sw", "ta-IN", "te-IN", "th", "tr-TR", "uk", "ur", "vi", "zh-CN", "zh-HK", "zh-TW", "zu",
];
/// Languages that have several codes.
const ALIASES: [(&str, &str); 5] = [("he", "iw"), ("id", "in"), ("no", "nb"), ("fil", "tl"), ("no", "nn")];

/// An app store does not know a locale. Says which it knows of the same language.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownLocaleError {
    store: Store,
    locale: String,
    known: Vec<&'static str>,
}

impl std::fmt::Display for UnknownLocaleError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (store, locale) = (self.store.title(), &self.locale);
        match self.known.as_slice() {
            [] => write!(f, "{store} does not know the language {locale}"),
            [one] => write!(f, "{store} does not know {locale}; use {one}"),
            several => write!(f, "{store} does not know {locale}; use one of {}", several.join(", ")),
        }
    }
}

impl std::error::Error for UnknownLocaleError {}

/// Checks that an app store knows a locale in this spelling.
///
/// # Errors
/// What the app store knows instead.
pub fn check(store: Store, locale: &str) -> Result<(), UnknownLocaleError> {
    let all: &[&'static str] = match store {
        Store::AppStore => &APP_STORE,
        Store::GooglePlay => &GOOGLE_PLAY,
    };
    if all.contains(&locale) {
        return Ok(());
    }
    let same_letters: Vec<_> = all
        .iter()
        .copied()
        .filter(|known| known.eq_ignore_ascii_case(locale))
        .collect();
    let wanted = language(locale);
    let of_language = all.iter().copied().filter(|known| is_same(&language(known), &wanted));
    Err(UnknownLocaleError {
        store,
        locale: locale.to_owned(),
        known: if same_letters.is_empty() {
            of_language.collect()
        } else {
            same_letters
        },
    })
}

fn language(locale: &str) -> String {
    locale.split('-').next().unwrap_or_default().to_ascii_lowercase()
}

fn is_same(one: &str, other: &str) -> bool {
    one == other || ALIASES.contains(&(one, other)) || ALIASES.contains(&(other, one))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_store_has_its_own_spelling() {
        for (store, locale, wanted) in [
            (Store::AppStore, "de-DE", Ok(())),
            (Store::GooglePlay, "de-DE", Ok(())),
            (Store::AppStore, "de", Err("the App Store does not know de; use de-DE")),
            (Store::GooglePlay, "de", Err("Google Play does not know de; use de-DE")),
            (
                Store::GooglePlay,
                "en",
                Err("Google Play does not know en; use one of en-AU, en-CA, en-GB, en-IN, en-SG, en-US, en-ZA"),
            ),
            (
                Store::AppStore,
                "en-us",
                Err("the App Store does not know en-us; use en-US"),
            ),
            (
                Store::AppStore,
                "ja-JP",
                Err("the App Store does not know ja-JP; use ja"),
            ),
            (Store::GooglePlay, "he", Err("Google Play does not know he; use iw-IL")),
            (
                Store::AppStore,
                "nb-NO",
                Err("the App Store does not know nb-NO; use no"),
            ),
            (
                Store::AppStore,
                "tlh",
                Err("the App Store does not know the language tlh"),
            ),
            (Store::GooglePlay, "", Err("Google Play does not know the language ")),
        ] {
            let checked = check(store, locale).map_err(|error| error.to_string());
            assert_eq!(checked, wanted.map_err(str::to_owned), "{locale}");
        }
    }

    #[test]
    fn the_lists_are_sorted_and_without_repetition() {
        for list in [&APP_STORE[..], &GOOGLE_PLAY] {
            assert!(list.is_sorted_by(|one, next| one < next));
            assert!(list.iter().all(|locale| locale.len() <= 7));
        }
    }
}
