//! Real projects in temporary folders: every ecosystem, monorepos, and files that want to do harm.

use std::path::Path;

use handover_files::Folder as PrivateFolder;

use super::cache::CACHE_FILE;
use super::*;

fn write(root: &Path, path: &str, text: impl AsRef<[u8]>) {
    let path = root.join(path);
    fs_err::create_dir_all(path.parent().unwrap()).unwrap();
    fs_err::write(path, text).unwrap();
}

fn project(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in files {
        write(folder.path(), path, text);
    }
    folder
}

/// What a component looks like: the language, then everything with its version.
fn shown(stack: &Stack, path: &str) -> String {
    let component = stack.component_of(path).unwrap();
    let view = stack.view(Some(path));
    let items: Vec<String> = view
        .items
        .iter()
        .map(|item| match &item.version {
            Some(version) => format!("{} {version}", item.name),
            None => item.name.clone(),
        })
        .collect();
    format!("{}: {}", component.language.as_deref().unwrap_or("–"), items.join(", "))
}

#[track_caller]
fn check(files: &[(&str, &str)], expected: &str) {
    let folder = project(files);
    let stack = detect(folder.path());
    assert_eq!(stack.notes, []);
    assert_eq!(shown(&stack, "."), expected);
}

#[test]
fn detects_rust() {
    check(
        &[(
            "Cargo.toml",
            "[package]\nname = 'x'\nrust-version = '1.80'\n[dependencies]\naxum = '0.8.1'\n\
             pg = { package = 'tokio-postgres', version = '0.7' }\nserde = '1'\n\
             [target.'cfg(unix)'.dev-dependencies]\nproptest = { version = '1.5' }",
        )],
        "rust: rust 1.80, axum 0.8, postgresql, proptest 1.5",
    );
    // What is pinned counts more than what is promised; a channel without a number is no version.
    let cargo = ("Cargo.toml", "[package]\nrust-version = '1.70'");
    check(&[cargo, ("rust-toolchain.toml", "[toolchain]\nchannel = '1.85.0'")], "rust: rust 1.85");
    check(&[cargo, ("rust-toolchain", "1.84\n")], "rust: rust 1.84");
    check(&[cargo, ("rust-toolchain.toml", "[toolchain]\nchannel = 'stable'")], "rust: rust 1.70");
}

