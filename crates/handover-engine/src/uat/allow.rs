//! Which programs a scenario may start, and with which arguments. Names are not trusted: links are
//! followed, a copy of a shell is detected by its content, and a script by its first line.

use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};

use super::tools::{First, Tool, is_code, is_never, tool_of};

/// Besides letters and digits, the only characters allowed in arguments that npm, make and similar
/// tools pass to a shell.
const PLAIN: &str = "-_./:@,+";

const SCRIPT: &str = "expected a file with one of the project's programs, not code or a document";
const MISSING: &str = "there is no such file in the project";

/// Why a program is not started.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// It runs code or programs given as arguments.
    #[error("`{program}` {}runs arbitrary code, so it is never started", is(program, found))]
    Starter {
        /// The program that the scenario names.
        program: String,
        /// What it turned out to be.
        found: String,
    },
    /// It is not on the allowlist.
    #[error("`{program}` is not one of the programs that scenarios may start ({})", allowed.join(", "))]
    NotListed {
        /// The program that the scenario names.
        program: String,
        /// The allowlist.
        allowed: Vec<String>,
    },
    /// It does not exist.
    #[error("the program `{program}` was not found")]
    NotFound {
        /// The program that the scenario names.
        program: String,
    },
    /// It is outside the project.
    #[error("`{program}` is outside the project; name programs without their path")]
    Outside {
        /// The program that the scenario names.
        program: String,
    },
    /// An argument it must not get.
    #[error("`{program}` is not started with `{word}`: {rule}")]
    Word {
        /// The program.
        program: String,
        /// The argument.
        word: String,
        /// The rule it violates.
        rule: &'static str,
    },
}

fn is(program: &str, found: &str) -> String {
    if program == found { String::new() } else { format!("is `{found}`, which ") }
}

/// What scenarios may start, and where.
#[derive(Debug, Clone, Copy)]
pub struct Allowed<'a> {
    /// The allowlist: names, or paths below the project that start with `./`.
    pub programs: &'a [String],
    /// The project's folder in the worktree.
    pub folder: &'a Path,
    /// The search path for programs.
    pub path: &'a OsStr,
}

