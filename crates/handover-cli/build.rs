//! How the program is linked.

fn main() {
    // Every hook and every spawn is a process of its own, and a position-independent program starts by
    // mending twenty thousand addresses, which takes a noticeable part of its start.
    #[expect(clippy::disallowed_methods, reason = "this is how cargo speaks to build scripts")]
    let target = |name: &str| std::env::var(format!("CARGO_CFG_TARGET_{name}")).unwrap_or_default();
    if target("OS") == "linux" && target("ENV") == "gnu" {
        println!("cargo::rustc-link-arg-bins=-no-pie");
    }
    println!("cargo::rerun-if-changed=build.rs");
}
