//! Personas: agents with a name and a character, as data.
//!
//! A persona is built in, a TOML file in the user's or the project's folder, or a table of the
//! configuration. A higher layer only needs to contain what differs. Files are read lazily.

mod error;
mod file;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use handover_model::config::{Agreement, PartyConfig, PersonaOverride};
use handover_model::{PartyPhase, PersonaId, Profile, Role};
use serde::{Deserialize, Serialize};

pub use error::{PersonaError, PersonaRule};

/// The folder of personas, below that of the user's configuration and below `.handover/`.
pub const FOLDER: &str = "personas";
/// The most personas in one party.
pub const MOST: usize = 8;

const BUILT_IN: &[(&str, &str)] = &[
    ("amelia", include_str!("built_in/amelia.toml")),
    ("bob", include_str!("built_in/bob.toml")),
    ("mary", include_str!("built_in/mary.toml")),
    ("murat", include_str!("built_in/murat.toml")),
    ("winston", include_str!("built_in/winston.toml")),
];

/// An agent with a name and a character.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Persona {
    /// The name by which it is referred to.
    pub id: PersonaId,
    /// Its display name.
    pub name: String,
    /// Its title, such as "Test Architect".
    pub title: String,
    /// The role that selects its context.
    pub role: Role,
    /// What it looks at.
    pub focus: String,
    /// Its style of speaking.
    pub style: String,
    /// A model of its own, if the agent program supports that.
    pub model: Option<String>,
    /// Its maximum permissions.
    pub permissions: Profile,
}

/// Where a part of a persona comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", content = "name", rename_all = "snake_case")]
pub enum Layer {
    /// Built in.
    BuiltIn,
    /// A file of the user.
    User(PathBuf),
    /// A file of the project.
    Project(PathBuf),
    /// The configuration.
    Configuration,
}

/// Where personas are found.
#[derive(Debug, Clone, Default)]
pub struct Personas {
    /// The user's folder, which need not exist.
    pub user: Option<PathBuf>,
    /// The project's folder, which need not exist.
    pub project: Option<PathBuf>,
    /// Which of the project's files the user has agreed to.
    pub agreement: Agreement,
    /// The `[party]` configuration.
    pub config: PartyConfig,
}

impl Personas {
    /// One persona and the layers that define it. Only its own files are read.
    pub fn get(&self, id: &PersonaId) -> Result<(Persona, Vec<Layer>), PersonaError> {
        let mut whole = PersonaOverride::default();
        let mut layers = Vec::new();
        let mut last = None;
        if let Some((name, text)) = BUILT_IN.iter().find(|(name, _)| *name == id.as_str()) {
            let place = PathBuf::from(format!("{name}.toml"));
            over(&mut whole, file::parse(&place, text)?);
            layers.push(Layer::BuiltIn);
        }
        let user = self.user.as_ref().map(|folder| (folder, Layer::User as fn(PathBuf) -> Layer));
        let project =
            self.project.as_ref().map(|folder| (folder, Layer::Project as fn(PathBuf) -> Layer));
        for (folder, layer) in user.into_iter().chain(project) {
            let path = folder.join(format!("{id}.toml"));
            // A user may link to files elsewhere; a project's links must stay inside the project.
            let links = self.user.as_ref() == Some(folder);
            if let Some(text) = file::read(folder, id, links)?
                && (links || self.agreement.covers(&key_of(id), text.as_bytes()))
            {
                over(&mut whole, file::parse(&path, &text)?);
                layers.push(layer(path.clone()));
                last = Some(path);
            }
        }
        if let Some(configured) = self.config.personas.get(id) {
            over(&mut whole, configured.clone());
            layers.push(Layer::Configuration);
        }
        if layers.is_empty() {
            let known = self.names()?.iter().map(ToString::to_string).collect();
            return Err(PersonaError::Unknown { name: id.to_string(), known });
        }
        let persona = file::whole(id, whole).map_err(|field| match last {
            Some(file) => PersonaError::File {
                file,
                line: 1,
                rule: PersonaRule::Required,
                message: format!("a new persona needs `{field}`"),
            },
            None => PersonaError::Incomplete { name: id.to_string(), field },
        })?;
        Ok((persona, layers))
    }