impl Allowed<'_> {
    /// The file to start, or why it is refused.
    pub fn check(&self, argv: &[String]) -> Result<PathBuf, Refused> {
        let Some((program, words)) = argv.split_first() else {
            return Err(Refused::NotFound { program: String::new() });
        };
        let name = program.rsplit('/').next().unwrap_or(program);
        refuse_starter(program, name)?;
        let own = program.contains('/');
        if own && !self.is_below(Path::new(program)) {
            return Err(Refused::Outside { program: program.clone() });
        }
        if !self.programs.iter().any(|listed| same(listed, program)) {
            let allowed = self.programs.to_vec();
            return Err(Refused::NotListed { program: program.clone(), allowed });
        }
        let found = if own { self.own(program)? } else { self.looked_up(program)? };
        if let Some(tool) = tool_of(name) {
            self.check_words(tool, program, words)?;
        }
        Ok(found)
    }

    /// A program of the project itself.
    fn own(&self, program: &str) -> Result<PathBuf, Refused> {
        let not_found = || Refused::NotFound { program: program.to_owned() };
        let path = self.folder.join(program);
        let real = fs_err::canonicalize(&path).map_err(|_| not_found())?;
        refuse_starter(program, &file_name(&real))?;
        let root = fs_err::canonicalize(self.folder).map_err(|_| not_found())?;
        if !real.starts_with(root) {
            return Err(Refused::Outside { program: program.to_owned() });
        }
        if !real.is_file() {
            return Err(not_found());
        }
        if let Some(found) = interpreter(&real).or_else(|| copied_shell(&real)) {
            refuse_starter(program, &found)?;
        }
        Ok(path)
    }

    /// A program on the search path. Relative entries of the path are ignored.
    fn looked_up(&self, program: &str) -> Result<PathBuf, Refused> {
        let mut places = std::env::split_paths(self.path).filter(|place| place.is_absolute());
        let found = places.find_map(|place| {
            let path = place.join(program);
            path.is_file().then_some(path)
        });
        let found = found.ok_or_else(|| Refused::NotFound { program: program.to_owned() })?;
        let real = fs_err::canonicalize(&found).unwrap_or_else(|_| found.clone());
        refuse_starter(program, &file_name(&real))?;
        Ok(found)
    }

    /// Whether a path stays inside the project.
    fn is_below(&self, path: &Path) -> bool {
        path.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir))
    }

    fn check_words(&self, tool: &Tool, program: &str, words: &[String]) -> Result<(), Refused> {
        let refused = |word: &str, rule| Refused::Word {
            program: program.to_owned(),
            word: word.chars().take(80).collect(),
            rule,
        };
        let own = words.iter().position(|word| word == "--").unwrap_or(words.len());
        let (own, behind) = words.split_at(own);
        for word in own {
            if tool.never.iter().any(|option| is_option(word, option)) {
                return Err(refused(word, "this option can start any program"));
            }
            let is_unknown =
                |only: &[&str]| word.starts_with('-') && !only.contains(&word.as_str());
            if tool.only.is_some_and(is_unknown) {
                return Err(refused(word, "only options known to be harmless are allowed"));
            }
            let value = word.rsplit('=').next().unwrap_or(word);
            if !self.is_below(Path::new(value)) {
                return Err(refused(word, "the path is outside the project"));
            }
        }
        if tool.plain {
            let plain = |c: char| c.is_ascii_alphanumeric() || PLAIN.contains(c);
            let odd = own.iter().chain(behind).find(|word| !word.chars().all(plain));
            if let Some(word) = odd {
                return Err(refused(word, "it is passed to a shell, so it must be a plain word"));
            }
        }
        match &tool.first {
            First::Any => Ok(()),
            First::Command(commands) => match words.first() {
                Some(word) if commands.contains(&word.as_str()) => Ok(()),
                Some(word) => Err(refused(word, "unknown subcommand")),
                None => Err(refused("", "a command is expected")),
            },
            First::Script { flags, modules } => {
                let rest = words.iter().skip_while(|word| flags.contains(&word.as_str()));
                let rest: Vec<&String> = rest.collect();
                match rest.as_slice() {
                    [] if !words.is_empty() => Ok(()),
                    [flag, module, more @ ..] if *flag == "-m" => {
                        if modules.contains(&module.as_str()) {
                            let more: Vec<String> = more.iter().map(|&word| word.clone()).collect();
                            return tool_of(module)
                                .map_or(Ok(()), |tool| self.check_words(tool, program, &more));
                        }
                        let is_own = !modules.is_empty() && self.has_module(module);
                        is_own
                            .then_some(())
                            .ok_or_else(|| refused(module, "it is not a module of the project"))
                    }
                    // Every argument of a test runner is a file.
                    files if words.iter().any(|word| word == "--test") => {
                        let odd = files.iter().find(|file| !self.is_script(file));
                        odd.map_or(Ok(()), |file| Err(refused(file, self.why_no_script(file))))
                    }
                    [script, ..] if self.is_script(script) => Ok(()),
                    [word, ..] => Err(refused(word, self.why_no_script(word))),
                    [] => Err(refused("", SCRIPT)),
                }
            }
        }
    }

    /// Whether an argument is code of the project.
    fn is_script(&self, path: &str) -> bool {
        is_code(path) && self.has_file(path)
    }

    fn why_no_script(&self, path: &str) -> &'static str {
        let is_named = is_code(path) && self.is_below(Path::new(path));
        if is_named && !self.folder.join(path).exists() { MISSING } else { SCRIPT }
    }

    fn has_file(&self, path: &str) -> bool {
        let inside = || {
            let real = fs_err::canonicalize(self.folder.join(path)).ok()?;
            Some(real.is_file() && real.starts_with(fs_err::canonicalize(self.folder).ok()?))
        };
        !path.starts_with('-') && self.is_below(Path::new(path)) && inside() == Some(true)
    }

    fn has_module(&self, module: &str) -> bool {
        let is_word = |part: &str| {
            !part.is_empty() && part.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        };
        let path = module.replace('.', "/");
        module.split('.').all(is_word)
            && ["", "src/"].iter().any(|start| {
                self.has_file(&format!("{start}{path}.py"))
                    || self.has_file(&format!("{start}{path}/__main__.py"))
            })
    }
}

