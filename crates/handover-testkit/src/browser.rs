//! A real Chromium, controlled through WebDriver.
//!
//! `scripts/browser` installs it together with its driver and the accessibility checker. If one is missing
//! the test fails; it is never skipped.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use fantoccini::wd::WebDriverCompatibleCommand;
use fantoccini::{Client, ClientBuilder, Locator};
use hyper_util::client::legacy::connect::HttpConnector;
use serde_json::{Value, json};
use tokio::runtime::Runtime;

/// How long a test waits for a page.
const PATIENCE: Duration = Duration::from_secs(20);

/// A browser with its own profile; quits when dropped.
pub struct Browser {
    runtime: Runtime,
    client: Option<Client>,
    driver: Child,
    _profile: tempfile::TempDir,
}

/// The window a page is viewed in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Look {
    /// Width in CSS pixels.
    pub width: u32,
    /// Height in CSS pixels.
    pub height: u32,
    /// Whether the system prefers dark colors.
    pub dark: bool,
}

impl Look {
    /// A desktop screen.
    pub const DESK: Self = Self { width: 1440, height: 900, dark: false };
    /// A phone screen.
    pub const PHONE: Self = Self { width: 390, height: 844, dark: false };
    /// Both screens in both colors.
    pub const ALL: [Self; 4] = [Self::DESK, Self::DESK.dark(), Self::PHONE, Self::PHONE.dark()];

    /// The same screen with dark colors.
    #[must_use]
    pub const fn dark(self) -> Self {
        Self { dark: true, ..self }
    }
}

/// A WebDriver command specific to Chromium.
#[derive(Debug)]
struct Special {
    path: &'static str,
    body: Value,
}

impl WebDriverCompatibleCommand for Special {
    fn endpoint(
        &self,
        base: &url::Url,
        session: Option<&str>,
    ) -> Result<url::Url, url::ParseError> {
        base.join(&format!("session/{}/{}", session.unwrap_or_default(), self.path))
    }

    fn method_and_body(&self, _: &url::Url) -> (http::Method, Option<String>) {
        (http::Method::POST, Some(self.body.to_string()))
    }
}

impl Browser {
    /// Starts driver and browser.
    pub fn start() -> Self {
        let mut driver = Command::new("chromedriver")
            .arg("--port=0")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap_or_else(|error| {
                panic!("chromedriver does not start ({error}): run scripts/browser")
            });
        let mut lines = BufReader::new(driver.stdout.take().unwrap()).lines();
        let port = lines
            .by_ref()
            .map_while(Result::ok)
            .find_map(|line| {
                line.split_once("successfully on port ").map(|(_, port)| port.to_owned())
            })
            .expect("chromedriver says its port");
        // Drain the rest of its output, so that it never blocks on a full pipe.
        std::thread::spawn(move || lines.for_each(drop));
        let profile = tempfile::tempdir().unwrap();
        let args = [
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
            "--disable-dev-shm-usage",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--hide-scrollbars",
        ];
        let mut args: Vec<String> = args.map(str::to_owned).into();
        args.push(format!("--user-data-dir={}", profile.path().display()));
        let wanted = json!({
            "goog:chromeOptions": {"args": args},
            "goog:loggingPrefs": {"performance": "ALL", "browser": "ALL"},
        });
        let Value::Object(wanted) = wanted else { unreachable!("an object") };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let client = runtime.block_on(async {
            let mut builder = ClientBuilder::new(HttpConnector::new());
            builder.capabilities(wanted);
            builder.connect(&format!("http://127.0.0.1:{}", port.trim_end_matches('.'))).await
        });
        let client = client.unwrap_or_else(|error| {
            panic!("Chromium does not start ({error}): run scripts/browser")
        });
        Self { runtime, client: Some(client), driver, _profile: profile }
    }

    fn client(&self) -> &Client {
        self.client.as_ref().expect("the browser runs")
    }

    /// Changes the window for all further pages.
    pub fn look(&self, look: Look) {
        let Look { width, height, dark } = look;
        let phone = width < 600;
        self.devtools(
            "Emulation.setDeviceMetricsOverride",
            json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": phone}),
        );
        let scheme = if dark { "dark" } else { "light" };
        self.devtools(
            "Emulation.setEmulatedMedia",
            json!({"features": [{"name": "prefers-color-scheme", "value": scheme}]}),
        );
    }

    /// Executes a developer tools command.
    pub fn devtools(&self, command: &str, params: Value) -> Value {
        self.special("goog/cdp/execute", json!({"cmd": command, "params": params}))
    }

    fn special(&self, path: &'static str, body: Value) -> Value {
        self.runtime.block_on(self.client().issue_cmd(Special { path, body })).unwrap()
    }

    /// Opens a URL and waits until it is loaded.
    pub fn go(&self, url: &str) {
        self.runtime.block_on(self.client().goto(url)).unwrap();
    }

