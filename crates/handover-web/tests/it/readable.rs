//! The content of a page as plain lines, so that tests can compare whole pages.

use std::fmt::Write;

/// What a reader sees between `<main>` and `</main>`: a line per block, `[text](address)` for links, `|`
/// between cells, `*` for the titles inside a drawing. Escaped characters stay escaped.
pub(crate) fn readable(page: &str) -> String {
    let (_, main) = page.split_once("<main id=\"main\">").unwrap();
    let (main, _) = main.split_once("</main>").unwrap();
    let mut reader = Reader::default();
    for part in main.split('<').filter(|part| !part.is_empty()) {
        let (tag, text) = part.split_once('>').unwrap_or(("", part));
        reader.tag(tag);
        reader.text(text);
    }
    let lines =
        reader.out.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "));
    lines.filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n")
}

/// What a page shows that another page of its kind does not.
pub(crate) fn news(page: &str, other: &str) -> String {
    let (page, other) = (readable(page), readable(other));
    let known: Vec<&str> = other.lines().collect();
    page.lines().filter(|line| !known.contains(line)).collect::<Vec<_>>().join("\n")
}

#[derive(Default)]
struct Reader {
    out: String,
    links: Vec<Option<String>>,
    /// How many drawings are open, and whether one of their titles is.
    drawings: usize,
    in_title: bool,
}

impl Reader {
    fn text(&mut self, text: &str) {
        if self.drawings == 0 || self.in_title {
            self.out.push_str(text);
        }
    }

    fn tag(&mut self, tag: &str) {
        let (name, attributes) = tag.split_once(' ').unwrap_or((tag, ""));
        match name {
            "svg" => {
                self.drawings += 1;
                if let Some(label) = attribute(attributes, "aria-label") {
                    let _ = write!(self.out, "\n({label})\n");
                }
            }
            "/svg" => self.drawings -= 1,
            "title" => {
                self.in_title = true;
                self.out.push_str("\n* ");
            }
            "/title" => {
                self.in_title = false;
                self.out.push('\n');
            }
            "a" => {
                let href = attribute(attributes, "href").unwrap_or_default();
                // A head that sorts its list is read as a head.
                let href = Some(href).filter(|href| !href.contains("sort="));
                if href.is_some() {
                    self.out.push('[');
                }
                self.links.push(href.map(str::to_owned));
            }
            "/a" => {
                if let Some(href) = self.links.pop().flatten() {
                    let _ = write!(self.out, "]({href})");
                }
            }
            "td" | "th" => self.out.push_str(" | "),
            "dd" => self.out.push_str(": "),
            "h1" => self.out.push_str("\n# "),
            "h2" => self.out.push_str("\n## "),
            "li" => self.out.push_str("\n- "),
            "input" | "textarea" | "button" | "form" => {
                let field =
                    attribute(attributes, "name").or_else(|| attribute(attributes, "action"));
                let _ = write!(self.out, "\n{{{name} {}}} ", field.unwrap_or_default());
            }
            // Inline element.
            "bdi" | "/bdi" | "span" | "/span" | "strong" | "/strong" | "code" | "/code" | "em"
            | "/em" | "small" | "/small" | "time" | "/time" | "ins" | "/ins" | "del" | "/del"
            | "/td" | "/th" | "dt" | "/dt" | "rect" | "/rect" | "line" | "/line" | "path"
            | "/path" | "g" | "/g" | "text" | "/text" | "circle" | "/circle" | "tspan"
            | "/tspan" => {}
            _ if self.drawings > 0 => {}
            _ => self.out.push('\n'),
        }
    }
}

fn attribute<'a>(attributes: &'a str, name: &str) -> Option<&'a str> {
    let (_, value) = attributes.split_once(&format!("{name}=\""))?;
    value.split('"').next()
}
