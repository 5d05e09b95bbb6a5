//! CI and delivery tools, detected by the presence of their files.

use super::Manifest;

macro_rules! present {
    ($($read:ident => $name:literal),+ $(,)?) => {
        $(pub(super) fn $read(manifest: &mut Manifest<'_>) {
            manifest.uses($name, manifest.name(), None);
        })+
    };
}

present! {
    gitlab => "gitlab-ci",
    circle => "circleci",
    jenkins => "jenkins",
    azure => "azure-pipelines",
    serverless => "serverless",
    vercel => "vercel",
    cloudflare => "cloudflare",
    pulumi => "pulumi",
    ansible => "ansible",
    dbt => "dbt",
}

/// Other tools have a `workflows` folder too.
pub(super) fn github(manifest: &mut Manifest<'_>) {
    if manifest.path.starts_with(".github/workflows/") {
        manifest.uses("github-actions", manifest.name(), None);
    }
}
