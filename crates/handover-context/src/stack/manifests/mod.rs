//! Manifest readers: one module per ecosystem, each with a table from dependencies to technologies of the
//! catalog.

mod beam;
mod ci;
mod containers;
mod dart;
mod dotnet;
mod golang;
mod jvm;
mod native;
mod node;
mod php;
mod python;
mod ruby;
mod rust;
mod scan;
mod swift;
mod terraform;
mod version_files;

use handover_model::Category;
use serde_json::Value;

/// How one kind of file is recognised and read.
pub(super) struct Reader {
    pattern: Pattern,
    /// Adds the findings of the file.
    pub(super) read: fn(&mut Manifest<'_>),
    /// Whether the file makes its folder a component.
    pub(super) opens: bool,
    /// The reliability of its versions; lower is better.
    pub(super) rank: u8,
}

/// How a file is recognised.
enum Pattern {
    /// By its exact name.
    Name(&'static str),
    /// By prefix and suffix of its name.
    Around(&'static str, &'static str),
    /// By its folder, which belongs to the folder above, and the suffix of its name.
    In(&'static str, &'static str),
}

const VERSION_FILE: u8 = 0;
const MANIFEST: u8 = 1;
const IMAGE: u8 = 2;

const fn opens(pattern: Pattern, read: fn(&mut Manifest<'_>)) -> Reader {
    Reader { pattern, read, opens: true, rank: MANIFEST }
}

const fn describes(pattern: Pattern, read: fn(&mut Manifest<'_>)) -> Reader {
    Reader { pattern, read, opens: false, rank: MANIFEST }
}

const fn image(pattern: Pattern, read: fn(&mut Manifest<'_>)) -> Reader {
    Reader { pattern, read, opens: false, rank: IMAGE }
}

const fn version(name: &'static str) -> Reader {
    Reader {
        pattern: Pattern::Name(name),
        read: version_files::read,
        opens: false,
        rank: VERSION_FILE,
    }
}

use Pattern::{Around, In, Name};

/// Every kind of file; the first match wins.
static READERS: &[Reader] = &[
    opens(Name("Cargo.toml"), rust::cargo),
    opens(Name("package.json"), node::package),
    describes(Name("tsconfig.json"), node::tsconfig),
    describes(Name("pnpm-workspace.yaml"), node::pnpm_workspace),
    opens(Name("deno.json"), node::deno),
    opens(Name("deno.jsonc"), node::deno),
    describes(Name("nx.json"), node::nx),
    describes(Name("turbo.json"), node::turbo),
    opens(Name("pyproject.toml"), python::pyproject),
    opens(Name("Pipfile"), python::pipfile),
    opens(Name("setup.py"), python::setup_py),
    opens(Name("setup.cfg"), python::setup_cfg),
    opens(Name("environment.yml"), python::conda),
    opens(Name("environment.yaml"), python::conda),
    opens(In("requirements", ".txt"), python::requirements),
    opens(Around("requirements", ".txt"), python::requirements),
    opens(Name("go.mod"), golang::go_mod),
    describes(Name("go.work"), golang::go_work),
    opens(Name("pom.xml"), jvm::pom),
    opens(Name("build.gradle"), jvm::gradle),
    opens(Name("build.gradle.kts"), jvm::gradle),
    describes(Name("settings.gradle"), jvm::settings),
    describes(Name("settings.gradle.kts"), jvm::settings),
    describes(Name("gradle.properties"), jvm::properties),
    describes(In("gradle", "libs.versions.toml"), jvm::version_catalog),
    opens(Name("build.sbt"), jvm::sbt),
    describes(In("project", "plugins.sbt"), jvm::sbt),
    opens(Name("Gemfile"), ruby::gemfile),
    opens(Name("composer.json"), php::composer),
    opens(Around("", ".csproj"), dotnet::project),
    opens(Around("", ".fsproj"), dotnet::project),
    describes(Name("global.json"), dotnet::global),
    describes(Name("Directory.Build.props"), dotnet::project),
    describes(Name("Directory.Packages.props"), dotnet::packages),
    opens(Name("mix.exs"), beam::mix),
    opens(Name("rebar.config"), beam::rebar),
    opens(Name("pubspec.yaml"), dart::pubspec),
    opens(Name("Package.swift"), swift::package),
    opens(Name("Podfile"), swift::podfile),
    opens(Name("CMakeLists.txt"), native::cmake),
    opens(Name("meson.build"), native::meson),
    opens(Name("conanfile.txt"), native::conan),
    opens(Name("vcpkg.json"), native::vcpkg),
    image(Around("Dockerfile", ""), containers::dockerfile),
    image(Around("", ".Dockerfile"), containers::dockerfile),
    image(Name("Containerfile"), containers::dockerfile),
    image(Around("docker-compose", ".yml"), containers::compose),
    image(Around("docker-compose", ".yaml"), containers::compose),
    image(Around("compose", ".yml"), containers::compose),
    image(Around("compose", ".yaml"), containers::compose),
    describes(Name("Chart.yaml"), containers::helm),
    describes(Name("kustomization.yaml"), containers::kustomize),
    describes(Name("kustomization.yml"), containers::kustomize),
    describes(Name("skaffold.yaml"), containers::kustomize),
    describes(In("k8s", ".yaml"), containers::kubernetes),
    describes(In("k8s", ".yml"), containers::kubernetes),
    describes(In("kubernetes", ".yaml"), containers::kubernetes),
    describes(In("kubernetes", ".yml"), containers::kubernetes),
    describes(In("manifests", ".yaml"), containers::kubernetes),
    describes(In("manifests", ".yml"), containers::kubernetes),
    describes(In("deploy", ".yaml"), containers::kubernetes),
    describes(In("deploy", ".yml"), containers::kubernetes),
    describes(Around("", ".tf"), terraform::configuration),
    describes(Around("", ".tofu"), terraform::opentofu),
    describes(In("workflows", ".yml"), ci::github),
    describes(In("workflows", ".yaml"), ci::github),
    describes(Name(".gitlab-ci.yml"), ci::gitlab),
    describes(In(".circleci", "config.yml"), ci::circle),
    describes(Name("Jenkinsfile"), ci::jenkins),
    describes(Name("azure-pipelines.yml"), ci::azure),
    describes(Name("serverless.yml"), ci::serverless),
    describes(Name("vercel.json"), ci::vercel),
    describes(Name("wrangler.toml"), ci::cloudflare),
    describes(Name("Pulumi.yaml"), ci::pulumi),
    describes(Name("ansible.cfg"), ci::ansible),
    describes(Name("dbt_project.yml"), ci::dbt),
    version(".tool-versions"),
    version(".mise.toml"),
    version("mise.toml"),
    version(".python-version"),
    version("runtime.txt"),
    version(".nvmrc"),
    version(".node-version"),
    version(".ruby-version"),
    version(".go-version"),
    version(".java-version"),
    version(".sdkmanrc"),
    version(".swift-version"),
    version(".php-version"),
    version(".bun-version"),
    version(".terraform-version"),
    version(".opentofu-version"),
    version(".elixir-version"),
    version("rust-toolchain"),
    version("rust-toolchain.toml"),
];

/// The reader of a file, if there is one.
pub(super) fn reader(path: &str) -> Option<&'static Reader> {
    let (folder, name) = split(path);
    let parent = split(folder).1;
    READERS.iter().find(|reader| match reader.pattern {
        In(wanted, _) if wanted != parent => false,
        In(_, _) | Name(_) | Around(_, _) => fits(&reader.pattern, name),
    })
}

/// Whether a file of this name may be read, in any folder.
pub(super) fn might_be(name: &str) -> bool {
    READERS.iter().any(|reader| fits(&reader.pattern, name))
}

fn fits(pattern: &Pattern, name: &str) -> bool {
    match pattern {
        Name(wanted) => name == *wanted,
        Around(start, end) => {
            name.len() >= start.len() + end.len() && name.starts_with(start) && name.ends_with(end)
        }
        In(_, end) => name.ends_with(end),
    }
}

/// The folder of a path (`.` is the root) and its file name.
fn split(path: &str) -> (&str, &str) {
    path.rsplit_once('/').unwrap_or((".", path))
}

impl Reader {
    /// The folder a file describes.
    pub(super) fn folder(&self, path: &str) -> String {
        let folder = split(path).0;
        match self.pattern {
            In("workflows", _) => ".".to_owned(),
            In(_, _) => split(folder).0.to_owned(),
            Name(_) | Around(_, _) => folder.to_owned(),
        }
    }
}

/// The role of a technology in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Use {
    /// It is used here.
    Used,
    /// Only its version is set, for components that use it.
    Hint,
}

/// A technology found in a file.
#[derive(Debug)]
pub(super) struct Finding {
    /// Its name in the catalog.
    pub(super) name: &'static str,
    /// The key or line it was found in.
    pub(super) key: String,
    /// The version as written.
    pub(super) version: Option<String>,
    /// The language of the manifest.
    pub(super) ecosystem: Option<&'static str>,
    pub(super) how: Use,
}

/// A file being read.
pub(super) struct Manifest<'a> {
    path: &'a str,
    text: &'a str,
    ecosystem: Option<&'static str>,
    findings: Vec<Finding>,
    complaint: Option<String>,
}

/// The most bytes of a text kept as evidence.
const LONGEST_WORD: usize = 100;

/// The most findings of one file, in case it is hostile.
const MOST_FINDINGS: usize = 2_000;

impl<'a> Manifest<'a> {
    pub(super) fn new(path: &'a str, text: &'a str) -> Self {
        Self { path, text, ecosystem: None, findings: Vec::new(), complaint: None }
    }

