//! A report as one self-contained HTML file: no scripts, fonts, images or network requests.

use std::collections::HashMap;
use std::fmt::Write;

use crate::draw::{Palette, style_sheet, svg};
use crate::escape::escape_xml as escape;
use crate::page::{Block, Figure, Page, RunEntry, RunTable, Section};

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

impl<'a> HtmlWriter<'a> {
    fn page(&mut self) {
        let title = escape(&self.page.title);
        put!(
            self,
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n\
             <meta name=\"generator\" content=\"rivalry {}\">\n<title>{title}</title>\n\
             <link rel=\"icon\" href=\"data:,\">\n<style>\n{}{}</style>\n</head>\n<body>\n<main>\n<h1>{title}</h1>\n",
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
        put!(self, "</main>\n</body>\n</html>\n");
    }

    fn section(&mut self, section: &'a Section) {
        put!(self, "<section id=\"{}\">\n<h2>{}</h2>\n", section.id, escape(section.title));
        let mut in_figures = false;
        for block in &section.blocks {
            // Consecutive figures share a grid, side by side on a wide screen.
            let is_figure = matches!(block, Block::Figure(_));
            if is_figure != in_figures {
                put!(self, "{}", if is_figure { "<div class=\"figures\">\n" } else { "</div>\n" });
                in_figures = is_figure;
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
        put!(self, "{}</section>\n", if in_figures { "</div>\n" } else { "" });
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

    fn table(&mut self, RunTable { table, runs }: &'a RunTable) {
        self.tables += 1;
        let number = self.tables;
        put!(
            self,
            "<div class=\"table\" id=\"table-{number}\">\n\
             <p class=\"caption\" id=\"caption-{number}\"><b>Table {number}.</b> {}</p>\n\
             <div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-labelledby=\"caption-{number}\">\
             <table aria-labelledby=\"caption-{number}\">\n<thead><tr>",
            escape(&table.caption)
        );
        let class = |index: usize| if table.columns[index].numeric { " class=\"n\"" } else { "" };
        for (index, column) in table.columns.iter().enumerate() {
            put!(self, "<th scope=\"col\"{}>{}</th>", class(index), escape(&column.title));
        }
        put!(self, "</tr></thead>\n<tbody>\n");
        for row in &table.rows {
            put!(self, "<tr>");
            for (index, cell) in row.iter().enumerate() {
                let text = escape(&cell.text);
                let text = if cell.bold { format!("<b>{text}</b>") } else { text };
                if index == 0 {
                    put!(self, "<th scope=\"row\">{text}</th>");
                } else {
                    put!(self, "<td{}>{text}</td>", class(index));
                }
            }
            put!(self, "</tr>\n");
        }
        put!(self, "</tbody></table></div>\n");
        self.commands(runs, Element { kind: "table", number });
        put!(self, "</div>\n");
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

    /// The appendix: every run with its command and config.
    fn runs(&mut self) {
        put!(
            self,
            "<section id=\"runs\">\n<h2>Runs</h2>\n<p>All runs, with the command that retrains each and its full config.</p>\n"
        );
        for (number, RunEntry { description, command, config }) in (1..).zip(&self.page.runs) {
            put!(
                self,
                "<details class=\"run\"><summary>{}</summary><p id=\"run-{number}\"><code>{}</code></p><pre>{}</pre></details>\n",
                escape(description),
                escape(command),
                escape(config)
            );
        }
        put!(self, "</section>\n");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draw::Scene;
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
            description: format!("<run {n}>"),
            command: format!("rivalry train --config 'a & {n}/config.toml'"),
            config: "x = \"<script>\"".to_owned(),
        };
        let section = Section { id: "all", title: "All", blocks };
        Page { title: "<b>".to_owned(), sections: vec![section], runs: (0..runs).map(entry).collect() }
    }

    #[test]
    fn user_text_is_escaped() {
        let html = html(&page(2));
        for raw in ["<sl>", "<run", "<script", "<caption>", "<title><b>", "a & b", "1 < 2"] {
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
