//! A report as one self-contained HTML file: no fonts, images or network requests. A few lines of script sort the table of
//! runs and say which tables scroll; the page can be read without them.

mod script;
mod tables;

use std::collections::HashMap;
use std::fmt::Write;

use crate::draw::{Palette, style_sheet, svg};
use crate::escape::escape_xml as escape;
use crate::page::{Block, Figure, Page, Section};

/// A list of more runs than this is written out once and linked to afterwards.
const MAX_REPEATED_RUNS: usize = 12;

/// Writes the page.
pub(crate) fn html(page: &Page) -> String {
    let mut writer = HtmlWriter { page, out: String::new(), figures: 0, tables: 0, listed: HashMap::new() };
    writer.page();
    writer.out
}

struct HtmlWriter<'a> {
    page: &'a Page,
    out: String,
    /// How many figures have been written.
    figures: usize,
    /// How many tables have been written.
    tables: usize,
    /// For each list of runs, where its commands were written first.
    listed: HashMap<&'a [usize], Element>,
}

/// A numbered element of the page.
#[derive(Clone, Copy)]
struct Element {
    kind: &'static str,
    number: usize,
}

macro_rules! put {
    ($writer:expr, $($text:tt)*) => { let _ = write!($writer.out, $($text)*); };
}
use put;

impl<'a> HtmlWriter<'a> {
    fn page(&mut self) {
        let title = escape(&self.page.title);
        put!(
            self,
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"{}\">\n\
             <meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n\
             <meta name=\"generator\" content=\"rivalry {}\">\n<title>{title}</title>\n\
             <link rel=\"icon\" href=\"data:,\">\n<style>\n{}{}</style>\n</head>\n<body>\n<main>\n<h1>{title}</h1>\n",
            script::security_policy(),
            env!("CARGO_PKG_VERSION"),
            style_sheet(),
            include_str!("page.css"),
        );
        put!(self, "<nav aria-label=\"Contents\"><ul>");
        for Section { id, title, .. } in &self.page.sections {
            put!(self, "<li><a href=\"#{id}\">{}</a></li>", escape(title));
        }
        put!(self, "<li><a href=\"#runs\">Runs</a></li></ul></nav>\n");
        for section in &self.page.sections {
            self.section(section);
        }
        self.runs();
        put!(
            self,
            "<footer>Made with Rivalry {}.</footer>\n</main>\n<script>{}</script>\n</body>\n</html>\n",
            env!("CARGO_PKG_VERSION"),
            script::SCRIPT
        );
    }

    fn section(&mut self, section: &'a Section) {
        put!(self, "<section id=\"{}\">\n<h2>{}</h2>\n", section.id, escape(section.title));
        // Consecutive figures share a grid, and consecutive tables a row, side by side on a wide screen.
        let mut shared = None;
        for block in &section.blocks {
            let class = match block {
                Block::Figure(_) => Some("figures"),
                Block::Table(_) => Some("tables"),
                Block::Heading(_) | Block::Paragraph(_) => None,
            };
            if class != shared {
                self.end_shared(shared);
                class.into_iter().for_each(|class| self.out.push_str(&format!("<div class=\"{class}\">\n")));
                shared = class;
            }
            match block {
                Block::Heading(text) => {
                    put!(self, "<h3>{}</h3>\n", escape(text));
                }
                Block::Paragraph(text) => {
                    put!(self, "<p>{}</p>\n", escape(text));
                }
                Block::Table(table) => self.table(table),
                Block::Figure(figure) => self.figure(figure),
            }
        }
        self.end_shared(shared);
        put!(self, "</section>\n");
    }

    fn end_shared(&mut self, shared: Option<&str>) {
        self.out.push_str(if shared.is_some() { "</div>\n" } else { "" });
    }

    fn figure(&mut self, figure: &'a Figure) {
        self.figures += 1;
        let number = self.figures;
        put!(
            self,
            "<figure id=\"figure-{number}\">\n{}\n<figcaption><b>Figure {number}.</b> {}</figcaption>\n",
            svg(&figure.scene, &figure.title, Palette::Page),
            escape(&figure.caption)
        );
        self.commands(&figure.runs, Element { kind: "figure", number });
        put!(self, "</figure>\n");
    }