    /// The findings, and what is wrong with the file.
    pub(super) fn finish(self) -> (Vec<Finding>, Option<String>) {
        (self.findings, self.complaint)
    }

    fn name(&self) -> &'a str {
        split(self.path).1
    }

    /// Sets the language for all further findings.
    fn ecosystem(&mut self, language: &'static str) {
        self.ecosystem = Some(language);
    }

    /// Adds a technology that is used here.
    fn uses(&mut self, name: &'static str, key: impl AsRef<str>, version: Option<&str>) {
        self.push(name, key.as_ref(), version, Use::Used);
    }

    /// Adds a language; the evidence is the whole file if no key states the version.
    fn language(&mut self, name: &'static str, key: &str, version: Option<&str>) {
        let key = if version.is_some() { key } else { self.name() };
        self.push(name, key, version, Use::Used);
    }

    /// Adds a version that is set here.
    fn hint(&mut self, name: &'static str, key: impl AsRef<str>, version: Option<&str>) {
        self.push(name, key.as_ref(), version, Use::Hint);
    }

    fn push(&mut self, name: &'static str, key: &str, version: Option<&str>, how: Use) {
        let short = |text: &str| text.trim().chars().take(LONGEST_WORD).collect::<String>();
        if self.findings.len() < MOST_FINDINGS {
            let version = version.map(short).filter(|text| !text.is_empty());
            let ecosystem = self.ecosystem;
            self.findings.push(Finding { name, key: short(key), version, ecosystem, how });
        }
    }

