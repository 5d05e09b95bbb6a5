//! JavaScript and TypeScript: `package.json` and related files.

use serde_json::Value;

use super::{Manifest, Table, Use, json_text};

#[rustfmt::skip]
pub(super) const PACKAGES: &Table = &[
    ("next", "nextjs"), ("nuxt", "nuxt"), ("@remix-run/*", "remix"), ("@sveltejs/kit", "sveltekit"), ("astro", "astro"),
    ("react-native", "react-native"), ("expo", "expo"), ("~@ionic/*", "ionic"), ("electron", "electron"), ("~@tauri-apps/api", "tauri"),
    ("react", "react"), ("vue", "vue"), ("@angular/core", "angular"), ("svelte", "svelte"), ("solid-js", "solid"),
    ("htmx.org", "htmx"), ("alpinejs", "alpine"), ("@builder.io/qwik", "qwik"),
    ("@nestjs/core", "nestjs"), ("express", "express"), ("fastify", "fastify"), ("hono", "hono"), ("koa", "koa"),
    ("tailwindcss", "tailwind"), ("redux", "redux"), ("@reduxjs/toolkit", "redux"), ("vite", "vite"), ("webpack", "webpack"),
    ("@prisma/client", "prisma"), ("prisma", "prisma"), ("drizzle-orm", "drizzle"), ("typeorm", "typeorm"), ("mongoose", "mongoose"),
    ("~@types/node", "nodejs"), ("~bun-types", "bun"), ("~@types/bun", "bun"),
    ("pg", "postgresql"), ("postgres", "postgresql"), ("mysql", "mysql"), ("mysql2", "mysql"), ("sqlite3", "sqlite"), ("better-sqlite3", "sqlite"),
    ("mssql", "sqlserver"), ("mongodb", "mongodb"), ("redis", "redis"), ("ioredis", "redis"), ("@elastic/elasticsearch", "elasticsearch"),
    ("cassandra-driver", "cassandra"), ("@aws-sdk/client-dynamodb", "dynamodb"), ("neo4j-driver", "neo4j"), ("@supabase/supabase-js", "supabase"),
    ("firebase-admin", "firestore"), ("@clickhouse/client", "clickhouse"),
    ("kafkajs", "kafka"), ("amqplib", "rabbitmq"), ("nats", "nats"), ("@aws-sdk/client-sqs", "sqs"), ("mqtt", "mqtt"), ("bullmq", "bullmq"),
    ("graphql", "graphql"), ("@apollo/*", "apollo"), ("@grpc/grpc-js", "grpc"), ("@trpc/server", "trpc"), ("@trpc/client", "trpc"),
    ("swagger-ui-express", "openapi"), ("@nestjs/swagger", "openapi"), ("openapi-typescript", "openapi"), ("ws", "websocket"), ("socket.io", "websocket"),
    ("@playwright/test", "playwright"), ("playwright", "playwright"), ("cypress", "cypress"), ("selenium-webdriver", "selenium"),
    ("jest", "jest"), ("vitest", "vitest"), ("mocha", "mocha"), ("~@testing-library/*", "testing-library"), ("storybook", "storybook"),
    ("msw", "msw"), ("testcontainers", "testcontainers"), ("k6", "k6"), ("detox", "detox"), ("fast-check", "fast-check"), ("appium", "appium"),
    ("@opentelemetry/*", "opentelemetry"), ("prom-client", "prometheus"), ("aws-cdk-lib", "aws"), ("@pulumi/pulumi", "pulumi"),
    ("serverless", "serverless"), ("wrangler", "cloudflare"), ("nx", "nx"), ("turbo", "turborepo"),
    ("langchain", "langchain"), ("~@langchain/*", "langchain"), ("openai", "openai"), ("@anthropic-ai/sdk", "anthropic"),
    ("@modelcontextprotocol/sdk", "mcp"), ("ai", "vercel-ai"), ("@tensorflow/*", "tensorflow"),
    ("jsonwebtoken", "jwt"), ("jose", "jwt"), ("openid-client", "openid-connect"), ("passport-oauth2", "oauth"), ("bcrypt", "bcrypt"), ("bcryptjs", "bcrypt"),
];

const TABLES: &[&str] =
    &["dependencies", "devDependencies", "optionalDependencies", "peerDependencies"];

/// Packages that only run on Node.js.
const SERVERS: &[&str] = &["express", "fastify", "koa", "@nestjs/core"];

pub(super) fn package(manifest: &mut Manifest<'_>) {
    let file = manifest.json();
    manifest.ecosystem("javascript");
    let typescript = TABLES
        .iter()
        .find_map(|table| Some((*table, json_text(file.get(table)?.get("typescript")?))));
    match typescript {
        Some((table, version)) => {
            manifest.uses("typescript", format!("{table}.typescript"), version.as_deref());
        }
        None => manifest.uses("javascript", "package.json", None),
    }
    for (key, at) in [("engines.node", "/engines/node"), ("volta.node", "/volta/node")] {
        if let Some(version) = file.pointer(at).and_then(json_text) {
            manifest.uses("nodejs", key, Some(&version));
        }
    }
    for table in TABLES {
        let Some(entries) = file.get(table).and_then(Value::as_object) else { continue };
        for (name, version) in entries {
            let version = json_text(version);
            // Types are versioned like Node.js itself, but a project may run on an older one.
            let version = version.as_deref().filter(|_| name != "@types/node");
            manifest.dependency(PACKAGES, name, &format!("{table}."), version, Use::Used);
            if SERVERS.contains(&name.as_str()) {
                manifest.uses("nodejs", format!("{table}.{name}"), None);
            }
        }
    }
    catalog(manifest, file.get("catalog").or_else(|| file.pointer("/workspaces/catalog")));
}

