//! .NET: project files, `Directory.*.props`, `global.json`.

use roxmltree::{Document, Node, ParsingOptions};

use super::{Manifest, Table, Use, json_text};

#[rustfmt::skip]
pub(super) const PACKAGES: &Table = &[
    ("Microsoft.AspNetCore.Components*", "blazor"), ("Microsoft.AspNetCore.*", "aspnetcore"), ("~Microsoft.EntityFrameworkCore.SqlServer", "sqlserver"),
    ("~Microsoft.EntityFrameworkCore.Sqlite", "sqlite"), ("Microsoft.EntityFrameworkCore*", "entity-framework"), ("Microsoft.Maui.*", "maui"),
    ("Npgsql*", "postgresql"), ("MySqlConnector", "mysql"), ("Pomelo.EntityFrameworkCore.MySql", "mysql"), ("Microsoft.Data.SqlClient", "sqlserver"),
    ("MongoDB.Driver", "mongodb"), ("StackExchange.Redis", "redis"), ("Elastic.Clients.Elasticsearch", "elasticsearch"),
    ("Confluent.Kafka", "kafka"), ("RabbitMQ.Client", "rabbitmq"), ("MassTransit.RabbitMQ", "rabbitmq"),
    ("Grpc.*", "grpc"), ("HotChocolate.*", "graphql"), ("Swashbuckle.*", "openapi"), ("ModelContextProtocol", "mcp"),
    ("xunit*", "xunit"), ("NUnit", "nunit"), ("Microsoft.Playwright*", "playwright"), ("Selenium.WebDriver", "selenium"), ("Testcontainers*", "testcontainers"),
    ("OpenTelemetry*", "opentelemetry"), ("AWSSDK.*", "aws"), ("Azure.*", "azure"),
    ("System.IdentityModel.Tokens.Jwt", "jwt"), ("OpenIddict*", "openid-connect"),
];

/// The most nodes of a project file.
const MOST_NODES: u32 = 50_000;

/// Parses a file as XML, without DTDs, so that entities cannot expand.
pub(super) fn xml<'t>(manifest: &mut Manifest<'t>) -> Option<Document<'t>> {
    let options = ParsingOptions { nodes_limit: MOST_NODES, ..ParsingOptions::default() };
    match Document::parse_with_options(manifest.text, options) {
        Ok(document) => Some(document),
        Err(error) => {
            manifest.complain(format_args!("it is not XML: {error}"));
            None
        }
    }
}

pub(super) fn project(manifest: &mut Manifest<'_>) {
    let language = if manifest.name().ends_with(".fsproj") { "fsharp" } else { "csharp" };
    manifest.ecosystem("csharp");
    // Properties for all projects are not a project.
    let how = if manifest.name().ends_with(".props") { Use::Hint } else { Use::Used };
    let document = xml(manifest);
    let root = document.as_ref().map(Document::root_element);
    let text = |name: &str| {
        let found = root.iter().flat_map(Node::descendants).find(|n| n.has_tag_name(name));
        found.and_then(|node| node.text()).map(str::trim)
    };
    // Of several targets the first, which is the one used in development.
    let frameworks = text("TargetFramework").or_else(|| text("TargetFrameworks"));
    let target = frameworks.and_then(|list| list.split(';').next());
    let (key, written) = ("TargetFramework", text("LangVersion"));
    manifest.push(
        language,
        "LangVersion",
        written.filter(|v| v.starts_with(char::is_numeric)),
        how,
    );
    manifest.push("dotnet", key, target, how);
    let Some(root) = root else { return };
    let sdk = root.attribute("Sdk").unwrap_or_default();
    if sdk.starts_with("Microsoft.NET.Sdk.Web") {
        manifest.uses("aspnetcore", "Sdk", target);
    }
    if sdk.starts_with("Microsoft.NET.Sdk.BlazorWebAssembly") {
        manifest.uses("blazor", "Sdk", target);
    }
    for (flag, name) in [("UseMaui", "maui"), ("UseWPF", "wpf")] {
        if text(flag).is_some_and(|value| value.eq_ignore_ascii_case("true")) {
            manifest.uses(name, flag, target);
        }
    }
    references(manifest, root, "PackageReference", how);
}

/// Central package versions.
pub(super) fn packages(manifest: &mut Manifest<'_>) {
    manifest.ecosystem("csharp");
    if let Some(document) = xml(manifest) {
        references(manifest, document.root_element(), "PackageVersion", Use::Hint);
    }
}

fn references(manifest: &mut Manifest<'_>, root: Node<'_, '_>, tag: &str, how: Use) {
    for node in root.descendants().filter(|node| node.has_tag_name(tag)) {
        let Some(name) = node.attribute("Include") else { continue };
        let inner = node.children().find(|child| child.has_tag_name("Version"));
        let version = node.attribute("Version").or_else(|| inner?.text());
        manifest.dependency(PACKAGES, name, &format!("{tag} "), version, how);
    }
}

pub(super) fn global(manifest: &mut Manifest<'_>) {
    let file = manifest.json();
    manifest.ecosystem("csharp");
    if let Some(version) = file.pointer("/sdk/version").and_then(json_text) {
        manifest.hint("dotnet", "sdk.version", Some(&version));
    }
}
