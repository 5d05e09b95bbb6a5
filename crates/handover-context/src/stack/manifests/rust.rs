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

#[cfg(test)]
mod tests {
    use super::super::tests::check;

    #[test]
    fn reads_every_table_of_dependencies() {
        let text = r#"
[package]
name = "shop"
rust-version = "1.80"

[dependencies]
axum = "0.8.1"
tokio = { version = "1.38", features = ["full"] }
db = { package = "tokio-postgres", version = "0.7" }
sqlx = { workspace = true }
serde = "1"

[dev-dependencies]
proptest = "1.5"
testcontainers = "0.20"

[build-dependencies]
tonic = "0.12"

[target.'cfg(unix)'.dependencies]
clap = { version = "4.5" }
"#;
        check(
            "Cargo.toml",
            text,
            &[
                "rust 1.80 (package.rust-version)",
                "axum 0.8.1 (dependencies.axum)",
                "tokio 1.38 (dependencies.tokio)",
                "postgresql (dependencies.tokio-postgres)",
                "sqlx (dependencies.sqlx)",
                "proptest 1.5 (dev-dependencies.proptest)",
                "testcontainers (dev-dependencies.testcontainers)",
                "grpc (build-dependencies.tonic)",
                "clap 4.5 (target.cfg(unix).dependencies.clap)",
            ],
        );
    }

    #[test]
    fn a_workspace_only_hints() {
        let text = r#"
[workspace]
members = ["a"]
package.rust-version = "1.82"
dependencies.axum = "0.7"
dependencies.rusqlite = { version = "0.31" }
"#;
        check(
            "Cargo.toml",
            text,
            &[
                "rust (Cargo.toml)",
                "?rust 1.82 (workspace.package.rust-version)",
                "?axum 0.7 (workspace.dependencies.axum)",
                "?sqlite (workspace.dependencies.rusqlite)",
            ],
        );
    }

    #[test]
    fn odd_values_are_no_versions() {
        let text = "[package]\nrust-version = 1.8\n[dependencies]\naxum = 1\nclap = { git = 'x' }\n\
                    tokio = []\n";
        check(
            "Cargo.toml",
            text,
            &[
                "rust (Cargo.toml)",
                "axum (dependencies.axum)",
                "clap (dependencies.clap)",
                "tokio (dependencies.tokio)",
            ],
        );
        check(
            "Cargo.toml",
            "dependencies = 1\ntarget = 2\nworkspace = 3\n",
            &["rust (Cargo.toml)"],
        );
    }
}
