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

#[cfg(test)]
mod tests {
    use super::super::tests::check;

    #[test]
    fn reads_a_project_file() {
        let text = r#"<Project Sdk="Microsoft.NET.Sdk.Web">
  <PropertyGroup>
    <TargetFramework> net8.0 </TargetFramework>
    <LangVersion>12.0</LangVersion>
  </PropertyGroup>
  <ItemGroup>
    <PackageReference Include="Npgsql.EntityFrameworkCore.PostgreSQL" Version="8.0.4" />
    <PackageReference Include="Microsoft.EntityFrameworkCore" Version="8.0.6" />
    <PackageReference Include="Microsoft.AspNetCore.Components.Web" Version="8.0.1" />
    <PackageReference Include="xunit"><Version>2.9.0</Version></PackageReference>
    <PackageReference Update="Newtonsoft.Json" Version="13" />
  </ItemGroup>
</Project>"#;
        check(
            "src/Shop.csproj",
            text,
            &[
                "csharp 12.0 (LangVersion)",
                "dotnet net8.0 (TargetFramework)",
                "aspnetcore net8.0 (Sdk)",
                "postgresql (PackageReference Npgsql.EntityFrameworkCore.PostgreSQL)",
                "entity-framework 8.0.6 (PackageReference Microsoft.EntityFrameworkCore)",
                "blazor 8.0.1 (PackageReference Microsoft.AspNetCore.Components.Web)",
                "xunit 2.9.0 (PackageReference xunit)",
            ],
        );
    }

    #[test]
    fn the_first_target_and_the_kind_of_project_count() {
        let text = "<Project Sdk='Microsoft.NET.Sdk.BlazorWebAssembly'><PropertyGroup>\
                    <TargetFrameworks>net9.0;net48</TargetFrameworks><LangVersion>latest</LangVersion>\
                    <UseMaui>True</UseMaui><UseWPF>false</UseWPF></PropertyGroup></Project>";
        check(
            "A.fsproj",
            text,
            &[
                "fsharp (LangVersion)",
                "dotnet net9.0 (TargetFramework)",
                "blazor net9.0 (Sdk)",
                "maui net9.0 (UseMaui)",
            ],
        );
        let wpf = "<Project><PropertyGroup><UseWPF>true</UseWPF></PropertyGroup></Project>";
        check(
            "A.csproj",
            wpf,
            &["csharp (LangVersion)", "dotnet (TargetFramework)", "wpf (UseWPF)"],
        );
    }

    #[test]
    fn what_holds_for_all_projects_is_a_hint() {
        check(
            "Directory.Packages.props",
            "<Project><ItemGroup><PackageVersion Include='NUnit' Version='4.1'/>\
             <PackageReference Include='xunit' Version='2'/></ItemGroup></Project>",
            &["?nunit 4.1 (PackageVersion NUnit)"],
        );
        check(
            "Directory.Build.props",
            "<Project><PropertyGroup><TargetFramework>net9.0</TargetFramework></PropertyGroup></Project>",
            &["?csharp (LangVersion)", "?dotnet net9.0 (TargetFramework)"],
        );
        check(
            "global.json",
            r#"{"sdk": {"version": "9.0.100"}}"#,
            &["?dotnet 9.0.100 (sdk.version)"],
        );
        check("global.json", "{}", &[]);
    }
}
