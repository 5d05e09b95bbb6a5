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

#[cfg(test)]
mod tests {
    use super::super::tests::check;

    #[test]
    fn reads_gems_and_the_version_of_ruby() {
        let text = "source 'https://rubygems.org'\nruby '3.3.1'\n\ngem 'rails', '~> 7.1.3', '>= 7.1'\n\
                    gem \"pg\"\ngem(\"sidekiq\", \"7.2\")\n# gem 'sinatra'\n\
                    gem 'rspec-rails', group: 'test'\ngem 'graphql', git: 'https://x.example'\ngem\ngems 'hanami'\n";
        check(
            "Gemfile",
            text,
            &[
                "rails ~> 7.1.3 (gem rails)",
                "postgresql (gem pg)",
                "sidekiq 7.2 (gem sidekiq)",
                "rspec (gem rspec-rails)",
                "graphql (gem graphql)",
                "ruby 3.3.1 (ruby)",
            ],
        );
    }

    #[test]
    fn the_version_may_be_elsewhere() {
        check("Gemfile", "ruby file: '.ruby-version'\n", &["ruby (Gemfile)"]);
        check("Gemfile", "ruby('3.2')\n", &["ruby 3.2 (ruby)"]);
        check(
            "Gemfile",
            "gem 'minitest', \"<6\"\n",
            &["minitest <6 (gem minitest)", "ruby (Gemfile)"],
        );
    }
}
