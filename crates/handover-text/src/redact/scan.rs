//! One pass over a text that runs each detector only where it could match.

use std::cell::OnceCell;
use std::ops::Range;

use super::assign::Assignments;
use super::beside::Found;
use super::bytes::{self, ALNUM, CLASS, DIGIT, LOWER, RUN, UPPER};
use super::index::{Letters, Side};
use super::keys::{self, Key};
use super::{
    Hit, beside, blocks, byte_arrays, calls, commands, encoded, expect_scripts, flags, generic,
    kubernetes, marks, pem, prose, services, settings, shapes, sql_rows, tables, urls, usernames,
    vendors,
};

/// Adds the findings of the pattern rules; returns the structures that some of them depend on.
pub(super) fn patterns(text: &str, hits: &mut Vec<Hit<'_>>) -> Vec<Range<usize>> {
    Scan::new(text, Layers::Patterns).run(hits)
}

/// Like [`patterns`], with the generic rule for random strings.
pub(super) fn everything(text: &str, hits: &mut Vec<Hit<'_>>) -> Vec<Range<usize>> {
    Scan::new(text, Layers::All).run(hits)
}

/// Which detectors run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Layers {
    /// Patterns, also inside encoded text.
    Patterns,
    /// Patterns, encoded text and the generic rule.
    All,
    /// Patterns alone, inside text that was decoded.
    Inner,
}

struct Scan<'t> {
    text: &'t [u8],
    layers: Layers,
    assignments: Assignments,
    /// Percent-encoded words up to here have been read.
    percent: usize,
    /// The last password ended here.
    password: usize,
    /// The last secret with a name ended here.
    secret: usize,
    /// Secrets beside which something may tell whose they are.
    found: Vec<Found>,
    /// Kubernetes Secrets up to here have been read.
    manifest: usize,
    /// Tables of passwords up to here have been read.
    table: usize,
    /// Values of several lines up to here have been read.
    block: usize,
    /// Whether the text names a service, once that is asked.
    named: OnceCell<bool>,
    /// Manifests, tables and blocks: reading a part of the text must begin where they do.
    structures: Vec<Range<usize>>,
}

impl<'t> Scan<'t> {
    fn new(text: &'t str, layers: Layers) -> Self {
        Self {
            text: text.as_bytes(),
            layers,
            assignments: Assignments::default(),
            percent: 0,
            password: 0,
            secret: 0,
            found: Vec::new(),
            manifest: 0,
            table: 0,
            block: 0,
            named: OnceCell::new(),
            structures: Vec::new(),
        }
    }

    fn run(mut self, hits: &mut Vec<Hit<'_>>) -> Vec<Range<usize>> {
        let public = pem::find(self.text, hits);
        let mut public = public.into_iter().peekable();
        let keys = hits.len();
        urls::find(self.text, hits);
        let known = |hit: &Hit<'_>| Found { start: hit.start, end: hit.end, sure: true };
        self.found.extend(hits[keys..].iter().map(known));
        let mut at = 0;
        while let Some(b) = self.text.get(at) {
            if let Some(block) = public.next_if(|block| block.start <= at) {
                at = at.max(block.end);
            } else if CLASS[usize::from(*b)] & RUN != 0 {
                at = self.word(skip_escape(self.text, at), hits);
            } else if *b == b'['
                && let Some(end) = marks::mark_at(self.text, at)
            {
                // A text full of marks is read once more: they would be judged like keys.
                at = end;
            } else {
                if !b.is_ascii()
                    && let Some((from, to)) = self.assignments.foreign(self.text, at)
                {
                    self.password("assignment", from, to, hits);
                }
                if *b == b'%' && self.layers != Layers::Inner {
                    self.percent(at, hits);
                }
                at += 1;
            }
        }
        if !self.found.is_empty() && self.layers != Layers::Inner {
            beside::accounts(self.text, self.found, hits);
        }
        self.structures
    }

    /// Reads the run that starts at `start`; returns where to continue.
    fn word(&mut self, start: usize, hits: &mut Vec<Hit<'_>>) -> usize {
        let text = self.text;
        let mut at = start;
        let mut seen = 0;
        let mut inside = false;
        while let Some(b) = text.get(at) {
            let class = CLASS[usize::from(*b)];
            if class & RUN == 0 {
                break;
            }
            if class & ALNUM == 0 {
                inside = false;
            } else if !inside {
                inside = true;
                if vendors::may_start(text, at)
                    && let Some(token) = vendors::token_at(text, at)
                {
                    hits.push(Hit::new(token.rule, token.start, token.end));
                    self.found(token.start, token.end, true);
                    return token.end.max(at + 1);
                }
            }
            seen |= class;
            at += 1;
        }
        if at == start {
            return start + 1;
        }
        self.end_of_run(start, at, seen, hits)
    }

