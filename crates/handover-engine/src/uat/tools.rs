//! What is known about programs: which ones run arbitrary code, and how the tools of projects may be
//! called.

/// Programs whose arguments are code or name another program. They are never started, whatever the
/// configuration says, because each of them is equivalent to a shell.
pub(super) const NEVER: &[&str] = &[
    // Shells.
    "sh",
    "bash",
    "rbash",
    "dash",
    "ash",
    "zsh",
    "ksh",
    "mksh",
    "pdksh",
    "fish",
    "csh",
    "tcsh",
    "nu",
    "elvish",
    "xonsh",
    "busybox",
    "toybox",
    "pwsh",
    "powershell",
    "cmd",
    "tclsh",
    "wish",
    "expect",
    // Programs that start another one.
    "env",
    "xargs",
    "parallel",
    "sudo",
    "doas",
    "su",
    "runuser",
    "pkexec",
    "nohup",
    "setsid",
    "timeout",
    "nice",
    "ionice",
    "chrt",
    "taskset",
    "stdbuf",
    "time",
    "watch",
    "flock",
    "script",
    "strace",
    "ltrace",
    "gdb",
    "lldb",
    "valgrind",
    "perf",
    "chroot",
    "unshare",
    "nsenter",
    "bwrap",
    "firejail",
    "setpriv",
    "capsh",
    "prlimit",
    "systemd-run",
    "start-stop-daemon",
    "run-parts",
    "at",
    "batch",
    "crontab",
    "tmux",
    "screen",
    "ssh",
    "rsh",
    "nc",
    "ncat",
    "netcat",
    "socat",
    "telnet",
    "docker",
    "podman",
    "kubectl",
    "npx",
    "pnpx",
    "bunx",
    "uvx",
    "pipx",
    "dbus-run-session",
    // Programs that can start others by an option or through their language.
    "find",
    "fd",
    "awk",
    "gawk",
    "mawk",
    "nawk",
    "sed",
    "ed",
    "ex",
    "vi",
    "vim",
    "nvim",
    "emacs",
    "less",
    "more",
    "man",
    "tar",
    "zip",
    "rsync",
    "git",
    "sqlite3",
    "psql",
    "mysql",
    "ftp",
    "m4",
    "bc",
    "dc",
    "gcc",
    "cc",
    "clang",
    "rustc",
    "ninja",
    "cmake",
    "meson",
    "bazel",
    "gradle",
    "mvn",
];

/// How a tool may be called.
pub(super) struct Tool {
    /// Its name, without a trailing version.
    pub(super) name: &'static str,
    /// What the first argument must be.
    pub(super) first: First,
    /// Options that would make it start something else.
    pub(super) never: &'static [&'static str],
    /// The only options it may have, if there is such a list.
    pub(super) only: Option<&'static [&'static str]>,
    /// Whether it passes its arguments to a shell, so that they must be plain.
    pub(super) plain: bool,
}

/// What the first argument must be.
pub(super) enum First {
    /// One of these subcommands.
    Command(&'static [&'static str]),
    /// A file of the project, perhaps after some of these options; or `-m` and a module that is one of
    /// these or of the project.
    Script {
        /// Options without a value.
        flags: &'static [&'static str],
        /// Modules.
        modules: &'static [&'static str],
    },
    /// Anything.
    Any,
}

const fn tool(name: &'static str, first: First) -> Tool {
    Tool { name, first, never: &[], only: None, plain: false }
}

/// npm and similar tools: the project's own scripts with plain arguments, since a shell will see them.
const fn scripts(name: &'static str) -> Tool {
    Tool {
        name,
        first: First::Command(&["test", "t", "run", "run-script", "start", "--version"]),
        never: &[],
        only: Some(&["--silent", "-s", "--version"]),
        plain: true,
    }
}

/// Targets of a file of the project.
const fn targets(name: &'static str) -> Tool {
    Tool { name, first: First::Any, never: &[], only: Some(&[]), plain: true }
}

const fn interpreter(name: &'static str) -> Tool {
    tool(name, First::Script { flags: &[], modules: &[] })
}