    /// The current URL.
    pub fn address(&self) -> String {
        self.runtime.block_on(self.client().current_url()).unwrap().to_string()
    }

    /// The return value of a script.
    pub fn eval(&self, script: &str) -> Value {
        self.runtime.block_on(self.client().execute(script, Vec::new())).unwrap()
    }

    /// The value an asynchronous script passes to `arguments[0]`.
    pub fn eval_async(&self, script: &str) -> Value {
        self.runtime.block_on(self.client().execute_async(script, Vec::new())).unwrap()
    }

    /// The text of the first matching element.
    pub fn text(&self, css: &str) -> String {
        let text = self.runtime.block_on(async {
            let element = self.client().find(Locator::Css(css)).await?;
            element.text().await
        });
        text.unwrap_or_else(|error| panic!("`{css}` on {}: {error}", self.address()))
    }

    /// Clicks the first matching element.
    pub fn click(&self, css: &str) {
        let clicked = self
            .runtime
            .block_on(async { self.client().find(Locator::Css(css)).await?.click().await });
        clicked.unwrap_or_else(|error| panic!("`{css}` on {}: {error}", self.address()));
    }

    /// Types into the focused element.
    pub fn keys(&self, keys: &str) {
        let typed = self
            .runtime
            .block_on(async { self.client().active_element().await?.send_keys(keys).await });
        typed.unwrap();
    }

    /// Waits until a script returns true.
    pub fn wait(&self, script: &str) {
        let until = std::time::Instant::now() + PATIENCE;
        while self.eval(script) != true {
            assert!(std::time::Instant::now() < until, "timed out on {}: {script}", self.address());
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// A screenshot of the whole page.
    pub fn picture(&self, look: Look, file: &Path) {
        self.look(look);
        let height =
            self.eval("return Math.ceil(document.documentElement.scrollHeight)").as_u64().unwrap();
        let height = u32::try_from(height).unwrap_or(u32::MAX).clamp(look.height, 6_000);
        self.look(Look { height, ..look });
        self.window(file);
    }

    /// A screenshot of the visible part.
    pub fn window(&self, file: &Path) {
        let png = self.runtime.block_on(self.client().screenshot()).unwrap();
        fs_err::write(file, png).unwrap();
    }

    /// The URLs requested since the last call.
    pub fn requests(&self) -> Vec<String> {
        let log = self.special("se/log", json!({"type": "performance"}));
        let entries = log.as_array().cloned().unwrap_or_default();
        let sent = entries.iter().filter_map(|entry| {
            let message: Value = serde_json::from_str(entry["message"].as_str()?).ok()?;
            let message = &message["message"];
            (message["method"] == "Network.requestWillBeSent")
                .then(|| message["params"]["request"]["url"].as_str().map(str::to_owned))
                .flatten()
        });
        // Ignore the browser's internal pages.
        sent.filter(|url| !url.starts_with("chrome://")).collect()
    }

    /// The browser's console errors since the last call.
    pub fn complaints(&self) -> Vec<String> {
        let log = self.special("se/log", json!({"type": "browser"}));
        let entries = log.as_array().cloned().unwrap_or_default();
        entries.iter().filter_map(|entry| entry["message"].as_str().map(str::to_owned)).collect()
    }

    /// The findings of the accessibility checker on this page.
    pub fn barriers(&self) -> Vec<String> {
        let checker = installed().join("node_modules/axe-core/axe.min.js");
        let checker = fs_err::read_to_string(checker).unwrap();
        self.eval(&checker);
        let found = self.eval_async(
            "const done = arguments[0]; axe.run(document, {resultTypes: ['violations'], rules: {'target-size': {enabled: true}}}).then((r) => done(r.violations), (e) => done([{impact: 'critical', id: String(e), nodes: []}]))",
        );
        let found = found.as_array().cloned().unwrap_or_default();
        found
            .iter()
            .map(|one| {
                let places = one["nodes"].as_array().into_iter().flatten().take(3);
                let places: Vec<String> = places
                    .map(|node| format!("{} {}", node["target"], node["failureSummary"]))
                    .collect();
                format!("{}: {}", one["id"], places.join("; "))
            })
            .collect()
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        if let Some(client) = self.client.take() {
            let _ = self.runtime.block_on(client.close());
        }
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}

/// The folder that `scripts/browser` installs into.
fn installed() -> PathBuf {
    let folder = std::env::var_os("HANDOVER_TEST_BROWSER").map_or_else(
        || {
            let home = std::env::var_os("HOME").unwrap_or_default();
            Path::new(&home).join(".cache/handover/test-browser")
        },
        PathBuf::from,
    );
    assert!(
        folder.join("installed").exists(),
        "the accessibility checker is not in {}: run scripts/browser, or set HANDOVER_TEST_BROWSER to where it put it",
        folder.display()
    );
    folder
}
