//! Addresses, and markup without them.

/// A path with one more parameter, before its fragment.
pub(crate) fn with_parameter(path: &str, name: &str, value: &str) -> String {
    let (path, fragment) = path.split_once('#').unwrap_or((path, ""));
    let (path, query) = path.split_once('?').unwrap_or((path, ""));
    let mut all = form_urlencoded::Serializer::new(String::new());
    for (key, old) in form_urlencoded::parse(query.as_bytes()).filter(|(key, _)| key != name) {
        all.append_pair(&key, &old);
    }
    all.append_pair(name, value);
    let hash = if fragment.is_empty() { String::new() } else { format!("#{fragment}") };
    format!("{path}?{}{hash}", all.finish())
}

/// Markup whose links are elements of another name.
pub(crate) fn unlinked(html: &str, element: &str) -> String {
    let mut out = String::with_capacity(html.len());
    let mut rest = html;
    while let Some(at) = rest.find("<a href=\"") {
        let (before, link) = rest.split_at(at);
        out.push_str(before);
        out.push('<');
        out.push_str(element);
        let behind = link.get(9..).and_then(|link| link.split_once('"'));
        rest = behind.map_or("", |(_, behind)| behind);
    }
    out.push_str(rest);
    out.replace("</a>", &format!("</{element}>"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_added_once() {
        assert_eq!(with_parameter("/a", "done", "op 1"), "/a?done=op+1");
        assert_eq!(with_parameter("/a?x=1&done=0#b", "done", "2"), "/a?x=1&done=2#b");
    }
}
