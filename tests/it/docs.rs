//! `/docs` in a real browser: headless Chromium, driven through chromedriver's WebDriver protocol.
//!
//! Both are Debian packages (`chromium`, `chromium-driver`), which `scripts/test` installs. Without them this fails.

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::process::{Answer, PATIENCE, Process, wait_for};
use crate::support::{TestServer, Tree};

const FIXTURE: &str = r#"
//- /hiera.yaml
version: 5
hierarchy:
  - {name: group, path: "groups/%{facts.group}.yaml"}
  - {name: common, path: common.yaml}
//- /data/groups/ops.yaml
servers: [ops.example.com]
//- /data/common.yaml
servers: ["all's.example.com"]
large: 123456789012345678901234567890
"#;

/// A browser with one page open. Ends with its value.
struct Browser {
    driver: Child,
    address: SocketAddr,
    session: String,
    _profile: TempDir,
}

impl Browser {
    fn start() -> Self {
        let mut driver = Command::new("chromedriver")
            .arg("--port=0")
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("chromedriver is installed (Debian: chromium-driver); scripts/test does that");
        let mut lines = BufReader::new(driver.stdout.take().unwrap()).lines();
        let port = lines
            .by_ref()
            .map_while(Result::ok)
            .find_map(|line| {
                let (_, port) = line.split_once("started successfully on port ")?;
                port.trim_end_matches('.').parse::<u16>().ok()
            })
            .expect("chromedriver says which port it has");
        // Whoever stops reading stops chromedriver.
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
        // How long an element may take to be there.
        browser.call(
            "POST",
            "/timeouts",
            &json!({"implicit": PATIENCE.as_millis()}),
        );
        browser
    }

