//! Dart and Flutter: `pubspec.yaml`.

use serde_json::Value;

use super::{Manifest, Table, Use, json_text};

#[rustfmt::skip]
pub(super) const PACKAGES: &Table = &[
    ("flutter", "flutter"), ("sqflite", "sqlite"), ("drift", "sqlite"), ("cloud_firestore", "firestore"), ("supabase_flutter", "supabase"),
    ("graphql_flutter", "graphql"), ("grpc", "grpc"), ("web_socket_channel", "websocket"), ("~mockito", "mockito"),
];

pub(super) fn pubspec(manifest: &mut Manifest<'_>) {
    let file = manifest.yaml();
    manifest.ecosystem("dart");
    let version = file.pointer("/environment/sdk").and_then(json_text);
    manifest.language("dart", "environment.sdk", version.as_deref());
    if let Some(version) = file.pointer("/environment/flutter").and_then(json_text) {
        manifest.uses("flutter", "environment.flutter", Some(&version));
    }
    for table in ["dependencies", "dev_dependencies"] {
        for (name, version) in file.get(table).and_then(Value::as_object).into_iter().flatten() {
            let version = json_text(version);
            manifest.dependency(
                PACKAGES,
                name,
                &format!("{table}."),
                version.as_deref(),
                Use::Used,
            );
        }
    }
}
