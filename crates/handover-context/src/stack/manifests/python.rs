//! Python: `pyproject.toml`, requirements files, `Pipfile`, `setup.cfg`, conda.

use serde_json::Value;

use super::scan::{lines, quoted_after};
use super::{Manifest, Table, Use, toml_version};

#[rustfmt::skip]
pub(super) const DISTRIBUTIONS: &Table = &[
    ("django", "django"), ("fastapi", "fastapi"), ("flask", "flask"), ("starlette", "starlette"), ("celery", "celery"),
    ("sqlalchemy", "sqlalchemy"), ("pydantic", "pydantic"), ("~djangorestframework", "django"),
    ("psycopg", "postgresql"), ("psycopg2", "postgresql"), ("psycopg2-binary", "postgresql"), ("asyncpg", "postgresql"),
    ("mysqlclient", "mysql"), ("pymysql", "mysql"), ("aiosqlite", "sqlite"), ("pyodbc", "sqlserver"), ("pymongo", "mongodb"), ("motor", "mongodb"),
    ("redis", "redis"), ("elasticsearch", "elasticsearch"), ("opensearch-py", "opensearch"), ("cassandra-driver", "cassandra"),
    ("clickhouse-connect", "clickhouse"), ("neo4j", "neo4j"), ("duckdb", "duckdb"), ("snowflake-connector-python", "snowflake"),
    ("google-cloud-bigquery", "bigquery"), ("pgvector", "pgvector"), ("qdrant-client", "qdrant"), ("supabase", "supabase"),
    ("kafka-python", "kafka"), ("confluent-kafka", "kafka"), ("aiokafka", "kafka"), ("pika", "rabbitmq"), ("aio-pika", "rabbitmq"),
    ("nats-py", "nats"), ("paho-mqtt", "mqtt"),
    ("grpcio", "grpc"), ("strawberry-graphql", "graphql"), ("graphene", "graphql"), ("websockets", "websocket"),
    ("pytest", "pytest"), ("hypothesis", "hypothesis"), ("playwright", "playwright"), ("~pytest-playwright", "playwright"), ("selenium", "selenium"),
    ("testcontainers", "testcontainers"), ("locust", "locust"),
    ("opentelemetry-*", "opentelemetry"), ("prometheus-client", "prometheus"), ("boto3", "aws"), ("aws-cdk-lib", "aws"), ("ansible", "ansible"), ("pulumi", "pulumi"),
    ("pandas", "pandas"), ("polars", "polars"), ("numpy", "numpy"), ("pyspark", "pyspark"), ("dbt-core", "dbt"), ("~dbt-*", "dbt"),
    ("apache-airflow", "airflow"), ("dask", "dask"), ("jupyter", "jupyter"), ("jupyterlab", "jupyter"), ("dagster", "dagster"), ("prefect", "prefect"),
    ("torch", "pytorch"), ("tensorflow", "tensorflow"), ("scikit-learn", "sklearn"), ("langchain", "langchain"), ("~langchain-*", "langchain"), ("~langgraph", "langchain"),
    ("llama-index", "llamaindex"), ("transformers", "huggingface"), ("openai", "openai"), ("anthropic", "anthropic"), ("mcp", "mcp"), ("mlflow", "mlflow"),
    ("pyjwt", "jwt"), ("python-jose", "jwt"), ("authlib", "oauth"), ("bcrypt", "bcrypt"),
];

pub(super) fn pyproject(manifest: &mut Manifest<'_>) {
    let file = manifest.toml();
    manifest.ecosystem("python");
    let at = |path: &[&str]| {
        let mut keys = path.iter();
        let first = file.get(*keys.next()?)?;
        keys.try_fold(first, |value, key| value.get(*key))
    };
    let python = at(&["project", "requires-python"]);
    match python.and_then(|v| v.as_str()) {
        Some(version) => manifest.uses("python", "project.requires-python", Some(version)),
        None => {
            let poetry = at(&["tool", "poetry", "dependencies", "python"]);
            let version = poetry.and_then(toml_version);
            manifest.language("python", "tool.poetry.dependencies.python", version);
        }
    }
    requirements_of(manifest, "project.dependencies.", at(&["project", "dependencies"]));
    for path in [&["project", "optional-dependencies"][..], &["dependency-groups"]] {
        for (_, list) in at(path).and_then(|v| v.as_table()).into_iter().flatten() {
            requirements_of(manifest, &format!("{}.", path.join(".")), Some(list));
        }
    }
    requirements_of(manifest, "tool.uv.dev-dependencies.", at(&["tool", "uv", "dev-dependencies"]));
    for table in ["dependencies", "dev-dependencies"] {
        poetry(manifest, &format!("tool.poetry.{table}."), at(&["tool", "poetry", table]));
    }
    let groups = at(&["tool", "poetry", "group"]).and_then(|v| v.as_table());
    for (name, group) in groups.into_iter().flatten() {
        let key = format!("tool.poetry.group.{name}.");
        poetry(manifest, &key, group.get("dependencies"));
    }
    if at(&["tool", "pytest"]).is_some() {
        manifest.uses("pytest", "tool.pytest", None);
    }
}

