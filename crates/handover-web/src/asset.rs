//! Static files, embedded in the binary. Their names contain their hash, so browsers may cache them forever.

use std::sync::LazyLock;

use crate::response::PageResponse;

/// A static file.
pub(crate) struct Asset {
    pub(crate) path: String,
    content_type: &'static str,
    pub(crate) text: &'static str,
}

impl Asset {
    fn new(name: &str, end: &str, content_type: &'static str, text: &'static str) -> Self {
        let hash = blake3::hash(text.as_bytes()).to_hex();
        let hash = hash.get(..12).unwrap_or_default();
        Self { path: format!("/assets/{name}.{hash}.{end}"), content_type, text }
    }
}

pub(crate) static STYLE: LazyLock<Asset> = LazyLock::new(|| {
    Asset::new("style", "css", "text/css; charset=utf-8", include_str!("assets/style.css"))
});
pub(crate) static SCRIPT: LazyLock<Asset> = LazyLock::new(|| {
    Asset::new("live", "js", "text/javascript; charset=utf-8", include_str!("assets/live.js"))
});
pub(crate) static ICON: LazyLock<Asset> = LazyLock::new(|| {
    Asset::new("icon", "svg", "image/svg+xml; charset=utf-8", include_str!("assets/icon.svg"))
});

/// The file at a path. Only the current version exists: pages of an older binary refer to another hash.
pub(crate) fn at(path: &str) -> Option<PageResponse> {
    let assets: [&Asset; 3] = [&STYLE, &SCRIPT, &ICON];
    let asset = assets.into_iter().find(|asset| asset.path == path)?;
    Some(PageResponse {
        status: 200,
        content_type: asset.content_type,
        headers: vec![("cache-control", "public, max-age=31536000, immutable".to_owned())],
        body: asset.text.as_bytes().to_vec(),
    })
}
