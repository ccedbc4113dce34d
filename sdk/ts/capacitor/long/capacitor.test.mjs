/** The plugin and the real Capacitor 7 and 8: it installs, Capacitor finds it, and Capacitor does what the plugin counts on. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { packed, Project } from './project.mjs';

const work = mkdtempSync(join(tmpdir(), 'launchway-capacitor-'));
after(() => rmSync(work, { recursive: true }));

const packages = packed(work);
const projects = ['7', '8'].map((capacitor) => [capacitor, new Project(work, packages, capacitor)]);

/** Asserts that a source has these texts, in this order. */
function hasInOrder(source, texts) {
  let from = 0;
  for (const text of texts) {
    const at = source.indexOf(text, from);
    assert.ok(at >= 0, `\`${text}\` is missing, or not behind the text before it`);
    from = at + text.length;
  }
}

for (const [capacitor, project] of projects) {
  const name = (text) => `${text} (Capacitor ${capacitor})`;

  test(name('an app compiles with the package'), () => {
    ['bundler', 'nodenext', 'node10'].forEach((resolution) => project.compile(resolution));
  });

  test(name('the command line finds the plugin for Android'), () => {
    project.cap('add', 'android');
    assert.deepEqual(JSON.parse(project.read('android/app/src/main/assets/capacitor.plugins.json')), [
      { pkg: '@launchway/capacitor', classpath: 'dev.launchway.capacitor.LaunchwayPlugin' },
    ]);
    hasInOrder(project.read('android/capacitor.settings.gradle'), ["':launchway-capacitor'", '/@launchway/capacitor/android']);
  });

  test(name('the command line finds the plugin for iOS'), () => {
    project.addIos();
    const config = JSON.parse(project.read('ios/App/App/capacitor.config.json'));
    assert.ok(config.packageClassList.includes('LaunchwayPlugin'), config.packageClassList);
    hasInOrder(project.read('ios/App/CapApp-SPM/Package.swift'), [
      '.package(name: "LaunchwayCapacitor", path: "',
      '/@launchway/capacitor")',
      '.product(name: "LaunchwayCapacitor", package: "LaunchwayCapacitor")',
    ]);
  });

  test(name('Android loads plugins, then reads the preference'), () => {
    const bridge = project.source('android/capacitor/src/main/java/com/getcapacitor/Bridge.java');
    hasInOrder(bridge, [
      'this.registerAllPlugins();',
      'this.loadWebView();',
      'private void loadWebView() {',
      'localServer.hostAssets(DEFAULT_WEB_ASSET_DIR);',
      'if (!isDeployDisabled() && !isNewBinary()) {',
      'prefs.getString(com.getcapacitor.plugin.WebView.CAP_SERVER_PATH, null)',
      'if (path != null && !path.isEmpty() && new File(path).exists()) {',
      'setServerBasePath(path);',
      'preferences.getBoolean("DisableDeploy", false)',
    ]);
    hasInOrder(bridge, ['public void setServerBasePath(String path) {', 'localServer.hostFiles(path);', 'webView.loadUrl(appUrl)']);
    hasInOrder(bridge, ['public void setServerAssetPath(String path) {', 'localServer.hostAssets(path);', 'webView.loadUrl(appUrl)']);
    hasInOrder(bridge, ['public void reset() {', 'handle.getInstance().removeAllListeners();']);
    const webView = project.source('android/capacitor/src/main/java/com/getcapacitor/plugin/WebView.java');
    hasInOrder(webView, ['WEBVIEW_PREFS_NAME = "CapWebViewSettings"', 'CAP_SERVER_PATH = "serverBasePath"']);
    const handle = project.source('android/capacitor/src/main/java/com/getcapacitor/PluginHandle.java');
    hasInOrder(handle, ['this.instance.setBridge(this.bridge);', 'this.instance.load();']);
  });

  test(name('iOS loads plugins, then the web view'), () => {
    const folder = 'ios/Capacitor/Capacitor';
    const controller = project.source(`${folder}/CAPBridgeViewController.swift`);
    hasInOrder(controller, [
      'override public final func loadView() {',
      'capacitorBridge = CapacitorBridge(',
      'override open func viewDidLoad() {',
      'loadWebView()',
      '.appendingPathComponent("ionic_built_snapshots")',
      'guard FileManager.default.fileExists(atPath: bridge.config.appStartFileURL.path) else {',
      'fatalLoadError()',
      '@objc public func setServerBasePath(path: String) {',
    ]);
    const bridge = project.source(`${folder}/CapacitorBridge.swift`);
    hasInOrder(bridge, [
      'public func setServerBasePath(_ path: String) {',
      'config = config.updatingAppLocation(url)',
      'webViewAssetHandler.setAssetPath(url.path)',
      'self.webViewAssetHandler.setConfiguration(configuration)',
      'registerPlugins()',
    ]);
    hasInOrder(project.source(`${folder}/CAPPlugin+LoadInstance.swift`), ['self.bridge = bridge', 'load()']);
  });

  test(name('iOS has every name that the plugin uses'), () => {
    const folder = 'ios/Capacitor/Capacitor';
    const uses = {
      'CAPBridgeProtocol.swift': ['var viewController: UIViewController?', 'var config: InstanceConfiguration', 'func setServerBasePath(_ path: String)'],
      'CAPInstanceConfiguration.h': ['NSURL *localURL;', 'NSURL *serverURL;', 'BOOL cordovaDeployDisabled;', 'NSURL *appLocation;', 'NSString *appStartPath;'],
      'CAPBridgedPlugin.h': ['NSString *identifier;', 'NSString *jsName;', 'pluginMethods;', '#define CAPPluginReturnPromise'],
      'CAPPluginMethod.h': ['initWithName:(NSString *)name returnType:'],
      'CAPPluginCall.swift': ['func resolve(_ data: PluginCallResultData = [:])', 'func reject(_ message: String, _ code: String? = nil'],
      'CAPPlugin.h': ['id<CAPBridgeProtocol> bridge;', 'notifyListeners:', 'retainUntilConsumed:(BOOL)retain;', '-(void)load;'],
      'JSTypes.swift': ['func getString(_ key: String) -> String?'],
    };
    for (const [file, names] of Object.entries(uses)) {
      names.forEach((used) => hasInOrder(project.source(`${folder}/${file}`), [used]));
    }
  });
}
