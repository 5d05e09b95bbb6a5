//! Java, Kotlin, Scala: Maven, Gradle, sbt.

use std::collections::BTreeMap;

use roxmltree::{Document, Node};

use super::dotnet::xml;
use super::scan::{lines, number_after, quoted, quoted_after};
use super::{Manifest, Table, Use, toml_version};

/// By group, `group:artifact`, or artifact; the first match wins.
#[rustfmt::skip]
pub(super) const ARTIFACTS: &Table = &[
    ("org.springframework.boot*", "spring-boot"), ("spring-boot*", "spring-boot"), ("io.quarkus*", "quarkus"), ("quarkus*", "quarkus"),
    ("io.micronaut*", "micronaut"), ("micronaut*", "micronaut"), ("io.ktor*", "ktor"), ("ktor*", "ktor"),
    ("com.typesafe.play*", "play"), ("org.playframework*", "play"), ("com.typesafe.akka*", "akka"), ("org.http4s*", "http4s"), ("dev.zio*", "zio"),
    ("~com.android.application", "android"), ("~com.android.library", "android"), ("~android-application", "android"), ("~android-library", "android"),
    ("~androidx.compose*", "jetpack-compose"), ("~org.jetbrains.compose*", "jetpack-compose"), ("~org.jetbrains.kotlin.plugin.compose", "jetpack-compose"), ("~androidx-compose*", "jetpack-compose"), ("~kotlin-compose", "jetpack-compose"),
    ("org.hibernate*", "hibernate"), ("hibernate*", "hibernate"),
    ("org.postgresql*", "postgresql"), ("postgresql", "postgresql"), ("com.mysql*", "mysql"), ("mysql:*", "mysql"), ("mysql-connector*", "mysql"), ("org.mariadb*", "mariadb"),
    ("com.microsoft.sqlserver*", "sqlserver"), ("com.oracle.database*", "oracle"), ("org.xerial:sqlite-jdbc", "sqlite"), ("org.mongodb*", "mongodb"),
    ("redis.clients*", "redis"), ("io.lettuce*", "redis"), ("co.elastic.clients*", "elasticsearch"), ("com.datastax*", "cassandra"), ("org.neo4j*", "neo4j"), ("com.clickhouse*", "clickhouse"),
    ("org.apache.kafka*", "kafka"), ("org.springframework.kafka*", "kafka"), ("com.rabbitmq*", "rabbitmq"), ("org.springframework.amqp*", "rabbitmq"), ("org.apache.pulsar*", "pulsar"), ("io.nats*", "nats"),
    ("io.grpc*", "grpc"), ("com.graphql-java*", "graphql"), ("com.apollographql*", "apollo"), ("org.springdoc*", "openapi"),
    ("org.junit*", "junit"), ("junit*", "junit"), ("org.testng*", "testng"), ("org.mockito*", "mockito"), ("mockito*", "mockito"),
    ("org.testcontainers*", "testcontainers"), ("testcontainers*", "testcontainers"), ("io.kotest*", "kotest"), ("net.jqwik*", "jqwik"), ("org.scalatest*", "scalatest"), ("org.seleniumhq*", "selenium"), ("com.microsoft.playwright*", "playwright"),
    ("io.opentelemetry*", "opentelemetry"), ("io.prometheus*", "prometheus"), ("software.amazon.awssdk*", "aws"), ("com.azure*", "azure"), ("com.google.cloud*", "gcp"),
    ("org.apache.spark*", "pyspark"), ("org.apache.flink*", "flink"), ("~dev.langchain4j*", "langchain"),
    ("io.jsonwebtoken*", "jwt"), ("com.auth0:java-jwt", "jwt"), ("org.keycloak*", "keycloak"),
];

