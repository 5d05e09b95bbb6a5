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

#[cfg(test)]
mod tests {
    use super::super::tests::check;

    #[test]
    fn reads_packages_by_their_address() {
        let text = "// swift-tools-version:5.10\nlet package = Package(\n  platforms: [.iOS(.v16), .macOS(.v13)],\n  dependencies: [\n    \
                    .package(url: \"https://github.com/vapor/vapor.git\", from: \"4.89.0\"),\n    \
                    .package(url: \"https://github.com/groue/GRDB.swift/\", branch: \"main\"),\n    \
                    // .package(url: \"https://github.com/vapor/jwt-kit.git\", from: \"5.0.0\"),\n    \
                    .package(path: \"../x\"),\n  ]\n)\n";
        check(
            "Package.swift",
            text,
            &[
                "swift 5.10 (swift-tools-version)",
                "ios (platforms.iOS)",
                "vapor 4.89.0 (dependencies.vapor)",
                "sqlite (dependencies.GRDB.swift)",
            ],
        );
        check("Package.swift", "import PackageDescription\n", &["swift (Package.swift)"]);
    }

    #[test]
    fn a_podfile_may_name_its_platform() {
        check(
            "Podfile",
            "platform :ios, '15.0'\npod 'X'\n",
            &["swift (Podfile)", "ios 15.0 (platform)"],
        );
        check("Podfile", "# platform :ios, '15.0'\nplatform :osx, '12'\n", &["swift (Podfile)"]);
    }
}