fn requirements_of(manifest: &mut Manifest<'_>, key: &str, list: Option<&toml::Value>) {
    for text in list.and_then(|v| v.as_array()).into_iter().flatten() {
        if let Some(text) = text.as_str() {
            requirement(manifest, key, text);
        }
    }
}

fn poetry(manifest: &mut Manifest<'_>, key: &str, table: Option<&toml::Value>) {
    for (name, value) in table.and_then(|v| v.as_table()).into_iter().flatten() {
        let name = normal(name);
        manifest.dependency(DISTRIBUTIONS, &name, key, toml_version(value), Use::Used);
    }
}

/// One requirement: `Django[argon2]>=4.2,<5 ; python_version > "3.8"`.
fn requirement(manifest: &mut Manifest<'_>, key: &str, text: &str) {
    let text = text.split(['#', ';']).next().unwrap_or_default().trim();
    let end = text
        .find(|c: char| !c.is_ascii_alphanumeric() && !matches!(c, '-' | '_' | '.'))
        .unwrap_or(text.len());
    let rest = text[end..].trim_start();
    let rest = match rest.strip_prefix('[') {
        Some(extras) => extras.split_once(']').map_or("", |(_, rest)| rest),
        None => rest,
    };
    let version = rest.trim().trim_matches(['(', ')']);
    let version = Some(version).filter(|version| !version.starts_with('@'));
    manifest.dependency(DISTRIBUTIONS, &normal(&text[..end]), key, version, Use::Used);
}

/// Names of distributions are case-insensitive, and their separators are equivalent.
fn normal(name: &str) -> String {
    name.to_lowercase().replace(['_', '.'], "-")
}

pub(super) fn requirements(manifest: &mut Manifest<'_>) {
    manifest.ecosystem("python");
    manifest.uses("python", manifest.name(), None);
    for line in lines(manifest.text, "#").filter(|line| !line.starts_with('-')) {
        requirement(manifest, "", line);
    }
}

pub(super) fn pipfile(manifest: &mut Manifest<'_>) {
    let file = manifest.toml();
    manifest.ecosystem("python");
    let requires = file.get("requires");
    let version = requires
        .and_then(|r| r.get("python_full_version").or_else(|| r.get("python_version")))
        .and_then(|v| v.as_str());
    manifest.language("python", "requires.python_version", version);
    for table in ["packages", "dev-packages"] {
        poetry(manifest, &format!("{table}."), file.get(table));
    }
}

/// This is code: only the required Python version is read.
pub(super) fn setup_py(manifest: &mut Manifest<'_>) {
    manifest.ecosystem("python");
    let version = manifest.text.lines().find_map(|line| quoted_after(line, "python_requires"));
    manifest.language("python", "python_requires", version);
}

pub(super) fn setup_cfg(manifest: &mut Manifest<'_>) {
    manifest.ecosystem("python");
    let mut lists = false;
    let mut is_package = false;
    for line in manifest.text.lines() {
        let indented = line.starts_with([' ', '\t']);
        let line = line.trim();
        if let Some((key, value)) = line.split_once('=').filter(|_| !indented) {
            let key = key.trim();
            lists = matches!(key, "install_requires" | "tests_require");
            is_package |= lists;
            if key == "python_requires" {
                is_package = true;
                manifest.uses("python", key, Some(value));
            }
        } else if line.starts_with('[') {
            lists = line == "[options.extras_require]";
        } else if lists && indented {
            requirement(manifest, "install_requires.", line);
        }
    }
    // Linters use this file too.
    if is_package {
        manifest.uses("python", "setup.cfg", None);
    }
}

pub(super) fn conda(manifest: &mut Manifest<'_>) {
    let file = manifest.yaml();
    manifest.ecosystem("python");
    let Some(list) = file.get("dependencies").and_then(Value::as_array) else { return };
    for entry in list {
        let nested = entry.get("pip").and_then(Value::as_array);
        let texts = nested.into_iter().flatten().chain(Some(entry)).filter_map(Value::as_str);
        for text in texts {
            match text.strip_prefix("python").filter(|rest| !rest.starts_with(char::is_alphabetic))
            {
                Some(version) if !version.starts_with('-') => {
                    manifest.uses("python", "dependencies.python", Some(version));
                }
                Some(_) | None => requirement(manifest, "dependencies.", text),
            }
        }
    }
}