    /// Adds a dependency, if the table contains it. The version of a driver is not that of the database.
    fn dependency(
        &mut self,
        table: &Table,
        name: &str,
        key: &str,
        version: Option<&str>,
        how: Use,
    ) {
        if let Some((technology, tells_version)) = lookup(table, name) {
            let version = version.filter(|_| tells_version);
            self.push(technology, &format!("{key}{name}"), version, how);
        }
    }

    /// Reports a problem; the first one counts.
    fn complain(&mut self, message: impl std::fmt::Display) {
        if self.complaint.is_none() {
            let message = message.to_string();
            let line: String = message.split_whitespace().collect::<Vec<_>>().join(" ");
            self.complaint = Some(line.chars().take(200).collect());
        }
    }

    /// Parses the file as JSON.
    fn json(&mut self) -> Value {
        serde_json::from_str(self.text).unwrap_or_else(|error| {
            self.complain(format_args!("it is not JSON: {error}"));
            Value::Null
        })
    }

    /// Parses the file as YAML.
    fn yaml(&mut self) -> Value {
        serde_saphyr::from_str(self.text).unwrap_or_else(|error: serde_saphyr::Error| {
            let message = error.without_snippet().to_string();
            let first = message.lines().next().unwrap_or_default().to_owned();
            self.complain(format_args!("it is not YAML: {first}"));
            Value::Null
        })
    }

