//! Ruby: `Gemfile`.

use super::scan::{lines, quoted};
use super::{Manifest, Table, Use};

#[rustfmt::skip]
pub(super) const GEMS: &Table = &[
    ("rails", "rails"), ("sinatra", "sinatra"), ("hanami", "hanami"),
    ("pg", "postgresql"), ("mysql2", "mysql"), ("sqlite3", "sqlite"), ("mongoid", "mongodb"), ("redis", "redis"), ("elasticsearch", "elasticsearch"),
    ("sidekiq", "sidekiq"), ("bunny", "rabbitmq"), ("ruby-kafka", "kafka"), ("karafka", "kafka"),
    ("graphql", "graphql"), ("grpc", "grpc"), ("rspec", "rspec"), ("~rspec-rails", "rspec"), ("minitest", "minitest"),
    ("selenium-webdriver", "selenium"), ("~tailwindcss-rails", "tailwind"), ("opentelemetry-sdk", "opentelemetry"), ("aws-sdk-*", "aws"),
    ("jwt", "jwt"), ("omniauth-oauth2", "oauth"), ("bcrypt", "bcrypt"), ("~ruby-openai", "openai"),
];

pub(super) fn gemfile(manifest: &mut Manifest<'_>) {
    manifest.ecosystem("ruby");
    let mut version = None;
    for line in lines(manifest.text, "#") {
        let words = quoted(line);
        if line.starts_with("ruby ") || line.starts_with("ruby(") {
            version = words.first().copied().filter(|_| !line.contains("file:"));
        } else if line.starts_with("gem ") || line.starts_with("gem(") {
            let Some(name) = words.first() else { continue };
            let is_version = |word: &&&str| {
                word.starts_with(|c: char| c.is_ascii_digit() || "~<>=^".contains(c))
            };
            let version = words.get(1).filter(is_version).copied();
            manifest.dependency(GEMS, name, "gem ", version, Use::Used);
        }
    }
    manifest.language("ruby", "ruby", version);
}
