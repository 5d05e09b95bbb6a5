//! Terraform and OpenTofu.

use super::scan::{lines, quoted_after};
use super::{Manifest, Table};

/// By the first part of a provider's name.
#[rustfmt::skip]
pub(super) const PROVIDERS: &Table = &[
    ("aws", "aws"), ("google", "gcp"), ("google-beta", "gcp"), ("azurerm", "azure"), ("kubernetes", "kubernetes"), ("helm", "helm"),
    ("cloudflare", "cloudflare"), ("vercel", "vercel"), ("docker", "docker"),
];

pub(super) fn configuration(manifest: &mut Manifest<'_>) {
    read(manifest, "terraform");
}

pub(super) fn opentofu(manifest: &mut Manifest<'_>) {
    read(manifest, "opentofu");
}

fn read(manifest: &mut Manifest<'_>, tool: &'static str) {
    let mut version = None;
    for line in lines(manifest.text, "#") {
        if line.starts_with("required_version") {
            version = quoted_after(line, "=");
        } else if line.starts_with("provider ") {
            provider(manifest, quoted_after(line, "provider"));
        } else if line.starts_with("source") {
            provider(manifest, quoted_after(line, "=").and_then(|s| s.strip_prefix("hashicorp/")));
        }
    }
    manifest.language(tool, "required_version", version);
}

fn provider(manifest: &mut Manifest<'_>, name: Option<&str>) {
    if let Some((technology, _)) = name.and_then(|name| super::lookup(PROVIDERS, name)) {
        manifest.uses(technology, "provider", None);
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::check;

    #[test]
    fn reads_the_version_and_the_providers() {
        let text = "terraform {\n  required_version = \">= 1.7\"\n  required_providers {\n    aws = {\n      \
                    source = \"hashicorp/aws\"\n    }\n    cf = { }\n    source = \"cloudflare/cloudflare\"\n  }\n}\n\
                    # provider \"azurerm\" {}\nprovider \"google\" {}\nprovider \"unheard-of\" {}\n";
        let expected = ["aws (provider)", "gcp (provider)", "terraform >= 1.7 (required_version)"];
        check("main.tf", text, &expected);
        check(
            "main.tofu",
            "provider \"kubernetes\" {}\n",
            &["kubernetes (provider)", "opentofu (main.tofu)"],
        );
        check("empty.tf", "", &["terraform (empty.tf)"]);
    }
}
