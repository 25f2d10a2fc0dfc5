//! [`Browser`]: headless Chromium, driven through chromedriver's WebDriver protocol.

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::process::{Answer, PATIENCE, wait_for};

/// A browser with one page open. It ends when the value is dropped.
pub(super) struct Browser {
    driver: Child,
    address: SocketAddr,
    session: String,
    _profile: TempDir,
}

impl Browser {
    pub(super) fn start() -> Self {
        let mut driver = Command::new("chromedriver")
            .arg("--port=0")
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(driver.stdout.take().unwrap()).lines();
        let port = lines
            .by_ref()
            .map_while(Result::ok)
            .find_map(|line| {
                let (_, port) = line.split_once("started successfully on port ")?;
                port.trim_end_matches('.').parse::<u16>().ok()
            })
            .expect("chromedriver prints its port");
        // chromedriver stops if nobody reads what it prints.
        std::thread::spawn(move || lines.for_each(drop));
        let profile = TempDir::with_prefix("hierad-it-browser-").unwrap();
        let mut browser = Browser {
            driver,
            address: SocketAddr::from(([127, 0, 0, 1], port)),
            session: String::new(),
            _profile: profile,
        };
        let profile = format!("--user-data-dir={}", browser._profile.path().display());
        let flags = [
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--disable-background-networking",
            "--no-first-run",
            "--disable-component-update",
            "--disable-sync",
            "--window-size=1100,1400",
            &profile,
        ];
        let made = browser.call(
            "POST",
            "/session",
            &json!({"capabilities": {"alwaysMatch": {
                "browserName": "chrome",
                "goog:chromeOptions": { "args": flags },
                "goog:loggingPrefs": { "browser": "ALL" },
            }}}),
        );
        browser.session = format!("/session/{}", made["sessionId"].as_str().unwrap());
        // How long an element may take to appear.
        browser.call(
            "POST",
            "/timeouts",
            &json!({"implicit": PATIENCE.as_millis()}),
        );
        browser
    }

    /// Sends a command of the protocol and returns its value.
    #[track_caller]
    pub(super) fn call(&self, method: &str, path: &str, body: &Value) -> Value {
        let answer = self.send(method, path, &body.to_string()).unwrap();
        let text = answer.text();
        assert_eq!(answer.status, 200, "{method} {path}: {text}");
        let mut reply: Value = serde_json::from_str(&text).unwrap();
        reply["value"].take()
    }

    fn send(&self, method: &str, path: &str, body: &str) -> std::io::Result<Answer> {
        let body = if method == "POST" { body } else { "" };
        let request = format!(
            "{method} {}{path} HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            self.session,
            self.address,
            body.len()
        );
        let mut stream = TcpStream::connect(self.address)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.write_all(request.as_bytes())?;
        Answer::read(&mut stream)
    }

    pub(super) fn open(&self, url: &str) {
        self.call("POST", "/url", &json!({ "url": url }));
    }

    /// The path of the commands for an element.
    #[track_caller]
    fn find(&self, css: &str) -> String {
        let query = json!({"using": "css selector", "value": css});
        let found = self.call("POST", "/element", &query);
        let id = found.as_object().unwrap().values().next().unwrap();
        format!("/element/{}", id.as_str().unwrap())
    }

    pub(super) fn text(&self, css: &str) -> String {
        let text = self.call("GET", &format!("{}/text", self.find(css)), &Value::Null);
        text.as_str().unwrap().to_owned()
    }

    pub(super) fn type_into(&self, css: &str, text: &str) {
        let path = format!("{}/value", self.find(css));
        self.call("POST", &path, &json!({ "text": text }));
    }

    pub(super) fn click(&self, css: &str) {
        self.call("POST", &format!("{}/click", self.find(css)), &json!({}));
    }

    /// Runs a script and returns its value.
    pub(super) fn run(&self, script: &str) -> Value {
        self.call(
            "POST",
            "/execute/sync",
            &json!({"script": script, "args": []}),
        )
    }

    /// Waits until the text of an element meets a condition.
    #[track_caller]
    pub(super) fn wait_for_text(&self, css: &str, is_there: impl Fn(&str) -> bool) -> String {
        wait_for(css, || Some(self.text(css)).filter(|text| is_there(text)))
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // The browser is not a child of this process; it ends with its session.
        if !self.session.is_empty() {
            _ = self.send("DELETE", "", "");
        }
        _ = self.driver.kill();
        _ = self.driver.wait();
    }
}
