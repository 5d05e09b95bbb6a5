//! Fuzz targets on the stable toolchain. `cargo test` runs each for a moment with random inputs;
//! `cargo bolero test -p handover-text fuzz::redaction --test it` lets an engine search for hours.

use handover_text::Redactor;

#[test]
fn redaction() {
    let redactor = Redactor::default();
    bolero::check!().for_each(|input: &[u8]| {
        let text = String::from_utf8_lossy(input);
        let clean = redactor.clean(&text);
        let again = redactor.clean(clean.as_str());
        assert_eq!(again.as_str(), clean.as_str());
        let mut end = 0;
        for finding in redactor.find(&text) {
            assert!(finding.start >= end && finding.end > finding.start);
            assert!(text.get(finding.start..finding.end).is_some());
            end = finding.end;
        }
    });
}