    /// Runs the detectors on the run `start..end`; returns where to continue.
    fn end_of_run(&mut self, start: usize, end: usize, seen: u8, hits: &mut Vec<Hit<'_>>) -> usize {
        self.assigned(start, end, hits)
            .or_else(|| self.called(start, end, hits))
            .or_else(|| self.by_context(start, end, hits))
            .or_else(|| {
                self.structured(start, end, hits);
                self.flag(start, end, hits)
            })
            .unwrap_or_else(|| self.standalone(start, end, seen, hits))
    }

    /// The value of a name.
    fn assigned(&mut self, start: usize, end: usize, hits: &mut Vec<Hit<'_>>) -> Option<usize> {
        let Some((from, to, key)) = self.assignments.value(self.text, start, end) else {
            let name = &self.text[start..end];
            (keys::may_end(name) || byte_arrays::is_name(name)).then_some(())?;
            if let Some((from, to)) = byte_arrays::key(self.text, start, end) {
                hits.push(Hit::new("assignment", from, to));
                return Some(to);
            }
            let read = blocks::find(self.text, start, end, self.block, hits)?;
            self.block = read.end;
            self.structures.push(read);
            return None;
        };
        if key == Key::Password {
            self.password("assignment", from, to, hits);
        } else {
            hits.push(Hit::new("assignment", from, to));
            self.found(from, to, true);
            if matches!(key, Key::Secret | Key::Token | Key::Weak)
                && let Some((first, last)) =
                    beside::id(self.text, (start, end), (from, to), self.secret)
            {
                hits.push(Hit::new(beside::ID, first, last));
            }
            self.secret = to;
        }
        let wrapped = blocks::continued(self.text, from, to);
        let last = wrapped.last().map_or(to, |(_, to)| *to);
        if last > to {
            self.structures.push(start..last);
        }
        hits.extend(wrapped.into_iter().map(|(from, to)| Hit::new("assignment", from, to)));
        Some(last.max(end))
    }

    /// A password passed to a function or a command.
    fn called(&mut self, start: usize, end: usize, hits: &mut Vec<Hit<'_>>) -> Option<usize> {
        let text = self.text;
        match text.get(end) {
            Some(b'(') => {
                let argument = calls::secret(text, start, end)
                    .map(|(from, to)| ("call-with-credentials", from, to));
                let (rule, from, to) = argument.or_else(|| {
                    expect_scripts::secret(text, start, end)
                        .map(|(from, to)| ("command-line", from, to))
                })?;
                self.password(rule, from, to, hits);
                Some(to.max(end))
            }
            Some(b' ' | b'"' | b'\'') => {
                let (from, to) = commands::secret(text, start, end)
                    .or_else(|| expect_scripts::secret(text, start, end))
                    .or_else(|| calls::secret(text, start, end))
                    .or_else(|| settings::chap_secret(text, start, end))?;
                self.password("command-line", from, to, hits);
                Some(end)
            }
            Some(_) | None => None,
        }
    }

    /// Formats that a word of known length introduces: `.pgpass`, SQL rows, Kubernetes Secrets.
    fn structured(&mut self, start: usize, end: usize, hits: &mut Vec<Hit<'_>>) {
        let text = self.text;
        match end - start {
            4 => {
                if matches!(&text[start..end], b"5432" | b"5433" | b"5434" | b"6432" | b"6543")
                    && let Some((from, to)) = urls::pgpass(text, end)
                {
                    hits.push(Hit::new(urls::RULE, from, to));
                }
            }
            6 => {
                let rows = sql_rows::secrets(text, start, end);
                if let Some((_, to)) = rows.last() {
                    self.structures.push(start.saturating_sub(sql_rows::LIST)..*to);
                }
                hits.extend(rows.into_iter().map(|(from, to)| Hit::new("assignment", from, to)));
                if let Some(read) = kubernetes::find(text, start, end, self.manifest, hits) {
                    self.manifest = read.end;
                    self.structures.push(read);
                }
            }
            _ => {}
        }
    }

