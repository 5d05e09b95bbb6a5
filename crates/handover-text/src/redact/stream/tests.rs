//! A stream hides what the whole text would have hidden, wherever its pieces end.

use proptest::prelude::*;

use super::*;

const BODY: &str = "MIIEpQIBAAKCAQEAn6ycIHB5dGhvbiBpcyBmdW4gYnV0IHRoaXMgaXMgbm90IGEg";

/// What appears in logs: secrets of several lines, what they resemble, and everything else.
fn part() -> impl Strategy<Value = String> {
    let body = |lines: usize| format!("{BODY}\n").repeat(lines);
    let fixed = [
        format!("-----BEGIN RSA PRIVATE KEY-----\n{}-----END RSA PRIVATE KEY-----\n", body(24)),
        format!("-----BEGIN OPENSSH PRIVATE KEY-----\n{}", body(3)),
        format!("{}-----END EC PRIVATE KEY-----\n", body(4)),
        format!("-----BEGIN CERTIFICATE-----\n{}-----END CERTIFICATE-----\n", body(20)),
        format!("PuTTY-User-Key-File-3: ssh-rsa\nPrivate-Lines: 14\n{}Private-MAC: 01\n", body(14)),
        "apiVersion: v1\ndata:\n  a: c2VzYW1l\n  b: dGlnZXI=\nkind: Secret\nmetadata:\n  name: x\n---\n".to_owned(),
        "kind: Secret\nstringData:\n  a: sesame street\n  long: |\n    one line\n    two lines\n".to_owned(),
        "apiVersion: v1\ndata:\n  a: europe\nkind: ConfigMap\n---\n".to_owned(),
        "{\n  \"data\": {\n    \"a\": \"c2VzYW1l\"\n  },\n  \"kind\": \"Secret\"\n}\n".to_owned(),
        "{\"out\":\"kind: Secret\\ndata:\\n  a: c2VzYW1l\\n\",\"n\":1}\n".to_owned(),
        format!("api_secret: |\n  {BODY}\n  {BODY}\n  Zk8vXq2L\nnext: 1\n"),
        format!("client_secret = \"{BODY}\" +\n  \"{BODY}\" +\n  \"Zk8vXq2LmN5p\"\n"),
        "DB_PASSWORD=$(cat <<EOF\nsesame9\nEOF\n)\n".to_owned(),
        "| user | password |\n|---|---|\n| ann | Vokb54#2C4f |\n| bob | dagger8382 |\n\n".to_owned(),
        "INSERT INTO users (name, password) VALUES\n ('ann', '!shadow91'),\n ('bob', 'tiger!22');\n".to_owned(),
        "user: ann\nhost: db\npassword: sesame\n".to_owned(),
        "SHOP_CLIENT_ID=ac58d6da7d7a84c039b7\nSHOP_SECRET=37d02377a3e9d849e18704c57a2ad2f2\n".to_owned(),
        "host: shop.okta.com\nregion: eu\n".to_owned(),
        "mongodb+srv://ann:sesame9@shop.mongodb.net/db\n".to_owned(),
        "root/Vokb54#2C4f, root password: Vokb54#2C4f\n".to_owned(),
        "password: \"password\"\ntoken=aaaaaaaaaaaaaaaaaaaaaaaa\n".to_owned(),
        "access token\n\n3f2a9c7e1b4d8f6a3c5e7b9d1f2a4c6e\n".to_owned(),
        "begins with '-----BEGIN RSA PRIVATE KEY-----' and ends with '-----END RSA PRIVATE KEY-----'.\n".to_owned(),
        "data:\nand then some words\n".to_owned(),
        "the password is hunter2 for now, caf\u{e9} \u{1f980}\n".to_owned(),
        body(2),
        "\n".to_owned(),
    ];
    let filler = (1_usize..40, "[a-z ]{0,60}")
        .prop_map(|(lines, text)| format!("2026-11-16 10:00:00 INFO {text} done\n").repeat(lines));
    prop_oneof![3 => proptest::sample::select(fixed.to_vec()), 2 => filler]
}

fn streams() -> impl Strategy<Value = String> {
    proptest::collection::vec(part(), 1..14).prop_map(|parts| parts.concat())
}

