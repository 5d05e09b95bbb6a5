//! The files that tell about technology, and who reads them: one module for each ecosystem, each
//! with a table from the names of its dependencies to those of the catalog.

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
    /// Puts what the file says into the manifest.
    pub(super) read: fn(&mut Manifest<'_>),
    /// Whether the folder is a component because of this file.
    pub(super) opens: bool,
    /// How much its versions count; the least counts most.
    pub(super) rank: u8,
}

/// How a file is recognised.
enum Pattern {
    /// By its name.
    Name(&'static str),
    /// By how its name begins and ends.
    Around(&'static str, &'static str),
    /// By the folder it lies in, whose owner is the folder above, and how its name ends.
    In(&'static str, &'static str),
}

const VERSION_FILE: u8 = 0;
const MANIFEST: u8 = 1;
const IMAGE: u8 = 2;

const fn opens(pattern: Pattern, read: fn(&mut Manifest<'_>)) -> Reader {
    Reader { pattern, read, opens: true, rank: MANIFEST }
}

const fn tells(pattern: Pattern, read: fn(&mut Manifest<'_>)) -> Reader {
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

/// Every kind of file, the first that fits counts.
static READERS: &[Reader] = &[
    opens(Name("Cargo.toml"), rust::cargo),
    opens(Name("package.json"), node::package),
    tells(Name("tsconfig.json"), node::tsconfig),
    tells(Name("pnpm-workspace.yaml"), node::pnpm_workspace),
    opens(Name("deno.json"), node::deno),
    opens(Name("deno.jsonc"), node::deno),
    tells(Name("nx.json"), node::nx),
    tells(Name("turbo.json"), node::turbo),
    opens(Name("pyproject.toml"), python::pyproject),
    opens(Name("Pipfile"), python::pipfile),
    opens(Name("setup.py"), python::setup_py),
    opens(Name("setup.cfg"), python::setup_cfg),
    opens(Name("environment.yml"), python::conda),
    opens(Name("environment.yaml"), python::conda),
    opens(In("requirements", ".txt"), python::requirements),
    opens(Around("requirements", ".txt"), python::requirements),
    opens(Name("go.mod"), golang::go_mod),
    tells(Name("go.work"), golang::go_work),
    opens(Name("pom.xml"), jvm::pom),
    opens(Name("build.gradle"), jvm::gradle),
    opens(Name("build.gradle.kts"), jvm::gradle),
    tells(Name("settings.gradle"), jvm::settings),
    tells(Name("settings.gradle.kts"), jvm::settings),
    tells(Name("gradle.properties"), jvm::properties),
    tells(In("gradle", "libs.versions.toml"), jvm::version_catalog),
    opens(Name("build.sbt"), jvm::sbt),
    tells(In("project", "plugins.sbt"), jvm::sbt),
    opens(Name("Gemfile"), ruby::gemfile),
    opens(Name("composer.json"), php::composer),
    opens(Around("", ".csproj"), dotnet::project),
    opens(Around("", ".fsproj"), dotnet::project),
    tells(Name("global.json"), dotnet::global),
    tells(Name("Directory.Build.props"), dotnet::project),
    tells(Name("Directory.Packages.props"), dotnet::packages),
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
    tells(Name("Chart.yaml"), containers::helm),
    tells(Name("kustomization.yaml"), containers::kustomize),
    tells(Name("kustomization.yml"), containers::kustomize),
    tells(Name("skaffold.yaml"), containers::kustomize),
    tells(In("k8s", ".yaml"), containers::kubernetes),
    tells(In("k8s", ".yml"), containers::kubernetes),
    tells(In("kubernetes", ".yaml"), containers::kubernetes),
    tells(In("kubernetes", ".yml"), containers::kubernetes),
    tells(In("manifests", ".yaml"), containers::kubernetes),
    tells(In("manifests", ".yml"), containers::kubernetes),
    tells(In("deploy", ".yaml"), containers::kubernetes),
    tells(In("deploy", ".yml"), containers::kubernetes),
    tells(Around("", ".tf"), terraform::configuration),
    tells(Around("", ".tofu"), terraform::opentofu),
    tells(In("workflows", ".yml"), ci::github),
    tells(In("workflows", ".yaml"), ci::github),
    tells(Name(".gitlab-ci.yml"), ci::gitlab),
    tells(In(".circleci", "config.yml"), ci::circle),
    tells(Name("Jenkinsfile"), ci::jenkins),
    tells(Name("azure-pipelines.yml"), ci::azure),
    tells(Name("serverless.yml"), ci::serverless),
    tells(Name("vercel.json"), ci::vercel),
    tells(Name("wrangler.toml"), ci::cloudflare),
    tells(Name("Pulumi.yaml"), ci::pulumi),
    tells(Name("ansible.cfg"), ci::ansible),
    tells(Name("dbt_project.yml"), ci::dbt),
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

/// Who reads a file, if anybody does.
pub(super) fn reader(path: &str) -> Option<&'static Reader> {
    let (folder, name) = split(path);
    let parent = split(folder).1;
    READERS.iter().find(|reader| match reader.pattern {
        In(wanted, _) if wanted != parent => false,
        In(_, _) | Name(_) | Around(_, _) => fits(&reader.pattern, name),
    })
}

/// Whether a file of this name could be read, wherever it lies.
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

/// The folder of a path, `.` being the root, and the name.
fn split(path: &str) -> (&str, &str) {
    path.rsplit_once('/').unwrap_or((".", path))
}

impl Reader {
    /// The folder that a file tells about.
    pub(super) fn folder(&self, path: &str) -> String {
        let folder = split(path).0;
        match self.pattern {
            In("workflows", _) => ".".to_owned(),
            In(_, _) => split(folder).0.to_owned(),
            Name(_) | Around(_, _) => folder.to_owned(),
        }
    }
}

/// How a technology was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Use {
    /// It is used here.
    Used,
    /// Only its version is set, for whoever uses it.
    Hint,
}

/// One technology in one file.
#[derive(Debug)]
pub(super) struct Finding {
    /// Its name in the catalog.
    pub(super) name: &'static str,
    /// What in the file says so.
    pub(super) key: String,
    /// Its version as written.
    pub(super) version: Option<String>,
    /// The language whose manifest it is.
    pub(super) ecosystem: Option<&'static str>,
    pub(super) how: Use,
}

/// A file while it is read.
pub(super) struct Manifest<'a> {
    path: &'a str,
    text: &'a str,
    ecosystem: Option<&'static str>,
    findings: Vec<Finding>,
    complaint: Option<String>,
}

/// A text from a file is kept in evidence up to here.
const LONGEST_WORD: usize = 100;

/// One file cannot be made of more technologies than there are; this bounds a hostile one.
const MOST_FINDINGS: usize = 2_000;

impl<'a> Manifest<'a> {
    pub(super) fn new(path: &'a str, text: &'a str) -> Self {
        Self { path, text, ecosystem: None, findings: Vec::new(), complaint: None }
    }

    /// What was found, and what is wrong with the file.
    pub(super) fn finish(self) -> (Vec<Finding>, Option<String>) {
        (self.findings, self.complaint)
    }

    /// The file's name.
    fn name(&self) -> &'a str {
        split(self.path).1
    }

    /// The language whose manifest it is, for all that follows.
    fn ecosystem(&mut self, language: &'static str) {
        self.ecosystem = Some(language);
    }

    /// A technology is used here.
    fn uses(&mut self, name: &'static str, key: impl AsRef<str>, version: Option<&str>) {
        self.push(name, key.as_ref(), version, Use::Used);
    }

    /// A language is used here, because of the whole file if no key says which version.
    fn language(&mut self, name: &'static str, key: &str, version: Option<&str>) {
        let key = if version.is_some() { key } else { self.name() };
        self.push(name, key, version, Use::Used);
    }

    /// A version is set here.
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

    /// A dependency, if the table knows it. The version of a driver is not that of the database.
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

    /// Something is wrong with the file; the first complaint counts.
    fn complain(&mut self, message: impl std::fmt::Display) {
        if self.complaint.is_none() {
            let message = message.to_string();
            let line: String = message.split_whitespace().collect::<Vec<_>>().join(" ");
            self.complaint = Some(line.chars().take(200).collect());
        }
    }

    /// The file as JSON.
    fn json(&mut self) -> Value {
        serde_json::from_str(self.text).unwrap_or_else(|error| {
            self.complain(format_args!("it is not JSON: {error}"));
            Value::Null
        })
    }

    /// The file as YAML.
    fn yaml(&mut self) -> Value {
        serde_saphyr::from_str(self.text).unwrap_or_else(|error: serde_saphyr::Error| {
            let message = error.without_snippet().to_string();
            let first = message.lines().next().unwrap_or_default().to_owned();
            self.complain(format_args!("it is not YAML: {first}"));
            Value::Null
        })
    }

    /// The file as TOML.
    fn toml(&mut self) -> toml::Table {
        self.text.parse().unwrap_or_else(|error: toml::de::Error| {
            self.complain(format_args!("it is not TOML: {}", error.message()));
            toml::Table::new()
        })
    }
}

/// From the name of a dependency to that of a technology. One that ends in `*` stands for every
/// dependency that begins so; one that begins with `~` has versions of its own.
type Table = [(&'static str, &'static str)];

/// Tools that are dependencies themselves; others of their categories are reached by drivers and
/// kits, whose versions say nothing.
const ITSELF: &[&str] =
    &["ansible", "apollo", "bullmq", "nx", "oban", "pulumi", "serverless", "sidekiq", "turborepo"];

/// The technology of a dependency, and whether they have the same version.
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

/// A text or a number as text: versions are both.
fn json_text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::catalog;
    use super::*;

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
}
