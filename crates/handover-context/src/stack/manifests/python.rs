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

#[cfg(test)]
mod tests {
    use super::super::tests::check;

    #[test]
    fn reads_a_standard_project() {
        let text = r#"
[project]
requires-python = ">=3.11"
dependencies = ["FastAPI[all]>=0.110,<1 ; python_version < '4'", "SQLAlchemy ~= 2.0", "psycopg[binary]", "requests"]

[project.optional-dependencies]
test = ["pytest==8.2.0"]

[dependency-groups]
dev = ["hypothesis>=6", {include-group = "test"}]

[tool.uv]
dev-dependencies = ["locust (>=2.0)"]

[tool.pytest.ini_options]
addopts = "-q"
"#;
        check(
            "pyproject.toml",
            text,
            &[
                "python >=3.11 (project.requires-python)",
                "fastapi >=0.110,<1 (project.dependencies.fastapi)",
                "sqlalchemy ~= 2.0 (project.dependencies.sqlalchemy)",
                "postgresql (project.dependencies.psycopg)",
                "pytest ==8.2.0 (project.optional-dependencies.pytest)",
                "hypothesis >=6 (dependency-groups.hypothesis)",
                "locust >=2.0 (tool.uv.dev-dependencies.locust)",
                "pytest (tool.pytest)",
            ],
        );
    }

    #[test]
    fn reads_a_poetry_project() {
        let text = r#"
[tool.poetry.dependencies]
python = "^3.10"
Django = { version = "^5.0", extras = ["argon2"] }
celery = "5.4"

[tool.poetry.dev-dependencies]
pytest = "^8"

[tool.poetry.group.docs.dependencies]
jupyter_lab = "4"
jupyterlab = "4.2"
"#;
        check(
            "pyproject.toml",
            text,
            &[
                "python ^3.10 (tool.poetry.dependencies.python)",
                "django ^5.0 (tool.poetry.dependencies.django)",
                "celery 5.4 (tool.poetry.dependencies.celery)",
                "pytest ^8 (tool.poetry.dev-dependencies.pytest)",
                "jupyter 4.2 (tool.poetry.group.docs.jupyterlab)",
            ],
        );
        check("pyproject.toml", "[build-system]\n", &["python (pyproject.toml)"]);
    }

    #[test]
    fn requirements_have_comments_extras_markers_and_addresses() {
        let text = "# base\n-r other.txt\n--index-url https://x.example\nFlask==3.0.3  # web\n\
                    celery[redis] >=5.3 ; sys_platform != 'win32'\npandas @ https://x.example/pandas.whl\n\
                    scikit_learn\nnumpy (==1.26)\n\nopentelemetry-api==1.2\n";
        check(
            "requirements-dev.txt",
            text,
            &[
                "python (requirements-dev.txt)",
                "flask ==3.0.3 (flask)",
                "celery >=5.3 (celery)",
                "pandas (pandas)",
                "sklearn (scikit-learn)",
                "numpy ==1.26 (numpy)",
                "opentelemetry (opentelemetry-api)",
            ],
        );
        check("api/requirements/base.txt", "Flask\n", &["python (base.txt)", "flask (flask)"]);
    }

    #[test]
    fn reads_a_pipfile() {
        let text = "[packages]\nflask = '*'\n[dev-packages]\npytest = {version = '>=8'}\n[requires]\n\
                    python_version = '3.11'\n";
        check(
            "Pipfile",
            text,
            &[
                "python 3.11 (requires.python_version)",
                "flask * (packages.flask)",
                "pytest >=8 (dev-packages.pytest)",
            ],
        );
        let full = "[requires]\npython_version = '3.11'\npython_full_version = '3.11.4'\n";
        check("Pipfile", full, &["python 3.11.4 (requires.python_version)"]);
    }

    #[test]
    fn reads_setup_files() {
        check("setup.py", "setup(python_requires='>=3.8')\n", &["python >=3.8 (python_requires)"]);
        check("setup.py", "setup()\n", &["python (setup.py)"]);
        let text = "[options]\npython_requires = >=3.9\ninstall_requires =\n    django>=4.2\n    # no\n\
                    \tredis\nzip_safe = no\n    flask\n[options.extras_require]\ntest =\n    pytest\n\
                    [flake8]\nmax = 1\n    pandas\n";
        check(
            "setup.cfg",
            text,
            &[
                "python >=3.9 (python_requires)",
                "python (setup.cfg)",
                "django >=4.2 (install_requires.django)",
                "redis (install_requires.redis)",
            ],
        );
        check("setup.cfg", "[flake8]\nmax-line-length = 100\n", &[]);
        check(
            "setup.cfg",
            "[options]\ntests_require =\n  pytest\n",
            &["pytest (install_requires.pytest)", "python (setup.cfg)"],
        );
    }

    #[test]
    fn reads_a_conda_environment() {
        let text = "dependencies:\n  - python=3.11\n  - python-dateutil\n  - pandas>=2.1\n  - pythonnet\n\
                    \x20 - pip:\n    - torch==2.3\n    - 7\n";
        check(
            "environment.yml",
            text,
            &[
                "python =3.11 (dependencies.python)",
                "pandas >=2.1 (dependencies.pandas)",
                "pytorch ==2.3 (dependencies.torch)",
            ],
        );
        check("environment.yaml", "name: x\n", &[]);
    }
}
