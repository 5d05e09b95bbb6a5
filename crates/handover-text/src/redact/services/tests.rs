//! Every row against a key made from its own shape.

use super::*;
use crate::Redactor;

/// A key of this shape: digits and letters that form no words.
fn made(shape: &str) -> String {
    let (class, len) = shape.split_at(1);
    let len: usize = len.split(',').next().unwrap().parse().unwrap();
    if class == "U" {
        return "3f2a9c7e-1b4d-8f6a-3c5e-7b9d1f2a4c6e".to_owned();
    }
    let unit = match class {
        "h" | "H" => "3f9a7c2e1b4d8f6a0c5e7b9d2f1a4c6e83d7",
        "d" => "973474133719390512671025",
        "A" => "9TK2MQ7VLP4RZX8CWN3BYH6JF5GD1S",
        "a" => "9tk2mq7vlp4rzx8cwn3byh6jf5gd1s",
        _ => "9tK2mQ7vLp4RzX8cWn3bYh6JfG5dS1x",
    };
    unit.chars().cycle().take(len).collect()
}

fn hides(text: &str, key: &str) -> bool {
    !Redactor::default().clean(text).as_str().contains(key)
}

#[test]
fn keys_given_to_a_service_are_found() {
    let mut missed = Vec::new();
    for service in TABLES.iter().copied().flatten() {
        for shape in service.shapes {
            let key = made(shape);
            for text in [
                format!("{} = '{key}'", service.name),
                format!("{}_api: \"{key}\"", service.name),
                format!("const {}Client = connect('{key}')", service.name),
                format!("{}={key}", service.name.to_uppercase()),
            ] {
                // A call in between gives the key to something else.
                if text.contains("connect")
                    && (service.meaning == Meaning::Word || key.len() < SURE)
                {
                    continue;
                }
                if !hides(&text, &key) {
                    missed.push(text);
                }
            }
        }
    }
    assert!(missed.is_empty(), "{missed:#?}");
}

#[test]
fn other_shapes_beside_a_service_stay() {
    for service in TABLES.iter().copied().flatten() {
        for text in [
            format!("{} is used for all requests of version2 and later", service.name),
            format!("{} = 'service-{}'", service.name, service.name),
            format!("see https://{}.example.org/docs/v2/index.html", service.name),
            format!(
                "{}: sha256 9062e866918dc4c9701c98ac99f7f4fa9e4b3b4edce306e147393bc75458c4fc",
                service.name
            ),
            format!("commit 3d3c42e5aac5ba805825da76410c181273ba90b1 updates {}", service.name),
        ] {
            assert_eq!(Redactor::default().clean(&text).as_str(), text);
        }
    }
}

#[test]
fn rows_are_sorted_and_well_formed() {
    assert!(NAMES.is_sorted() && NAMES.windows(2).all(|pair| pair[0] != pair[1]));
    let count = TABLES.iter().copied().flatten().count();
    assert!(count >= 500, "{count} services");
    for service in TABLES.iter().copied().flatten() {
        assert!(service.name.len() >= 3, "{}", service.name);
        for shape in service.shapes {
            // Short strings beside a word are mostly something else.
            let long = service.meaning == Meaning::Name || made(shape).len() >= SURE;
            assert!(long, "{} {shape}", service.name);
            assert!(has_shape(shape, made(shape).as_bytes()), "{} {shape}", service.name);
        }
    }
}

#[test]
fn shapes_have_exact_lengths() {
    for (shape, yes, no) in [
        ("h8", "0a1b2c3d", "0a1b2c3"),
        ("a4,6", "ab12c", "ab1"),
        ("a4", "ab12", "Ab12"),
        ("A4", "AB12", "Ab12"),
        ("b5", "a-B_1", "a.B_1"),
        ("U36", "3f2a9c7e-1b4d-8f6a-3c5e-7b9d1f2a4c6e", "3f2a9c7e11b4d18f6a13c5e17b9d1f2a4c6e"),
        ("U36", "zk8vxq2l-1b4d-8f6a-3c5e-7b9d1f2a4c6z", "3f2a9c7e-1b4d-8f6a-3c5e_7b9d1f2a4c6e"),
    ] {
        assert!(has_shape(shape, yes.as_bytes()), "{shape} {yes}");
        assert!(!has_shape(shape, no.as_bytes()), "{shape} {no}");
    }
    assert!(!has_shape("", b"") && !has_shape("a4,6", b"abcdefg"));
}

#[test]
fn a_string_is_given_to_a_name_by_operators() {
    for between in ["=", ": ", "_api_key = \"", "Client('", " token: '", ".key>", "\": \""] {
        assert!(is_given(between.as_bytes()), "{between}");
    }
    for between in ["", " ", " and then, ", " is used by the client = ", "; x = ", " "] {
        assert!(!is_given(between.as_bytes()), "{between}");
    }
}

#[test]
fn names_of_other_things_need_an_operator() {
    let key = made("w32");
    assert!(hides(&format!("accuweather for the forecast: see {key} there"), &key));
    let key = made("a32");
    for text in [
        "the guardian wrote about 3f9a7c2e1b4d8f6a0c5e7b9d2f1a4c6e yesterday".to_owned(),
        format!("a box of {}", &key[..8]),
    ] {
        assert_eq!(Redactor::default().clean(&text).as_str(), text);
    }
}

#[test]
fn keys_joined_to_the_name_are_found() {
    let (hex, uuid) = ("3f9a7c2e1b4d8f6a0c5e7b9d2f1a4c6e", "3f2a9c7e-1b4d-8f6a-3c5e-7b9d1f2a4c6e");
    for (before, key) in [
        ("datadog-apikey-", hex),
        ("datadog_secret_key.", hex),
        ("zipcodebase-SECRET-", uuid),
        ("nftport-private-key-", uuid),
        ("nobody-knows-it-secret-", hex),
        ("ab-apikey-", hex),
    ] {
        assert!(hides(&format!("{before}{key}"), key), "{before}");
    }
    // An invented key needs no word for one after a name that means nothing else.
    for (before, key) in [
        ("fastforex-", "abcd1234efgh5678ijkl9012mnop"),
        ("screenshotapi KEY-", "ABC1234-GHI5678-JKL9012-MNO3456"),
        ("infuraKEYofTheShop-", "abcdef1234567890abcdef1234567890"),
        ("<secret>{abuseipdb ", &made("a80")),
    ] {
        assert!(hides(&format!("{before}{key}}}"), key), "{before}");
    }
    for (before, key) in [("datadog-agent-", hex), ("zipcodebase-id-", uuid), ("cache-key-", hex)] {
        assert!(!hides(&format!("{before}{key}"), key), "{before}");
    }
}

#[test]
fn examples_that_count_are_found_beside_a_service() {
    let key = "abcdef0123456789abcdef0123456789";
    assert!(hides(&format!("mediastack_key={key}"), key));
    assert!(hides(&format!("mediastack token {key}"), key));
    assert!(hides(&format!("box ACCESS_KEY {key}"), key));
    let letters = "abcdefghijklmnopqrstuvwxyz012345";
    assert!(hides(&format!("mediastack: {letters}"), letters));
    assert!(hides(&format!("mediastack and {letters}"), letters));
    // A word of its own says nothing about what follows.
    assert!(!hides(&format!("box and {letters}"), letters));
    assert!(!hides("mediastack_key=the_name_of_the_key_of_mediastack", "the_name_of"));
}
