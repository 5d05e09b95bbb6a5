//! What a secret looks like.

use super::Finding;

/// A vendor token: a fixed start, then at least `min` characters of an alphabet.
struct Prefix {
    name: &'static str,
    start: &'static str,
    min: usize,
}

const PREFIXES: &[Prefix] = &[
    Prefix {
        name: "anthropic-key",
        start: "sk-ant-",
        min: 20,
    },
    Prefix {
        name: "openai-key",
        start: "sk-proj-",
        min: 20,
    },
    Prefix {
        name: "stripe-key",
        start: "sk_live_",
        min: 16,
    },
    Prefix {
        name: "stripe-key",
        start: "sk_test_",
        min: 16,
    },
    Prefix {
        name: "stripe-key",
        start: "rk_live_",
        min: 16,
    },
    Prefix {
        name: "github-token",
        start: "ghp_",
        min: 30,
    },
    Prefix {
        name: "github-token",
        start: "gho_",
        min: 30,
    },
    Prefix {
        name: "github-token",
        start: "ghu_",
        min: 30,
    },
    Prefix {
        name: "github-token",
        start: "ghs_",
        min: 30,
    },
    Prefix {
        name: "github-token",
        start: "ghr_",
        min: 30,
    },
    Prefix {
        name: "github-token",
        start: "github_pat_",
        min: 22,
    },
    Prefix {
        name: "gitlab-token",
        start: "glpat-",
        min: 20,
    },
    Prefix {
        name: "aws-access-key",
        start: "AKIA",
        min: 16,
    },
    Prefix {
        name: "aws-access-key",
        start: "ASIA",
        min: 16,
    },
    Prefix {
        name: "google-key",
        start: "AIza",
        min: 35,
    },
    Prefix {
        name: "slack-token",
        start: "xoxb-",
        min: 20,
    },
    Prefix {
        name: "slack-token",
        start: "xoxp-",
        min: 20,
    },
    Prefix {
        name: "slack-token",
        start: "xoxa-",
        min: 20,
    },
    Prefix {
        name: "slack-token",
        start: "xapp-",
        min: 20,
    },
    Prefix {
        name: "npm-token",
        start: "npm_",
        min: 36,
    },
    Prefix {
        name: "pypi-token",
        start: "pypi-",
        min: 50,
    },
    Prefix {
        name: "sendgrid-key",
        start: "SG.",
        min: 40,
    },
    Prefix {
        name: "openai-key",
        start: "sk-",
        min: 32,
    },
];

/// Words that make the name of a value telling.
const TELLING: &[&str] = &[
    "password",
    "passwd",
    "pwd",
    "passphrase",
    "secret",
    "apikey",
    "api_key",
    "api-key",
    "token",
    "private_key",
    "private-key",
    "privatekey",
    "access_key",
    "access-key",
    "accesskey",
    "credential",
    "credentials",
];

/// Whether a key such as `DB_PASSWORD` or `apiKey` names a secret.
pub(super) fn telling_key(key: &str) -> bool {
    let key = key.to_ascii_lowercase();
    TELLING.iter().any(|word| {
        key.strip_suffix(word).is_some_and(|rest| {
            // `tokens` and `max_token` count things; a bare `token` or `x_token` does not.
            !(*word == "token" && rest.ends_with("max_"))
        })
    })
}

/// Whether a value only stands where a secret would.
pub(super) fn placeholder(value: &str) -> bool {
    let v = value.trim_matches(|c| c == '"' || c == '\'');
    v.is_empty()
        || v.starts_with(['<', '$', '{', '%'])
        || v.starts_with("[REDACTED")
        || v.chars().all(|c| matches!(c, '*' | 'x' | 'X' | '.' | '-'))
        || matches!(
            v.to_ascii_lowercase().as_str(),
            "null" | "none" | "nil" | "true" | "false" | "undefined" | "changeme" | "redacted"
        )
}

/// Every secret in the text, sorted, not overlapping.
pub(super) fn find(text: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    pem_blocks(text, &mut findings);
    prefixes(text, &mut findings);
    jwts(text, &mut findings);
    url_credentials(text, &mut findings);
    assignments(text, &mut findings);
    findings.sort_by_key(|f| (f.start, std::cmp::Reverse(f.end)));
    let mut end = 0;
    findings.retain(|f| {
        let keep = f.start >= end;
        if keep {
            end = f.end;
        }
        keep
    });
    findings
}

fn add(findings: &mut Vec<Finding>, rule: &str, start: usize, end: usize) {
    findings.push(Finding {
        rule: rule.to_owned(),
        start,
        end,
    });
}

