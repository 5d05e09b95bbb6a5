//! Rust: `Cargo.toml`.

use super::{Manifest, Table, Use, toml_version};

#[rustfmt::skip]
pub(super) const CRATES: &Table = &[
    ("axum", "axum"), ("actix-web", "actix"), ("rocket", "rocket"), ("warp", "warp"),
    ("tokio", "tokio"), ("tauri", "tauri"), ("leptos", "leptos"), ("yew", "yew"), ("bevy", "bevy"),
    ("clap", "clap"), ("sqlx", "sqlx"), ("diesel", "diesel"),
    ("tokio-postgres", "postgresql"), ("postgres", "postgresql"), ("rusqlite", "sqlite"),
    ("redis", "redis"), ("mongodb", "mongodb"), ("elasticsearch", "elasticsearch"),
    ("clickhouse", "clickhouse"), ("qdrant-client", "qdrant"),
    ("rdkafka", "kafka"), ("lapin", "rabbitmq"), ("async-nats", "nats"), ("rumqttc", "mqtt"),
    ("tonic", "grpc"), ("async-graphql", "graphql"), ("juniper", "graphql"), ("utoipa", "openapi"),
    ("tokio-tungstenite", "websocket"), ("rmcp", "mcp"),
    ("opentelemetry", "opentelemetry"), ("prometheus", "prometheus"), ("aws-config", "aws"),
    ("jsonwebtoken", "jwt"), ("oauth2", "oauth"), ("openidconnect", "openid-connect"), ("bcrypt", "bcrypt"),
    ("polars", "polars"), ("proptest", "proptest"), ("quickcheck", "quickcheck"), ("insta", "insta"), ("~testcontainers", "testcontainers"),
];

const TABLES: &[&str] = &["dependencies", "dev-dependencies", "build-dependencies"];

pub(super) fn cargo(manifest: &mut Manifest<'_>) {
    let file = manifest.toml();
    manifest.ecosystem("rust");
    let package = file.get("package").and_then(|v| v.as_table());
    let version = package.and_then(|p| p.get("rust-version")).and_then(|v| v.as_str());
    // A workspace without a package is written in Rust too.
    manifest.language("rust", "package.rust-version", version);
    for name in TABLES {
        dependencies(manifest, &format!("{name}."), file.get(*name), Use::Used);
    }
    let targets = file.get("target").and_then(|v| v.as_table());
    for (target, table) in targets.into_iter().flatten() {
        for name in TABLES {
            let key = format!("target.{target}.{name}.");
            dependencies(manifest, &key, table.get(name), Use::Used);
        }
    }
    if let Some(workspace) = file.get("workspace") {
        let version = workspace.get("package").and_then(|p| p.get("rust-version"));
        if let Some(version) = version.and_then(|v| v.as_str()) {
            manifest.hint("rust", "workspace.package.rust-version", Some(version));
        }
        dependencies(manifest, "workspace.dependencies.", workspace.get("dependencies"), Use::Hint);
    }
}

fn dependencies(manifest: &mut Manifest<'_>, key: &str, table: Option<&toml::Value>, how: Use) {
    for (name, value) in table.and_then(|v| v.as_table()).into_iter().flatten() {
        let renamed = value.get("package").and_then(|v| v.as_str());
        manifest.dependency(CRATES, renamed.unwrap_or(name), key, toml_version(value), how);
    }
}
