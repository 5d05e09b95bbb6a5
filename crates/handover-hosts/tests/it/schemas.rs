//! The committed JSON Schemas are those of the types.

use std::path::Path;

/// `HANDOVER_RECORD=1` renews them.
#[test]
fn schema_files_are_up_to_date() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("schemas");
    let renew = std::env::var_os("HANDOVER_RECORD").is_some();
    let mut expected = Vec::new();
    for (name, schema) in handover_hosts::Registry::built_in().schemas() {
        let path = folder.join(format!("{name}.json"));
        let text = format!("{}\n", serde_json::to_string_pretty(&schema).unwrap());
        if renew {
            fs_err::write(&path, &text).unwrap();
        }
        let found = fs_err::read_to_string(&path).unwrap_or_default();
        assert_eq!(found, text, "{name}: HANDOVER_RECORD=1 renews the schemas");
        expected.push(path);
    }
    for entry in fs_err::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        assert!(expected.contains(&path), "{} belongs to no type", path.display());
    }
}