    /// Parses the file as TOML.
    fn toml(&mut self) -> toml::Table {
        self.text.parse().unwrap_or_else(|error: toml::de::Error| {
            self.complain(format_args!("it is not TOML: {}", error.message()));
            toml::Table::new()
        })
    }
}

/// Maps dependencies to technologies. A name that ends in `*` matches by prefix; the version of one that starts
/// with `~` is its own, not the technology's.
type Table = [(&'static str, &'static str)];

/// Tools that are dependencies themselves; others of their categories are used through drivers and kits, whose
/// versions say nothing.
const ITSELF: &[&str] =
    &["ansible", "apollo", "bullmq", "nx", "oban", "pulumi", "serverless", "sidekiq", "turborepo"];

/// The technology of a dependency, and whether they share their version.
fn lookup(table: &Table, name: &str) -> Option<(&'static str, bool)> {
    let row = table.iter().find(|(dependency, _)| {
        let dependency = dependency.trim_start_matches('~');
        match dependency.strip_suffix('*') {
            Some(start) => name.starts_with(start),
            None => dependency == name,
        }
    });
    let &(dependency, technology) = row?;
    let (_, found) = super::catalog::find(technology)?;
    let by_driver = match found.category {
        Category::Database
        | Category::Infrastructure
        | Category::Messaging
        | Category::Api
        | Category::Security => !ITSELF.contains(&technology),
        Category::Language
        | Category::Framework
        | Category::Testing
        | Category::Data
        | Category::Ai
        | Category::Domain => false,
    };
    Some((technology, !dependency.starts_with('~') && !by_driver))
}

/// A version in a table of dependencies: `"1.2"` or `{ version = "1.2" }`.
fn toml_version(value: &toml::Value) -> Option<&str> {
    match value {
        toml::Value::String(text) => Some(text),
        toml::Value::Table(table) => table.get("version").and_then(toml::Value::as_str),
        toml::Value::Integer(_)
        | toml::Value::Float(_)
        | toml::Value::Boolean(_)
        | toml::Value::Datetime(_)
        | toml::Value::Array(_) => None,
    }
}

/// A string or a number as text: versions are written as both.
fn json_text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::catalog;
    use super::*;

    /// Compares what a file says, in any order: `name version (key)`, hints with a question mark, a
    /// complaint with an exclamation mark.
    #[track_caller]
    pub(super) fn check(path: &str, text: &str, expected: &[&str]) {
        let mut found = said(path, text);
        let mut expected: Vec<String> = expected.iter().map(|line| (*line).to_owned()).collect();
        found.sort();
        expected.sort();
        assert_eq!(found, expected, "{path}");
    }

    fn said(path: &str, text: &str) -> Vec<String> {
        let mut manifest = Manifest::new(path, text);
        (reader(path).unwrap().read)(&mut manifest);
        let (findings, complaint) = manifest.finish();
        let line = |one: Finding| {
            let mark = if one.how == Use::Hint { "?" } else { "" };
            let version = one.version.map(|version| format!(" {version}")).unwrap_or_default();
            format!("{mark}{}{version} ({})", one.name, one.key)
        };
        findings.into_iter().map(line).chain(complaint.map(|text| format!("!{text}"))).collect()
    }