/// A dependency by its group and artifact.
fn artifact(
    manifest: &mut Manifest<'_>,
    group: &str,
    artifact: &str,
    key: &str,
    version: Option<&str>,
    how: Use,
) {
    let both = format!("{group}:{artifact}");
    manifest.dependency(ARTIFACTS, &both, key, version, how);
    // Starters determine the technology, not its version.
    if group == "org.springframework.boot" {
        const STARTERS: &[(&str, &str)] = &[
            ("spring-boot-starter-data-mongodb*", "mongodb"),
            ("spring-boot-starter-data-redis*", "redis"),
            ("spring-boot-starter-data-elasticsearch", "elasticsearch"),
            ("spring-boot-starter-data-jpa", "hibernate"),
            ("spring-boot-starter-amqp", "rabbitmq"),
            ("spring-boot-starter-graphql", "graphql"),
            ("spring-boot-starter-test", "junit"),
        ];
        manifest.dependency(STARTERS, artifact, key, None, how);
    }
}

pub(super) fn pom(manifest: &mut Manifest<'_>) {
    manifest.ecosystem("java");
    manifest.uses("maven", "pom.xml", None);
    let Some(document) = xml(manifest) else {
        manifest.uses("java", "pom.xml", None);
        return;
    };
    let root = Document::root_element(&document);
    let properties = properties_of(root);
    let java = [
        "java.version",
        "maven.compiler.release",
        "maven.compiler.target",
        "maven.compiler.source",
    ]
    .iter()
    .find_map(|key| Some((*key, properties.get(*key)?)));
    let plugin = |name: &str| {
        let node = root.descendants().find(|node| node.has_tag_name(name))?;
        Some(resolve(node.text()?.trim(), &properties).to_owned())
    };
    match java {
        Some((key, version)) => {
            manifest.uses("java", format!("properties.{key}"), Some(resolve(version, &properties)));
        }
        None => {
            let release = plugin("release").or_else(|| plugin("source"));
            manifest.language("java", "maven-compiler-plugin", release.as_deref());
        }
    }
    if let Some(version) = properties.get("kotlin.version") {
        manifest.uses("kotlin", "properties.kotlin.version", Some(version));
    }
    for node in root.descendants() {
        let how = match node.tag_name().name() {
            "parent" => Use::Used,
            "dependency" | "plugin" if managed(node) => Use::Hint,
            "dependency" | "plugin" => Use::Used,
            _ => continue,
        };
        let child = |name: &str| {
            let node = node.children().find(|child| child.has_tag_name(name))?;
            Some(resolve(node.text()?.trim(), &properties))
        };
        let (Some(group), Some(name)) = (child("groupId"), child("artifactId")) else { continue };
        // An imported list of versions sets Spring Boot's.
        let how = if name == "spring-boot-dependencies" { Use::Used } else { how };
        let key = format!("{} ", node.tag_name().name());
        artifact(manifest, group, name, &key, child("version"), how);
        if group == "org.jetbrains.kotlin" {
            manifest.push("kotlin", &format!("{key}{name}"), child("version"), how);
        }
    }
}

fn managed(node: Node<'_, '_>) -> bool {
    node.ancestors()
        .any(|above| matches!(above.tag_name().name(), "dependencyManagement" | "pluginManagement"))
}

fn properties_of<'t>(root: Node<'t, '_>) -> BTreeMap<&'t str, &'t str> {
    let table = root.children().find(|node| node.has_tag_name("properties"));
    let entries = table.into_iter().flat_map(|node| node.children().filter(Node::is_element));
    entries.filter_map(|node| Some((node.tag_name().name(), node.text()?.trim()))).collect()
}

/// The value of `${name}`, or the text itself. One level is enough in practice.
fn resolve<'t>(text: &'t str, properties: &BTreeMap<&'t str, &'t str>) -> &'t str {
    let name = text.strip_prefix("${").and_then(|rest| rest.strip_suffix('}'));
    match name {
        Some(name) => properties.get(name).copied().unwrap_or_default(),
        None => text,
    }
}