    /// The password of a command-line flag, or after an address and a user.
    fn flag(&mut self, start: usize, end: usize, hits: &mut Vec<Hit<'_>>) -> Option<usize> {
        let (from, to) = if self.text[start] == b'-' {
            flags::secret(self.text, start, end)?
        } else {
            prose::at_machine(self.text, start, end)?
        };
        self.password("command-line", from, to, hits);
        Some(to.max(end))
    }

    /// A secret that needs no name: a known shape, an encoded text, a random string.
    fn standalone(&mut self, start: usize, end: usize, seen: u8, hits: &mut Vec<Hit<'_>>) -> usize {
        let text = self.text;
        if end - start < generic::LEAST {
            return self.short(start, end, seen, hits);
        }
        let (from, to) = trim(text, start, end);
        if to - from < generic::LEAST {
            return end;
        }
        if let Some((rule, from)) = shapes::shape(text, from, to, seen) {
            // The signature of a token may end in a dash.
            let dashes = bytes::run(text, to, end - to, |b| b == b'-');
            hits.push(Hit::new(rule, from, if rule == shapes::JWT { to + dashes } else { to }));
            self.found(from, to, true);
            if rule == pem::RULE {
                return self.lines_of_key(from, end, hits);
            }
            return end;
        }
        if self.layers != Layers::Inner
            && let Some(inner) = encoded::base64_text(&text[from..to])
            && holds_secret(&inner)
        {
            let to = to + bytes::run(text, to, 2, |b| b == b'=');
            hits.push(Hit::new("encoded", from, to));
            return to.max(end);
        }
        if self.layers == Layers::All
            && let Some((from, to)) = generic::secret(text, from, to, seen)
        {
            hits.push(Hit::new("random-string", from, to));
            self.found(from, to, false);
            return to.max(end);
        }
        if self.layers == Layers::All && services::is_invented(text, from, to) {
            hits.push(Hit::new("assignment", from, to));
            return end;
        }
        self.of_service(from, to, seen, hits).unwrap_or(end)
    }

    /// The other lines of a private key that has no header and begins at `start`; returns where they end.
    fn lines_of_key(&mut self, start: usize, end: usize, hits: &mut Vec<Hit<'_>>) -> usize {
        let lines = blocks::continued(self.text, start, end);
        let Some((_, last)) = lines.last().copied() else { return end };
        self.structures.push(start..last);
        hits.extend(lines.into_iter().map(|(from, to)| Hit::new(pem::RULE, from, to)));
        last.max(end)
    }

    /// A string too short to be judged by itself.
    fn short(&mut self, start: usize, end: usize, seen: u8, hits: &mut Vec<Hit<'_>>) -> usize {
        let mixed = seen & DIGIT != 0 && seen & (UPPER | LOWER) != 0;
        if end - start < services::SHORTEST || !mixed {
            return end;
        }
        let (from, to) = trim(self.text, start, end);
        self.of_service(from, to, seen, hits).unwrap_or(end)
    }

    /// The key of a service that is named before it.
    fn of_service(
        &mut self,
        from: usize,
        to: usize,
        seen: u8,
        hits: &mut Vec<Hit<'_>>,
    ) -> Option<usize> {
        (self.layers != Layers::Inner).then_some(())?;
        let named = || *self.named.get_or_init(|| services::are_named(self.text));
        let (from, to) = services::key(self.text, from, to, seen, named)?;
        hits.push(Hit::new(services::RULE, from, to));
        self.found(from, to, true);
        Some(to)
    }

    /// A secret that the words or lines around a trigger word reveal; returns where to continue.
    fn by_context(&mut self, start: usize, end: usize, hits: &mut Vec<Hit<'_>>) -> Option<usize> {
        let text = self.text;
        may_trigger(text, start, end).then_some(())?;
        if let Some(table) = tables::secrets(text, start, end, self.table) {
            self.table = table.end;
            self.structures.push(start..table.end);
            let secrets = table.secrets.into_iter();
            hits.extend(secrets.map(|(from, to)| Hit::new("assignment", from, to)));
        }
        let sentence = prose::pair(text, start, end)
            .or_else(|| prose::before(text, start, end))
            .or_else(|| prose::wallet(text, start, end))
            .map(|(from, to)| ("assignment", from, to));
        let (rule, from, to) = sentence.or_else(|| {
            flags::user_password(text, start, end).map(|(from, to)| ("command-line", from, to))
        })?;
        self.password(rule, from, to, hits);
        Some(to.max(end))
    }

