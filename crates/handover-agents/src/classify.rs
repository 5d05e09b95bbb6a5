//! Classifies error messages. Only errors are passed in, never an agent's own text.

use handover_model::FailureClass;

use crate::Failure;

/// Phrases of messages in lower case, the more specific ones first.
const WORDS: &[(FailureClass, &[&str])] = &[
    (
        FailureClass::ContextWindow,
        &["prompt is too long", "context window", "context length", "context_length_exceeded"],
    ),
    (
        FailureClass::Quota,
        &[
            "credit balance",
            "insufficient_quota",
            "usage limit",
            "session limit",
            "weekly limit",
            "billing",
            "quota exceeded",
            "exhausted your",
            "out of credits",
        ],
    ),
    (
        FailureClass::RateLimit,
        &["rate limit", "rate_limit", "too many requests", "resource_exhausted"],
    ),
    (
        FailureClass::Overloaded,
        &["overloaded", "at capacity", "high demand", "service unavailable"],
    ),
    (
        FailureClass::Auth,
        &[
            "unauthorized",
            "authenticat",
            "invalid api key",
            "invalid_api_key",
            "invalid x-api-key",
            "not logged in",
            "please run /login",
            "please log in",
            "missing environment variable",
            "api key not",
            "set an auth method",
        ],
    ),
    (
        FailureClass::Model,
        &[
            "model not found",
            "model_not_found",
            "not_found_error",
            "unknown model",
            "may not exist",
        ],
    ),
    (FailureClass::MaxTurns, &["maximum number of turns", "max session turns", "max turns"]),
    (FailureClass::MaxBudget, &["maximum budget"]),
    (FailureClass::Refused, &["usage policy", "content policy", "refused to", "safety"]),
    (
        FailureClass::Network,
        &[
            "stream disconnected",
            "stream closed",
            "connection",
            "econnrefused",
            "econnreset",
            "enotfound",
            "etimedout",
            "network",
            "dns",
            "timed out",
            "fetch failed",
            "error sending request",
            "empty or malformed response",
            "socket hang up",
        ],
    ),
    (FailureClass::Server, &["internal server error", "server_error", "bad gateway", "api_error"]),
    (
        FailureClass::Usage,
        &["unknown option", "unexpected argument", "invalid value", "unknown argument"],
    ),
];

/// The failure that a message describes.
pub(crate) fn message(text: &str) -> Failure {
    let class = status_in(text).and_then(status).unwrap_or_else(|| {
        let lower = text.to_lowercase();
        WORDS
            .iter()
            .find(|(_, words)| words.iter().any(|word| has_word(&lower, word)))
            .map_or(FailureClass::Other, |(class, _)| *class)
    });
    Failure { class, message: text.to_owned() }
}

/// Whether a word of the text begins with these letters: `FileNotFoundError` is not `enotfound`.
fn has_word(text: &str, word: &str) -> bool {
    let begins_a_word = |at| !text[..at].ends_with(char::is_alphanumeric);
    text.match_indices(word).any(|(at, _)| begins_a_word(at))
}

/// The class of an HTTP status.
pub(crate) fn status(code: u16) -> Option<FailureClass> {
    Some(match code {
        401 | 403 => FailureClass::Auth,
        402 => FailureClass::Quota,
        404 => FailureClass::Model,
        408 => FailureClass::Network,
        413 => FailureClass::ContextWindow,
        429 => FailureClass::RateLimit,
        503 | 529 => FailureClass::Overloaded,
        500..=599 => FailureClass::Server,
        _ => return None,
    })
}

/// A status such as `status 529`, `status: 429`, `API Error: 500` or `(429)`.
fn status_in(text: &str) -> Option<u16> {
    const BEFORE: [&str; 4] = ["status ", "status: ", "Error: ", "("];
    BEFORE.iter().find_map(|before| {
        text.match_indices(before).find_map(|(at, _)| {
            let rest = &text[at + before.len()..];
            let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
            rest.get(..digits).filter(|number| number.len() == 3)?.parse().ok()
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, class: FailureClass) {
        assert_eq!(message(text).class, class, "{text}");
    }

    #[test]
    fn classifies_messages_of_real_programs() {
        check("API Error: 529 scripted. Try again in a moment", FailureClass::Overloaded);
        check("API Error: Request rejected (429) · slow down", FailureClass::RateLimit);
        check("Failed to authenticate. API Error: 401 no", FailureClass::Auth);
        check("exceeded retry limit, last status: 429 Too Many Requests", FailureClass::RateLimit);
        check(
            "unexpected status 500 Internal Server Error: x, url: http://h",
            FailureClass::Server,
        );
        check(
            "stream disconnected before completion: stream closed before response.completed",
            FailureClass::Network,
        );
        check("Credit balance is too low", FailureClass::Quota);
        check("You've hit your usage limit. Try again at 5 pm", FailureClass::Quota);
        check("Invalid API key · Please run /login", FailureClass::Auth);
        check("Prompt is too long", FailureClass::ContextWindow);
        check("Quota exceeded for quota metric 'x'", FailureClass::Quota);
        check("getaddrinfo ENOTFOUND api.example.com", FailureClass::Network);
    }

    #[test]
    fn words_do_not_match_inside_other_words() {
        check("FileNotFoundError: [Errno 2] No such file: 'a.toml'", FailureClass::Other);
        check("ModuleNotFoundError: No module named 'requests'", FailureClass::Other);
        check("Error: getaddrinfo ENOTFOUND registry.example", FailureClass::Network);
    }

    #[test]
    fn ignores_numbers_that_are_not_a_status() {
        check("read 529 lines", FailureClass::Other);
        check("failed (12345)", FailureClass::Other);
        check("", FailureClass::Other);
        check("Error: 200 is fine", FailureClass::Other);
    }

    #[test]
    fn classifies_http_statuses() {
        for (code, class) in [
            (401, FailureClass::Auth),
            (403, FailureClass::Auth),
            (402, FailureClass::Quota),
            (404, FailureClass::Model),
            (408, FailureClass::Network),
            (413, FailureClass::ContextWindow),
            (429, FailureClass::RateLimit),
            (500, FailureClass::Server),
            (502, FailureClass::Server),
            (503, FailureClass::Overloaded),
            (529, FailureClass::Overloaded),
        ] {
            assert_eq!(status(code), Some(class), "{code}");
            check(&format!("unexpected status {code}: x"), class);
        }
        for code in [200, 302, 400, 418, 600] {
            assert_eq!(status(code), None, "{code}");
        }
    }

    #[test]
    fn a_status_takes_precedence_over_the_text() {
        check("connection closed, last status: 401", FailureClass::Auth);
        check("status 400: maximum number of turns", FailureClass::MaxTurns);
        assert_eq!(message("Overloaded").message, "Overloaded", "the message is kept");
    }
}