pub(super) const TOOLS: &[Tool] = &[
    Tool {
        name: "cargo",
        first: First::Command(&[
            "run",
            "r",
            "test",
            "t",
            "build",
            "b",
            "check",
            "c",
            "bench",
            "clippy",
            "fmt",
            "doc",
            "--version",
            "-V",
        ]),
        never: &["--config", "-Z", "-C"],
        only: None,
        plain: false,
    },
    scripts("npm"),
    scripts("pnpm"),
    scripts("yarn"),
    targets("make"),
    targets("gmake"),
    targets("just"),
    tool(
        "node",
        First::Script {
            flags: &["--test", "--no-warnings", "--enable-source-maps", "--version"],
            modules: &[],
        },
    ),
    tool(
        "python",
        First::Script {
            flags: &["-u", "-B", "-I", "-s", "-E", "-O", "-q", "--version"],
            modules: &["pytest", "unittest"],
        },
    ),
    Tool {
        name: "pytest",
        first: First::Any,
        // Any text can contain doctests, and settings can name any code.
        never: &[
            "--doctest-glob",
            "--doctest-modules",
            "--override-ini",
            "--config-file",
            "--rootdir",
            "-o",
            "-c",
            "-p",
        ],
        only: None,
        plain: false,
    },
    Tool {
        name: "go",
        first: First::Command(&["run", "test", "build", "vet", "version"]),
        never: &[
            "-exec",
            "--exec",
            "-toolexec",
            "--toolexec",
            "-overlay",
            "--overlay",
            "-modfile",
            "--modfile",
            "-ldflags",
            "--ldflags",
            "-gccgoflags",
            "--gccgoflags",
            "-vettool",
            "--vettool",
            "-C",
            "--C",
        ],
        only: None,
        plain: false,
    },
    tool("deno", First::Command(&["run", "test", "task", "--version"])),
    tool("bun", First::Command(&["run", "test", "--version"])),
    interpreter("perl"),
    interpreter("ruby"),
    interpreter("php"),
    interpreter("lua"),
    interpreter("luajit"),
    interpreter("Rscript"),
    interpreter("pypy"),
    interpreter("nodejs"),
];

/// File extensions of code; a file without an extension may be code as well. Documents are not code: a
/// story must not be run as a program.
const CODE: &[&str] = &[
    "py", "js", "mjs", "cjs", "ts", "mts", "cts", "rb", "pl", "t", "php", "lua", "R", "r", "wasm",
];

/// Whether an interpreter may run a file.
pub(super) fn is_code(path: &str) -> bool {
    let end = std::path::Path::new(path).extension();
    end.is_none_or(|end| end.to_str().is_some_and(|end| CODE.contains(&end)))
}

/// A program's name without a version at its end: `python3.12` is `python`.
pub(super) fn plain_name(name: &str) -> &str {
    let plain = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    let plain = plain.strip_suffix('-').unwrap_or(plain);
    if plain.is_empty() { name } else { plain }
}

/// Whether a program is never started.
pub(super) fn is_never(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    let lower = lower.strip_suffix(".exe").unwrap_or(&lower);
    // The loader runs whatever it is given.
    NEVER.contains(&lower) || NEVER.contains(&plain_name(lower)) || lower.starts_with("ld-linux")
}

/// The rules for a tool.
pub(super) fn tool_of(name: &str) -> Option<&'static Tool> {
    TOOLS.iter().find(|tool| tool.name == name || tool.name == plain_name(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_at_the_end_of_a_name_do_not_matter() {
        for (name, plain) in [
            ("python3.12", "python"),
            ("python3", "python"),
            ("bash-5.2", "bash"),
            ("cargo", "cargo"),
            ("7", "7"),
            ("x11vnc", "x11vnc"),
        ] {
            assert_eq!(plain_name(name), plain, "{name}");
        }
        assert_eq!(tool_of("python3.12").unwrap().name, "python");
        assert_eq!(tool_of("npm").unwrap().name, "npm");
        assert!(tool_of("unknown").is_none());
    }

    #[test]
    fn programs_that_run_anything_are_never_started() {
        for name in ["sh", "BASH", "bash5", "sh.exe", "env", "ld-linux-x86-64.so.2", "xargs", "git"]
        {
            assert!(is_never(name), "{name}");
        }
        for name in ["cargo", "shell", "python3", "exe", ""] {
            assert!(!is_never(name), "{name}");
        }
        let mut names = NEVER.to_vec();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), NEVER.len(), "a name is listed twice");
        assert!(TOOLS.iter().all(|tool| !is_never(tool.name)));
    }

    #[test]
    fn documents_are_not_code() {
        for path in ["a.py", "dir/a.mjs", "bin/tool", "a.rb", "Rakefile"] {
            assert!(is_code(path), "{path}");
        }
        for path in ["story.md", "notes.txt", "data.json", "a.py.bak", "a.PY"] {
            assert!(!is_code(path), "{path}");
        }
    }
}
