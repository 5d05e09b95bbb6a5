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

#[cfg(test)]
mod tests {
    use super::super::tests::check;

    #[test]
    fn the_presence_of_a_file_is_enough() {
        for (path, expected) in [
            (".gitlab-ci.yml", "gitlab-ci (.gitlab-ci.yml)"),
            (".circleci/config.yml", "circleci (config.yml)"),
            ("Jenkinsfile", "jenkins (Jenkinsfile)"),
            ("azure-pipelines.yml", "azure-pipelines (azure-pipelines.yml)"),
            ("serverless.yml", "serverless (serverless.yml)"),
            ("vercel.json", "vercel (vercel.json)"),
            ("wrangler.toml", "cloudflare (wrangler.toml)"),
            ("Pulumi.yaml", "pulumi (Pulumi.yaml)"),
            ("ansible.cfg", "ansible (ansible.cfg)"),
            ("dbt_project.yml", "dbt (dbt_project.yml)"),
            (".github/workflows/ci.yml", "github-actions (ci.yml)"),
            (".github/workflows/ci.yaml", "github-actions (ci.yaml)"),
        ] {
            check(path, "anything: 1\n", &[expected]);
        }
        check("docs/workflows/ci.yml", "on: push\n", &[]);
    }
}
