//! Packages and receipts as resources: `handover://package/7`, `handover://receipt/r_0190…`.

use handover_model::{PackageId, Priority, Receipt, ReceiptId, SessionId};
use handover_store::{ReceiptFilter, StoreError};
use handover_text::cut;
use rmcp::model::{Annotations, Resource, ResourceContents, ResourceTemplate};

use crate::context::RequestContext;
use crate::error::ToolError;
use crate::limits;
use crate::tools::text_of;

const PACKAGE: &str = "handover://package/";
const RECEIPT: &str = "handover://receipt/";
const PAGE: usize = 50;

/// One page of a listing.
pub(crate) struct Page {
    pub(crate) resources: Vec<Resource>,
    pub(crate) next: Option<String>,
}

/// The last item of the previous page. Packages come first, newest first, then receipts.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Cursor {
    Package(PackageId),
    Receipts,
    Receipt(ReceiptId),
}

impl Cursor {
    fn parse(text: &str) -> Result<Self, ToolError> {
        let invalid = || {
            ToolError::invalid(
                format!("`{}` is not a valid cursor", cut::cut(text, 80)),
                "Pass `nextCursor` of the previous page, or omit it.",
            )
        };
        match text.split_once(':') {
            Some(("package", id)) => id.parse().map(Self::Package).map_err(|_| invalid()),
            Some(("receipt", "")) => Ok(Self::Receipts),
            Some(("receipt", id)) => ReceiptId::new(id).map(Self::Receipt).map_err(|_| invalid()),
            _ => Err(invalid()),
        }
    }

    fn text(&self) -> String {
        match self {
            Self::Package(id) => format!("package:{id}"),
            Self::Receipts => "receipt:".to_owned(),
            Self::Receipt(id) => format!("receipt:{id}"),
        }
    }
}

/// A page of the session's resources.
pub(crate) fn list(context: &RequestContext<'_>, cursor: Option<&str>) -> Result<Page, ToolError> {
    let session = context.session(None)?;
    match cursor.map(Cursor::parse).transpose()? {
        None => packages(context, &session, None),
        Some(Cursor::Package(last)) => packages(context, &session, Some(last)),
        Some(Cursor::Receipts) => receipts(context, session, None),
        Some(Cursor::Receipt(last)) => receipts(context, session, Some(&last)),
    }
}

fn packages(
    context: &RequestContext<'_>,
    session: &SessionId,
    last: Option<PackageId>,
) -> Result<Page, ToolError> {
    let mut ids: Vec<PackageId> = context
        .store
        .candidates(session, None, None)?
        .into_iter()
        .map(|candidate| candidate.id)
        .filter(|id| last.is_none_or(|last| *id < last))
        .collect();
    ids.sort_unstable_by_key(|id| std::cmp::Reverse(*id));
    let more = ids.len() > PAGE;
    ids.truncate(PAGE);
    let mut resources = Vec::with_capacity(ids.len());
    for id in &ids {
        resources.push(package_resource(context, *id)?);
    }
    match (more, ids.last()) {
        (true, Some(last)) => Ok(Page { resources, next: Some(Cursor::Package(*last).text()) }),
        // An empty page would look like the end of the listing.
        (_, None) => receipts(context, session.clone(), None),
        (false, Some(_)) => {
            let filter = ReceiptFilter {
                session: Some(session.clone()),
                limit: Some(1),
                ..ReceiptFilter::default()
            };
            let any = !context.store.receipts(&filter)?.is_empty();
            Ok(Page { resources, next: any.then(|| Cursor::Receipts.text()) })
        }
    }
}

fn package_resource(context: &RequestContext<'_>, id: PackageId) -> Result<Resource, ToolError> {
    let package = context.store.package(id)?;
    let mut resource = Resource::new(format!("{PACKAGE}{id}"), package.path)
        .with_description(context.redact(&package.summary))
        .with_mime_type("text/markdown");
    if let Some(title) = &package.title {
        resource = resource.with_title(cut::cut(&context.redact(title), 200));
    }
    let priority = match package.priority {
        Priority::Low => 0.25,
        Priority::Medium => 0.5,
        Priority::High => 0.75,
        Priority::Critical => 1.0,
    };
    let mut annotations = Annotations::default().with_priority(priority);
    annotations.last_modified = Some(package.created_at.to_string());
    Ok(resource.with_annotations(annotations))
}

