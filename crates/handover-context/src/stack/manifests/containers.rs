//! Containers: Dockerfiles, compose files, Kubernetes, Helm.

use serde_json::Value;

use super::scan::lines;
use super::{Manifest, Table};

/// By image name, without registry and tag.
#[rustfmt::skip]
pub(super) const IMAGES: &Table = &[
    ("postgres", "postgresql"), ("postgis", "postgresql"), ("pgvector", "pgvector"), ("timescaledb*", "postgresql"), ("mysql", "mysql"), ("mariadb", "mariadb"), ("mongo", "mongodb"),
    ("redis", "redis"), ("redis-stack*", "redis"), ("valkey", "valkey"), ("memcached", "memcached"), ("elasticsearch", "elasticsearch"), ("opensearch", "opensearch"),
    ("cassandra", "cassandra"), ("dynamodb-local", "dynamodb"), ("clickhouse-server", "clickhouse"), ("neo4j", "neo4j"), ("influxdb", "influxdb"), ("cockroach", "cockroachdb"), ("qdrant", "qdrant"),
    ("kafka", "kafka"), ("rabbitmq", "rabbitmq"), ("nats", "nats"), ("eclipse-mosquitto", "mqtt"), ("pulsar", "pulsar"),
    ("nginx", "nginx"), ("traefik", "traefik"), ("prometheus", "prometheus"), ("grafana", "grafana"), ("opentelemetry-collector*", "opentelemetry"), ("keycloak", "keycloak"), ("vault", "vault"),
    ("localstack", "aws"), ("airflow", "airflow"),
];

/// Images whose tag is the version of something else.
#[rustfmt::skip]
const UNVERSIONED: &Table = &[
    ("server", "sqlserver"), ("cp-kafka", "kafka"), ("azure-sql-edge", "sqlserver"),
];

/// Images of languages, which only provide a version.
#[rustfmt::skip]
const LANGUAGES: &Table = &[
    ("python", "python"), ("node", "nodejs"), ("golang", "go"), ("rust", "rust"), ("ruby", "ruby"), ("php", "php"), ("elixir", "elixir"), ("erlang", "erlang"), ("swift", "swift"), ("dart", "dart"),
    ("eclipse-temurin", "java"), ("openjdk", "java"), ("amazoncorretto", "java"), ("sdk", "dotnet"), ("aspnet", "dotnet"), ("runtime", "dotnet"), ("bun", "bun"), ("deno", "deno"),
];

/// The technology of an image, and the version in its tag.
fn image(manifest: &mut Manifest<'_>, key: &str, image: &str) {
    let image = defaults(image.split('@').next().unwrap_or(image).trim());
    let image = image.as_str();
    let (path, tag) = match image.rsplit_once(':') {
        // A colon before a slash is a port.
        Some((path, tag)) if !tag.contains('/') => (path, Some(tag)),
        Some(_) | None => (image, None),
    };
    let name = path.rsplit('/').next().unwrap_or(path);
    if let Some((technology, _)) = super::lookup(IMAGES, name) {
        manifest.uses(technology, key, tag);
    } else if let Some((technology, _)) = super::lookup(UNVERSIONED, name) {
        if technology != "sqlserver" || path.contains("mssql") || path.contains("sql") {
            manifest.uses(technology, key, None);
        }
    } else if let Some((technology, _)) = super::lookup(LANGUAGES, name)
        && (technology != "dotnet" || path.contains("dotnet"))
    {
        manifest.hint(technology, key, tag);
    }
}

/// `postgres:${TAG:-15}`: the default applies; a variable without one says nothing.
fn defaults(image: &str) -> String {
    let mut out = String::new();
    let mut rest = image;
    while let Some((before, after)) = rest.split_once("${") {
        out.push_str(before);
        let (variable, behind) = after.split_once('}').unwrap_or((after, ""));
        out.push_str(variable.split_once('-').map_or("", |(_, default)| default));
        rest = behind;
    }
    out.push_str(rest);
    out
}

pub(super) fn dockerfile(manifest: &mut Manifest<'_>) {
    let text = manifest.text;
    let mut stages: Vec<&str> = Vec::new();
    for line in lines(text, "#") {
        let mut words = line.split_whitespace();
        if !words.next().is_some_and(|word| word.eq_ignore_ascii_case("FROM")) {
            continue;
        }
        let mut words = words.filter(|word| !word.starts_with("--"));
        let Some(base) = words.next() else { continue };
        if !stages.contains(&base) {
            image(manifest, "FROM", base);
        }
        if words.next().is_some_and(|word| word.eq_ignore_ascii_case("AS")) {
            stages.extend(words.next());
        }
    }
    // Without a base image it is some other file of that name.
    if text.to_ascii_uppercase().contains("FROM ") {
        manifest.uses("docker", manifest.name(), None);
    }
}

pub(super) fn compose(manifest: &mut Manifest<'_>) {
    let file = manifest.yaml();
    let services = file.get("services").and_then(Value::as_object);
    if services.is_some() {
        manifest.uses("docker", manifest.name(), None);
    }
    for (name, service) in services.into_iter().flatten() {
        if let Some(text) = service.get("image").and_then(Value::as_str) {
            image(manifest, &format!("services.{name}.image"), text);
        }
    }
}

pub(super) fn helm(manifest: &mut Manifest<'_>) {
    manifest.uses("helm", "Chart.yaml", None);
    manifest.uses("kubernetes", "Chart.yaml", None);
}

pub(super) fn kustomize(manifest: &mut Manifest<'_>) {
    manifest.uses("kubernetes", manifest.name(), None);
}

/// A file in a suggestive folder, if its content agrees. Multiple documents and templates make it hard to
/// parse, and two keys are enough.
pub(super) fn kubernetes(manifest: &mut Manifest<'_>) {
    let has = |key: &str| manifest.text.lines().any(|line| line.starts_with(key));
    if has("apiVersion:") && has("kind:") {
        manifest.uses("kubernetes", "apiVersion", None);
        let images = lines(manifest.text, "#")
            .filter_map(|line| line.trim_start_matches("- ").strip_prefix("image:"))
            .map(|image| image.trim().trim_matches(['"', '\'']));
        for text in images.collect::<Vec<_>>() {
            image(manifest, "image", text);
        }
    }
}
