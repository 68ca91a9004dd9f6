//! A page as one HTML file that needs nothing else: no script, no font, no picture, no network.

use std::collections::HashMap;
use std::fmt::Write;

use crate::draw::{Colours, escape, style_sheet, svg};
use crate::page::{Block, Figure, Page, RunEntry, Section, Table};

/// How many runs of a figure are written out again although they stand elsewhere already.
const FEW: usize = 12;

/// Writes the page.
pub(crate) fn html(page: &Page) -> String {
    let mut writer = Writer { page, out: String::new(), figures: 0, tables: 0, written: HashMap::new() };
    writer.page();
    writer.out
}

struct Writer<'a> {
    page: &'a Page,
    out: String,
    figures: usize,
    tables: usize,
    /// Where the commands of a long list of runs stand.
    written: HashMap<&'a [usize], String>,
}

macro_rules! put {
    ($writer:expr, $($text:tt)*) => { let _ = write!($writer.out, $($text)*); };
}

impl<'a> Writer<'a> {
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
            // Figures that follow each other stand side by side where there is room.
            let figure = matches!(block, Block::Figure(_));
            if figure != in_figures {
                put!(self, "{}", if figure { "<div class=\"figures\">\n" } else { "</div>\n" });
                in_figures = figure;
            }
            match block {
                Block::Heading(text) => {
                    put!(self, "<h3>{}</h3>\n", escape(text));
                }
                Block::Prose(text) => {
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
            svg(&figure.scene, &figure.title, Colours::Page),
            escape(&figure.caption)
        );
        self.commands(&figure.runs, format!("figure {number}"));
        put!(self, "</figure>\n");
    }

    fn table(&mut self, table: &'a Table) {
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
        let class = |at: usize| if table.columns[at].number { " class=\"n\"" } else { "" };
        for (at, column) in table.columns.iter().enumerate() {
            put!(self, "<th scope=\"col\"{}>{}</th>", class(at), escape(&column.title));
        }
        put!(self, "</tr></thead>\n<tbody>\n");
        for row in &table.rows {
            put!(self, "<tr>");
            for (at, cell) in row.iter().enumerate() {
                let text = escape(&cell.text);
                let text = if cell.strong { format!("<b>{text}</b>") } else { text };
                match at {
                    0 => {
                        put!(self, "<th scope=\"row\">{text}</th>");
                    }
                    _ => {
                        put!(self, "<td{}>{text}</td>", class(at));
                    }
                }
            }
            put!(self, "</tr>\n");
        }
        put!(self, "</tbody></table></div>\n");
        self.commands(&table.runs, format!("table {number}"));
        put!(self, "</div>\n");
    }

    /// The commands that train the runs again. A long list is written once, and referred to after that.
    fn commands(&mut self, runs: &'a [usize], place: String) {
        if runs.is_empty() {
            return;
        }
        let noun = if runs.len() == 1 { "the run" } else { "the runs" };
        put!(
            self,
            "<details><summary>Train {noun} of this {} again</summary>",
            place.split(' ').next().unwrap_or_default()
        );
        if let Some(first) = self.written.get(runs).filter(|_| runs.len() > FEW) {
            let id = first.replace(' ', "-");
            put!(self, "<p>The commands are those of <a href=\"#{id}\">{first}</a>.</p></details>\n");
            return;
        }
        put!(self, "<ol>");
        for &number in runs {
            let command = escape(&self.page.runs[number].command);
            put!(self, "<li><code>{command}</code> <a href=\"#run-{}\">config</a></li>\n", number + 1);
        }
        put!(self, "</ol></details>\n");
        self.written.insert(runs, place);
    }

    /// Every run with its config, which figures and tables link to.
    fn runs(&mut self) {
        put!(
            self,
            "<section id=\"runs\">\n<h2>Runs</h2>\n<p>Every run with the command that trains it again and its whole config.</p>\n"
        );
        for (number, RunEntry { summary, command, config }) in (1..).zip(&self.page.runs) {
            put!(
                self,
                "<details class=\"run\"><summary>{}</summary><p id=\"run-{number}\"><code>{}</code></p><pre>{}</pre></details>\n",
                escape(summary),
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
    use crate::page::{Cell, Column};

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
            columns: vec![Column::text("loss"), Column::number("NDCG@20")],
            rows: vec![vec![Cell::plain("<sl>"), Cell { text: "0.1".to_owned(), strong: true }]],
            runs: vec![0],
        };
        let blocks =
            vec![Block::Prose("1 < 2".to_owned()), figure("one"), figure("two"), Block::Table(table)];
        let entry = |n: usize| RunEntry {
            summary: format!("<run {n}>"),
            command: format!("rivalry train --config 'a & {n}/config.toml'"),
            config: "x = \"<script>\"".to_owned(),
        };
        let section = Section { id: "all", title: "All", blocks };
        Page { title: "<b>".to_owned(), sections: vec![section], runs: (0..runs).map(entry).collect() }
    }

    #[test]
    fn no_text_of_the_user_becomes_markup() {
        let html = html(&page(2));
        for raw in ["<sl>", "<run", "<script", "<caption>", "<title><b>", "a & b", "1 < 2"] {
            assert!(!html.contains(raw), "{raw}");
        }
        for safe in ["&lt;sl&gt;", "&lt;run 0&gt;", "&lt;script&gt;", "<b>0.1</b>", "a &amp; 1/config.toml"] {
            assert!(html.contains(safe), "{safe}");
        }
    }

    #[test]
    fn every_figure_says_how_its_runs_are_trained_and_long_lists_stand_once() {
        let commands = |runs: usize| html(&page(runs)).matches("<li><code>rivalry train").count();
        assert_eq!(commands(2), 2 + 2 + 1);
        assert_eq!(commands(50), 50 + 1);
        assert!(html(&page(50)).contains("<a href=\"#figure-1\">figure 1</a>"));
    }

    #[test]
    fn what_is_opened_is_closed() {
        let html = html(&page(3));
        for tag in ["section", "div", "figure", "details", "table", "svg", "ol"] {
            let opened =
                html.matches(&format!("<{tag}>")).count() + html.matches(&format!("<{tag} ")).count();
            assert_eq!(opened, html.matches(&format!("</{tag}>")).count(), "{tag}");
        }
    }
}