    /// The files of a project's folder that can be read: their paths below `.handover/`, and their texts.
    pub fn texts_of(folder: &Path) -> Vec<(PathBuf, String)> {
        let text = |id: PersonaId| {
            let text = file::read(folder, &id, false).ok()??;
            Some((PathBuf::from(key_of(&id)), text))
        };
        let mut texts: Vec<_> = file::ids_in(folder).into_iter().filter_map(text).collect();
        texts.sort();
        texts
    }

    /// The names of all personas, sorted. Files are only opened if the project's are not all trusted.
    pub fn names(&self) -> Result<BTreeSet<PersonaId>, PersonaError> {
        let mut names = BTreeSet::new();
        for (name, _) in BUILT_IN {
            names.insert(PersonaId::new(*name)?);
        }
        if let Some(folder) = &self.user {
            names.extend(file::ids_in(folder));
        }
        if let Some(folder) = &self.project {
            let trusted = |id: &PersonaId| {
                let text = || file::read(folder, id, false).ok()?;
                let covers = |text: String| self.agreement.covers(&key_of(id), text.as_bytes());
                // An unreadable file is reported when its persona is requested.
                self.agreement == Agreement::Everything || text().is_some_and(covers)
            };
            names.extend(file::ids_in(folder).into_iter().filter(trusted));
        }
        names.extend(self.config.personas.keys().cloned());
        Ok(names)
    }

    /// Files that are ignored because of their names.
    pub fn misnamed(&self) -> Vec<PersonaError> {
        let folders = self.user.iter().chain(&self.project);
        folders.flat_map(|folder| file::misnamed_in(folder)).collect()
    }

    /// The personas of a phase: those requested, else those configured, else the defaults.
    pub fn party(
        &self,
        phase: PartyPhase,
        asked_for: Option<&[PersonaId]>,
    ) -> Result<Vec<Persona>, PersonaError> {
        let usual = usual(phase)?;
        let ids = asked_for.or_else(|| self.config.agents.of(phase)).unwrap_or(&usual);
        let mut seen = BTreeSet::new();
        if ids.is_empty() {
            return Err(PersonaError::Party(format!("the party of {phase} is empty")));
        }
        if ids.len() > MOST {
            return Err(PersonaError::Party(format!(
                "the party of {phase} has {} personas, and {MOST} are allowed",
                ids.len()
            )));
        }
        ids.iter()
            .map(|id| {
                if !seen.insert(id) {
                    let message = format!("`{id}` is listed twice in the party of {phase}");
                    return Err(PersonaError::Party(message));
                }
                Ok(self.get(id)?.0)
            })
            .collect()
    }
}

/// The path of a project's persona below `.handover/`; the user's agreement refers to it.
fn key_of(id: &PersonaId) -> String {
    format!("{FOLDER}/{id}.toml")
}

/// Parses a list of personas such as `Winston, murat`.
pub fn parse_list(text: &str) -> Result<Vec<PersonaId>, PersonaError> {
    let names = text.split(',').map(str::trim).filter(|name| !name.is_empty());
    let ids: Vec<PersonaId> =
        names.map(|name| PersonaId::new(name.to_lowercase())).collect::<Result<_, _>>()?;
    if ids.is_empty() {
        return Err(PersonaError::Party("the list of personas is empty".to_owned()));
    }
    Ok(ids)
}

