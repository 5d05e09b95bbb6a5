//! `handover data import FILE`

use std::io::BufReader;
use std::path::Path;

use handover_context::archive::import;
use handover_files::open_regular;
use serde_json::json;

use crate::app::App;
use crate::commands::Outcome;
use crate::error::{CommandError, Exit};
use crate::input::no_file;

pub(crate) fn run(app: &App, file: &Path) -> Outcome {
    let (store, redactor) = (app.store()?, app.redactor()?);
    let added = if file == Path::new("-") {
        import(store, &mut BufReader::new(std::io::stdin().lock()), redactor)?
    } else {
        let path = app.folder()?.join(file);
        if !path.exists() {
            return Err(no_file(file));
        }
        let opened = open_regular(&path).map_err(|error| match error.is_irregular() {
            true => CommandError::invalid(error)
                .hinted("Pass a file written by `handover data export`."),
            false => error.into(),
        })?;
        import(store, &mut BufReader::new(opened), redactor)?
    };
    let answer = json!({"added": added.added, "present": added.present});
    app.ui.answer("import", &answer, |ui| {
        ui.line(format_args!(
            "Imported {} records ({} already present)",
            added.added, added.present
        ))
    })?;
    Ok(Exit::Done)
}