pub(super) fn gradle(manifest: &mut Manifest<'_>) {
    manifest.ecosystem("java");
    manifest.uses("gradle", manifest.name(), None);
    let text = manifest.text;
    let (mut java, mut kotlin, mut kotlin_version) = (None, false, None);
    for line in lines(text, "//") {
        for mark in [
            "JavaLanguageVersion.of",
            "jvmToolchain",
            "sourceCompatibility",
            "targetCompatibility",
            "VERSION_",
        ] {
            if java.is_none() && line.contains(mark) {
                java = number_after(line, mark);
            }
        }
        let words = quoted(line);
        let version = words.get(1).copied().filter(|_| line.contains("version"));
        if line.contains("kotlin(\"")
            || line.contains("org.jetbrains.kotlin")
            || line.contains("plugins.kotlin")
        {
            kotlin = true;
            kotlin_version = kotlin_version.or(version);
        }
        if (line.starts_with("id ") || line.starts_with("id(")) && !words.is_empty() {
            manifest.dependency(ARTIFACTS, words[0], "plugins.", version, Use::Used);
            continue;
        }
        for word in words {
            let mut parts = word.split(':');
            if let (Some(group), Some(name)) = (parts.next(), parts.next()) {
                let version = parts.next().filter(|v| !v.starts_with('$'));
                artifact(manifest, group, name, "", version, Use::Used);
            }
        }
        // `libs.spring.boot.starter` refers to the version catalog.
        for alias in line.split(['(', ')', ' ', ',']).filter_map(|word| word.strip_prefix("libs."))
        {
            let alias = alias
                .trim_start_matches("plugins.")
                .trim_start_matches("bundles.")
                .replace('.', "-");
            manifest.dependency(ARTIFACTS, &alias, "libs.", None, Use::Used);
        }
    }
    if kotlin || manifest.name().ends_with(".kts") && text.contains("kotlin") {
        manifest.language("kotlin", "plugins.kotlin", kotlin_version);
        manifest.hint("java", "toolchain", java.as_deref());
    } else {
        manifest.language("java", "sourceCompatibility", java.as_deref());
    }
}

/// Settings contain the versions of plugins.
pub(super) fn settings(manifest: &mut Manifest<'_>) {
    manifest.ecosystem("java");
    for line in lines(manifest.text, "//").filter(|line| line.contains("version")) {
        let words = quoted(line);
        if let [plugin, version, ..] = words[..] {
            if plugin.starts_with("org.jetbrains.kotlin") || line.starts_with("kotlin(") {
                manifest.hint("kotlin", "plugins.kotlin", Some(version));
            } else {
                manifest.dependency(ARTIFACTS, plugin, "plugins.", Some(version), Use::Hint);
            }
        }
    }
}

/// Common names of versions in `gradle.properties`.
const VERSIONS: &[(&str, &str)] = &[
    ("kotlinVersion", "kotlin"),
    ("kotlin.version", "kotlin"),
    ("kotlin_version", "kotlin"),
    ("springBootVersion", "spring-boot"),
    ("spring_boot_version", "spring-boot"),
    ("quarkusPlatformVersion", "quarkus"),
    ("micronautVersion", "micronaut"),
    ("ktorVersion", "ktor"),
    ("ktor_version", "ktor"),
];

pub(super) fn properties(manifest: &mut Manifest<'_>) {
    manifest.ecosystem("java");
    for line in lines(manifest.text, "#") {
        let Some((key, value)) = line.split_once('=') else { continue };
        let known = VERSIONS.iter().find(|(name, _)| *name == key.trim());
        if let Some((_, technology)) = known {
            manifest.hint(technology, key, Some(value));
        }
    }
}