#[test]
fn detects_node() {
    check(
        &[
            (
                "package.json",
                r#"{"engines": {"node": ">=20"}, "dependencies": {"next": "^14.2.3", "react": "^18.2.0", "pg": "^8.0.0"},
                    "devDependencies": {"typescript": "~5.4.2", "@playwright/test": "1.44.0", "vitest": "^1.6.0"}}"#,
            ),
            (".nvmrc", "v22.1.0\n"),
            ("tsconfig.json", "{ // comments are fine\n }"),
        ],
        "typescript: typescript 5.4, nextjs 14.2, react 18.2, nodejs 22.1, postgresql, playwright 1.44, vitest 1.6",
    );
    check(
        &[("package.json", r#"{"dependencies": {"express": "4.x"}}"#), (".nvmrc", "lts/*")],
        "javascript: javascript, express 4, nodejs",
    );
    check(&[("deno.json", "{}")], "typescript: typescript, deno");
}

#[test]
fn tolerates_odd_types_in_package_json() {
    // Nulls, lists and numbers where objects and texts are expected.
    for text in [
        r#"{"dependencies": null, "engines": null}"#,
        r#"{"dependencies": ["react"], "engines": "20"}"#,
        r#"{"dependencies": {"left-pad": null}, "devDependencies": 7, "workspaces": [1, null]}"#,
        r#"{"engines": {"node": null}, "volta": []}"#,
        "[]",
        "null",
        "7",
    ] {
        check(&[("package.json", text)], "javascript: javascript");
    }
    check(
        &[("package.json", r#"{"dependencies": {"react": null, "vue": ["3"], "svelte": 4}}"#)],
        "javascript: javascript, react, vue, svelte 4",
    );
}

#[test]
fn detects_python() {
    check(
        &[(
            "pyproject.toml",
            "[project]\nrequires-python = '>=3.11,<4'\ndependencies = ['Django[argon2]>=5.0 ; python_version > \"3.8\"', 'psycopg[binary]']\n\
             [project.optional-dependencies]\nx = ['celery~=5.3']\n[dependency-groups]\ndev = ['pytest>=8', {include-group = 'x'}]",
        )],
        "python: python 3.11, django 5.0, celery 5.3, postgresql, pytest 8",
    );
    check(
        &[(
            "pyproject.toml",
            "[tool.poetry.dependencies]\npython = '^3.12'\nfastapi = {version = '^0.111', extras = ['all']}\n\
             [tool.poetry.group.dev.dependencies]\npytest = '*'",
        )],
        "python: python 3.12, fastapi 0.111, pytest",
    );
    check(
        &[
            (
                "requirements.txt",
                "# pinned\nflask==3.0.2\n-r other.txt\nSQLAlchemy >= 2.0\ntorch @ https://x/y.whl\n",
            ),
            ("requirements/dev.txt", "pytest==8.1\n"),
            (".python-version", "3.12.1\n"),
        ],
        "python: python 3.12, flask 3.0, sqlalchemy 2.0, pytest 8.1, pytorch",
    );
    check(
        &[("Pipfile", "[packages]\ndjango = '~=4.2'\n[requires]\npython_version = '3.10'")],
        "python: python 3.10, django 4.2",
    );
    check(
        &[(
            "setup.cfg",
            "[options]\npython_requires = >=3.8\ninstall_requires =\n    pandas>=2.1\n    numpy\n",
        )],
        "python: python 3.8, pandas 2.1, numpy",
    );
    check(&[("setup.py", "setup(python_requires='>=3.9')")], "python: python 3.9");
    check(
        &[(
            "environment.yml",
            "dependencies:\n  - python=3.11\n  - pandas>=2\n  - pip:\n    - langchain==0.2.1\n",
        )],
        "python: python 3.11, pandas 2, langchain 0.2",
    );
    check(
        &[("pyproject.toml", "[project]\ndependencies = ['djangorestframework==3.15']")],
        "python: python, django",
    );
}

#[test]
fn detects_go() {
    check(
        &[(
            "go.mod",
            "module x\n\ngo 1.22.1\n\nrequire github.com/spf13/cobra v1.8.0\nrequire (\n\tgithub.com/gin-gonic/gin v1.10.0\n\t// no\n\tgithub.com/jackc/pgx/v5 v5.5.5\n\tgorm.io/gorm v1.25.0 // indirect\n)\n",
        )],
        "go: go 1.22, gin 1.10, cobra 1.8, postgresql",
    );
}

#[test]
fn detects_jvm() {
    let pom = "<?xml version='1.0'?><project xmlns='http://maven.apache.org/POM/4.0.0'>\
        <parent><groupId>org.springframework.boot</groupId><artifactId>spring-boot-starter-parent</artifactId><version>3.2.5</version></parent>\
        <properties><java.version>1.8</java.version><pg>42.7</pg></properties>\
        <dependencies><dependency><groupId>org.postgresql</groupId><artifactId>postgresql</artifactId><version>${pg}</version></dependency>\
        <dependency><groupId>org.springframework.boot</groupId><artifactId>spring-boot-starter-data-jpa</artifactId></dependency></dependencies></project>";
    check(&[("pom.xml", pom)], "java: java 8, spring-boot 3.2, hibernate, postgresql, maven");
    check(
        &[(
            "build.gradle",
            "plugins {\n  id 'java'\n  id 'org.springframework.boot' version '2.7.18'\n}\nsourceCompatibility = '17'\n\
             dependencies {\n  testImplementation 'org.junit.jupiter:junit-jupiter:5.10.2'\n  // implementation 'io.quarkus:x:3'\n}",
        )],
        "java: java 17, spring-boot 2.7, gradle, junit 5.10",
    );
    check(
        &[
            (
                "build.gradle.kts",
                "plugins {\n  kotlin(\"jvm\") version \"2.0.0\"\n  alias(libs.plugins.ktor)\n}\nkotlin { jvmToolchain(21) }\n\
                 dependencies {\n  implementation(libs.ktor.server.core)\n  testImplementation(\"io.kotest:kotest-runner-junit5:5.9.0\")\n}",
            ),
            (
                "gradle/libs.versions.toml",
                "[versions]\nktor = '2.3.11'\n[libraries]\nktor-server-core = { module = 'io.ktor:ktor-server-core', version.ref = 'ktor' }",
            ),
        ],
        "kotlin: kotlin 2.0, ktor 2.3, gradle, kotest 5.9",
    );
    check(
        &[(
            "build.sbt",
            "scalaVersion := \"3.3.1\"\nlibraryDependencies += \"dev.zio\" %% \"zio\" % \"2.1.1\"",
        )],
        "scala: scala 3.3, zio 2.1",
    );
}

#[test]
fn detects_other_languages() {
    check(
        &[(
            "Gemfile",
            "source 'https://rubygems.org'\nruby '3.3.1'\ngem 'rails', '~> 7.1.3', '>= 7.1'\ngem \"pg\"\n# gem 'sinatra'\ngem 'rspec-rails', group: :test\n",
        )],
        "ruby: ruby 3.3, rails 7.1, postgresql, rspec",
    );
    check(
        &[(
            "composer.json",
            r#"{"require": {"php": "^8.2", "laravel/framework": "^11.0"}, "require-dev": {"phpunit/phpunit": "^11.0.1"}}"#,
        )],
        "php: php 8.2, laravel 11.0, phpunit 11.0",
    );
    check(
        &[(
            "App.csproj",
            "<Project Sdk=\"Microsoft.NET.Sdk.Web\"><PropertyGroup><TargetFramework>net8.0</TargetFramework></PropertyGroup>\
             <ItemGroup><PackageReference Include=\"Npgsql\" Version=\"8.0.1\"/><PackageReference Include=\"xunit\"><Version>2.9.0</Version></PackageReference></ItemGroup></Project>",
        )],
        "csharp: csharp, aspnetcore 8.0, dotnet 8.0, postgresql, xunit 2.9",
    );
    check(
        &[(
            "mix.exs",
            "def project, do: [elixir: \"~> 1.16\"]\n  {:phoenix, \"~> 1.7.12\"},\n  {:postgrex, \">= 0.0.0\"}\n",
        )],
        "elixir: elixir 1.16, phoenix 1.7, postgresql",
    );
    check(
        &[(
            "pubspec.yaml",
            "environment:\n  sdk: '>=3.3.0 <4.0.0'\n  flutter: '3.19.0'\ndependencies:\n  flutter:\n    sdk: flutter\n",
        )],
        "dart: dart 3.3, flutter 3.19",
    );
    check(
        &[(
            "Package.swift",
            "// swift-tools-version:5.10\n  .package(url: \"https://github.com/vapor/vapor.git\", from: \"4.89.0\"),\n",
        )],
        "swift: swift 5.10, vapor 4.89",
    );
    check(
        &[(
            "CMakeLists.txt",
            "cmake_minimum_required(VERSION 3.20)\nproject(x LANGUAGES CXX)\nset(CMAKE_CXX_STANDARD 20)\nset(CMAKE_CXX_STANDARD_REQUIRED ON)\nfind_package(Qt6 6.5 REQUIRED)\nfind_package(GTest)\n",
        )],
        "cpp: cpp 20, qt 6.5, cmake 3.20, gtest",
    );
    check(&[("CMakeLists.txt", "project(x C)\nset(CMAKE_C_STANDARD 11)\n")], "c: c 11");
}

#[test]
fn detects_infrastructure() {
    check(
        &[
            (
                "docker-compose.yml",
                "services:\n  db:\n    image: postgres:15-alpine\n  q:\n    image: docker.io/library/rabbitmq:3.13-management\n  c:\n    image: redis:${TAG:-7.2}\n  k:\n    image: confluentinc/cp-kafka:7.6.0\n  app:\n    build: .\n",
            ),
            ("Dockerfile", "FROM --platform=linux/amd64 python:3.12-slim AS base\nFROM base\n"),
            ("requirements.txt", "flask\n"),
            (
                "infra/main.tf",
                "terraform {\n  required_version = \">= 1.7\"\n}\nprovider \"aws\" {}\n",
            ),
            ("k8s/app.yaml", "apiVersion: apps/v1\nkind: Deployment\n"),
            (".github/workflows/ci.yml", "on: push\n"),
            ("charts/x/Chart.yaml", "name: x\n"),
        ],
        "python: python 3.12, flask, postgresql 15, redis 7.2, docker, kubernetes, helm, terraform 1.7, aws, github-actions, kafka, rabbitmq 3.13",
    );
    // Only what the folder's name promises.
    check(&[("k8s/values.yaml", "a: 1\n"), ("Gemfile", "gem 'x'\n")], "ruby: ruby");
    check(
        &[(".gitlab-ci.yml", "x: 1\n"), ("go.mod", "module x\ngo 1.21\n")],
        "go: go 1.21, gitlab-ci",
    );
}

#[test]
fn reads_version_files() {
    check(
        &[
            ("pyproject.toml", "[project]\nrequires-python = '>=3.9'\n"),
            (".tool-versions", "# tools\npython 3.12.3 3.11.0\nnodejs 20.11.0\nunheard-of 1\n"),
        ],
        "python: python 3.12",
    );
    check(
        &[("pom.xml", "<project/>"), (".sdkmanrc", "java=17.0.2-tem\n")],
        "java: java 17.0, maven",
    );
    check(&[("pom.xml", "<project/>"), (".java-version", "1.8\n")], "java: java 8, maven");
    check(
        &[("Gemfile", "gem 'rails'\n"), ("mise.toml", "[tools]\nruby = ['3.3.0', '3.2']\n")],
        "ruby: ruby 3.3, rails",
    );
    // A project that has nothing else is written in what its version file says.
    check(&[(".python-version", "3.12\n")], "python: python 3.12");
}

#[test]
fn assets_do_not_make_an_application_javascript() {
    let package = ("package.json", r#"{"dependencies": {"react": "^18.0.0"}}"#);
    check(
        &[("Gemfile", "gem 'rails', '~> 7.0'\n"), package],
        "ruby: ruby, javascript, rails 7.0, react 18.0",
    );
    // But a few scripts beside a front end do not make it theirs.
    check(
        &[("requirements.txt", "requests\n"), package],
        "javascript: javascript, python, react 18.0",
    );
}

#[test]
fn the_language_of_a_component_is_that_of_its_framework() {
    let of = |files: &[(&str, &str)]| {
        let folder = project(files);
        detect(folder.path()).components[0].language.clone().unwrap_or_default()
    };
    let vite = ("package.json", r#"{"dependencies": {"vite": "5"}}"#);
    let react = ("package.json", r#"{"dependencies": {"react": "18"}}"#);
    let flask = ("requirements.txt", "flask\n");
    let plain = ("requirements.txt", "requests\n");
    // Build tools are no frameworks; of two frameworks, the one that is no script wins.
    assert_eq!(of(&[vite, plain]), "python");
    assert_eq!(of(&[react, plain]), "javascript");
    assert_eq!(of(&[react, flask]), "python");
    assert_eq!(
        of(&[("build.gradle.kts", "plugins { kotlin(\"jvm\") }\n"), ("pom.xml", "<project/>")]),
        "java"
    );
    let ktor = "plugins { kotlin(\"jvm\") }\ndependencies { implementation(\"io.ktor:ktor-server-core:2.3\") }\n";
    assert_eq!(of(&[("build.gradle.kts", ktor)]), "kotlin");
    assert_eq!(of(&[("Dockerfile", "FROM nginx\n")]), "");
    // A version file alone says what a project is written in.
    assert_eq!(of(&[(".python-version", "3.12\n")]), "python");
}

#[test]
fn version_files_count_more_than_manifests_and_manifests_more_than_images() {
    let dockerfile = ("Dockerfile", "FROM python:3.10\n");
    let manifest = ("pyproject.toml", "[project]\nrequires-python = '>=3.11'\n");
    let pinned = (".python-version", "3.12.4\n");
    check(&[dockerfile, manifest, pinned], "python: python 3.12, docker");
    check(&[dockerfile, manifest], "python: python 3.11, docker");
    let unversioned = ("pyproject.toml", "[project]\nname = 'x'\n");
    check(&[dockerfile, unversioned], "python: python 3.10, docker");
    check(&[dockerfile, unversioned, pinned], "python: python 3.12, docker");
}

#[test]
fn evidence_is_limited_and_the_version_comes_first() {
    let requirements: Vec<(String, &str)> = (0..9)
        .map(|n| (format!("requirements-{n}.txt"), if n == 8 { "flask==3\n" } else { "flask\n" }))
        .collect();
    let files: Vec<(&str, &str)> =
        requirements.iter().map(|(name, text)| (name.as_str(), *text)).collect();
    let folder = project(&files);
    let stack = detect(folder.path());
    let flask = stack.components[0].item("flask").unwrap();
    assert_eq!((flask.version.as_deref(), flask.evidence.len()), (Some("3"), 4));
    assert_eq!(flask.evidence[0].file, "requirements-8.txt");
    assert_eq!(flask.evidence[1].file, "requirements-0.txt");
    assert_eq!(flask.title(), "Flask");
}

#[test]
fn files_that_open_no_component_belong_to_the_one_above() {
    let folder = project(&[
        ("api/go.mod", "module x\ngo 1.22\n"),
        ("api/deploy/Dockerfile", "FROM redis:7\n"),
        ("ops/main.tf", "required_version = \"1.7\"\n"),
    ]);
    let stack = detect(folder.path());
    let paths: Vec<&str> = stack.components.iter().map(|c| c.path.as_str()).collect();
    assert_eq!(paths, [".", "api"]);
    assert!(stack.components[1].item("redis").is_some());
    assert!(stack.components[0].item("terraform").is_some());
    assert_eq!(stack.components[0].language, None);
}

#[test]
fn dependencies_output_and_deep_folders_are_not_searched() {
    let manifest = r#"{"dependencies": {"vue": "3"}}"#;
    for folder_name in ["node_modules", "target", "vendor", ".venv", "dist", "fixtures", "testdata"]
    {
        let path = format!("a/{folder_name}/package.json");
        let folder = project(&[("go.mod", "module x\n"), (&path, manifest)]);
        assert_eq!(detect(folder.path()).components.len(), 1, "{folder_name}");
    }
    let deep = |depth: usize| {
        let path = format!("{}package.json", "d/".repeat(depth));
        let folder = project(&[(&path, manifest)]);
        detect(folder.path()).components.len()
    };
    assert_eq!((deep(5), deep(6)), (1, 0));
    // Ignore files hold without a repository, and a folder may be named like the project's own.
    let ignored =
        project(&[(".ignore", "a/\n"), ("a/package.json", manifest), ("b/package.json", manifest)]);
    let stack = detect(ignored.path());
    assert_eq!(stack.components.iter().map(|c| c.path.as_str()).collect::<Vec<_>>(), ["b"]);
}

#[test]
fn a_mark_at_the_beginning_of_a_file_is_no_part_of_it() {
    check(&[("go.mod", "\u{feff}go 1.22\n")], "go: go 1.22");
}

#[test]
fn files_of_a_megabyte_are_read_and_larger_ones_are_not() {
    let sized = |bytes: usize| {
        let text = format!("go 1.22\n{}", "/".repeat(bytes - 8));
        let folder = project(&[("go.mod", &text)]);
        let stack = detect(folder.path());
        (stack.components.len(), stack.notes.len())
    };
    assert_eq!(sized(1024 * 1024), (1, 0));
    assert_eq!(sized(1024 * 1024 + 1), (0, 1));
}

#[test]
fn every_value_has_evidence() {
    let folder = project(&[
        ("pyproject.toml", "[project]\nrequires-python = '>=3.9'\n"),
        (".python-version", "3.12.1\n"),
    ]);
    let stack = detect(folder.path());
    let python = stack.components[0].item("python").unwrap();
    let evidence = |file: &str, key: &str, version: &str| Evidence {
        file: file.to_owned(),
        key: key.to_owned(),
        version: Some(version.to_owned()),
    };
    assert_eq!(
        python.evidence,
        [
            evidence(".python-version", ".python-version", "3.12.1"),
            evidence("pyproject.toml", "project.requires-python", ">=3.9"),
        ]
    );
    assert_eq!(stack.components[0].version(), Some("3.12"));
}

#[test]
fn splits_a_monorepo_into_components() {
    let folder = project(&[
        (
            "package.json",
            r#"{"private": true, "workspaces": ["apps/*"], "devDependencies": {"typescript": "5.4.5", "turbo": "^2.0.0"}}"#,
        ),
        ("pnpm-workspace.yaml", "packages: ['apps/*']\ncatalog:\n  react: ^18.3.1\n"),
        (".nvmrc", "20\n"),
        ("docker-compose.yml", "services: {db: {image: 'postgres:16'}}\n"),
        (
            "apps/web/package.json",
            r#"{"dependencies": {"react": "catalog:"}, "devDependencies": {"@types/node": "^20"}}"#,
        ),
        ("apps/web/tsconfig.json", "{}"),
        ("services/api/go.mod", "module x\ngo 1.22\nrequire github.com/gin-gonic/gin v1.9.1\n"),
        ("services/api/Dockerfile", "FROM golang:1.22\n"),
        ("s/Gemfile", "gem 'sinatra'\n"),
        ("node_modules/left/package.json", r#"{"dependencies": {"vue": "3"}}"#),
        ("ignored/package.json", r#"{"dependencies": {"vue": "3"}}"#),
        (".gitignore", "ignored/\n"),
    ]);
    let stack = detect(folder.path());
    let paths: Vec<&str> = stack.components.iter().map(|c| c.path.as_str()).collect();
    assert_eq!(paths, [".", "apps/web", "s", "services/api"]);
    // Versions and what is shared come from above, frameworks of others do not.
    assert_eq!(
        shown(&stack, "apps/web/src/x.tsx"),
        "typescript: typescript 5.4, react 18.3, nodejs 20, postgresql 16, turborepo 2.0, docker"
    );
    assert_eq!(
        shown(&stack, "services/api"),
        "go: go 1.22, gin 1.9, postgresql 16, docker, turborepo 2.0"
    );
    assert_eq!(stack.component_of("s/app.rb").unwrap().path, "s");
    let whole = stack.view(None);
    assert_eq!(whole.language().unwrap().name, "typescript");
    assert!(whole.has("gin") && whole.has("react") && whole.has("sinatra") && !whole.has("vue"));
}

#[test]
fn workspaces_provide_versions_to_members() {
    let folder = project(&[
        (
            "Cargo.toml",
            "[workspace]\nmembers = ['a']\n[workspace.package]\nrust-version = '1.82'\n[workspace.dependencies]\naxum = '0.7'\n",
        ),
        (
            "a/Cargo.toml",
            "[package]\nname = 'a'\nrust-version.workspace = true\n[dependencies]\naxum.workspace = true\n",
        ),
        ("b/Cargo.toml", "[package]\nname = 'b'\n"),
    ]);
    let stack = detect(folder.path());
    assert_eq!(shown(&stack, "a"), "rust: rust 1.82, axum 0.7");
    assert_eq!(shown(&stack, "b"), "rust: rust 1.82");
    let folder = project(&[
        (
            "Directory.Packages.props",
            "<Project><ItemGroup><PackageVersion Include='xunit' Version='2.8.0'/></ItemGroup></Project>",
        ),
        (
            "Directory.Build.props",
            "<Project><PropertyGroup><TargetFramework>net9.0</TargetFramework></PropertyGroup></Project>",
        ),
        ("global.json", r#"{"sdk": {"version": "9.0.100"}}"#),
        (
            "t/T.csproj",
            "<Project Sdk='Microsoft.NET.Sdk'><ItemGroup><PackageReference Include='xunit'/></ItemGroup></Project>",
        ),
    ]);
    assert_eq!(shown(&detect(folder.path()), "t"), "csharp: csharp, dotnet 9.0, xunit 2.8");
}

#[test]
fn broken_manifests_are_notes() {
    let folder = project(&[
        ("a/package.json", "{\"dependencies\": {"),
        ("b/Cargo.toml", "[package"),
        ("c/pom.xml", "<project><oops></project>"),
        ("d/pubspec.yaml", "a: [unclosed"),
        ("e/go.mod", "\u{0}\u{1}garbage"),
        ("f/composer.json", "[1, 2]"),
    ]);
    write(folder.path(), "g/package.json", b"{\"name\": \"\xff\xfe\"}");
    let stack = detect(folder.path());
    let notes: Vec<&str> = stack.notes.iter().map(|note| note.file.as_str()).collect();
    assert_eq!(
        notes,
        ["a/package.json", "b/Cargo.toml", "c/pom.xml", "d/pubspec.yaml", "g/package.json"]
    );
    assert!(stack.notes.iter().all(|note| !note.message.contains('\n')), "{:?}", stack.notes);
    // Even a broken one says which language.
    assert_eq!(stack.component_of("b").unwrap().language.as_deref(), Some("rust"));
}

#[test]
fn survives_hostile_files() {
    let bomb: String = (1..20)
        .map(|n| format!("a{n}: &a{n} [{}]\n", vec![format!("*a{}", n - 1); 9].join(", ")))
        .collect();
    let xml = "<!DOCTYPE x [<!ENTITY a 'aaaaaaaaaa'><!ENTITY b '&a;&a;&a;&a;&a;&a;&a;&a;'>]><project>&b;</project>";
    let folder = project(&[
        ("huge/package.json", &format!("{{\"a\": \"{}\"}}", "x".repeat(1024 * 1024))),
        ("deep/package.json", &format!("{}{}", "[".repeat(100_000), "]".repeat(100_000))),
        ("bomb/docker-compose.yml", &format!("a0: &a0 [x]\n{bomb}services: *a19\n")),
        ("nest/compose.yaml", &format!("services: {}{}", "[".repeat(50_000), "]".repeat(50_000))),
        ("xml/pom.xml", xml),
        ("toml/Cargo.toml", &format!("a = {}{}", "[".repeat(50_000), "]".repeat(50_000))),
        ("many/go.mod", &"require github.com/gin-gonic/gin v1.0.0\n".repeat(20_000)),
        ("long/.nvmrc", &"9".repeat(100_000)),
        ("quotes/Gemfile", &"gem '\n".repeat(10_000)),
    ]);
    let stack = detect(folder.path());
    let notes: Vec<&str> = stack.notes.iter().map(|note| note.file.as_str()).collect();
    assert_eq!(
        notes,
        [
            "bomb/docker-compose.yml",
            "deep/package.json",
            "huge/package.json",
            "nest/compose.yaml",
            "toml/Cargo.toml",
            "xml/pom.xml"
        ]
    );
    assert_eq!(shown(&stack, "many"), "go: go, gin 1.0");
}

#[cfg(unix)]
#[test]
fn does_not_follow_links() {
    let outside = project(&[("secret/package.json", r#"{"dependencies": {"vue": "3"}}"#)]);
    let folder = project(&[("a/go.mod", "module x\ngo 1.22\n")]);
    let link = |to: &Path, at: &str| {
        std::os::unix::fs::symlink(to, folder.path().join(at)).unwrap();
    };
    link(folder.path(), "a/loop");
    link(&outside.path().join("secret"), "outside");
    link(&outside.path().join("secret/package.json"), "package.json");
    let stack = detect(folder.path());
    let paths: Vec<&str> = stack.components.iter().map(|c| c.path.as_str()).collect();
    assert_eq!(paths, ["a"]);
}

#[test]
fn empty_or_missing_folder_yields_an_empty_stack() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(detect(folder.path()), Stack::default());
    assert_eq!(detect(&folder.path().join("missing")), Stack::default());
}

mod cached {
    use super::*;

    fn detect(folder: &Path) -> Stack {
        detect_cached(folder, &PrivateFolder::of(folder))
    }

    fn start() -> tempfile::TempDir {
        let folder = project(&[
            ("go.mod", "module x\ngo 1.21\n"),
            ("web/package.json", r#"{"dependencies": {"react": "18.0.0"}}"#),
            ("web/src/deep/x.ts", ""),
        ]);
        fs_err::create_dir(folder.path().join(".handover")).unwrap();
        folder
    }

    /// Makes everything look as if it were made long ago, so that the cache may be trusted.
    fn settle(folder: &Path) {
        // Times cannot be set for what the system counts as a change, so wait for a few ticks.
        let _ = folder;
        std::thread::sleep(std::time::Duration::from_millis(60));
    }

    #[test]
    fn cached_result_equals_uncached() {
        let folder = start();
        settle(folder.path());
        let plain = super::detect(folder.path());
        assert_eq!(detect(folder.path()), plain);
        assert_eq!(detect(folder.path()), plain);
    }

    #[test]
    fn warm_cache_reads_no_manifest() {
        let folder = start();
        settle(folder.path());
        let file = folder.path().join(".handover").join(CACHE_FILE);
        detect(folder.path());
        // What the cache says is believed while nothing has changed.
        let text = fs_err::read_to_string(&file).unwrap();
        fs_err::write(&file, text.replace("\"1.21\"", "\"1.99\"")).unwrap();
        assert_eq!(detect(folder.path()).components[0].version(), Some("1.99"));
    }

    #[test]
    fn detects_changed_added_and_removed_manifests() {
        let folder = start();
        settle(folder.path());
        let root = folder.path();
        detect(root);
        // The same size, at once.
        write(root, "go.mod", "module x\ngo 1.22\n");
        assert_eq!(detect(root).components[0].version(), Some("1.22"));
        write(root, "go.mod", "module x\ngo 1.23\n");
        assert_eq!(detect(root).components[0].version(), Some("1.23"));
        settle(root);
        detect(root);
        write(root, "web/src/deep/Gemfile", "gem 'rails'\n");
        assert_eq!(detect(root).components.len(), 3);
        settle(root);
        detect(root);
        write(root, "new/folder/Cargo.toml", "[package]\n");
        assert_eq!(detect(root).components.len(), 4);
        settle(root);
        detect(root);
        fs_err::remove_file(root.join("web/src/deep/Gemfile")).unwrap();
        fs_err::remove_dir_all(root.join("new")).unwrap();
        assert_eq!(detect(root).components.len(), 2);
        settle(root);
        detect(root);
        write(root, ".gitignore", "web/\n");
        assert_eq!(detect(root).components.len(), 1);
        settle(root);
        detect(root);
        write(root, ".gitignore", "xyz/\n");
        assert_eq!(detect(root).components.len(), 2);
    }

    #[test]
    fn new_source_file_does_not_invalidate_the_cache() {
        let folder = start();
        settle(folder.path());
        let file = folder.path().join(".handover").join(CACHE_FILE);
        detect(folder.path());
        let text = fs_err::read_to_string(&file).unwrap();
        fs_err::write(&file, text.replace("\"1.21\"", "\"1.99\"")).unwrap();
        write(folder.path(), "web/src/deep/y.ts", "");
        assert_eq!(detect(folder.path()).components[0].version(), Some("1.99"));
    }

    #[test]
    fn ignores_a_damaged_or_foreign_cache() {
        let folder = start();
        settle(folder.path());
        let plain = super::detect(folder.path());
        let file = folder.path().join(".handover").join(CACHE_FILE);
        detect(folder.path());
        let good = fs_err::read_to_string(&file).unwrap();
        let other = folder.path().display().to_string();
        for text in [
            "",
            "{",
            "null",
            "{\"format\": \"1\"}",
            &good[..good.len() / 2],
            &good.replace("\"1 ", "\"0 "),
            &good.replace(&other, "/elsewhere"),
            &"[".repeat(100_000),
        ] {
            fs_err::write(&file, text).unwrap();
            assert_eq!(detect(folder.path()), plain);
        }
        fs_err::write(&file, b"\xff\xfe").unwrap();
        assert_eq!(detect(folder.path()), plain);
        fs_err::remove_file(&file).unwrap();
        fs_err::create_dir(&file).unwrap();
        assert_eq!(detect(folder.path()), plain);
    }

    #[test]
    fn unwritable_cache_is_no_error() {
        let folder = project(&[("go.mod", "module x\n")]);
        assert_eq!(detect(folder.path()).components.len(), 1);
        assert!(!folder.path().join(".handover").exists());
    }
}