    #[test]
    fn tables_lead_to_the_catalog() {
        for table in [
            rust::CRATES,
            node::PACKAGES,
            python::DISTRIBUTIONS,
            golang::MODULES,
            jvm::ARTIFACTS,
            ruby::GEMS,
            php::PACKAGES,
            dotnet::PACKAGES,
            beam::PACKAGES,
            dart::PACKAGES,
            swift::PACKAGES,
            native::LIBRARIES,
            containers::IMAGES,
            terraform::PROVIDERS,
        ] {
            for (dependency, technology) in table {
                assert!(catalog::find(technology).is_some(), "{dependency} leads to {technology}");
            }
        }
    }

    #[test]
    fn files_find_their_reader_and_their_folder() {
        for (path, folder) in [
            ("Cargo.toml", "."),
            ("a/b/Cargo.toml", "a/b"),
            (".github/workflows/ci.yml", "."),
            ("app/gradle/libs.versions.toml", "app"),
            ("gradle/libs.versions.toml", "."),
            ("api/requirements/base.txt", "api"),
            ("api/requirements-dev.txt", "api"),
            ("x/App.csproj", "x"),
            ("k8s/app.yaml", "."),
        ] {
            assert_eq!(reader(path).unwrap().folder(path), folder, "{path}");
        }
        for path in ["main.rs", "docs/x.yaml", "Cargo.lock", "package-lock.json", ".csproj.user"] {
            assert!(reader(path).is_none(), "{path}");
        }
    }

    #[test]
    fn lookups_know_prefixes_and_drivers() {
        let table: &Table = &[
            ("axum", "axum"),
            ("~axum-extra", "axum"),
            ("aws-sdk-*", "aws"),
            ("pg", "postgresql"),
            ("bullmq", "bullmq"),
            ("gone", "no-such-technology"),
        ];
        assert_eq!(lookup(table, "axum"), Some(("axum", true)));
        // Some companions are versioned on their own.
        assert_eq!(lookup(table, "axum-extra"), Some(("axum", false)));
        assert_eq!(lookup(table, "aws-sdk-s3"), Some(("aws", false)));
        assert_eq!(lookup(table, "aws-sdk"), None);
        // The version of a driver is not that of its database, but some packages are the thing itself.
        assert_eq!(lookup(table, "pg"), Some(("postgresql", false)));
        assert_eq!(lookup(table, "bullmq"), Some(("bullmq", true)));
        assert_eq!(lookup(table, "axu"), None);
        assert_eq!(lookup(table, "gone"), None);
    }

    #[test]
    fn patterns_need_both_ends() {
        let fits = |pattern: Pattern, name: &str| super::fits(&pattern, name);
        assert!(fits(Name("go.mod"), "go.mod") && !fits(Name("go.mod"), "go.mod2"));
        assert!(fits(Around("compose", ".yml"), "compose.yml"));
        assert!(fits(Around("compose", ".yml"), "compose.dev.yml"));
        assert!(!fits(Around("compose", ".yml"), "compose.yaml"));
        assert!(!fits(Around("compose", ".yml"), "x-compose.yml"));
        // The two ends must not overlap.
        assert!(!fits(Around("abc", "cde"), "abcde") && fits(Around("abc", "cde"), "abccde"));
        assert!(fits(In("k8s", ".yaml"), "a.yaml") && !fits(In("k8s", ".yaml"), "a.yml"));
        for name in ["Cargo.toml", "requirements-dev.txt", "x.tf", "App.fsproj", ".nvmrc"] {
            assert!(might_be(name), "{name}");
        }
        for name in ["main.rs", "README.md", "cargo.toml", "nvmrc"] {
            assert!(!might_be(name), "{name}");
        }
    }

