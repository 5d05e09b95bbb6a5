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

#[cfg(test)]
mod tests {
    use super::super::tests::check;

    #[test]
    fn reads_environment_and_dependencies() {
        let text = "environment:\n  sdk: '>=3.3.0 <4.0.0'\n  flutter: 3.19\ndependencies:\n  flutter:\n    sdk: flutter\n  \
                    drift: ^2.16.0\n  web_socket_channel: 2\ndev_dependencies:\n  mockito: ^5.4.4\n  lints: 3\n";
        check(
            "pubspec.yaml",
            text,
            &[
                "dart >=3.3.0 <4.0.0 (environment.sdk)",
                "flutter 3.19 (environment.flutter)",
                "flutter (dependencies.flutter)",
                "sqlite (dependencies.drift)",
                "websocket (dependencies.web_socket_channel)",
                "mockito (dev_dependencies.mockito)",
            ],
        );
        check("pubspec.yaml", "name: x\n", &["dart (pubspec.yaml)"]);
    }
}
