//! The real service on its own port, and a client that sends exactly what a test specifies.

use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use ureq::http::{HeaderMap, Request};

use crate::{Output, TestEnv};

/// A service that runs until it is dropped.
pub struct Service {
    child: Option<Child>,
    /// The base URL, without a trailing slash.
    pub url: String,
    agent: ureq::Agent,
}

impl Service {
    /// Starts `handover serve --port 0` with further arguments and waits until it responds.
    pub fn start(env: &TestEnv, args: &[&str]) -> Self {
        Self::over(env, env.start(["serve", "--port", "0", "--json"].iter().chain(args)))
    }

    /// Like [`start`](Self::start), with a limit on open files.
    pub fn with_files(env: &TestEnv, files: usize) -> Self {
        let mut shell = env.tool("sh");
        shell.args(["-c", "ulimit -n \"$1\"; exec \"$2\" serve --port 0 --json", "sh"]);
        shell.arg(files.to_string()).arg(env.binary());
        shell.stdout(Stdio::piped()).stderr(Stdio::piped());
        Self::over(env, shell.spawn().unwrap())
    }

    fn over(env: &TestEnv, mut child: Child) -> Self {
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let Ok(said) = serde_json::from_str::<Value>(&line) else {
            panic!("{}", env.output(child));
        };
        let url = said["service"]["url"].as_str().unwrap().trim_end_matches('/').to_owned();
        let agent = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .timeout_global(Some(Duration::from_secs(60)))
            .build()
            .into();
        Self { child: Some(child), url, agent }
    }

    /// The same service under another host name.
    #[must_use]
    pub fn known_as(mut self, url: String) -> Self {
        self.url = url;
        self
    }

    /// The process id.
    pub fn pid(&self) -> u32 {
        self.child.as_ref().unwrap().id()
    }

    /// Asks it to stop, and waits for it.
    pub fn stop(mut self, env: &TestEnv) -> Output {
        let child = self.child.take().unwrap();
        signal(&child, Signal::TERM);
        env.output(child)
    }

    /// Sends a `GET` request.
    pub fn get(&self, path: &str) -> Reply {
        self.send("GET", path, &[], "")
    }

    /// Sends JSON in a `POST` request.
    pub fn post(&self, path: &str, body: &Value) -> Reply {
        self.send("POST", path, &[("content-type", "application/json")], &body.to_string())
    }

    /// Sends any request.
    pub fn send(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Reply {
        let mut request = Request::builder().method(method).uri(format!("{}{path}", self.url));
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let mut response = match body {
            "" => self.agent.run(request.body(()).unwrap()),
            body => self.agent.run(request.body(body).unwrap()),
        }
        .unwrap();
        Reply {
            status: response.status().as_u16(),
            headers: response.headers().clone(),
            body: response.body_mut().read_to_string().unwrap(),
        }
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

fn signal(child: &Child, signal: Signal) {
    let pid = Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
    kill_process(pid, signal).unwrap();
}

/// A response of the service.
#[derive(Debug, Clone)]
pub struct Reply {
    /// The HTTP status code.
    pub status: u16,
    /// The response headers, as received.
    pub headers: HeaderMap,
    /// The response body as text.
    pub body: String,
}

impl Reply {
    /// Asserts a status.
    #[track_caller]
    pub fn is(self, status: u16) -> Self {
        assert_eq!(self.status, status, "{}", self.body);
        self
    }

    /// The body as JSON.
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error} in {}", self.body))
    }

    /// A header, or an empty text.
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }
}
