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

#[cfg(test)]
mod tests {
    use super::super::tests::check;

    #[test]
    fn reads_standards_and_packages_of_cmake() {
        let text = "CMAKE_MINIMUM_REQUIRED(VERSION 3.20)\n# set(CMAKE_CXX_STANDARD 11)\nproject(x LANGUAGES C CXX)\n\
                    set(CMAKE_CXX_STANDARD_REQUIRED ON)\nset(CMAKE_CXX_STANDARD 20)\n\
                    find_package(Qt6 6.5 REQUIRED)\nfind_package(GTest)\nfind_package(Boost COMPONENTS x)\n\
                    find_package(PostgreSQL 15)\n";
        check(
            "CMakeLists.txt",
            text,
            &[
                "cmake 3.20 (cmake_minimum_required)",
                "qt 6.5 (find_package qt6)",
                "gtest (find_package gtest)",
                "boost (find_package boost)",
                "postgresql (find_package postgresql)",
                "cpp 20 (CMAKE_CXX_STANDARD)",
            ],
        );
        check(
            "CMakeLists.txt",
            "project(x CXX)\ntarget_compile_features(x PUBLIC cxx_std_17)\nset(CMAKE_CXX_STANDARD 23)\n",
            &["cpp 17 (CMAKE_CXX_STANDARD)"],
        );
    }

    #[test]
    fn a_project_may_be_plain_c() {
        let text = "project(x C)\nset(CMAKE_C_STANDARD 11)\nset(CMAKE_C_STANDARD_REQUIRED ON)\n";
        check("CMakeLists.txt", text, &["c 11 (CMAKE_C_STANDARD)"]);
        check("CMakeLists.txt", "project(x C)\n", &["c (CMakeLists.txt)"]);
        check(
            "CMakeLists.txt",
            "project(x C)\nset(CMAKE_CXX_STANDARD 14)\n",
            &["cpp 14 (CMAKE_CXX_STANDARD)"],
        );
        check("CMakeLists.txt", "project(c-tools)\n", &["cpp (CMakeLists.txt)"]);
    }

    #[test]
    fn reads_meson() {
        let cpp = "project('x', 'cpp',\n  default_options: ['cpp_std=c++20'])\n";
        check("meson.build", cpp, &["cpp 20 (cpp_std)"]);
        check("meson.build", "project('x', 'cpp')\n", &["cpp (meson.build)"]);
        check("meson.build", "project('x', 'c')\n", &["c (project)"]);
    }

    #[test]
    fn reads_package_managers() {
        check(
            "conanfile.txt",
            "[requires]\nBoost/1.84.0\ngtest/1.14.0@user/stable\ncatch2/3.5#hash\n# qt/5\nzlib/1\n",
            &[
                "cpp (conanfile.txt)",
                "boost 1.84.0 (requires.boost)",
                "gtest 1.14.0 (requires.gtest)",
                "catch2 3.5 (requires.catch2)",
            ],
        );
        check(
            "vcpkg.json",
            r#"{"dependencies": ["Catch2", {"name": "libpqxx", "version>=": "7"}, {"x": 1}, 5, "fmt"]}"#,
            &[
                "cpp (vcpkg.json)",
                "catch2 (dependencies.catch2)",
                "postgresql (dependencies.libpqxx)",
            ],
        );
    }
}
