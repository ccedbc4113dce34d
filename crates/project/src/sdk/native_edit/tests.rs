//! The files of React Native's templates get their lines, once; files of another form are left alone.

use super::*;

/// A file as templates have it, with the lines that it gets.
struct Row {
    file: NativeFile,
    text: String,
    added: &'static str,
}

const HOST: &str = "class MainApplication : Application(), ReactApplication {\n\n  override val reactNativeHost: ReactNativeHost =\n      \
    object : DefaultReactNativeHost(this) {\n        override fun getJSMainModuleName(): String = \"index\"\n      }\n}\n";
const FACTORY: &str = "import com.facebook.react.defaults.DefaultReactHost.getDefaultReactHost\n\n\
    class MainApplication : Application(), ReactApplication {\n  override val reactHost: ReactHost by lazy {\n    \
    getDefaultReactHost(\n      context = applicationContext,\n      packageList = PackageList(this).packages,\n    )\n  }\n}\n";
const JAVA: &str = "public class MainApplication extends Application {\n  private final ReactNativeHost host =\n      \
    new DefaultReactNativeHost(this) {\n        @Override\n        protected String getJSMainModuleName() {\n          \
    return \"index\";\n        }\n      };\n}\n";
const SWIFT: &str = "import UIKit\nimport React\nimport React_RCTAppDelegate\n\nclass AppDelegate: RCTAppDelegate {\n  \
    override func bundleURL() -> URL? {\n#if DEBUG\n    RCTBundleURLProvider.sharedSettings().jsBundleURL(forBundleRoot: \"index\")\n\
    #else\n    Bundle.main.url(forResource: \"main\", withExtension: \"jsbundle\")\n#endif\n  }\n}\n";
const OBJECTIVE_C: &str = "#import \"AppDelegate.h\"\n\n#import <React/RCTBundleURLProvider.h>\n\n- (NSURL *)bundleURL\n{\n#if DEBUG\n  \
    return [[RCTBundleURLProvider sharedSettings] jsBundleURLForBundleRoot:@\"index\"];\n#else\n  \
    return [[NSBundle mainBundle] URLForResource:@\"main\" withExtension:@\"jsbundle\"];\n#endif\n}\n";

fn rows() -> Vec<Row> {
    let row = |file, text: &str, added| Row {
        file,
        text: text.to_owned(),
        added,
    };
    vec![
        row(
            NativeFile::Kotlin,
            HOST,
            "        override fun getJSBundleFile(): String? =\n            \
             dev.launchway.reactnative.LaunchwayReactNative.jsBundleFile(this@MainApplication)\n\n        \
             override fun getJSMainModuleName",
        ),
        row(
            NativeFile::Kotlin,
            FACTORY,
            "      context = applicationContext,\n      jsBundleFilePath =\n        \
             dev.launchway.reactnative.LaunchwayReactNative.jsBundleFile(applicationContext),\n      packageList",
        ),
        row(
            NativeFile::Java,
            JAVA,
            "        @Override\n        protected String getJSBundleFile() {\n          \
             return dev.launchway.reactnative.LaunchwayReactNative.jsBundleFile(MainApplication.this);\n        }\n\n        \
             @Override\n        protected String getJSMainModuleName",
        ),
        row(
            NativeFile::Swift,
            SWIFT,
            "#else\n    LaunchwayReactNative.bundleURL() ?? Bundle.main.url(",
        ),
        row(
            NativeFile::ObjectiveC,
            OBJECTIVE_C,
            "  return [LaunchwayReactNative bundleURL] ?: [[NSBundle mainBundle] URLForResource:",
        ),
    ]
}

#[test]
fn each_template_gets_its_lines_once() {
    for Row { file, text, added } in rows() {
        assert!(!file.asks_sdk(&text), "{file:?}");
        let edited = file
            .with_sdk(&text)
            .unwrap_or_else(|| panic!("{file:?} has its anchor"));
        assert!(edited.contains(added) && file.asks_sdk(&edited), "{edited}");
        let with_returns = file.with_sdk(&text.replace('\n', "\r\n")).unwrap();
        assert_eq!(with_returns, edited.replace('\n', "\r\n"));
        // Nothing is lost: without the added lines, and with the old expression, it is the template.
        let old: Vec<&str> = text.lines().collect();
        let kept = edited.lines().filter(|line| old.contains(line)).count();
        assert!(kept >= old.len() - 1, "{edited}");
    }
    let swift = NativeFile::Swift.with_sdk(SWIFT).unwrap();
    assert!(
        swift.starts_with("import UIKit\nimport React\nimport launchway_react_native\nimport React_RCTAppDelegate\n")
    );
}

#[test]
fn a_file_without_its_anchor_or_with_two_is_left_alone() {
    for Row { file, text, .. } in rows() {
        assert_eq!(file.with_sdk(&text.repeat(2)), None, "{file:?}");
        assert_eq!(file.with_sdk(""), None);
        assert!(!file.lines().is_empty() && !file.place().is_empty());
    }
    // This function is another one, with other parameters.
    let expo = FACTORY.replace(
        "import com.facebook.react.defaults.DefaultReactHost.",
        "import expo.modules.ExpoReactHostFactory.",
    );
    assert_eq!(NativeFile::Kotlin.with_sdk(&expo), None);
}

#[test]
fn the_plugin_for_expo_makes_the_same_edits() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../sdk/ts/react-native/expo/edits.js");
    let plugin = std::fs::read_to_string(path).unwrap();
    let parts = [
        "DefaultReactNativeHost(this) {",
        "override fun getJSBundleFile(): String? =",
        "context = applicationContext,",
        "jsBundleFilePath =",
        "dev.launchway.reactnative.LaunchwayReactNative.jsBundleFile(",
        "\\nimport React\\nimport launchway_react_native\\n",
        "@interface LaunchwayReactNative : NSObject\\n+ (nullable NSURL *)bundleURL;\\n@end\\n",
        SWIFT_BUNDLE,
        OBJECTIVE_C_BUNDLE,
    ];
    for part in parts {
        assert!(plugin.contains(part), "{part}");
    }
}
