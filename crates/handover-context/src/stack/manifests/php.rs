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