    /// The commands that train the runs of an element again, collapsed.
    fn commands(&mut self, runs: &'a [usize], element: Element) {
        if runs.is_empty() {
            return;
        }
        let noun = if runs.len() == 1 { "run" } else { "runs" };
        put!(self, "<details><summary>Commands to retrain the {noun} of this {}</summary>", element.kind);
        if let Some(&Element { kind, number }) =
            self.listed.get(runs).filter(|_| runs.len() > MAX_REPEATED_RUNS)
        {
            put!(
                self,
                "<p>The same as for <a href=\"#{kind}-{number}\">{kind} {number}</a>.</p></details>\n"
            );
            return;
        }
        put!(self, "<ol>");
        for &index in runs {
            let command = escape(&self.page.runs[index].command);
            put!(self, "<li><code>{command}</code> <a href=\"#run-{}\">config</a></li>\n", index + 1);
        }
        put!(self, "</ol></details>\n");
        self.listed.insert(runs, element);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draw::Scene;
    use crate::page::{RunEntry, RunList, RunTable};
    use crate::table::{Table, TableCell, TableColumn};

    fn page(runs: usize) -> Page {
        let figure = |title: &str| {
            Block::Figure(Figure {
                title: title.to_owned(),
                caption: "<caption>".to_owned(),
                scene: Scene::new(10.0, 10.0),
                runs: (0..runs).collect(),
            })
        };
        let table = Table {
            caption: "a & b".to_owned(),
            columns: vec![TableColumn::text("loss"), TableColumn::number("NDCG@20")],
            rows: vec![vec![TableCell::new("<sl>"), TableCell { bold: true, ..TableCell::new("0.1") }]],
        };
        let table = RunTable { table, runs: vec![0] };
        let blocks =
            vec![Block::Paragraph("1 < 2".to_owned()), figure("one"), figure("two"), Block::Table(table)];
        let entry = |n: usize| RunEntry {
            name: format!("<run {n}>"),
            command: format!("rivalry train --config 'a & {n}/config.toml'"),
            config: "x = \"<script>\"".to_owned(),
        };
        let section = Section { id: "all", title: "All", blocks };
        let row = |n: usize| vec![TableCell::new(format!("<run {n}>")), TableCell::new("0.1")];
        let list = RunList {
            table: Table {
                caption: String::new(),
                columns: vec![TableColumn::text("run"), TableColumn::number("validation")],
                rows: (0..runs).map(row).collect(),
            },
            order: (0..runs).collect(),
            sorted_by: 1,
        };
        let runs = (0..runs).map(entry).collect();
        Page { title: "<b>".to_owned(), sections: vec![section], runs, list }
    }

    #[test]
    fn user_text_is_escaped() {
        let html = html(&page(2));
        for raw in ["<sl>", "<run", "\"<script", "<caption>", "<title><b>", "a & b", "1 < 2"] {
            assert!(!html.contains(raw), "{raw}");
        }
        for safe in ["&lt;sl&gt;", "&lt;run 0&gt;", "&lt;script&gt;", "<b>0.1</b>", "a &amp; 1/config.toml"] {
            assert!(html.contains(safe), "{safe}");
        }
    }

    #[test]
    fn every_figure_lists_its_commands_and_long_lists_are_written_once() {
        let commands = |runs: usize| html(&page(runs)).matches("<li><code>rivalry train").count();
        assert_eq!(commands(2), 2 + 2 + 1);
        assert_eq!(commands(50), 50 + 1);
        assert!(html(&page(50)).contains("<a href=\"#figure-1\">figure 1</a>"));
    }

    #[test]
    fn every_tag_is_closed() {
        let html = html(&page(3));
        for tag in ["section", "div", "figure", "details", "table", "svg", "ol"] {
            let opened =
                html.matches(&format!("<{tag}>")).count() + html.matches(&format!("<{tag} ")).count();
            assert_eq!(opened, html.matches(&format!("</{tag}>")).count(), "{tag}");
        }
    }
}
