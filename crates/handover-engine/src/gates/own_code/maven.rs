//! Maven: modules that are built together use each other's code. A project that is built alone takes its
//! siblings from the local repository, where the last `mvn install` put those of the checkout.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::{OwnCode, elsewhere, shown, walk};
use crate::bounded;
use crate::gates::GateError;

const POM: &str = "pom.xml";

/// What a project's file says.
#[derive(Debug, Default, PartialEq, Eq)]
struct Pom {
    group: Option<String>,
    artifact: String,
    modules: Vec<String>,
    /// Group and artifact of its dependencies.
    needs: Vec<(String, String)>,
}

pub(super) fn prove(own: &OwnCode<'_>) -> Result<(), GateError> {
    let mut poms: BTreeMap<PathBuf, Pom> = BTreeMap::new();
    walk(own.folder, &mut |folder| {
        let text = bounded::text(&folder.join(POM));
        if let Some(pom) = text.and_then(|text| parse(&text)) {
            poms.insert(folder.to_owned(), pom);
        }
        true
    });
    for (folder, pom) in &poms {
        let together = built_with(&poms, folder);
        for (group, artifact) in &pom.needs {
            let sibling = poms.iter().find(|(place, other)| {
                *place != folder
                    && other.artifact == *artifact
                    && other.group.as_ref().is_none_or(|own| own == group || group.contains("${"))
            });
            if let Some((place, _)) = sibling.filter(|(place, _)| !together.contains(*place)) {
                let what = format!(
                    "`{}` is not built together with `{artifact}`, so Maven would take that from its local \
                     repository, which",
                    shown(own, folder)
                );
                return Err(elsewhere(what, &own.checkout.join(shown(own, place))));
            }
        }
    }
    Ok(())
}

/// The projects that are built in one go with this one: those of the topmost one that lists it.
fn built_with(poms: &BTreeMap<PathBuf, Pom>, folder: &Path) -> BTreeSet<PathBuf> {
    let all = |root: &Path| {
        let mut found = BTreeSet::new();
        let mut open = vec![root.to_owned()];
        while let Some(place) = open.pop() {
            let Some(pom) = poms.get(&place).filter(|_| found.insert(place.clone())) else {
                continue;
            };
            let inner =
                pom.modules.iter().map(|module| place.join(module.trim_end_matches("/pom.xml")));
            open.extend(inner);
        }
        found
    };
    let above = folder.ancestors().filter(|above| poms.contains_key(*above)).map(all);
    above.filter(|found| found.contains(folder)).last().unwrap_or_default()
}

fn parse(text: &str) -> Option<Pom> {
    let document = roxmltree::Document::parse(text).ok()?;
    let root = document.root_element();
    let child = |node: roxmltree::Node<'_, '_>, name: &str| {
        let found = node.children().find(|child| child.tag_name().name() == name)?;
        found.text().map(|text| text.trim().to_owned())
    };
    let parent = root.children().find(|child| child.tag_name().name() == "parent");
    let named =
        |name: &'static str| root.descendants().filter(move |node| node.tag_name().name() == name);
    let needs = named("dependency")
        .filter_map(|node| Some((child(node, "groupId")?, child(node, "artifactId")?)));
    let modules = named("module").filter_map(|node| node.text().map(|text| text.trim().to_owned()));
    Some(Pom {
        group: child(root, "groupId").or_else(|| child(parent?, "groupId")),
        artifact: child(root, "artifactId")?,
        modules: modules.collect(),
        needs: needs.collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modules_of_one_build_use_each_other() {
        let pom = |modules: &[&str]| Pom {
            modules: modules.iter().map(|&module| module.to_owned()).collect(),
            ..Pom::default()
        };
        let at = |path: &str| PathBuf::from(path);
        let poms = BTreeMap::from([
            (at("/p"), pom(&["core"])),
            (at("/p/core"), pom(&["inner/pom.xml"])),
            (at("/p/core/inner"), pom(&[])),
            (at("/p/alone"), pom(&[])),
        ]);
        let all = BTreeSet::from([at("/p"), at("/p/core"), at("/p/core/inner")]);
        assert_eq!(built_with(&poms, Path::new("/p/core/inner")), all);
        assert_eq!(built_with(&poms, Path::new("/p")), all);
        assert_eq!(built_with(&poms, Path::new("/p/alone")), BTreeSet::from([at("/p/alone")]));
    }

    #[test]
    fn reads_what_a_project_is_and_needs() {
        let text = "<project xmlns=\"http://maven.apache.org/POM/4.0.0\"><parent><groupId>shop</groupId>\
            <artifactId>all</artifactId></parent><artifactId>app</artifactId><modules><module> a </module></modules>\
            <dependencies><dependency><groupId>shop</groupId><artifactId>core</artifactId></dependency>\
            </dependencies></project>";
        let pom = parse(text).unwrap();
        assert_eq!((pom.group.as_deref(), pom.artifact.as_str()), (Some("shop"), "app"));
        assert_eq!(pom.modules, ["a"]);
        assert_eq!(pom.needs, [("shop".to_owned(), "core".to_owned())]);
        assert_eq!(parse("<project/>"), None);
        assert_eq!(parse("no xml"), None);
    }
}
