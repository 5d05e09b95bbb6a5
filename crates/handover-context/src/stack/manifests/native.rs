//! C and C++: CMake, Meson, Conan, vcpkg.

use serde_json::Value;

use super::scan::{lines, number_after};
use super::{Manifest, Table, Use};

/// In lower case.
#[rustfmt::skip]
pub(super) const LIBRARIES: &Table = &[
    ("qt5", "qt"), ("qt6", "qt"), ("qt", "qt"), ("qtbase", "qt"), ("boost*", "boost"), ("gtest", "gtest"), ("googletest", "gtest"), ("catch2", "catch2"),
    ("grpc", "grpc"), ("postgresql", "postgresql"), ("libpq", "postgresql"), ("libpqxx", "postgresql"), ("sqlite3", "sqlite"), ("hiredis", "redis"), ("redis-plus-plus", "redis"),
    ("rdkafka", "kafka"), ("librdkafka", "kafka"), ("opentelemetry-cpp", "opentelemetry"), ("torch", "pytorch"),
];

pub(super) fn cmake(manifest: &mut Manifest<'_>) {
    manifest.ecosystem("cpp");
    let (mut cpp, mut c, mut languages) = (None, None, None);
    for line in lines(manifest.text, "#") {
        let lower = line.to_ascii_lowercase();
        if lower.starts_with("cmake_minimum_required") {
            let version = number_after(&lower, "version");
            manifest.language("cmake", "cmake_minimum_required", version.as_deref());
        } else if lower.starts_with("project(") {
            languages = Some(lower);
        } else if lower.contains("cxx_standard") && !lower.contains("required") {
            cpp = cpp.or_else(|| number_after(&lower, "cxx_standard"));
        } else if lower.contains("cxx_std_") {
            cpp = cpp.or_else(|| number_after(&lower, "cxx_std_"));
        } else if lower.contains("c_standard") && !lower.contains("required") {
            c = c.or_else(|| number_after(&lower, "c_standard"));
        } else if let Some(rest) = lower.strip_prefix("find_package(") {
            let name = rest.split([' ', ')']).next().unwrap_or_default();
            let version = rest.split([' ', ')']).nth(1).filter(|v| v.starts_with(char::is_numeric));
            manifest.dependency(LIBRARIES, name, "find_package ", version, Use::Used);
        }
    }
    let words = languages.unwrap_or_default();
    let only_c = words.split([' ', ')', '(']).any(|w| w == "c") && !words.contains("cxx");
    if only_c && cpp.is_none() {
        manifest.language("c", "CMAKE_C_STANDARD", c.as_deref());
    } else {
        manifest.language("cpp", "CMAKE_CXX_STANDARD", cpp.as_deref());
    }
}

pub(super) fn meson(manifest: &mut Manifest<'_>) {
    manifest.ecosystem("cpp");
    let text = manifest.text;
    let standard = text.lines().find_map(|line| number_after(line, "cpp_std=c++"));
    if text.contains("'cpp'") {
        manifest.language("cpp", "cpp_std", standard.as_deref());
    } else {
        manifest.uses("c", "project", None);
    }
}

pub(super) fn conan(manifest: &mut Manifest<'_>) {
    manifest.ecosystem("cpp");
    manifest.uses("cpp", "conanfile.txt", None);
    for line in lines(manifest.text, "#") {
        if let Some((name, version)) = line.split_once('/') {
            let version = version.split(['@', '#']).next();
            manifest.dependency(LIBRARIES, &name.to_lowercase(), "requires.", version, Use::Used);
        }
    }
}

pub(super) fn vcpkg(manifest: &mut Manifest<'_>) {
    let file = manifest.json();
    manifest.ecosystem("cpp");
    manifest.uses("cpp", "vcpkg.json", None);
    for entry in file.get("dependencies").and_then(Value::as_array).into_iter().flatten() {
        let name = entry.as_str().or_else(|| entry.get("name")?.as_str());
        if let Some(name) = name {
            manifest.dependency(LIBRARIES, &name.to_lowercase(), "dependencies.", None, Use::Used);
        }
    }
}