/// TypeScript's configuration shows that TypeScript is used, not which version.
pub(super) fn tsconfig(manifest: &mut Manifest<'_>) {
    manifest.ecosystem("javascript");
    manifest.uses("typescript", "tsconfig.json", None);
}

pub(super) fn pnpm_workspace(manifest: &mut Manifest<'_>) {
    let file = manifest.yaml();
    catalog(manifest, file.get("catalog"));
    for (_, named) in file.get("catalogs").and_then(Value::as_object).into_iter().flatten() {
        catalog(manifest, Some(named));
    }
}

/// Versions a workspace sets for its members.
fn catalog(manifest: &mut Manifest<'_>, catalog: Option<&Value>) {
    for (name, version) in catalog.and_then(Value::as_object).into_iter().flatten() {
        let version = json_text(version);
        match name.as_str() {
            "typescript" => manifest.hint("typescript", "catalog.typescript", version.as_deref()),
            _ => manifest.dependency(PACKAGES, name, "catalog.", version.as_deref(), Use::Hint),
        }
    }
}

pub(super) fn deno(manifest: &mut Manifest<'_>) {
    manifest.ecosystem("javascript");
    manifest.uses("typescript", manifest.name(), None);
    manifest.uses("deno", manifest.name(), None);
}

pub(super) fn nx(manifest: &mut Manifest<'_>) {
    manifest.uses("nx", "nx.json", None);
}

pub(super) fn turbo(manifest: &mut Manifest<'_>) {
    manifest.uses("turborepo", "turbo.json", None);
}

#[cfg(test)]
mod tests {
    use super::super::tests::check;

    #[test]
    fn reads_every_table_of_a_package() {
        let text = r#"{
  "engines": {"node": ">=20"},
  "volta": {"node": "20.11.0"},
  "dependencies": {"next": "14.2.3", "react": "^18.3.0", "pg": "^8.11.0", "left-pad": "1"},
  "devDependencies": {"typescript": "~5.4.5", "vitest": "^1.6.0", "@types/node": "^20.1.0", "@testing-library/react": "15"},
  "optionalDependencies": {"@aws-sdk/client-sqs": "3"},
  "peerDependencies": {"vue": ">=3"}
}"#;
        check(
            "package.json",
            text,
            &[
                "typescript ~5.4.5 (devDependencies.typescript)",
                "nodejs >=20 (engines.node)",
                "nodejs 20.11.0 (volta.node)",
                "nextjs 14.2.3 (dependencies.next)",
                "react ^18.3.0 (dependencies.react)",
                "postgresql (dependencies.pg)",
                "vitest ^1.6.0 (devDependencies.vitest)",
                "nodejs (devDependencies.@types/node)",
                "testing-library (devDependencies.@testing-library/react)",
                "sqs (optionalDependencies.@aws-sdk/client-sqs)",
                "vue >=3 (peerDependencies.vue)",
            ],
        );
    }

    #[test]
    fn servers_run_on_node() {
        for (name, technology) in [
            ("express", "express"),
            ("fastify", "fastify"),
            ("koa", "koa"),
            ("@nestjs/core", "nestjs"),
        ] {
            let text = format!(r#"{{"dependencies": {{"{name}": "1.2"}}}}"#);
            check(
                "package.json",
                &text,
                &[
                    "javascript (package.json)",
                    &format!("{technology} 1.2 (dependencies.{name})"),
                    &format!("nodejs (dependencies.{name})"),
                ],
            );
        }
        let plain = r#"{"dependencies": {"hono": "4"}}"#;
        check("package.json", plain, &["javascript (package.json)", "hono 4 (dependencies.hono)"]);
    }

    #[test]
    fn catalogs_are_hints() {
        let package = r#"{"workspaces": {"catalog": {"react": "^19.0.0", "typescript": "5.6"}}}"#;
        check(
            "package.json",
            package,
            &[
                "javascript (package.json)",
                "?react ^19.0.0 (catalog.react)",
                "?typescript 5.6 (catalog.typescript)",
            ],
        );
        check(
            "package.json",
            r#"{"catalog": {"vite": "6"}, "workspaces": {"catalog": {"vite": "5"}}}"#,
            &["javascript (package.json)", "?vite 6 (catalog.vite)"],
        );
        let pnpm =
            "packages: ['apps/*']\ncatalog:\n  react: ^18.3.1\ncatalogs:\n  next:\n    vite: 6\n";
        check(
            "pnpm-workspace.yaml",
            pnpm,
            &["?react ^18.3.1 (catalog.react)", "?vite 6 (catalog.vite)"],
        );
    }

    #[test]
    fn the_files_of_tools_name_them() {
        check("tsconfig.json", "{ // comments are fine\n}", &["typescript (tsconfig.json)"]);
        for name in ["deno.json", "deno.jsonc"] {
            check(name, "{}", &[&format!("typescript ({name})"), &format!("deno ({name})")]);
        }
        check("nx.json", "{}", &["nx (nx.json)"]);
        check("turbo.json", "{}", &["turborepo (turbo.json)"]);
    }
}