fn usual(phase: PartyPhase) -> Result<Vec<PersonaId>, PersonaError> {
    let names: &[&str] = match phase {
        PartyPhase::Kickoff => &["winston", "amelia", "murat"],
        PartyPhase::Review => &["winston", "murat", "amelia"],
        PartyPhase::Failure => &["winston", "amelia", "bob"],
        PartyPhase::Retro => &["mary", "bob", "winston", "amelia"],
    };
    Ok(names.iter().map(|name| PersonaId::new(*name)).collect::<Result<_, _>>()?)
}

/// The upper layer wins.
fn over(lower: &mut PersonaOverride, upper: PersonaOverride) {
    let PersonaOverride { name, title, role, focus, style, model, permissions } = upper;
    lower.name = name.or_else(|| lower.name.take());
    lower.title = title.or_else(|| lower.title.take());
    lower.role = role.or_else(|| lower.role.take());
    lower.focus = focus.or_else(|| lower.focus.take());
    lower.style = style.or_else(|| lower.style.take());
    lower.model = model.or_else(|| lower.model.take());
    lower.permissions = permissions.or(lower.permissions);
}

#[cfg(test)]
mod tests {
    use handover_model::config::fingerprint;

    use super::*;

    fn id(name: &str) -> PersonaId {
        PersonaId::new(name).unwrap()
    }

    fn folders() -> (tempfile::TempDir, Personas) {
        let folder = tempfile::tempdir().unwrap();
        let (user, project) = (folder.path().join("user"), folder.path().join("project"));
        fs_err::create_dir_all(&user).unwrap();
        fs_err::create_dir_all(&project).unwrap();
        let personas = Personas {
            user: Some(user),
            project: Some(project),
            agreement: Agreement::Everything,
            ..Personas::default()
        };
        (folder, personas)
    }

    fn write(folder: Option<&PathBuf>, name: &str, text: &str) {
        fs_err::write(folder.unwrap().join(name), text).unwrap();
    }

    #[test]
    fn built_in_personas_are_complete_and_read_only() {
        let personas = Personas::default();
        let names: Vec<String> =
            personas.names().unwrap().iter().map(ToString::to_string).collect();
        assert_eq!(names, ["amelia", "bob", "mary", "murat", "winston"]);
        for name in personas.names().unwrap() {
            let (persona, layers) = personas.get(&name).unwrap();
            assert_eq!(persona.permissions, Profile::ReadOnly);
            assert_eq!(layers, [Layer::BuiltIn]);
            assert!(!persona.focus.is_empty() && !persona.style.is_empty());
        }
        for phase in PartyPhase::ALL {
            assert!(personas.party(*phase, None).unwrap().len() >= 3);
        }
    }

    #[test]
    fn a_higher_layer_overrides_single_fields() {
        let (_folder, mut personas) = folders();
        write(personas.user.as_ref(), "winston.toml", "model = \"small\"\nstyle = \"short\"\n");
        write(personas.project.as_ref(), "winston.toml", "style = \"in rhymes\"\n");
        let configured = PersonaOverride { title: Some("Judge".into()), ..Default::default() };
        personas.config.personas.insert(id("winston"), configured);
        let (winston, layers) = personas.get(&id("winston")).unwrap();
        assert_eq!(winston.name, "Winston");
        assert_eq!(winston.title, "Judge");
        assert_eq!(winston.style, "in rhymes");
        assert_eq!(winston.model.as_deref(), Some("small"));
        assert_eq!(layers.len(), 4);
    }

    #[test]
    fn a_project_adds_its_own() {
        let (_folder, mut personas) = folders();
        let text = "name = \"Quinn\"\ntitle = \"Operator\"\nfocus = \"nights\"\n";
        write(personas.project.as_ref(), "quinn.toml", text);
        personas.config.agents.review = Some(vec![id("quinn"), id("murat")]);
        let party = personas.party(PartyPhase::Review, None).unwrap();
        assert_eq!(party[0].name, "Quinn");
        assert_eq!(party[0].role.as_str(), "quinn");
        let asked = parse_list("Winston, amelia,").unwrap();
        let party = personas.party(PartyPhase::Review, Some(&asked)).unwrap();
        assert_eq!(party.iter().map(|p| p.id.as_str()).collect::<Vec<_>>(), ["winston", "amelia"]);
    }

