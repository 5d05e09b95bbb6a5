//! Elixir and Erlang: `mix.exs`, `rebar.config`.

use super::scan::{lines, quoted, quoted_after};
use super::{Manifest, Table, Use};

#[rustfmt::skip]
pub(super) const PACKAGES: &Table = &[
    ("phoenix", "phoenix"), ("ecto", "ecto"), ("ecto_sql", "ecto"), ("oban", "oban"), ("absinthe", "graphql"), ("grpc", "grpc"),
    ("postgrex", "postgresql"), ("myxql", "mysql"), ("exqlite", "sqlite"), ("ecto_sqlite3", "sqlite"), ("redix", "redis"), ("mongodb_driver", "mongodb"),
    ("broadway_kafka", "kafka"), ("brod", "kafka"), ("amqp", "rabbitmq"), ("~tailwind", "tailwind"), ("opentelemetry", "opentelemetry"),
    ("joken", "jwt"), ("bcrypt_elixir", "bcrypt"), ("~stream_data", "proptest"), ("~wallaby", "selenium"),
];

pub(super) fn mix(manifest: &mut Manifest<'_>) {
    manifest.ecosystem("elixir");
    let text = manifest.text;
    let version = lines(text, "#").find_map(|line| quoted_after(line, "elixir:"));
    manifest.language("elixir", "elixir", version);
    for line in lines(text, "#") {
        for entry in line.split("{:").skip(1) {
            let end = entry.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
            let name = &entry[..end.unwrap_or(entry.len())];
            let version = quoted(entry).first().copied();
            manifest.dependency(PACKAGES, name, "deps.", version, Use::Used);
        }
    }
}

pub(super) fn rebar(manifest: &mut Manifest<'_>) {
    manifest.ecosystem("erlang");
    manifest.uses("erlang", "rebar.config", None);
}

#[cfg(test)]
mod tests {
    use super::super::tests::check;

    #[test]
    fn reads_dependencies_of_mix() {
        let text = "defmodule Shop.MixProject do\n  def project, do: [app: :shop, elixir: \"~> 1.16\"]\n  defp deps do\n    \
                    [\n      {:phoenix, \"~> 1.7.12\"}, {:ecto_sql, \"~> 3.11\"},\n      {:postgrex, \">= 0.0.0\"},\n      \
                    # {:oban, \"2.17\"},\n      {:oban, \"~> 2.17\"},\n      {:tailwind, path: \"../x\"}\n    ]\n";
        check(
            "mix.exs",
            text,
            &[
                "elixir ~> 1.16 (elixir)",
                "phoenix ~> 1.7.12 (deps.phoenix)",
                "ecto ~> 3.11 (deps.ecto_sql)",
                "postgresql (deps.postgrex)",
                "oban ~> 2.17 (deps.oban)",
                "tailwind (deps.tailwind)",
            ],
        );
        check("mix.exs", "{:phoenix}", &["elixir (mix.exs)", "phoenix (deps.phoenix)"]);
    }

    #[test]
    fn rebar_means_erlang() {
        check("rebar.config", "{deps, []}.", &["erlang (rebar.config)"]);
    }
}