fn limits(step: usize, most: usize) -> Limits {
    Limits { step, most, ..LIMITS }
}

/// The stream in pieces of these lengths, again and again; a zero settles what came before.
fn streamed(mut stream: RedactionStream, text: &[u8], lengths: &[usize]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut rest = text;
    let mut lengths = lengths.iter().cycle();
    while !rest.is_empty() {
        match *lengths.next().unwrap() {
            0 => out.extend(stream.settle()),
            length => {
                let (piece, later) = rest.split_at(length.min(rest.len()));
                out.extend(stream.push(piece));
                rest = later;
            }
        }
    }
    out.extend(stream.finish());
    out
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn any_pieces_give_what_the_whole_gives(
        text in streams(), step in 64_usize..4096, lengths in prop::collection::vec(1_usize..3000, 1..6)
    ) {
        let redactor = Redactor::default();
        let whole = redactor.redact_bytes(text.as_bytes());
        let stream = RedactionStream::with_limits(redactor, limits(step, LIMITS.most));
        let pieces = streamed(stream, text.as_bytes(), &lengths);
        prop_assert_eq!(String::from_utf8_lossy(&pieces), String::from_utf8_lossy(&whole));
    }

    #[test]
    fn settling_changes_nothing(
        text in streams(), lengths in prop::collection::vec(prop_oneof![Just(0), 200_usize..4000], 1..6)
    ) {
        let lengths = [lengths, vec![512]].concat();
        let redactor = Redactor::default();
        let whole = redactor.redact_bytes(text.as_bytes());
        let pieces = streamed(RedactionStream::new(redactor), text.as_bytes(), &lengths);
        prop_assert_eq!(String::from_utf8_lossy(&pieces), String::from_utf8_lossy(&whole));
    }

    /// Also where the window is too small for the secrets: what is released depends on the text alone.
    #[test]
    fn small_windows_give_the_same_for_any_pieces(
        text in streams(), lengths in prop::collection::vec(1_usize..700, 1..6)
    ) {
        let limits = Limits { step: 64, ahead: 128, behind: 128, most: 512 };
        let stream = || RedactionStream::with_limits(Redactor::default(), limits);
        let once = streamed(stream(), text.as_bytes(), &[usize::MAX]);
        let pieces = streamed(stream(), text.as_bytes(), &lengths);
        prop_assert_eq!(String::from_utf8_lossy(&pieces), String::from_utf8_lossy(&once));
    }

    #[test]
    fn bytes_without_secrets_pass_unchanged(
        bytes in prop::collection::vec(prop_oneof![0_u8..32, 128_u8..=255], 0..300),
        lengths in prop::collection::vec(1_usize..40, 1..4)
    ) {
        let limits = Limits { step: 8, ahead: 8, behind: 8, most: 32 };
        let stream = RedactionStream::with_limits(Redactor::default(), limits);
        prop_assert_eq!(streamed(stream, &bytes, &lengths), bytes);
    }
}

#[test]
fn a_character_may_be_split() {
    let text = "password: sesame9 \u{1f980} caf\u{e9}\n".repeat(300);
    let stream = RedactionStream::new(Redactor::default());
    let out = streamed(stream, text.as_bytes(), &[1]);
    assert_eq!(String::from_utf8(out).unwrap(), text.replace("sesame9", "[REDACTED-1]"));
}

#[test]
fn invalid_bytes_are_kept() {
    let text = [&b"\xff\xfe\xc3 password=sesame9 \xe2\x82\n"[..]; 400].concat();
    let stream = RedactionStream::new(Redactor::default());
    let expected = Redactor::default().redact_bytes(&text);
    assert_eq!(streamed(stream, &text, &[7, 1000]), expected);
}

#[test]
fn ordinary_lines_are_released_at_once() {
    let mut stream = RedactionStream::new(Redactor::default());
    let line = "2026-11-16 10:00:00 INFO nothing to see\n";
    let mut released = 0;
    for sent in 1..1000 {
        released += stream.push(line.as_bytes()).len();
        assert!(sent * line.len() - released <= LIMITS.step + 2 * LIMITS.ahead, "line {sent}");
    }
    released += stream.settle().len();
    assert!(999 * line.len() - released <= LIMITS.ahead + line.len());
}