    /// Adds a password and the user name beside it.
    fn password(&mut self, rule: &'static str, from: usize, to: usize, hits: &mut Vec<Hit<'_>>) {
        hits.push(Hit::new(rule, from, to));
        self.found(from, to, true);
        beside::again(self.text, from, to, hits);
        if let Some((start, end)) = usernames::beside(self.text, from, to, self.password) {
            hits.push(Hit::new(usernames::RULE, start, end));
        }
        self.password = to;
    }

    fn found(&mut self, start: usize, end: usize, sure: bool) {
        self.found.push(Found { start, end, sure });
    }

    fn percent(&mut self, at: usize, hits: &mut Vec<Hit<'_>>) {
        if at < self.percent {
            return;
        }
        let text = self.text;
        let start =
            at - bytes::run_back(text, at, at - self.percent.min(at), encoded::percent_byte);
        let end = at + bytes::run(text, at, usize::MAX, encoded::percent_byte);
        self.percent = end;
        if end - start >= 12
            && let Some(inner) = encoded::percent_text(&text[start..end])
            && holds_secret(&inner)
        {
            hits.push(Hit::new("encoded", start, end));
        }
    }
}

fn holds_secret(text: &str) -> bool {
    let mut hits = Vec::new();
    let _ = Scan::new(text, Layers::Inner).run(&mut hits);
    !hits.is_empty()
}

/// Words that may introduce credentials.
#[rustfmt::skip]
const TRIGGERS: &[&str] = &[
    "login", "logins", "creds", "credential", "credentials", "with", "mnemonic", "phrase", "passwords", "basic",
    "seed", "words", "tokens", "apikeys", "api_keys", "pw",
    "userpwd", "password", "passwd", "passphrase", "passcode", "pwd", "pass", "passwort", "securestring",
    "secret",
];

static TRIGGER_ENDINGS: Letters = Letters::new(&[TRIGGERS], Side::End);

/// Whether a word may be a trigger: cheap, and false for nearly every word.
#[inline]
fn may_trigger(text: &[u8], start: usize, end: usize) -> bool {
    match text[start..end] {
        [.., c, a, b] => TRIGGER_ENDINGS.has(a, b, c),
        _ => false,
    }
}

/// Skips an escape sequence, so that the token in `\nghp_…` is found.
fn skip_escape(text: &[u8], at: usize) -> usize {
    let hex = |from: usize, len: usize| {
        text.get(from..from + len).is_some_and(|s| s.iter().all(|b| bytes::is(*b, bytes::HEX)))
    };
    match (at.checked_sub(1).map(|i| text[i]), text[at]) {
        (Some(b'[' | b';'), b'0'..=b'9' | b'm') => after_color(text, at).unwrap_or(at),
        (Some(b'\\'), b'n' | b'r' | b't') => at + 1,
        (Some(b'\\'), b'x') if hex(at + 1, 2) => at + 3,
        (Some(b'\\'), b'u') if hex(at + 1, 4) => at + 5,
        (Some(b'%'), _) if hex(at, 2) => at + 2,
        _ => at,
    }
}

/// The end of a sequence that colors a terminal, whose last number begins at `at`: `ESC[1;93m`.
fn after_color(text: &[u8], at: usize) -> Option<usize> {
    const ESCAPES: [&[u8]; 5] = [b"\x1b[", b"\\x1b[", b"\\u001b[", b"\\033[", b"\\e["];
    let digits = bytes::run(text, at, 3, |b| b.is_ascii_digit());
    (text.get(at + digits) == Some(&b'm')).then_some(())?;
    let before = bytes::run_back(text, at, 12, |b| b.is_ascii_digit() || b == b';');
    let head = &text[..at - before];
    ESCAPES.iter().any(|escape| head.ends_with(escape)).then_some(at + digits + 1)
}

/// The run without leading and trailing dots and dashes.
fn trim(text: &[u8], start: usize, end: usize) -> (usize, usize) {
    let noise = |b: u8| matches!(b, b'.' | b'-');
    let from = start + bytes::run(text, start, end - start, noise);
    let to = end - bytes::run_back(text, end, end - from.min(end), noise);
    (from, to.max(from))
}
