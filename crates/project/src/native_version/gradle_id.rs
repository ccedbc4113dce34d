//! The application id of one variant of an Android app, computed from the default configuration, product flavors and
//! build types in its Gradle file.

use std::collections::BTreeMap;

use launchway_domain::build::BuildType;

use crate::native_version::Variant;
use crate::native_version::blocks::{Reading, assignment, statements};
use crate::native_version::scan::{Form, assigned};

/// The settings of one block.
#[derive(Clone, Debug, Default)]
struct Part {
    id: Reading,
    suffix: Reading,
}

#[derive(Debug, Default)]
struct App {
    default: Part,
    flavors: BTreeMap<String, Part>,
    types: BTreeMap<String, Part>,
    /// An identifier is set where only Gradle knows whether it applies.
    unclear: bool,
}

/// The application id of the variant; unclear when only Gradle can compute it.
pub fn application_id(text: &str, variant: &Variant) -> Reading {
    let app = read(text);
    if app.unclear {
        return Reading::Unclear;
    }
    let named_nowhere = matches!(app.default.id, Reading::Absent)
        && app.flavors.values().all(|flavor| matches!(flavor.id, Reading::Absent));
    if named_nowhere {
        // The file does not have the usual blocks.
        let found = assigned(text, "applicationId", Form::Quoted).into_iter().next();
        return found.map_or(Reading::Absent, Reading::Plain);
    }
    match &variant.flavor {
        Some(flavor) => joined(&app, &chosen(&app, flavor), variant.build_type),
        None => without_flavor(&app, variant.build_type),
    }
}

fn read(text: &str) -> App {
    let mut app = App::default();
    statements(text, |blocks, statement| {
        let id = assignment(statement, "applicationId");
        let suffix = assignment(statement, "applicationIdSuffix");
        if (&id, &suffix) == (&Reading::Absent, &Reading::Absent) {
            return;
        }
        let place = |name: &str| blocks.iter().rposition(|block| block == name);
        let part = match (place("defaultConfig"), place("productFlavors"), place("buildTypes")) {
            (Some(at), ..) if at + 1 == blocks.len() => &mut app.default,
            (None, Some(at), None) if at + 2 == blocks.len() => app.flavors.entry(blocks[at + 1].clone()).or_default(),
            (None, None, Some(at)) if at + 2 == blocks.len() => app.types.entry(blocks[at + 1].clone()).or_default(),
            (None, None, None) => return,
            _ => {
                app.unclear = true;
                return;
            }
        };
        if id != Reading::Absent {
            part.id = id;
        }
        if suffix != Reading::Absent {
            part.suffix = suffix;
        }
    });
    app
}

/// The flavors in the name of a variant, in its order: `freeDemo` is `free` and `demo`. Flavors that do not change the
/// identifier are unknown here, so that a part of the name may remain.
fn chosen<'a>(app: &'a App, name: &str) -> Vec<&'a Part> {
    let name = name.to_ascii_lowercase();
    if let Some((_, whole)) = app
        .flavors
        .iter()
        .find(|(flavor, _)| flavor.eq_ignore_ascii_case(&name))
    {
        return vec![whole];
    }
    let found = app.flavors.iter().filter_map(|(flavor, part)| {
        let at = name.find(&flavor.to_ascii_lowercase())?;
        Some((at, part))
    });
    let mut found: Vec<_> = found.collect();
    found.sort_by_key(|(at, _)| *at);
    found.into_iter().map(|(_, part)| part).collect()
}

/// The identifier when no flavor is named: that of the default configuration, or, where it sets none, the one that all
/// flavors share.
fn without_flavor(app: &App, build_type: BuildType) -> Reading {
    let plain = joined(app, &[], build_type);
    let mut ids = app.flavors.values().map(|flavor| joined(app, &[flavor], build_type));
    match (&app.default.id, ids.next()) {
        (Reading::Absent, Some(first)) if ids.all(|id| id == first) => first,
        (Reading::Absent, Some(_)) => Reading::Unclear,
        _ => plain,
    }
}

