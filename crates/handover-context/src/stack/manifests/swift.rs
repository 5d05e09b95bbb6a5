//! Swift: `Package.swift`, `Podfile`.

use super::scan::{lines, number_after, quoted, quoted_after};
use super::{Manifest, Table, Use};

/// By the last part of a package's URL.
#[rustfmt::skip]
pub(super) const PACKAGES: &Table = &[
    ("vapor", "vapor"), ("fluent-postgres-driver", "postgresql"), ("fluent-mysql-driver", "mysql"), ("GRDB.swift", "sqlite"),
    ("grpc-swift", "grpc"), ("apollo-ios", "apollo"), ("swift-otel", "opentelemetry"), ("jwt-kit", "jwt"),
];

pub(super) fn package(manifest: &mut Manifest<'_>) {
    manifest.ecosystem("swift");
    let text = manifest.text;
    let version = text.lines().next().and_then(|line| number_after(line, "swift-tools-version"));
    manifest.language("swift", "swift-tools-version", version.as_deref());
    for line in lines(text, "//") {
        if line.contains(".iOS(") {
            manifest.uses("ios", "platforms.iOS", None);
        }
        let Some(url) = quoted_after(line, "url:") else { continue };
        let name = url.trim_end_matches('/').rsplit('/').next().unwrap_or(url);
        let name = name.strip_suffix(".git").unwrap_or(name);
        let version = quoted(line).into_iter().skip(1).find(|w| w.starts_with(char::is_numeric));
        manifest.dependency(PACKAGES, name, "dependencies.", version, Use::Used);
    }
}

pub(super) fn podfile(manifest: &mut Manifest<'_>) {
    manifest.ecosystem("swift");
    manifest.uses("swift", "Podfile", None);
    let platform = lines(manifest.text, "#").find(|line| line.starts_with("platform :ios"));
    if let Some(line) = platform {
        manifest.uses("ios", "platform", quoted(line).first().copied());
    }
}
