//! PHP: `composer.json`.

use serde_json::Value;

use super::{Manifest, Table, Use, json_text};

#[rustfmt::skip]
pub(super) const PACKAGES: &Table = &[
    ("laravel/framework", "laravel"), ("symfony/framework-bundle", "symfony"), ("symfony/symfony", "symfony"), ("roots/wordpress", "wordpress"), ("johnpbloch/wordpress", "wordpress"),
    ("ext-pgsql", "postgresql"), ("ext-pdo_pgsql", "postgresql"), ("ext-mysqli", "mysql"), ("ext-pdo_mysql", "mysql"), ("mongodb/mongodb", "mongodb"),
    ("predis/predis", "redis"), ("ext-redis", "redis"), ("elasticsearch/elasticsearch", "elasticsearch"),
    ("php-amqplib/php-amqplib", "rabbitmq"), ("webonyx/graphql-php", "graphql"), ("nuwave/lighthouse", "graphql"),
    ("phpunit/phpunit", "phpunit"), ("pestphp/pest", "pest"), ("open-telemetry/sdk", "opentelemetry"), ("aws/aws-sdk-php", "aws"),
    ("firebase/php-jwt", "jwt"), ("league/oauth2-server", "oauth"),
];

pub(super) fn composer(manifest: &mut Manifest<'_>) {
    let file = manifest.json();
    manifest.ecosystem("php");
    let version = file.pointer("/config/platform/php").and_then(json_text);
    let version = version.or_else(|| file.pointer("/require/php").and_then(json_text));
    manifest.language("php", "require.php", version.as_deref());
    for table in ["require", "require-dev"] {
        for (name, version) in file.get(table).and_then(Value::as_object).into_iter().flatten() {
            let version = json_text(version);
            manifest.dependency(
                PACKAGES,
                name,
                &format!("{table}."),
                version.as_deref(),
                Use::Used,
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::check;

    #[test]
    fn reads_both_tables() {
        let text = r#"{"require": {"php": "^8.2", "laravel/framework": "^11.0", "ext-pdo_pgsql": "*"},
            "require-dev": {"phpunit/phpunit": "^11.0.1", "pestphp/pest": 2}}"#;
        check(
            "composer.json",
            text,
            &[
                "php ^8.2 (require.php)",
                "laravel ^11.0 (require.laravel/framework)",
                "postgresql (require.ext-pdo_pgsql)",
                "phpunit ^11.0.1 (require-dev.phpunit/phpunit)",
                "pest 2 (require-dev.pestphp/pest)",
            ],
        );
    }

    #[test]
    fn the_platform_counts_more_than_the_requirement() {
        let text = r#"{"require": {"php": "^8.1"}, "config": {"platform": {"php": "8.3.4"}}}"#;
        check("composer.json", text, &["php 8.3.4 (require.php)"]);
        check("composer.json", "{}", &["php (composer.json)"]);
    }
}
