//! Texts of every kind read back unchanged, and are never executed.

use handover_model::{Phase, ReceiptId};
use serde_json::json;

use super::Backend;
use super::fixture::*;
use crate::{
    ErrorFilter, EventFilter, GroupUpdate, PackageFilter, ReasoningFilter, ReceiptStep,
    StrategyFilter,
};

/// Quotes, wildcards, escapes, NUL, directions, surrogate pairs, combining marks, a private character that one
/// backend escapes, line endings.
const TEXTS: [&str; 12] = [
    "",
    "'; DROP TABLE session; --",
    "\"quoted\" \\'escaped\\' $1 ?1 :name @p",
    "100% _of_ [them]* ?",
    "before\0after\0",
    "\u{10FFFD}0\u{10FFFD}1\u{10FFFD}",
    "invoice\u{202e}fdp.exe\u{2066}x\u{2069}",
    "👩‍👩‍👧 e\u{301} ñ ﷽ 𝕏",
    "one\r\ntwo\rthree\n\n\tfour",
    "\u{feff}mark\u{200b}ed\u{fffe}\u{ffff}",
    "{\"json\": [1, 2]} <b>&amp;</b>",
    "E'\\\\x00' || chr(0) \\x41",
];

/// In every text column that agents fill.
pub fn texts_read_back_unchanged(backend: &dyn Backend) {
    for (n, text) in TEXTS.into_iter().enumerate() {
        let store = backend.open();
        let session = session(&*store, &format!("s{n}"));
        let time = i64::try_from(n).unwrap();
        let mut new = package(&session, "docs/ä b%27.md", text);
        new.summary = clean(text);
        new.title = Some(clean(text));
        new.files = vec![clean(text), clean("plain")];
        let id = register(&*store, new).id;
        let kept = store.package(id).unwrap();
        assert_eq!((kept.summary.as_str(), kept.title.as_deref()), (text, Some(text)));
        assert_eq!(kept.files, [text, "plain"]);
        assert_eq!(store.package_body(id).unwrap(), text);

        store.add_reasoning(&reasoning(&session, Phase::Risks, text)).unwrap();
        let thoughts = store.reasoning(&session, &ReasoningFilter::default()).unwrap();
        assert_eq!(thoughts[0].content, text);

        let update = GroupUpdate {
            title: Some(clean(text)),
            ..GroupUpdate::new(session.clone(), group_id("g"), at(time))
        };
        assert_eq!(store.set_group(&update).unwrap().title.as_deref(), Some(text));
        assert_eq!(store.groups(&session).unwrap()[0].title.as_deref(), Some(text));

        let mut logged = event(&session, "verdict", None);
        logged.payload = clean_json(json!({"text": text, text: [text]}));
        store.log_event(&logged).unwrap();
        let events = store.events(&session, &EventFilter::default()).unwrap();
        assert_eq!(events[0].payload, json!({"text": text, text: [text]}), "{text:?}");

        let id = ReceiptId::new(format!("r{n}")).unwrap();
        let mut new = receipt(&session, id.as_str(), &[]);
        new.text = Some(clean(text));
        store.put_receipt(&new).unwrap();
        let failed = ReceiptStep::Failed { reason: clean(text) };
        let kept = store.advance_receipt(&id, &failed, at(time)).unwrap();
        assert_eq!((kept.text.as_deref(), kept.failure.as_deref()), (Some(text), Some(text)));
    }
}

/// In learned records, and where texts are compared: similar texts stay distinct.
pub fn similar_texts_stay_distinct(backend: &dyn Backend) {
    let store = backend.open();
    let session = session(&*store, "s1");
    for text in TEXTS.into_iter().filter(|text| !text.trim().is_empty()) {
        store.resolve_error(&sighting(text), &clean(text)).unwrap();
        store.add_reasoning(&reasoning(&session, Phase::Decisions, text)).unwrap();
    }
    let solutions: Vec<String> = store
        .errors(&project(), &ErrorFilter::default())
        .unwrap()
        .into_iter()
        .filter_map(|pattern| pattern.solution)
        .collect();
    for text in TEXTS.into_iter().filter(|text| !text.trim().is_empty()) {
        assert!(solutions.iter().any(|solution| solution == text), "{text:?}");
    }
    // Names are compared byte by byte: differences in case or composition keep them distinct.
    for path in ["a.md", "A.md", "\u{e9}.md", "e\u{301}.md", "a.md ", "a\u{0}.md"] {
        assert!(
            store.register_packages(&[package(&session, path, "x")]).unwrap()[0].created,
            "{path:?}"
        );
    }
    let paths: Vec<String> = store
        .packages(&session, &PackageFilter::default())
        .unwrap()
        .into_iter()
        .map(|package| package.path)
        .collect();
    assert_eq!(paths.len(), 6, "{paths:?}");
    assert!(paths.contains(&"a\u{0}.md".to_owned()));
    assert!(store.strategies(&project(), &StrategyFilter::default()).unwrap().is_empty());
}

/// Megabytes of text, thousands of files, and a deep document.
pub fn may_be_large(backend: &dyn Backend) {
    let store = backend.open();
    let session = session(&*store, "s1");
    let body = "Tokens rotate — always. \u{1F512}\n".repeat(80_000);
    let mut new = package(&session, &format!("{}.md", "deep/".repeat(400)), &body);
    new.files = (0..2_000).map(|n| clean(&format!("src/file_{n}.rs"))).collect();
    new.size_bytes = u64::MAX;
    new.tokens = 1 << 40;
    let id = register(&*store, new).id;
    let kept = store.package(id).unwrap();
    assert_eq!((kept.files.len(), kept.tokens), (2_000, 1 << 40));
    // Sizes beyond what a column can hold are capped, not wrapped.
    assert_eq!(kept.size_bytes, u64::try_from(i64::MAX).unwrap());
    assert_eq!(store.package_body(id).unwrap(), body);
    let mut deep = json!({"leaf": "x".repeat(100_000)});
    for _ in 0..60 {
        deep = json!([deep]);
    }
    let mut logged = event(&session, "verdict", None);
    logged.payload = clean_json(deep.clone());
    store.log_event(&logged).unwrap();
    assert_eq!(store.events(&session, &EventFilter::default()).unwrap()[0].payload, deep);
}
