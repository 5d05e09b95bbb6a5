//! The npm packages: one per platform with its program, and one that depends on all of them and starts the
//! right one. They are written as folders; `npm pack` and `npm publish` take them from there.

use std::path::Path;

use anyhow::Result;
use serde_json::{Map, Value, json};

use crate::archive::File;
use crate::cargo::root;
use crate::contents::{Contents, DOCUMENTS};
use crate::target::{TARGETS, Target};
use crate::{PACKAGE, SUMMARY};

/// Writes the package of the contents' platform.
pub fn write_platform(contents: &Contents, repository: &str, folder: &Path) -> Result<()> {
    let target = contents.target;
    let (os, cpu) = target.npm;
    let mut manifest = manifest(&target.npm_package(), &contents.version, repository);
    manifest["description"] = json!(format!("The program of {PACKAGE} for {os} on {cpu}"));
    manifest["os"] = json!([os]);
    manifest["cpu"] = json!([cpu]);
    manifest["preferUnplugged"] = json!(true);
    let mut files = vec![contents.program.clone()];
    files
        .extend(contents.shared.iter().filter(|file| file.path.starts_with("share/man/")).cloned());
    let licenses = contents.documents.iter().filter(|file| file.path.starts_with("LICENSE"));
    files.extend(licenses.cloned());
    write(&manifest, &files, &folder.join(target.npm_package()))
}

/// Writes the package that people install, for the platforms whose packages are in the folder.
pub fn write_main(version: &str, repository: &str, folder: &Path) -> Result<()> {
    let mut manifest = manifest(PACKAGE, version, repository);
    manifest["bin"] = json!({"handover": "bin/handover"});
    manifest["scripts"] = json!({"postinstall": "node link.js"});
    manifest["engines"] = json!({"node": ">=16"});
    let made = TARGETS.iter().filter(|target| folder.join(target.npm_package()).is_dir());
    let exact = |target: &Target| (target.npm_package(), json!(version));
    manifest["optionalDependencies"] = Value::Object(made.map(exact).collect::<Map<_, _>>());
    let mut files = vec![
        File::program("bin/handover", include_str!("../../npm/handover.js")),
        File::new("link.js", include_str!("../../npm/link.js")),
        File::new("platform.js", include_str!("../../npm/platform.js")),
    ];
    for name in DOCUMENTS {
        files.push(File::new(*name, fs_err::read(root().join(name))?));
    }
    write(&manifest, &files, &folder.join(PACKAGE))
}

fn manifest(name: &str, version: &str, repository: &str) -> Value {
    json!({
        "name": name,
        "version": version,
        "description": SUMMARY,
        "license": "MIT OR Apache-2.0",
        "repository": {"type": "git", "url": format!("git+{repository}.git")},
    })
}

fn write(manifest: &Value, files: &[File], folder: &Path) -> Result<()> {
    if folder.exists() {
        fs_err::remove_dir_all(folder)?;
    }
    let text = serde_json::to_string_pretty(manifest)? + "\n";
    for file in [File::new("package.json", text)].iter().chain(files) {
        let path = folder.join(&file.path);
        fs_err::create_dir_all(path.parent().unwrap_or(folder))?;
        fs_err::write(&path, &file.bytes)?;
        #[cfg(unix)]
        if file.executable {
            use std::os::unix::fs::PermissionsExt as _;
            fs_err::set_permissions(&path, std::fs::Permissions::from_mode(0o755))?;
        }
    }
    Ok(())
}