fn receipts(
    context: &RequestContext<'_>,
    session: SessionId,
    last: Option<&ReceiptId>,
) -> Result<Page, ToolError> {
    let filter = ReceiptFilter { session: Some(session), ..ReceiptFilter::default() };
    let all = context.store.receipts(&filter)?;
    let start = match last {
        None => 0,
        Some(last) => {
            all.iter().position(|receipt| receipt.id == *last).map_or(all.len(), |at| at + 1)
        }
    };
    let page: Vec<&Receipt> = all.iter().skip(start).take(PAGE).collect();
    let more = all.len() > start + page.len();
    Ok(Page {
        next: page.last().filter(|_| more).map(|last| Cursor::Receipt(last.id.clone()).text()),
        resources: page
            .into_iter()
            .map(|receipt| {
                let mut annotations = Annotations::default().with_priority(0.1);
                annotations.last_modified = Some(receipt.created_at.to_string());
                Resource::new(format!("{RECEIPT}{}", receipt.id), receipt.id.as_str())
                    .with_description(format!(
                        "{} for {}, attempt {}, {} tokens",
                        receipt.state, receipt.role, receipt.iteration, receipt.tokens
                    ))
                    .with_mime_type("application/json")
                    .with_annotations(annotations)
            })
            .collect(),
    })
}

/// The URI templates of packages and receipts.
pub(crate) fn templates() -> Vec<ResourceTemplate> {
    vec![
        ResourceTemplate::new(format!("{PACKAGE}{{id}}"), "package")
            .with_title("Package")
            .with_description("The text of a package, without secrets.")
            .with_mime_type("text/markdown"),
        ResourceTemplate::new(format!("{RECEIPT}{{id}}"), "receipt")
            .with_title("Receipt")
            .with_description("What an agent was given, what was left out, and why.")
            .with_mime_type("application/json"),
    ]
}

/// One resource; `None` if this session has none with that URI.
pub(crate) fn read(
    context: &RequestContext<'_>,
    uri: &str,
) -> Result<Option<ResourceContents>, ToolError> {
    let session = context.session(None)?;
    let text = if let Some(id) = uri.strip_prefix(PACKAGE) {
        let Ok(id) = id.parse() else { return Ok(None) };
        match text_of(context, &session, id) {
            Ok((_, body)) => body,
            Err(error) => return missing(error),
        }
    } else if let Some(id) = uri.strip_prefix(RECEIPT) {
        let Ok(id) = ReceiptId::new(id) else { return Ok(None) };
        match context.store.receipt(&id) {
            Ok(receipt) if receipt.session == session => receipt_json(context, receipt),
            Ok(_) => return Ok(None),
            Err(error) => return missing(error.into()),
        }
    } else {
        return Ok(None);
    };
    let mime = if uri.starts_with(PACKAGE) { "text/markdown" } else { "application/json" };
    Ok(Some(ResourceContents::text(limits::fit_text(&text), uri).with_mime_type(mime)))
}

/// Maps "does not exist in this session" to `None`.
fn missing(error: ToolError) -> Result<Option<ResourceContents>, ToolError> {
    let is_missing = matches!(
        error,
        ToolError::Store(StoreError::NotFound { .. } | StoreError::OtherSession { .. })
    );
    if is_missing { Ok(None) } else { Err(error) }
}

fn receipt_json(context: &RequestContext<'_>, mut receipt: Receipt) -> String {
    for text in [&mut receipt.model, &mut receipt.host, &mut receipt.failure] {
        *text = text.take().map(|text| context.redact(&text));
    }
    serde_json::to_string_pretty(&receipt).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cursors_round_trip_and_malformed_ones_are_rejected() {
        for cursor in [
            Cursor::Package(PackageId(7)),
            Cursor::Receipts,
            Cursor::Receipt(ReceiptId::new("r_1").unwrap()),
        ] {
            assert_eq!(Cursor::parse(&cursor.text()).unwrap(), cursor);
        }
        for text in ["", "7", "package:", "package:x", "receipt:a b", "other:1"] {
            assert!(Cursor::parse(text).is_err(), "{text}");
        }
    }
}
