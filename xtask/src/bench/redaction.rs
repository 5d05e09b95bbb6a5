//! `cargo xtask bench redaction`: hostile texts, which must cost little and grow with their length only.
//!
//! Each text repeats a few words that detectors react to. Fails if one of them takes longer than the limit, or
//! much more than four times as long for four times the text.

use std::time::Instant;

use handover_text::Redactor;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The most processor time for a megabyte, in seconds
    #[arg(long, default_value_t = 0.3)]
    limit: f64,

    /// How many combinations of words besides each word alone
    #[arg(long, default_value_t = 400)]
    combinations: usize,

    /// How many of the slowest texts to list
    #[arg(long, default_value_t = 10)]
    show: usize,
}

/// What detectors react to: names, operators, beginnings of tokens and structures, separators.
#[rustfmt::skip]
const WORDS: &[&str] = &[
    "password=", "pwd=", "key ", "key: {", "token: ", "secret-", "net use ", "curl -u a:", "mysql -p", "-p ",
    "--password ", "echo ", "IDENTIFIED BY ", "identified with x as ", "Bearer ", "Authorization: Basic ",
    "password: \"", "password: &quot;", "password,", "password(", "setenv(", "define('password', '", "ghp_", "sk-",
    "hf_", "AKIA", "eyJ", "eyJhbGciOiJIUzI1NiJ9.", "MIIEpAIBAAKCAQEA", "-----BEGIN ", "-----BEGIN RSA PRIVATE KEY-----\n",
    "-----END ", "Private-Lines: ", "kind: Secret\n", "data:\n  a: b\n", "password: |\n  a\n", "<<EOF\n", "machine ",
    "machine a login b password c\n", "localhost:5432:a:b:c\n", "INSERT INTO users (password) VALUES ('a'),", "values (",
    "seed phrase ", "abandon ", "with ", "login ", "datadog-key-", "datadog ", "box ", "stripe_key stripe ", "a1b2c3d4",
    "abcdefghijklmnopqrstuvwxyz", "0123456789", "ffffffffffffffffffffffffffffffffffffffff ", "QUJDREVGR0hJSktMTU4=\n",
    "550e8400-e29b-41d4-a716-446655440000", "0x1f, ", "[1, 2, ", "https://a:b@", "://", "user:pass@", "%41", "%", "\\n",
    "\x1b[1;93m", "[1;", "&quot;", "${", "{{", "%(", "'", "\"", "`", "=", "/", "+", "-", ".", "_", "|", " ", "\n", "\r\n",
    "\t", "a", "1", "\u{e9}", "密码:", "пароль ", "Cookie: a=b; ", "SHOP_SECRET=a1b2c3d4 ",
    "SHOP_ID=a1b2c3 ", "shop.okta.com ", "AccountName=a;", "Server=a;", ";Password=abc;", "token=aaaaaaaaaaaaaaaaaaaa ",
    "password=Vokb54#2C4f ", "Vokb54#2C4f ", "SECRET aaaaaaaaaaaaaaaaaaaa ", "\"a1!b2\" == password ", "(]{",
    "jira: ", "jira 'https://x.corp.org' ", "adobe ID=678436 ", "{adobe a1b2c3}", "ann@corp.org ", "account_id=a1b2c3 ",
    "adobe_key=9tk2mq7vlp4rzx8cwn3byh6jf5gd1s0a ", "192.168.0.1 root/", "ID/PW a(", "getenv(\"A\", \"", "\u{201c}",
    "api_tokens = [\"", "token - '", ", CURLOPT_PASSWORD, \"", "1527194624358273|", "ABCDE-",
];

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let redactor = Redactor::default();
    let mut rows: Vec<(f64, f64, String)> = texts(args.combinations)
        .map(|piece| {
            let (one, four) =
                (cost(&redactor, &piece, 250_000), cost(&redactor, &piece, 1_000_000));
            (four, four / one.max(1e-6), piece)
        })
        .collect();
    rows.sort_by(|a, b| b.0.total_cmp(&a.0));
    println!("{:>8}  {:>6}  repeated text", "s/MB", "×4 =");
    for (seconds, growth, piece) in rows.iter().take(args.show) {
        println!("{seconds:>8.3}  {growth:>6.1}  {piece:?}");
    }
    let slow = rows.iter().filter(|(seconds, ..)| *seconds > args.limit).count();
    // What takes no time at all is measured too roughly for a ratio.
    let steep = rows.iter().filter(|(seconds, growth, _)| *seconds > 0.05 && *growth > 8.0).count();
    println!("{} texts, {slow} above {} s/MB, {steep} not linear", rows.len(), args.limit);
    anyhow::ensure!(slow == 0 && steep == 0, "redaction is too slow for hostile texts");
    Ok(())
}

fn texts(combinations: usize) -> impl Iterator<Item = String> {
    let mut state = 5_u64;
    let mut word = move || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        WORDS[(state >> 33) as usize % WORDS.len()]
    };
    let alone = WORDS.iter().map(|word| (*word).to_owned());
    alone.chain((0..combinations).map(move |n| (0..2 + n % 3).map(|_| word()).collect()))
}

/// The seconds that a text of this length takes: the better of two runs.
fn cost(redactor: &Redactor, piece: &str, bytes: usize) -> f64 {
    let text = piece.repeat(bytes / piece.len() + 1);
    let once = || {
        let begin = Clock::now();
        let found = redactor.find(&text);
        let seconds = begin.seconds();
        drop(found);
        seconds
    };
    once().min(once())
}

/// Processor time of this thread where the system tells, so that a busy machine changes nothing.
struct Clock {
    wall: Instant,
    processor: Option<u64>,
}

impl Clock {
    fn now() -> Self {
        Self { wall: Instant::now(), processor: nanoseconds() }
    }

    fn seconds(&self) -> f64 {
        match (self.processor, nanoseconds()) {
            (Some(from), Some(to)) => to.saturating_sub(from) as f64 / 1e9,
            _ => self.wall.elapsed().as_secs_f64(),
        }
    }
}

fn nanoseconds() -> Option<u64> {
    let stat = fs_err::read_to_string("/proc/thread-self/schedstat").ok()?;
    stat.split(' ').next()?.parse().ok()
}