    #[test]
    fn files_of_a_folder_need_that_folder() {
        assert!(reader("k8s/app.yaml").is_some() && reader("docs/app.yaml").is_none());
        assert!(reader("a/gradle/libs.versions.toml").is_some());
        assert!(reader("a/libs.versions.toml").is_none());
        assert!(reader(".circleci/config.yml").is_some() && reader("config.yml").is_none());
        // The first reader that fits wins: a Dockerfile with a suffix, a requirements folder.
        for path in ["Dockerfile", "Dockerfile.dev", "api.Dockerfile", "Containerfile"] {
            assert_eq!(reader(path).unwrap().rank, IMAGE, "{path}");
        }
        assert_eq!(reader("Cargo.toml").unwrap().rank, MANIFEST);
        assert_eq!(reader(".nvmrc").unwrap().rank, VERSION_FILE);
        assert!(reader("go.mod").unwrap().opens && !reader("go.work").unwrap().opens);
    }

    #[test]
    fn words_are_short_and_versions_not_empty() {
        let mut manifest = Manifest::new("x", "");
        manifest.uses("rust", "k".repeat(500), Some(&"1".repeat(500)));
        manifest.uses("rust", "key", Some("  "));
        manifest.language("rust", "key", None);
        let (findings, complaint) = manifest.finish();
        assert_eq!(findings[0].key.len(), LONGEST_WORD);
        assert_eq!(findings[0].version.as_ref().unwrap().len(), LONGEST_WORD);
        assert_eq!(findings[1].version, None);
        // Without a version, the file itself is the evidence.
        assert_eq!((findings[2].key.as_str(), complaint), ("x", None));
    }

    #[test]
    fn the_number_of_findings_is_bounded() {
        let text = "flask==1.0\n".repeat(MOST_FINDINGS + 50);
        assert_eq!(said("requirements.txt", &text).len(), MOST_FINDINGS);
    }

    #[test]
    fn only_the_first_complaint_counts_in_one_short_line() {
        let mut manifest = Manifest::new("x", "");
        manifest.complain(format_args!("a\n  b {}", "x".repeat(500)));
        manifest.complain("another");
        let complaint = manifest.finish().1.unwrap();
        assert!(complaint.starts_with("a b xxx"), "{complaint}");
        assert_eq!(complaint.chars().count(), 200);
    }

    #[test]
    fn broken_files_complain_and_still_say_what_they_are() {
        let first = |path: &str, text: &str| said(path, text).remove(0);
        assert_eq!(first("Cargo.toml", "[package"), "rust (Cargo.toml)");
        assert_eq!(first("package.json", "{"), "javascript (package.json)");
        assert_eq!(first("pom.xml", "<project>"), "maven (pom.xml)");
        for (path, text, what) in [
            ("Cargo.toml", "[package", "TOML"),
            ("package.json", "{", "JSON"),
            ("pubspec.yaml", "a: [", "YAML"),
            ("pom.xml", "<project>", "XML"),
        ] {
            let complaint = said(path, text).pop().unwrap();
            assert!(complaint.starts_with(&format!("!it is not {what}: ")), "{complaint}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn no_reader_panics(text in "(\\PC|[\n\t\"'{}\\[\\]()<>/:=$%~@#,.-]){0,120}") {
            for path in [
                "Cargo.toml", "package.json", "pnpm-workspace.yaml", "pyproject.toml", "Pipfile", "setup.py",
                "setup.cfg", "environment.yml", "requirements.txt", "go.mod", "go.work", "pom.xml", "build.gradle.kts",
                "settings.gradle", "gradle.properties", "gradle/libs.versions.toml", "build.sbt", "Gemfile",
                "composer.json", "A.csproj", "global.json", "Directory.Packages.props", "mix.exs", "pubspec.yaml",
                "Package.swift", "Podfile", "CMakeLists.txt", "meson.build", "conanfile.txt", "vcpkg.json", "Dockerfile",
                "compose.yml", "k8s/a.yaml", "a.tf", ".tool-versions", "mise.toml", "rust-toolchain", ".sdkmanrc", ".nvmrc",
            ] {
                said(path, &text);
            }
        }
    }
}
