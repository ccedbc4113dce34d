//! The bundle identifier of an app in an Xcode project: finds the target of the app and the configuration of the
//! variant, and resolves its settings.

use std::collections::BTreeMap;

use launchway_domain::build::BuildType;
use launchway_domain::platform::Platform;

use crate::native_version::Variant;
use crate::native_version::blocks::Reading;
use crate::native_version::openstep::Value;
use crate::native_version::xcode_settings::{Layers, Settings, read_settings};
use crate::packages::join;
use crate::source::Source;

const NAME: &str = "PRODUCT_BUNDLE_IDENTIFIER";
const APPLICATION: &str = "com.apple.product-type.application";
/// Nesting limit of groups in a project.
const DEEPEST: usize = 50;

/// The identifier in `place`, which is a `project.pbxproj`. `Absent` when the file is not a readable project with an
/// app.
pub fn bundle_id(source: &Source, place: &str, variant: &Variant, platform: Platform) -> Reading {
    let text = source.text(place).unwrap_or_default();
    let Some(project) = Value::parse(&text).and_then(|root| Project::new(root, place)) else {
        return Reading::Absent;
    };
    let apps = project.apps();
    let named = |name: &str| apps.iter().copied().find(|app| project.name(app) == name);
    // The main app is named by the scheme, like the project (as in Flutter), or `App` (as in Capacitor).
    let main = variant.scheme.as_deref().and_then(named);
    let main = main.or_else(|| named(&project.stem)).or_else(|| named("App"));
    let ids = |app: &Value<'_>| project.id(source, app, variant, platform);
    match (main, apps.as_slice()) {
        (Some(app), _) => ids(app).map_or(Reading::Unclear, Reading::Plain),
        (None, []) => Reading::Absent,
        (None, [first, others @ ..]) => match ids(first) {
            Some(id) if others.iter().all(|app| ids(app).as_ref() == Some(&id)) => Reading::Plain(id),
            _ => Reading::Unclear,
        },
    }
}

/// A parsed Xcode project.
struct Project<'t> {
    root: Value<'t>,
    /// The directory that contains the `.xcodeproj`.
    folder: String,
    stem: String,
}

impl<'t> Project<'t> {
    fn new(root: Value<'t>, place: &str) -> Option<Self> {
        let bundle = place.strip_suffix(".xcodeproj/project.pbxproj")?;
        let (folder, stem) = bundle.rsplit_once('/').unwrap_or(("", bundle));
        root.get("objects")?;
        Some(Self {
            folder: folder.to_owned(),
            stem: stem.to_owned(),
            root,
        })
    }

    fn object(&self, id: &str) -> Option<&Value<'t>> {
        self.root.get("objects")?.get(id)
    }

    fn objects(&self) -> impl Iterator<Item = (&str, &Value<'t>)> {
        let objects = match self.root.get("objects") {
            Some(Value::Table(objects)) => objects.as_slice(),
            _ => &[],
        };
        objects.iter().map(|(id, object)| (id.as_ref(), object))
    }

    /// The targets that are apps. Extensions, tests and watch apps have other types.
    fn apps(&self) -> Vec<&Value<'t>> {
        let objects = self.objects().map(|(_, object)| object);
        objects
            .filter(|object| object.text_of("productType") == Some(APPLICATION))
            .collect()
    }

    fn name<'v>(&self, target: &'v Value<'t>) -> &'v str {
        target.text_of("name").unwrap_or_default()
    }

    /// The identifier of an app in the configuration of the variant.
    fn id(&self, source: &Source, app: &Value<'t>, variant: &Variant, platform: Platform) -> Option<String> {
        let own = self.configuration(app, variant)?;
        let configuration = own.text_of("name").unwrap_or_default();
        let project = self.object(self.root.text_of("rootObject")?);
        let shared = project.and_then(|project| self.named_configuration(project, configuration));
        let mut layers = self.layers(source, own);
        layers.extend(shared.map(|shared| self.layers(source, shared)).unwrap_or_default());
        let name = self.name(app);
        let given = [
            ("TARGET_NAME", name),
            ("TARGETNAME", name),
            ("PRODUCT_NAME", name),
            ("PROJECT_NAME", &self.stem),
            ("CONFIGURATION", configuration),
        ];
        let settings = Layers {
            layers,
            given: given.map(|(name, value)| (name.to_owned(), value.to_owned())).into(),
            sdk: match platform {
                Platform::Visionos => "xros",
                Platform::Ios | Platform::Android => "iphoneos",
            },
        };
        settings.resolve(NAME)
    }

    /// The settings of a configuration and of its base configuration file.
    fn layers(&self, source: &Source, configuration: &Value<'t>) -> Vec<Settings> {
        let mut settings = Settings::new();
        if let Some(Value::Table(values)) = configuration.get("buildSettings") {
            let texts = values
                .iter()
                .filter_map(|(name, value)| Some((name.to_string(), value.text()?.to_owned())));
            settings.extend(texts);
        }
        let file = self
            .settings_file(configuration)
            .map(|place| read_settings(source, &place));
        [Some(settings), file].into_iter().flatten().collect()
    }

    fn settings_file(&self, configuration: &Value<'t>) -> Option<String> {
        let of_folder = configuration
            .text_of("baseConfigurationReferenceAnchor")
            .zip(configuration.text_of("baseConfigurationReferenceRelativePath"));
        match (configuration.text_of("baseConfigurationReference"), of_folder) {
            (Some(id), _) => self.place(id),
            (None, Some((anchor, path))) => Some(join(&self.place(anchor)?, path)),
            (None, None) => None,
        }
    }

    /// The path of a file or group.
    fn place(&self, id: &str) -> Option<String> {
        let mut parents = BTreeMap::new();
        for (group, object) in self.objects() {
            parents.extend(object.texts_of("children").map(|child| (child, group)));
        }
        let mut path = String::new();
        let mut at = Some(id);
        for _ in 0..DEEPEST {
            let Some(object) = at.and_then(|id| self.object(id)) else {
                break;
            };
            if let Some(part) = object.text_of("path") {
                path = join(part, &path);
            }
            match object.text_of("sourceTree") {
                Some("<group>") | None => at = at.and_then(|id| parents.get(id).copied()),
                Some("SOURCE_ROOT") => at = None,
                Some(_) => return None,
            }
        }
        Some(join(&self.folder, &path))
    }

    /// The configuration of a target for the variant. As with `xcodebuild`, the default configuration when none has the
    /// name.
    fn configuration(&self, target: &Value<'t>, variant: &Variant) -> Option<&Value<'t>> {
        let build_type = match variant.build_type {
            BuildType::Debug => "Debug",
            BuildType::Release => "Release",
        };
        let of_flavor = variant.flavor.as_ref().map(|flavor| format!("{build_type}-{flavor}"));
        let list = self.object(target.text_of("buildConfigurationList")?)?;
        let usual = list.text_of("defaultConfigurationName").unwrap_or_default();
        let mut names = of_flavor.iter().map(String::as_str).chain([build_type, usual]);
        names.find_map(|name| self.named_configuration(target, name))
    }

    fn named_configuration(&self, owner: &Value<'t>, name: &str) -> Option<&Value<'t>> {
        let list = self.object(owner.text_of("buildConfigurationList")?)?;
        let mut all = list.texts_of("buildConfigurations").filter_map(|id| self.object(id));
        all.find(|one| one.text_of("name").is_some_and(|own| own.eq_ignore_ascii_case(name)))
    }
}