fn joined(app: &App, flavors: &[&Part], build_type: BuildType) -> Reading {
    let id = flavors
        .iter()
        .map(|flavor| &flavor.id)
        .find(|id| **id != Reading::Absent);
    let mut whole = match id.unwrap_or(&app.default.id) {
        Reading::Plain(id) => id.clone(),
        other => return other.clone(),
    };
    let of_type = app.types.get(build_type.as_str()).map(|part| &part.suffix);
    let of_flavors = flavors.iter().map(|flavor| &flavor.suffix);
    for suffix in [&app.default.suffix].into_iter().chain(of_flavors).chain(of_type) {
        match suffix {
            Reading::Absent => {}
            Reading::Unclear => return Reading::Unclear,
            Reading::Plain(suffix) => {
                whole.push('.');
                whole.push_str(suffix.trim_start_matches('.'));
            }
        }
    }
    Reading::Plain(whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    const GROOVY: &str = r#"
android {
    namespace "com.example.other"
    defaultConfig {
        applicationId "com.example.app" // the usual one
        versionName "1.0"
    }
    buildTypes {
        debug { applicationIdSuffix ".debug" }
        release { signingConfig signingConfigs.debug }
    }
    flavorDimensions "tier", "stage"
    productFlavors {
        free { dimension "tier"; applicationIdSuffix ".free" }
        paid { dimension "tier" }
        demo { dimension "stage"; applicationIdSuffix "demo" }
        partner { applicationId "com.partner.app" }
    }
}
"#;

    const KOTLIN: &str = r#"
android {
    defaultConfig { applicationId = "com.example.my_app" }
    buildTypes {
        getByName("debug") { applicationIdSuffix = ".debug" }
    }
    productFlavors {
        create("dev") { dimension = "default"; applicationIdSuffix = ".dev" }
        create("prod") { dimension = "default" }
    }
}
"#;

    fn id(text: &str, flavor: &str, build_type: BuildType) -> String {
        let flavor = (!flavor.is_empty()).then(|| flavor.to_owned());
        let variant = Variant {
            build_type,
            flavor,
            ..Variant::default()
        };
        match application_id(text, &variant) {
            Reading::Plain(id) => id,
            other => format!("{other:?}"),
        }
    }

    #[test]
    fn flavors_and_build_types_add_to_the_id() {
        use BuildType::{Debug, Release};
        let rows = [
            (GROOVY, "", Release, "com.example.app"),
            (GROOVY, "", Debug, "com.example.app.debug"),
            (GROOVY, "free", Release, "com.example.app.free"),
            (GROOVY, "paid", Debug, "com.example.app.debug"),
            (GROOVY, "freeDemo", Debug, "com.example.app.free.demo.debug"),
            (GROOVY, "paidDemo", Release, "com.example.app.demo"),
            (GROOVY, "partner", Release, "com.partner.app"),
            (KOTLIN, "", Release, "com.example.my_app"),
            (KOTLIN, "dev", Release, "com.example.my_app.dev"),
            (KOTLIN, "dev", Debug, "com.example.my_app.dev.debug"),
            (KOTLIN, "prod", Release, "com.example.my_app"),
        ];
        for (text, flavor, build_type, expected) in rows {
            assert_eq!(id(text, flavor, build_type), expected, "{flavor} {build_type}");
        }
    }

    #[test]
    fn what_only_gradle_knows_is_not_guessed() {
        let rows = [
            "android { defaultConfig { applicationId appId } }",
            "android { defaultConfig { if (x) { applicationId 'a.b' } else { applicationId 'a.c' } } }",
            "android { defaultConfig { applicationId 'a.b'; applicationIdSuffix suffix() } }",
            "android { productFlavors { a { applicationId 'a.b' }\n b { applicationId 'a.c' } } }",
        ];
        for text in rows {
            assert_eq!(id(text, "", BuildType::Release), "Unclear", "{text}");
        }
        assert_eq!(id("android { }", "", BuildType::Release), "Absent");
        let all_the_same = "android { productFlavors { a { applicationId 'a.b' }\n b { applicationId 'a.b' } } }";
        assert_eq!(id(all_the_same, "", BuildType::Release), "a.b");
    }
}