fn token_byte(b: u8) -> bool {
    b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.')
}

fn prefixes(text: &str, findings: &mut Vec<Finding>) {
    let bytes = text.as_bytes();
    for prefix in PREFIXES {
        for (start, _) in text.match_indices(prefix.start) {
            if start > 0 && bytes[start - 1].is_ascii_alphanumeric() {
                continue;
            }
            let body = start + prefix.start.len();
            let len = bytes[body..].iter().take_while(|b| token_byte(**b)).count();
            let end = body + text[body..body + len].trim_end_matches('.').len();
            if end - body >= prefix.min {
                add(findings, prefix.name, start, end);
            }
        }
    }
}

fn jwts(text: &str, findings: &mut Vec<Finding>) {
    let bytes = text.as_bytes();
    for (start, _) in text.match_indices("eyJ") {
        if start > 0 && token_byte(bytes[start - 1]) {
            continue;
        }
        let len = bytes[start..]
            .iter()
            .take_while(|b| token_byte(**b))
            .count();
        let token = text[start..start + len].trim_end_matches('.');
        let mut parts = token.split('.');
        let (Some(_), Some(payload)) = (parts.next(), parts.next()) else {
            continue;
        };
        if payload.starts_with("eyJ") {
            add(findings, "jwt", start, start + token.len());
        }
    }
}

fn pem_blocks(text: &str, findings: &mut Vec<Finding>) {
    let mut from = 0;
    while let Some(at) = text[from..].find("-----BEGIN ") {
        let start = from + at;
        from = start + 11;
        let Some(label_end) = text[from..].find("-----") else {
            return;
        };
        if label_end > 64 || !text[from..from + label_end].contains("PRIVATE KEY") {
            continue;
        }
        // A block without its end is a cut block: everything after the label may be key material.
        let end = match text[from..].find("-----END ") {
            Some(tail) => {
                let tail = from + tail + 9;
                text[tail..]
                    .find("-----")
                    .map_or(text.len(), |n| tail + n + 5)
            }
            None => text.len(),
        };
        add(findings, "private-key", start, end);
        from = end;
    }
}

fn url_credentials(text: &str, findings: &mut Vec<Finding>) {
    let bytes = text.as_bytes();
    for (colon, _) in text.match_indices("://") {
        let start = colon + 3;
        let len = bytes[start..]
            .iter()
            .take_while(|b| {
                !b.is_ascii_whitespace() && !matches!(b, b'/' | b'"' | b'\'' | b'<' | b'`')
            })
            .count();
        let authority = &text[start..start + len];
        let Some(at) = authority.rfind('@') else {
            continue;
        };
        let Some(sep) = authority[..at].find(':') else {
            continue;
        };
        let password = &authority[sep + 1..at];
        if !placeholder(password) {
            add(findings, "url-credentials", start + sep + 1, start + at);
        }
    }
}

fn assignments(text: &str, findings: &mut Vec<Finding>) {
    let bytes = text.as_bytes();
    for (sep, b) in bytes.iter().enumerate() {
        if !matches!(b, b'=' | b':') {
            continue;
        }
        let name_end = text[..sep].trim_end_matches([' ', '\t', '"', '\'']).len();
        let name_len = bytes[..name_end]
            .iter()
            .rev()
            .take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'))
            .count();
        let name = &text[name_end - name_len..name_end];
        if name.is_empty() || !telling_key(name) {
            continue;
        }
        let mut start = sep + 1;
        while start < bytes.len() && matches!(bytes[start], b' ' | b'\t' | b'=' | b'>') {
            start += 1;
        }
        let end = match bytes.get(start) {
            Some(&quote @ (b'"' | b'\'')) => {
                start += 1;
                let close = bytes[start..]
                    .iter()
                    .position(|b| *b == quote || *b == b'\n');
                close.map_or(text.len(), |n| start + n)
            }
            Some(_) => {
                let len = bytes[start..]
                    .iter()
                    .take_while(|b| {
                        !b.is_ascii_whitespace() && !matches!(b, b'"' | b'\'' | b',' | b';' | b')')
                    })
                    .count();
                start + len
            }
            None => continue,
        };
        let value = &text[start..end];
        // `token: the …` is prose: an unquoted word after a colon must look like a value.
        let quoted = matches!(bytes[start - 1], b'"' | b'\'');
        let wordlike = value.len() < 6 || value.bytes().all(|b| b.is_ascii_lowercase());
        if placeholder(value) || (*b == b':' && !quoted && wordlike) || value.len() < 4 {
            continue;
        }
        add(findings, "assignment", start, end);
    }
}