#[test]
fn a_key_is_held_until_its_end() {
    let mut stream = RedactionStream::new(Redactor::default());
    let mut out = stream.push(b"before\n-----BEGIN RSA PRIVATE KEY-----\n");
    for _ in 0..200 {
        out.extend(stream.push(format!("{BODY}\n").as_bytes()));
        out.extend(stream.settle());
    }
    assert_eq!(String::from_utf8_lossy(&out), "before\n");
    out.extend(stream.push(b"-----END RSA PRIVATE KEY-----\nafter\n"));
    out.extend(stream.finish());
    assert_eq!(String::from_utf8_lossy(&out), "before\n[REDACTED-1]\nafter\n");
}

#[test]
fn a_secret_longer_than_the_window_is_hidden_whole() {
    let limits = Limits { step: 512, ahead: 256, behind: 256, most: 4096 };
    let lines: String = (0..2000)
        .map(|n| format!("{:08x}{}\n", n * 2_654_435_761_u64 % 4_294_967_296, &BODY[8..]))
        .collect();
    let key = format!(
        "before\n-----BEGIN RSA PRIVATE KEY-----\n{lines}-----END RSA PRIVATE KEY-----\nafter\n"
    );
    let mut stream = RedactionStream::with_limits(Redactor::default(), limits);
    let mut out = Vec::new();
    for piece in key.as_bytes().chunks(1000) {
        out.extend(stream.push(piece));
        assert!(stream.window.len() <= 2 * limits.most, "{}", stream.window.len());
    }
    out.extend(stream.finish());
    let out = String::from_utf8(out).unwrap();
    assert_eq!(out.matches(&BODY[8..]).count(), 0, "{} bytes stay", out.len());
    assert_eq!(out, "before\n[REDACTED-1]\nafter\n");
}

#[test]
fn a_line_longer_than_the_window_is_cut_between_words() {
    let limits = Limits { step: 512, ahead: 256, behind: 256, most: 4096 };
    let text = "some words password=hunter2x! and more of them ".repeat(2000);
    let mut stream = RedactionStream::with_limits(Redactor::default(), limits);
    let mut out = Vec::new();
    for piece in text.as_bytes().chunks(777) {
        out.extend(stream.push(piece));
        assert!(stream.window.len() <= 2 * limits.most, "{}", stream.window.len());
    }
    out.extend(stream.finish());
    assert_eq!(String::from_utf8(out).unwrap(), text.replace("hunter2x!", "[REDACTED-1]"));
}

#[test]
fn numbers_are_those_of_the_whole_stream() {
    let text = format!(
        "password=hunter2x!\n{}password=hunter2x!\npassword=other3x!\n",
        "words\n".repeat(9000)
    );
    let out = streamed(RedactionStream::new(Redactor::default()), text.as_bytes(), &[100]);
    let out = String::from_utf8(out).unwrap();
    assert!(out.starts_with("password=[REDACTED-1]\n"));
    assert!(out.ends_with("password=[REDACTED-1]\npassword=[REDACTED-2]\n"), "{out}");
}

#[test]
fn without_redaction_everything_passes_at_once() {
    let config =
        handover_model::config::RedactionConfig { mode: RedactionMode::Off, ..Default::default() };
    let mut stream = RedactionStream::new(Redactor::new(&config).unwrap());
    assert_eq!(stream.push(b"password=hunter2"), b"password=hunter2");
    assert_eq!(stream.finish(), b"");
}

#[test]
fn the_work_grows_with_the_stream() {
    for unit in [
        "-----BEGIN RSA PRIVATE KEY-----\n",
        "data:\n",
        "data:\n  a: b\n",
        BODY,
        "x y\n",
        "password=sesame9 ",
    ] {
        let examined = |size: usize| {
            let limits = Limits { step: 1024, ahead: 256, behind: 1024, most: 16384 };
            let mut stream = RedactionStream::with_limits(Redactor::default(), limits);
            for piece in unit.repeat(size / unit.len()).as_bytes().chunks(333) {
                stream.push(piece);
            }
            stream.examined
        };
        let (once, twice) = (examined(100_000), examined(200_000));
        assert!(once <= 600_000, "{unit:?}: {once}");
        assert!(twice <= once * 5 / 2, "{unit:?}: {once} {twice}");
    }
}