/// Gradle's version catalog: versions for the modules that refer to it.
pub(super) fn version_catalog(manifest: &mut Manifest<'_>) {
    let file = manifest.toml();
    manifest.ecosystem("java");
    let versions = file.get("versions");
    let version_of = |entry: &toml::Value| -> Option<String> {
        let version = entry.get("version")?;
        let referred = version.get("ref").and_then(|name| versions?.get(name.as_str()?));
        toml_version(referred.unwrap_or(version)).map(str::to_owned)
    };
    for (table, field) in [("libraries", "module"), ("plugins", "id")] {
        for (alias, entry) in file.get(table).and_then(|v| v.as_table()).into_iter().flatten() {
            let (name, version) = match entry.as_str() {
                // "group:name:version"
                Some(text) => match text.rsplit_once(':') {
                    Some((name, version)) => (name.to_owned(), Some(version.to_owned())),
                    None => continue,
                },
                None => {
                    let text = |key: &str| entry.get(key).and_then(|v| v.as_str());
                    let name = match (text(field), text("group"), text("name")) {
                        (Some(name), _, _) => name.to_owned(),
                        (None, Some(group), Some(name)) => format!("{group}:{name}"),
                        (None, _, _) => continue,
                    };
                    (name, version_of(entry))
                }
            };
            let key = format!("{table}.{alias}");
            if name.starts_with("org.jetbrains.kotlin") && !name.contains("compose") {
                manifest.hint("kotlin", &key, version.as_deref());
            } else {
                manifest.dependency(
                    ARTIFACTS,
                    &name,
                    &format!("{table}."),
                    version.as_deref(),
                    Use::Hint,
                );
            }
        }
    }
    for (key, name) in [("java", "java"), ("jdk", "java"), ("kotlin", "kotlin")] {
        if let Some(version) = versions.and_then(|v| v.get(key)).and_then(toml_version) {
            manifest.hint(name, format!("versions.{key}"), Some(version));
        }
    }
}

