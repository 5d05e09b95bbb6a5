//! The HTTP side: listens on loopback, records every request, sends the scripted responses.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread::JoinHandle;
use std::time::Duration;

use serde_json::Value;
use tiny_http::{Header, Method, Request, Response, Server, StatusCode};

use super::{Answer, Api, ModelRequest, Script, Spoken, Tokens, anthropic, chat, google, openai};

/// A scripted model on loopback; stops when dropped.
pub struct ModelServer {
    http: Arc<Server>,
    state: Arc<State>,
    accepting: Option<JoinHandle<()>>,
}

struct State {
    script: Mutex<Script>,
    requests: Mutex<Vec<ModelRequest>>,
    /// What each response so far was charged at.
    charged: Mutex<Vec<Tokens>>,
    closed: Mutex<bool>,
    change: Condvar,
}

impl ModelServer {
    /// Starts on a free port.
    pub fn start(script: Script) -> Self {
        let http = Arc::new(Server::http("127.0.0.1:0").unwrap());
        let state = Arc::new(State {
            script: Mutex::new(script),
            requests: Mutex::default(),
            charged: Mutex::default(),
            closed: Mutex::default(),
            change: Condvar::new(),
        });
        let (server, shared) = (Arc::clone(&http), Arc::clone(&state));
        // A thread per request: subagents send concurrent requests, and some responses are slow.
        let accepting = std::thread::spawn(move || {
            for request in server.incoming_requests() {
                let state = Arc::clone(&shared);
                std::thread::spawn(move || serve(request, &state));
            }
        });
        Self { http, state, accepting: Some(accepting) }
    }

    /// The base URL, without a path.
    pub fn url(&self) -> String {
        format!("http://{}", self.http.server_addr())
    }

    /// Continues with another script.
    pub fn restart(&self, script: Script) {
        *self.state.script.lock().unwrap() = script;
    }

    /// Every request so far, in order of arrival.
    pub fn requests(&self) -> Vec<ModelRequest> {
        self.state.requests().clone()
    }

    /// The tokens of every complete response so far, by the model's own count.
    pub fn charged(&self) -> Tokens {
        let all = self.state.charged.lock().unwrap();
        all.iter().fold(Tokens::default(), |sum, tokens| sum + *tokens)
    }

    /// Waits until the model has received this many requests; fails after a minute.
    #[track_caller]
    pub fn wait_for(&self, count: usize) {
        let requests = self.state.requests();
        let (requests, _) = self
            .state
            .change
            .wait_timeout_while(requests, Duration::from_secs(60), |all| all.len() < count)
            .unwrap();
        assert!(requests.len() >= count, "{} of {count} requests came", requests.len());
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        *self.state.closed.lock().unwrap() = true;
        self.state.change.notify_all();
        self.http.unblock();
        if let Some(accepting) = self.accepting.take() {
            let _ = accepting.join();
        }
    }
}

impl State {
    fn requests(&self) -> MutexGuard<'_, Vec<ModelRequest>> {
        self.requests.lock().unwrap()
    }

    /// Charges one more response.
    fn charge(&self) -> Tokens {
        let mut charged = self.charged.lock().unwrap();
        let tokens = Tokens::of_response(charged.len() as u64);
        charged.push(tokens);
        tokens
    }

    /// Sleeps, but no longer than the server lives.
    fn sleep(&self, time: Duration) {
        let closed = self.closed.lock().unwrap();
        drop(self.change.wait_timeout_while(closed, time, |closed| !*closed).unwrap());
    }
}

/// A number unique within this process.
pub(super) fn unique() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

fn serve(mut request: Request, state: &State) {
    let path = request.url().split('?').next().unwrap_or_default().to_owned();
    let api = match (request.method(), path.as_str()) {
        (Method::Post, "/v1/messages") => Api::Anthropic,
        (Method::Post, "/v1/responses") => Api::OpenAi,
        (Method::Post, "/v1/chat/completions") => Api::Chat,
        (Method::Post, path) if path.ends_with(":generateContent") => Api::Google { stream: false },
        (Method::Post, path) if path.ends_with(":streamGenerateContent") => {
            Api::Google { stream: true }
        }
        _ => return reply(request, 200, "application/json", "{}".to_owned()),
    };
    let mut body = Vec::new();
    // The client disconnected.
    let Ok(_) = request.as_reader().read_to_end(&mut body) else { return };
    let body: Value = serde_json::from_slice(&body).unwrap_or(Value::Null);
    let asked = ModelRequest { api, body };
    let answer = state.script.lock().unwrap().answer(&asked);
    state.requests().push(asked.clone());
    state.change.notify_all();
    send(request, &asked, answer, state);
}

fn send(request: Request, asked: &ModelRequest, answer: Answer, state: &State) {
    let model = &asked.body["model"];
    match answer {
        Answer::Text(text) => {
            send(request, asked, Answer::Tools(text, Vec::new()), state);
        }
        Answer::Tools(text, tools) => {
            let said = Spoken { text: &text, tools: &tools, tokens: state.charge() };
            let (kind, body) = match asked.api {
                Api::Anthropic if asked.body["stream"] != true => {
                    ("application/json", anthropic::message(model, said))
                }
                Api::Anthropic => ("text/event-stream", anthropic::events(model, said)),
                Api::OpenAi => ("text/event-stream", openai::events(said)),
                Api::Chat => ("text/event-stream", chat::events(model, said)),
                Api::Google { stream: true } => {
                    ("text/event-stream", format!("data: {}\n\n", google::response(said)))
                }
                Api::Google { stream: false } => {
                    ("application/json", google::response(said).to_string())
                }
            };
            reply(request, 200, kind, body);
        }
        Answer::Status(code, message) => {
            let body = match asked.api {
                Api::Anthropic => anthropic::error(code, &message),
                Api::OpenAi => openai::error(code, &message),
                Api::Chat => chat::error(code, &message),
                Api::Google { .. } => google::error(code, &message),
            };
            reply(request, code, "application/json", body.to_string());
        }
        Answer::Slow(delay, answer) => {
            state.sleep(delay);
            send(request, asked, *answer, state);
        }
        Answer::BreakOff(text) => {
            let body = match asked.api {
                Api::Anthropic => anthropic::broken(model, &text),
                Api::OpenAi => openai::broken(&text),
                Api::Chat => chat::broken(model, &text),
                Api::Google { .. } => google::broken(&text),
            };
            reply(request, 200, "text/event-stream", body);
        }
        Answer::Computed(answer) => {
            let answer = answer(asked);
            send(request, asked, answer, state);
        }
        Answer::Silence => state.sleep(Duration::MAX),
    }
}

fn reply(request: Request, code: u16, kind: &str, body: String) {
    let header = Header::from_bytes("Content-Type", kind).unwrap();
    let length = body.len();
    let response =
        Response::new(StatusCode(code), vec![header], body.as_bytes(), Some(length), None);
    // Killed clients no longer listen.
    let _ = request.respond(response);
}
