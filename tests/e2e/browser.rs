//! A headless Chromium from Debian, controlled over its debugging pipe like a user would: it opens pages, types, clicks
//! and reads what is visible.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use launchway_testing::kill_guard::KillGuard;
use launchway_testing::says::Fields;
use launchway_testing::settings::setting;
use launchway_testing::wait::until_blocking;
use serde_json::{Value, json};
use tempfile::TempDir;

const TIMEOUT: Duration = Duration::from_secs(60);
const GLANCE: Duration = Duration::from_millis(20);
/// Its names on various systems.
const PROGRAMS: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];
/// The directory for screenshots; without it none are taken.
const SCREENSHOTS: &str = "LAUNCHWAY_TEST_SCREENSHOTS";

/// A browser with one page and its own profile; it ends with the test.
pub struct Browser {
    child: Child,
    to: ChildStdin,
    from: Receiver<Value>,
    last: u64,
    session: String,
    _kill_guard: KillGuard,
    _profile: TempDir,
}

impl Browser {
    /// An empty page of 1280 × 800.
    ///
    /// # Panics
    /// When Chromium is missing, or does not start.
    pub fn start() -> Browser {
        let profile = tempfile::tempdir().unwrap();
        // It reads commands from descriptor 3 and responds on 4.
        let mut command = Command::new("sh");
        command
            .args(["-c", "exec \"$0\" \"$@\" 3<&0 4>&1 </dev/null >/dev/null", program()])
            .args(["--headless=new", "--remote-debugging-pipe", "--no-first-run"])
            // Containers have little space in /dev/shm, and root has no sandbox.
            .args(["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"])
            .args([
                "--disable-background-networking",
                "--disable-component-update",
                "--hide-scrollbars",
            ])
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .env("HOME", profile.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let (sender, from) = channel();
        let mut answers = BufReader::new(child.stdout.take().unwrap());
        std::thread::spawn(move || {
            let mut message = Vec::new();
            while answers.read_until(0, &mut message).is_ok_and(|bytes| bytes > 0) {
                let value = serde_json::from_slice(message.strip_suffix(&[0]).unwrap_or(&message));
                if sender.send(value.unwrap()).is_err() {
                    return;
                }
                message.clear();
            }
        });
        let mut browser = Browser {
            _kill_guard: KillGuard::on(&child),
            to: child.stdin.take().unwrap(),
            child,
            from,
            last: 0,
            session: String::new(),
            _profile: profile,
        };
        let target = browser.call("Target.createTarget", json!({"url": "about:blank"}));
        let attach = json!({"targetId": target["targetId"], "flatten": true});
        let attached = browser.call("Target.attachToTarget", attach);
        browser.session = attached.text("sessionId").to_owned();
        browser.resize(1280, 800, false);
        browser
    }

    /// Resizes the page to that of another device.
    pub fn resize(&mut self, width: u32, height: u32, mobile: bool) {
        let size = json!({"width": width, "height": height, "deviceScaleFactor": 2, "mobile": mobile});
        self.call("Emulation.setDeviceMetricsOverride", size);
    }

    /// Shows pages in the dark or light color scheme.
    pub fn prefer(&mut self, scheme: &str) {
        let features = json!({"features": [{"name": "prefers-color-scheme", "value": scheme}]});
        self.call("Emulation.setEmulatedMedia", features);
    }

    /// Opens an address as if the user typed it.
    #[track_caller]
    pub fn open(&mut self, url: &str) {
        let opened = self.call("Page.navigate", json!({"url": url}));
        assert_eq!(opened.get("errorText"), None, "{url}: {opened}");
        self.until("document.readyState == 'complete'");
    }

    /// The result of a script in the page.
    #[track_caller]
    pub fn eval(&mut self, script: &str) -> Value {
        self.try_eval(script).unwrap_or_else(|| panic!("{script} went wrong"))
    }

    /// `None` while another page replaces it.
    fn try_eval(&mut self, script: &str) -> Option<Value> {
        let mut answer = self.try_call("Runtime.evaluate", json!({"expression": script, "returnByValue": true}))?;
        let failed = answer.get("exceptionDetails").is_some();
        (!failed).then(|| answer["result"]["value"].take())
    }

    /// Waits until a script in the page returns true.
    #[track_caller]
    pub fn until(&mut self, script: &str) {
        let is_true = until_blocking(GLANCE, TIMEOUT, || {
            (self.try_eval(script) == Some(Value::Bool(true))).then_some(())
        });
        if is_true.is_none() {
            let page = self.try_eval("document.body.innerText");
            panic!("not {script} on a page with: {page:?}");
        }
    }

    /// Waits until a text is visible, and returns all visible text.
    #[track_caller]
    pub fn until_shown(&mut self, text: &str) -> String {
        self.until(&format!(
            "document.readyState == 'complete' && document.body.innerText.includes({})",
            json!(text)
        ));
        self.text()
    }

    /// All visible text.
    #[track_caller]
    pub fn text(&mut self) -> String {
        self.eval("document.body.innerText").as_str().unwrap().to_owned()
    }

    /// Types into the field with this label, and replaces its value.
    #[track_caller]
    pub fn fill(&mut self, label: &str, text: &str) {
        let field = format!(
            "[...document.querySelectorAll('label')].find(label => label.innerText.trim() == {}).control",
            json!(label)
        );
        self.eval(&format!("{field}.focus(); {field}.select()"));
        self.call("Input.insertText", json!({"text": text}));
    }

    /// Clicks the button or link with this text.
    #[track_caller]
    pub fn click(&mut self, text: &str) {
        let place = self.eval(&format!(
            "(() => {{ const one = [...document.querySelectorAll('button, a, summary')]
                 .find(one => one.innerText.trim() == {});
               one.scrollIntoView({{block: 'center'}});
               const box = one.getBoundingClientRect();
               return {{x: box.x + box.width / 2, y: box.y + box.height / 2}}; }})()",
            json!(text)
        ));
        for kind in ["mousePressed", "mouseReleased"] {
            let click = json!({"type": kind, "x": place["x"], "y": place["y"], "button": "left", "clickCount": 1});
            self.call("Input.dispatchMouseEvent", click);
        }
    }

    /// Saves a screenshot of the whole page if the settings of the tests ask for it.
    pub fn screenshot(&mut self, name: &str) {
        let Some(folder) = setting(SCREENSHOTS) else { return };
        let taken = self.call("Page.captureScreenshot", json!({"captureBeyondViewport": true}));
        let bytes = STANDARD.decode(taken.text("data")).unwrap();
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(Path::new(&folder).join(format!("{name}.png")), bytes).unwrap();
    }

    #[track_caller]
    fn call(&mut self, method: &str, parameters: Value) -> Value {
        self.try_call(method, parameters)
            .unwrap_or_else(|| panic!("the browser refused {method}"))
    }

    /// Returns the result, or nothing if the browser refuses. Skips events that arrive in between.
    #[track_caller]
    fn try_call(&mut self, method: &str, parameters: Value) -> Option<Value> {
        self.last += 1;
        let mut message = json!({"id": self.last, "method": method, "params": parameters});
        if !self.session.is_empty() {
            message["sessionId"] = json!(self.session);
        }
        let mut bytes = message.to_string().into_bytes();
        bytes.push(0);
        self.to.write_all(&bytes).unwrap();
        loop {
            let answer = self.from.recv_timeout(TIMEOUT);
            let mut answer = answer.unwrap_or_else(|_| panic!("the browser does not answer {method}"));
            if answer["id"] == json!(self.last) {
                return answer.get_mut("result").map(Value::take);
            }
        }
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn program() -> &'static str {
    let path = setting("PATH").unwrap_or_default();
    let is_there = |name: &&&str| std::env::split_paths(&path).any(|folder| folder.join(name).is_file());
    let found = PROGRAMS.iter().find(is_there);
    found.expect("Chromium is needed; scripts/setup installs it")
}
