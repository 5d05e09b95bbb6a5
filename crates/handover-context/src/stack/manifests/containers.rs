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

#[cfg(test)]
mod tests {
    use super::super::tests::check;
    use super::defaults;

    fn image(text: &str, expected: &[&str]) {
        let mut expected = expected.to_vec();
        expected.push("docker (Dockerfile)");
        check("Dockerfile", &format!("FROM {text}\n"), &expected);
    }

    #[test]
    fn images_are_known_by_their_last_part() {
        image("postgres:15-alpine", &["postgresql 15-alpine (FROM)"]);
        image("docker.io/library/redis:7.2@sha256:abc", &["redis 7.2 (FROM)"]);
        image("registry.example:5000/team/mongo", &["mongodb (FROM)"]);
        image("registry.example:5000/mongo:7", &["mongodb 7 (FROM)"]);
        image("timescale/timescaledb-ha:pg16", &["postgresql pg16 (FROM)"]);
        image("confluentinc/cp-kafka:7.6.0", &["kafka (FROM)"]);
        image("mcr.microsoft.com/mssql/server:2022", &["sqlserver (FROM)"]);
        image("team/server:1", &[]);
        image("python:3.12-slim", &["?python 3.12-slim (FROM)"]);
        image("mcr.microsoft.com/dotnet/sdk:8.0", &["?dotnet 8.0 (FROM)"]);
        image("team/runtime:1", &[]);
        image("scratch", &[]);
    }

    #[test]
    fn variables_have_defaults() {
        for (written, read) in [
            ("redis:7", "redis:7"),
            ("redis:${TAG:-7.2}", "redis:7.2"),
            ("${REGISTRY-docker.io}/redis:${TAG}", "docker.io/redis:"),
            ("a${X:-1}b${Y-2}c", "a1b2c"),
            ("redis:${TAG", "redis:"),
        ] {
            // `:-` and `-` differ only for empty variables; the colon is cut with the name.
            assert_eq!(defaults(written), read, "{written}");
        }
    }

    #[test]
    fn stages_are_no_images() {
        let text = "# syntax\nfrom --platform=linux/amd64 golang:1.22 as build\nRUN from redis\nFROM build AS test\nFROM test\nFROM nginx:1.27\n";
        check(
            "Dockerfile.prod",
            text,
            &["?go 1.22 (FROM)", "nginx 1.27 (FROM)", "docker (Dockerfile.prod)"],
        );
        check("Dockerfile", "RUN true\n", &[]);
        check("Dockerfile", "FROM \n", &["docker (Dockerfile)"]);
    }

    #[test]
    fn compose_names_the_service() {
        let text =
            "services:\n  db:\n    image: postgres:16\n  app:\n    build: .\n  n:\n    image: 5\n";
        check(
            "docker-compose.dev.yaml",
            text,
            &["docker (docker-compose.dev.yaml)", "postgresql 16 (services.db.image)"],
        );
        check("compose.yml", "volumes: {}\n", &[]);
    }

    #[test]
    fn kubernetes_is_known_by_its_objects() {
        let text = "apiVersion: apps/v1\nkind: Deployment\nspec:\n  - image: \"redis:7\"\n    # image: mongo\n    image: team/app:1\n";
        check("k8s/app.yaml", text, &["kubernetes (apiVersion)", "redis 7 (image)"]);
        for other in ["kind: x\n", "apiVersion: v1\n", " apiVersion: v1\n kind: x\n"] {
            check("deploy/x.yml", other, &[]);
        }
        check("Chart.yaml", "name: x\n", &["helm (Chart.yaml)", "kubernetes (Chart.yaml)"]);
        for name in ["kustomization.yaml", "kustomization.yml", "skaffold.yaml"] {
            check(name, "", &[&format!("kubernetes ({name})")]);
        }
    }
}