pub(super) fn sbt(manifest: &mut Manifest<'_>) {
    manifest.ecosystem("scala");
    let plugins = manifest.name() == "plugins.sbt";
    let mut version = None;
    for line in lines(manifest.text, "//") {
        if line.contains("scalaVersion") {
            version = version.or_else(|| quoted_after(line, "scalaVersion"));
        }
        if line.contains('%') {
            let words = quoted(line);
            if let [group, name, version, ..] = words[..] {
                artifact(manifest, group, name, "", Some(version), Use::Used);
            }
        }
    }
    if !plugins {
        manifest.language("scala", "scalaVersion", version);
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::check;

    #[test]
    fn reads_a_maven_project() {
        let text = "<?xml version='1.0'?><project xmlns='http://maven.apache.org/POM/4.0.0'>\
            <parent><groupId>org.springframework.boot</groupId><artifactId>spring-boot-starter-parent</artifactId><version>3.2.5</version></parent>\
            <properties><java.version>21</java.version><pg>42.7</pg><kotlin.version>2.0.0</kotlin.version></properties>\
            <dependencyManagement><dependencies><dependency><groupId>org.junit</groupId><artifactId>junit-bom</artifactId>\
            <version>5.10.2</version></dependency></dependencies></dependencyManagement><dependencies>\
            <dependency><groupId>org.postgresql</groupId><artifactId>postgresql</artifactId><version>${pg}</version></dependency>\
            <dependency><groupId>org.hibernate.orm</groupId><artifactId>hibernate-core</artifactId><version>${gone}</version></dependency>\
            <dependency><groupId>org.springframework.boot</groupId><artifactId>spring-boot-starter-data-jpa</artifactId></dependency>\
            <dependency><artifactId>no-group</artifactId></dependency></dependencies>\
            <build><plugins><plugin><groupId>org.jetbrains.kotlin</groupId><artifactId>kotlin-maven-plugin</artifactId>\
            <version>${kotlin.version}</version></plugin></plugins></build></project>";
        check(
            "pom.xml",
            text,
            &[
                "maven (pom.xml)",
                "java 21 (properties.java.version)",
                "kotlin 2.0.0 (properties.kotlin.version)",
                "spring-boot 3.2.5 (parent org.springframework.boot:spring-boot-starter-parent)",
                "?junit 5.10.2 (dependency org.junit:junit-bom)",
                "postgresql (dependency org.postgresql:postgresql)",
                "hibernate (dependency org.hibernate.orm:hibernate-core)",
                "spring-boot (dependency org.springframework.boot:spring-boot-starter-data-jpa)",
                "hibernate (dependency spring-boot-starter-data-jpa)",
                "kotlin 2.0.0 (plugin kotlin-maven-plugin)",
            ],
        );
    }

    #[test]
    fn the_version_of_java_has_many_places() {
        let java = |inside: &str, expected: &str| {
            check(
                "pom.xml",
                &format!("<project>{inside}</project>"),
                &["maven (pom.xml)", expected],
            );
        };
        java("", "java (pom.xml)");
        java(
            "<properties><maven.compiler.release>17</maven.compiler.release></properties>",
            "java 17 (properties.maven.compiler.release)",
        );
        java(
            "<properties><j>11</j><maven.compiler.source>${j}</maven.compiler.source></properties>",
            "java 11 (properties.maven.compiler.source)",
        );
        java(
            "<build><configuration><release>21</release></configuration></build>",
            "java 21 (maven-compiler-plugin)",
        );
        java(
            "<build><configuration><source>1.8</source></configuration></build>",
            "java 1.8 (maven-compiler-plugin)",
        );
        check(
            "pom.xml",
            "<project",
            &[
                "maven (pom.xml)",
                "java (pom.xml)",
                "!it is not XML: the document does not have a root node",
            ],
        );
    }

    #[test]
    fn an_imported_list_of_versions_sets_that_of_spring_boot() {
        let text = "<project><dependencyManagement><dependencies><dependency><groupId>org.springframework.boot</groupId>\
            <artifactId>spring-boot-dependencies</artifactId><version>3.3.0</version></dependency></dependencies>\
            </dependencyManagement></project>";
        check(
            "pom.xml",
            text,
            &[
                "maven (pom.xml)",
                "java (pom.xml)",
                "spring-boot 3.3.0 (dependency org.springframework.boot:spring-boot-dependencies)",
            ],
        );
    }

    #[test]
    fn reads_gradle_in_groovy() {
        let text = "plugins {\n  id 'java'\n  id 'org.springframework.boot' version '2.7.18'\n}\n\
            sourceCompatibility = '17'\ntargetCompatibility = '11'\ndependencies {\n  \
            implementation 'org.springframework.boot:spring-boot-starter-amqp'\n  \
            implementation \"io.lettuce:lettuce-core:$lettuceVersion\"\n  \
            testImplementation 'org.junit.jupiter:junit-jupiter:5.10.2'\n  // implementation 'io.quarkus:x:3'\n}\n";
        check(
            "build.gradle",
            text,
            &[
                "gradle (build.gradle)",
                "spring-boot 2.7.18 (plugins.org.springframework.boot)",
                "spring-boot (org.springframework.boot:spring-boot-starter-amqp)",
                "rabbitmq (spring-boot-starter-amqp)",
                "redis (io.lettuce:lettuce-core)",
                "junit 5.10.2 (org.junit.jupiter:junit-jupiter)",
                "java 17 (sourceCompatibility)",
            ],
        );
        check(
            "build.gradle",
            "sourceCompatibility = JavaVersion.VERSION_1_8\n",
            &["gradle (build.gradle)", "java 1.8 (sourceCompatibility)"],
        );
        check("build.gradle", "", &["gradle (build.gradle)", "java (build.gradle)"]);
    }

    #[test]
    fn reads_gradle_in_kotlin() {
        let text = "plugins {\n  kotlin(\"jvm\") version \"2.0.0\"\n  alias(libs.plugins.ktor)\n  \
            id(\"com.android.application\") version \"8.4.0\"\n}\nkotlin { jvmToolchain(21) }\ndependencies {\n  \
            implementation(libs.ktor.server.core)\n  implementation(libs.bundles.hibernate)\n  \
            testImplementation(\"io.kotest:kotest-runner-junit5:5.9.0\")\n}\n";
        check(
            "app/build.gradle.kts",
            text,
            &[
                "gradle (build.gradle.kts)",
                "ktor (libs.ktor)",
                "ktor (libs.ktor-server-core)",
                "hibernate (libs.hibernate)",
                "android (plugins.com.android.application)",
                "kotest 5.9.0 (io.kotest:kotest-runner-junit5)",
                "kotlin 2.0.0 (plugins.kotlin)",
                "?java 21 (toolchain)",
            ],
        );
        let aliased = "plugins { alias(libs.plugins.kotlin.jvm) }\n";
        check(
            "build.gradle",
            aliased,
            &["gradle (build.gradle)", "kotlin (build.gradle)", "?java (toolchain)"],
        );
    }

    #[test]
    fn settings_properties_and_catalogs_are_hints() {
        check(
            "settings.gradle.kts",
            "pluginManagement {\n  plugins {\n    kotlin(\"jvm\") version \"2.0.0\"\n    \
             id(\"io.quarkus\") version \"3.10.0\"\n    id(\"org.jetbrains.kotlin.android\") version \"1.9\"\n    \
             id(\"io.ktor\")\n  }\n}\n",
            &[
                "?kotlin 2.0.0 (plugins.kotlin)",
                "?quarkus 3.10.0 (plugins.io.quarkus)",
                "?kotlin 1.9 (plugins.kotlin)",
            ],
        );
        check(
            "gradle.properties",
            "# kotlinVersion=1\nspringBootVersion=3.2.0\nktor_version = 2.3.11\norg.gradle.jvmargs=-Xmx2g\nodd\n",
            &["?spring-boot 3.2.0 (springBootVersion)", "?ktor 2.3.11 (ktor_version)"],
        );
        let catalog = r#"
[versions]
java = "21"
kotlin = "2.0.0"
ktor = "2.3.11"

[libraries]
ktor-server-core = { module = "io.ktor:ktor-server-core", version.ref = "ktor" }
junit = "org.junit.jupiter:junit-jupiter:5.10.2"
mockito = { group = "org.mockito", name = "mockito-core", version = "5.12" }
odd = "nothing"
nameless = { version = "1" }

[plugins]
kotlin-jvm = { id = "org.jetbrains.kotlin.jvm", version.ref = "kotlin" }
compose = { id = "org.jetbrains.kotlin.plugin.compose", version.ref = "kotlin" }
"#;
        check(
            "gradle/libs.versions.toml",
            catalog,
            &[
                "?ktor 2.3.11 (libraries.io.ktor:ktor-server-core)",
                "?junit 5.10.2 (libraries.org.junit.jupiter:junit-jupiter)",
                "?mockito 5.12 (libraries.org.mockito:mockito-core)",
                "?kotlin 2.0.0 (plugins.kotlin-jvm)",
                "?jetpack-compose (plugins.org.jetbrains.kotlin.plugin.compose)",
                "?java 21 (versions.java)",
                "?kotlin 2.0.0 (versions.kotlin)",
            ],
        );
    }

    #[test]
    fn reads_sbt() {
        let text = "ThisBuild / scalaVersion := \"3.3.1\"\nscalaVersion := \"2.13\"\nlibraryDependencies += \"dev.zio\" %% \"zio\" % \"2.1.1\"\n\
            // \"org.http4s\" %% \"http4s\" % \"1\"\nlibraryDependencies += \"org.scalatest\" %% \"scalatest\" % \"3.2.18\" % \"test\"\n";
        check(
            "build.sbt",
            text,
            &[
                "zio 2.1.1 (dev.zio:zio)",
                "scalatest 3.2.18 (org.scalatest:scalatest)",
                "scala 3.3.1 (scalaVersion)",
            ],
        );
        check("build.sbt", "", &["scala (build.sbt)"]);
        let plugins = "addSbtPlugin(\"org.playframework\" % \"sbt-plugin\" % \"3.0.3\")\n";
        check("project/plugins.sbt", plugins, &["play 3.0.3 (org.playframework:sbt-plugin)"]);
    }
}