/// `-Z`, `-Zx`, `--config` and `--config=x`.
fn is_option(word: &str, option: &str) -> bool {
    let is_short = option.len() == 2;
    word.strip_prefix(option)
        .is_some_and(|rest| rest.is_empty() || is_short || rest.starts_with('='))
}

fn same(listed: &str, program: &str) -> bool {
    let bare = |path: &str| path.strip_prefix("./").unwrap_or(path).to_owned();
    listed.contains('/') == program.contains('/') && bare(listed) == bare(program)
}

fn refuse_starter(program: &str, found: &str) -> Result<(), Refused> {
    if is_never(found) {
        return Err(Refused::Starter { program: program.to_owned(), found: found.to_owned() });
    }
    Ok(())
}

fn file_name(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// The interpreter in a script's first line: `bash` for `#!/usr/bin/env -S bash -x`.
fn interpreter(path: &Path) -> Option<String> {
    use std::io::Read as _;
    let mut head = Vec::new();
    fs_err::File::open(path).ok()?.take(1_024).read_to_end(&mut head).ok()?;
    let line = head.strip_prefix(b"#!")?;
    let line = String::from_utf8_lossy(line);
    let mut words = line
        .lines()
        .next()?
        .split_whitespace()
        .map(|word| word.rsplit('/').next().unwrap_or(word).to_owned());
    let first = words.next()?;
    if first != "env" {
        return Some(first);
    }
    words.find(|word| !word.starts_with('-') && !word.contains('=')).or(Some(first))
}

/// The forbidden program that a file is a copy of or a link to.
fn copied_shell(path: &Path) -> Option<String> {
    let listed = fs_err::read_to_string("/etc/shells").unwrap_or_default();
    let usual =
        ["/bin/sh", "/bin/bash", "/bin/dash", "/bin/busybox", "/usr/bin/env", "/usr/bin/xargs"];
    let size = fs_err::metadata(path).ok()?.len();
    let mut content = None;
    for shell in listed.lines().filter(|line| line.starts_with('/')).chain(usual) {
        let same_size = fs_err::metadata(shell).is_ok_and(|data| data.len() == size);
        if !same_size {
            continue;
        }
        let content = content.get_or_insert_with(|| fs_err::read(path).unwrap_or_default());
        if fs_err::read(shell).is_ok_and(|other| other == *content) {
            return Some(file_name(Path::new(shell)));
        }
    }
    None
}

/// The default allowlist of a project: its own tools.
pub fn programs_of(folder: &Path) -> Vec<String> {
    let has = |file: &str| folder.join(file).exists();
    let mut programs: Vec<&str> = Vec::new();
    if has("Cargo.toml") {
        programs.push("cargo");
    }
    if has("package.json") {
        programs.extend(["node", "npm"]);
        programs.extend(has("pnpm-lock.yaml").then_some("pnpm"));
        programs.extend(has("yarn.lock").then_some("yarn"));
    }
    if ["pyproject.toml", "setup.py", "setup.cfg", "requirements.txt", "pytest.ini"]
        .iter()
        .any(|f| has(f))
        || has_python(folder)
    {
        programs.extend(["python3", "python", "pytest"]);
    }
    if has("go.mod") {
        programs.push("go");
    }
    programs.into_iter().map(str::to_owned).collect()
}

fn has_python(folder: &Path) -> bool {
    let Ok(entries) = fs_err::read_dir(folder) else { return false };
    entries.flatten().any(|entry| entry.path().extension().is_some_and(|end| end == "py"))
}

#[cfg(test)]
#[path = "allow_tests.rs"]
mod tests;