    /// One command of the protocol; what it came to.
    #[track_caller]
    fn call(&self, method: &str, path: &str, body: &Value) -> Value {
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

    fn open(&self, url: &str) {
        self.call("POST", "/url", &json!({ "url": url }));
    }

    /// The path of an element's own commands.
    #[track_caller]
    fn find(&self, css: &str) -> String {
        let query = json!({"using": "css selector", "value": css});
        let found = self.call("POST", "/element", &query);
        let id = found.as_object().unwrap().values().next().unwrap();
        format!("/element/{}", id.as_str().unwrap())
    }

    fn text(&self, css: &str) -> String {
        let text = self.call("GET", &format!("{}/text", self.find(css)), &Value::Null);
        text.as_str().unwrap().to_owned()
    }

    fn type_into(&self, css: &str, text: &str) {
        let path = format!("{}/value", self.find(css));
        self.call("POST", &path, &json!({ "text": text }));
    }

    fn click(&self, css: &str) {
        self.call("POST", &format!("{}/click", self.find(css)), &json!({}));
    }

    /// What a script comes to.
    fn run(&self, script: &str) -> Value {
        self.call(
            "POST",
            "/execute/sync",
            &json!({"script": script, "args": []}),
        )
    }

    /// Waits until an element has a text of which this is true.
    #[track_caller]
    fn wait_for_text(&self, css: &str, is_there: impl Fn(&str) -> bool) -> String {
        wait_for(css, || Some(self.text(css)).filter(|text| is_there(text)))
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // The browser is not a child of this process, and ends with its session.
        if !self.session.is_empty() {
            _ = self.send("DELETE", "", "");
        }
        _ = self.driver.kill();
        _ = self.driver.wait();
    }
}

#[test]
fn the_page_tells_of_the_interface_and_answers_lookups() {
    let tree = Tree::new(FIXTURE);
    let server = Process::start(&tree, &[]);
    let browser = Browser::start();
    browser.open(&format!("http://{}/docs", server.address));
    assert_eq!(browser.text("h1"), "hierad API");

    // The reference comes out of the description.
    browser.wait_for_text("#postLookup h3", |text| text == "POST /lookup");
    let reference = browser.text("#reference");
    for part in [
        "POST /environments/{environment}/reload",
        "/key-not-found",
        "/method-not-allowed",
        "LookupRequest",
        "sort_merged_arrays",
    ] {
        assert!(reference.contains(part), "{part} is missing:\n{reference}");
    }

    // Found, sent by the return key.
    browser.type_into("#key", "servers");
    browser.type_into("#facts", r#"{"group": "ops"}"#);
    browser.type_into("#key", "\u{e007}");
    let answer = browser.wait_for_text("#answer", |text| !text.is_empty());
    assert!(
        answer.contains(r#""value": ["ops.example.com"]"#),
        "{answer}"
    );
    assert!(browser.text("#status").starts_with("200 OK"));
    assert_eq!(
        browser.text("#curl"),
        format!(
            r#"curl -s 'http://{}/lookup' --json '{{"key": "servers", "facts": {{"group": "ops"}}}}'"#,
            server.address
        )
    );

    // A merge, with its explanation as text.
    browser.click("#merge option:nth-child(3)");
    browser.click("#explain option[value=true]");
    browser.click("#lookup button");
    let answer = browser.wait_for_text("#answer", |text| text.starts_with("Searching for"));
    assert!(answer.contains("Merged result: ["), "{answer}");
    assert!(browser.text("#curl").contains("-H 'Accept: text/plain'"));

    // Numbers larger than JavaScript's.
    browser.run("document.getElementById('lookup').reset()");
    browser.type_into("#key", "large");
    browser.click("#lookup button");
    browser.wait_for_text("#answer", |text| {
        text.contains("123456789012345678901234567890")
    });

    // Facts that are none are not sent; what is not found is a problem.
    browser.type_into("#facts", "{");
    browser.wait_for_text("#facts-error", |text| text.starts_with("Not a JSON object"));
    browser.run("document.getElementById('lookup').reset()");
    browser.type_into("#key", "nosuch");
    browser.type_into("#node", "it's");
    browser.click("#lookup button");
    browser.wait_for_text("#status", |text| text.starts_with("404"));
    browser.wait_for_text("#answer", |text| text.contains("/problems/key-not-found"));
    let command = browser.text("#curl");
    assert!(
        command.ends_with(r#"--json '{"key": "nosuch", "node": "it'\''s"}'"#),
        "{command}"
    );

    // Everything that can be filled in has a name, and nothing of the page was refused or failed.
    let unnamed = "return [...document.querySelectorAll('input, select, textarea')].filter(f => !f.labels.length).length";
    assert_eq!(browser.run(unnamed), json!(0));
    let log = browser.call("POST", "/se/log", &json!({"type": "browser"}));
    let faults: Vec<&Value> = log
        .as_array()
        .unwrap()
        .iter()
        // The lookup that finds nothing is logged, and a browser may ask for an icon.
        .filter(|entry| !entry["message"].as_str().unwrap().contains("status of 404"))
        .collect();
    assert!(faults.is_empty(), "{faults:?}");
}

#[test]
fn the_page_asks_for_nothing_from_elsewhere() {
    let server = TestServer::new("");
    for (path, kind) in [
        ("/docs", "text/html; charset=utf-8"),
        ("/docs/docs.css", "text/css; charset=utf-8"),
        ("/docs/docs.js", "text/javascript; charset=utf-8"),
    ] {
        let reply = server.get(path);
        assert_eq!(reply.status, 200, "{path}");
        assert_eq!(reply.content_type(), kind);
        let policy = reply.header(axum::http::header::CONTENT_SECURITY_POLICY);
        assert_eq!(policy, "default-src 'self'", "{path}");
        assert!(!reply.text().contains("://"), "{path}");
    }
}

#[test]
fn the_description_is_there_as_json_too() {
    let server = TestServer::new("");
    let yaml: Value = serde_yaml::from_str(&server.get("/openapi.yaml").text()).unwrap();
    assert_eq!(server.get("/openapi.json").json(), yaml);
}
