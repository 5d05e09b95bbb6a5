//! Go: `go.mod`, `go.work`.

use super::scan::lines;
use super::{Manifest, Table, Use};

#[rustfmt::skip]
pub(super) const MODULES: &Table = &[
    ("github.com/gin-gonic/gin", "gin"), ("github.com/labstack/echo*", "echo"), ("github.com/gofiber/fiber*", "fiber"),
    ("github.com/go-chi/chi*", "chi"), ("github.com/spf13/cobra", "cobra"), ("gorm.io/gorm", "gorm"),
    ("github.com/lib/pq", "postgresql"), ("github.com/jackc/pgx*", "postgresql"), ("github.com/go-sql-driver/mysql", "mysql"),
    ("github.com/mattn/go-sqlite3", "sqlite"), ("modernc.org/sqlite", "sqlite"), ("go.mongodb.org/mongo-driver*", "mongodb"),
    ("github.com/redis/go-redis*", "redis"), ("github.com/go-redis/redis*", "redis"), ("github.com/elastic/go-elasticsearch*", "elasticsearch"),
    ("github.com/gocql/gocql", "cassandra"), ("github.com/ClickHouse/clickhouse-go*", "clickhouse"), ("github.com/microsoft/go-mssqldb", "sqlserver"),
    ("github.com/segmentio/kafka-go", "kafka"), ("github.com/confluentinc/confluent-kafka-go*", "kafka"), ("github.com/IBM/sarama", "kafka"),
    ("github.com/rabbitmq/amqp091-go", "rabbitmq"), ("github.com/nats-io/nats.go", "nats"), ("github.com/eclipse/paho.mqtt.golang", "mqtt"),
    ("google.golang.org/grpc", "grpc"), ("github.com/99designs/gqlgen", "graphql"), ("github.com/gorilla/websocket", "websocket"),
    ("github.com/stretchr/testify", "testify"), ("github.com/testcontainers/testcontainers-go*", "testcontainers"),
    ("go.opentelemetry.io/otel", "opentelemetry"), ("github.com/prometheus/client_golang", "prometheus"),
    ("github.com/aws/aws-sdk-go*", "aws"), ("k8s.io/client-go", "kubernetes"), ("sigs.k8s.io/controller-runtime", "kubernetes"),
    ("github.com/golang-jwt/jwt*", "jwt"), ("golang.org/x/oauth2", "oauth"), ("github.com/coreos/go-oidc*", "openid-connect"),
    ("github.com/modelcontextprotocol/go-sdk", "mcp"),
];

pub(super) fn go_mod(manifest: &mut Manifest<'_>) {
    manifest.ecosystem("go");
    let text = manifest.text;
    let version = lines(text, "//").find_map(|line| line.strip_prefix("go "));
    manifest.language("go", "go", version);
    let mut inside = false;
    for line in lines(text, "//") {
        let required = match line.strip_prefix("require") {
            Some(rest) if rest.trim_start().starts_with('(') => {
                inside = true;
                continue;
            }
            Some(rest) => rest,
            None if line.starts_with(')') => {
                inside = false;
                continue;
            }
            None if inside => line,
            None => continue,
        };
        // Indirect dependencies are not the project's choice.
        if required.ends_with("// indirect") {
            continue;
        }
        let mut words = required.split_whitespace();
        if let (Some(module), version) = (words.next(), words.next()) {
            manifest.dependency(MODULES, module, "require ", version, Use::Used);
        }
    }
}

pub(super) fn go_work(manifest: &mut Manifest<'_>) {
    manifest.ecosystem("go");
    let version = lines(manifest.text, "//").find_map(|line| line.strip_prefix("go "));
    manifest.hint("go", "go", version);
}

#[cfg(test)]
mod tests {
    use super::super::tests::check;

    #[test]
    fn reads_direct_requirements() {
        let text = "module example.com/x // v2\n\ngo 1.22.1\n\nrequire github.com/spf13/cobra v1.8.0\n\n\
                    require (\n\tgithub.com/gin-gonic/gin v1.10.0\n\t// github.com/go-chi/chi v5\n\
                    \tgithub.com/jackc/pgx/v5 v5.5.5\n\tgorm.io/gorm v1.25.0 // indirect\n)\n\
                    github.com/gofiber/fiber/v2 v2.1\nexclude github.com/labstack/echo/v4 v4.1\n";
        check(
            "go.mod",
            text,
            &[
                "go 1.22.1 (go)",
                "cobra v1.8.0 (require github.com/spf13/cobra)",
                "gin v1.10.0 (require github.com/gin-gonic/gin)",
                "postgresql (require github.com/jackc/pgx/v5)",
            ],
        );
        check("go.mod", "module x\nrequire\n", &["go (go.mod)"]);
        check(
            "go.mod",
            "require(\n github.com/gin-gonic/gin\n)\n",
            &["go (go.mod)", "gin (require github.com/gin-gonic/gin)"],
        );
    }

    #[test]
    fn a_workspace_only_hints() {
        check("go.work", "go 1.23\n\nuse ./a\n", &["?go 1.23 (go)"]);
        check("go.work", "use ./a\n", &["?go (go)"]);
    }
}