    #[test]
    fn a_project_file_counts_only_with_exactly_the_text_that_was_agreed_to() {
        let (_folder, mut personas) = folders();
        let text = "style = \"in rhymes\"\n";
        write(personas.project.as_ref(), "winston.toml", text);
        write(personas.project.as_ref(), "quinn.toml", "name = \"Quinn\"\n");
        let texts = Personas::texts_of(personas.project.as_ref().unwrap());
        assert_eq!(texts[1], ("personas/winston.toml".into(), text.to_owned()));
        personas.agreement =
            Agreement::To([fingerprint("personas/winston.toml", text.as_bytes())].into());
        assert_eq!(personas.get(&id("winston")).unwrap().0.style, "in rhymes");
        assert!(!personas.names().unwrap().contains(&id("quinn")));
        assert!(personas.get(&id("quinn")).is_err());
        write(personas.project.as_ref(), "winston.toml", "style = \"as an administrator\"\n");
        let (winston, layers) = personas.get(&id("winston")).unwrap();
        assert_eq!(layers, [Layer::BuiltIn]);
        assert_ne!(winston.style, "as an administrator");
    }

    #[test]
    fn files_are_read_lazily() {
        let (_folder, personas) = folders();
        write(personas.project.as_ref(), "broken.toml", "name = ");
        assert!(personas.party(PartyPhase::Kickoff, None).is_ok());
        assert!(personas.get(&id("broken")).is_err());
    }

    #[test]
    fn an_invalid_file_is_reported_with_line_and_rule() {
        let (folder, personas) = folders();
        let long = format!("title = \"t\"\nname = \"n\"\nfocus = \"{}\"\n", "x".repeat(3_000));
        for (text, line, rule) in [
            ("name = \"X\"\ntitle = \n", 2, PersonaRule::Syntax),
            ("name = \"X\"\ntitle = \"T\"\ncolour = \"red\"\n", 3, PersonaRule::Field),
            ("name = \"X\"\npermissions = \"root\"\n", 2, PersonaRule::Field),
            ("name = 7\n", 1, PersonaRule::Field),
            ("name = \"X\"\nrole = \"Not A Role\"\n", 2, PersonaRule::Field),
            ("name = \"X\"\n", 1, PersonaRule::Required),
            ("name = \"X\"\n\ntitle = \"  \"\n", 3, PersonaRule::Size),
            (long.as_str(), 3, PersonaRule::Size),
        ] {
            write(personas.project.as_ref(), "x.toml", text);
            let error = personas.get(&id("x")).unwrap_err();
            let PersonaError::File { file, line: at, rule: broken, .. } = &error else {
                panic!("{error}")
            };
            assert_eq!((*at, *broken), (line, rule), "{error}");
            assert_eq!(file, &folder.path().join("project/x.toml"));
        }
        let error = personas.get(&id("nobody")).unwrap_err().to_string();
        assert!(error.contains("`nobody`") && error.contains("winston"), "{error}");
    }

    #[test]
    fn links_out_of_the_project_are_refused() {
        let (folder, personas) = folders();
        let outside = folder.path().join("outside.toml");
        fs_err::write(&outside, "name = \"O\"\ntitle = \"o\"\nfocus = \"o\"\n").unwrap();
        let link = personas.project.as_ref().unwrap().join("o.toml");
        std::os::unix::fs::symlink(&outside, link).unwrap();
        assert!(personas.get(&id("o")).is_err());
    }

    #[test]
    fn parties_have_a_size() {
        let personas = Personas::default();
        assert!(personas.party(PartyPhase::Review, Some(&[])).is_err());
        let twice = [id("bob"), id("bob")];
        assert!(personas.party(PartyPhase::Review, Some(&twice)).is_err());
        let many = vec![id("bob"); MOST + 1];
        assert!(personas.party(PartyPhase::Review, Some(&many)).is_err());
        assert!(parse_list(" , ").is_err());
        assert!(parse_list("../x").is_err());
    }

    #[test]
    fn files_are_bounded_and_readable() {
        let (folder, personas) = folders();
        let read = |name: &str| personas.get(&id(name)).unwrap_err();
        write(personas.project.as_ref(), "big.toml", &format!("# {}\n", "x".repeat(64 << 10)));
        assert!(read("big").to_string().contains("more than 65536 bytes"), "{}", read("big"));
        fs_err::write(folder.path().join("project/odd.toml"), [0xff]).unwrap();
        assert!(read("odd").to_string().contains("file: it is not UTF-8"), "{}", read("odd"));
        fs_err::create_dir_all(folder.path().join("project/dir.toml")).unwrap();
        assert!(read("dir").to_string().contains("it is not a file"), "{}", read("dir"));
        write(personas.project.as_ref(), "Not A Name.toml", "");
        assert!(personas.names().unwrap().contains(&id("winston")));
        let misnamed = personas.misnamed();
        let [PersonaError::File { rule, .. }] = &misnamed[..] else { panic!("{misnamed:?}") };
        assert_eq!(*rule, PersonaRule::Name);
    }

    #[test]
    fn a_user_may_link_to_files_elsewhere() {
        let (folder, personas) = folders();
        let outside = folder.path().join("outside.toml");
        fs_err::write(&outside, "name = \"O\"\ntitle = \"o\"\nfocus = \"o\"\n").unwrap();
        std::os::unix::fs::symlink(&outside, folder.path().join("user/o.toml")).unwrap();
        let (persona, layers) = personas.get(&id("o")).unwrap();
        assert_eq!((persona.name.as_str(), persona.style.as_str()), ("O", "plain"));
        assert_eq!(layers, [Layer::User(folder.path().join("user/o.toml"))]);
    }

    #[test]
    fn a_persona_of_the_configuration_alone_must_be_complete() {
        let mut personas = Personas::default();
        let mut half = PersonaOverride { name: Some("Q".into()), ..Default::default() };
        personas.config.personas.insert(id("q"), half.clone());
        let error = personas.get(&id("q")).unwrap_err();
        assert_eq!(
            error.to_string(),
            "party.personas.q: title is missing, and no file describes `q`"
        );
        half.title = Some("Operator".into());
        half.focus = Some("nights".into());
        half.permissions = Some(Profile::Edit);
        personas.config.personas.insert(id("q"), half);
        let (persona, layers) = personas.get(&id("q")).unwrap();
        assert_eq!((persona.permissions, layers), (Profile::Edit, vec![Layer::Configuration]));
        assert!(personas.names().unwrap().contains(&id("q")));
    }

    #[test]
    fn every_field_can_be_overridden() {
        let whole = |text: &str| PersonaOverride {
            name: Some(text.into()),
            title: Some(text.into()),
            role: Some(Role::new(text).unwrap()),
            focus: Some(text.into()),
            style: Some(text.into()),
            model: Some(text.into()),
            permissions: Some(if text == "upper" { Profile::Full } else { Profile::Edit }),
        };
        let mut lower = whole("lower");
        over(&mut lower, PersonaOverride::default());
        assert_eq!(lower, whole("lower"), "nothing overrides nothing");
        over(&mut lower, whole("upper"));
        assert_eq!(lower, whole("upper"));
    }

    #[test]
    fn rules_have_names() {
        use PersonaRule::{Field, File, Name, Required, Size, Syntax};
        let names: Vec<String> =
            [File, Syntax, Field, Required, Size, Name].iter().map(ToString::to_string).collect();
        assert_eq!(names, ["file", "syntax", "field", "required", "size", "name"]);
    }
}
