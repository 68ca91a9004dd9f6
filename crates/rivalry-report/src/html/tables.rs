//! Tables, and the list of all runs.

use std::fmt::Write;

use super::{Element, HtmlWriter, put};
use crate::escape::escape_xml as escape;
use crate::page::{RunEntry, RunList, RunTable};
use crate::table::Table;

/// Text of more characters is broken into lines.
const MAX_LINE: usize = 40;

impl<'a> HtmlWriter<'a> {
    pub(super) fn table(&mut self, RunTable { table, runs }: &'a RunTable) {
        let number = self.start_table(&table.caption);
        put!(self, "<table aria-labelledby=\"caption-{number}\">\n<thead><tr>");
        for column in &table.columns {
            let class = class(column.numeric);
            put!(self, "<th scope=\"col\"{class}>{}</th>", escape(&column.title));
        }
        put!(self, "</tr></thead>\n");
        self.rows(table, |_, text| text);
        self.end_table();
        self.commands(runs, Element { kind: "table", number });
        put!(self, "</div>\n");
    }

    /// Every run in a table that can be sorted, then the command and config of each.
    pub(super) fn runs(&mut self) {
        let RunList { table, order, sorted_by } = &self.page.list;
        put!(self, "<section id=\"runs\">\n<h2>Runs</h2>\n<div class=\"tables\">\n");
        let number = self.start_table(&table.caption);
        put!(self, "<table class=\"sortable\" aria-labelledby=\"caption-{number}\">\n<thead><tr>");
        for (index, column) in table.columns.iter().enumerate() {
            let class = class(column.numeric);
            let sorted = if index == *sorted_by { " aria-sort=\"descending\"" } else { "" };
            put!(self, "<th scope=\"col\"{class}{sorted}>{}</th>", escape(&column.title));
        }
        put!(self, "</tr></thead>\n");
        self.rows(table, |row, text| format!("<a href=\"#run-{}\">{text}</a>", order[row] + 1));
        self.end_table();
        put!(self, "</div>\n</div>\n<details><summary>Commands and configs of all runs</summary>\n");
        for (number, RunEntry { name, command, config }) in (1..).zip(&self.page.runs) {
            put!(
                self,
                "<details class=\"run\"><summary>{}</summary><p id=\"run-{number}\"><code>{}</code></p><pre>{}</pre></details>\n",
                escape(name),
                escape(command),
                escape(config)
            );
        }
        put!(self, "</details>\n</section>\n");
    }

    /// Writes everything before a table, and returns its number.
    fn start_table(&mut self, caption: &str) -> usize {
        self.tables += 1;
        let number = self.tables;
        put!(
            self,
            "<div class=\"table\" id=\"table-{number}\">\n\
             <p class=\"caption\" id=\"caption-{number}\"><b>Table {number}.</b> {}</p>\n\
             <p class=\"hint\">Scroll the table sideways to see all columns.</p>\n\
             <div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-labelledby=\"caption-{number}\">",
            escape(caption)
        );
        number
    }

    /// Writes the rows; `first` makes the content of a row's first cell from its number and text.
    fn rows(&mut self, table: &Table, first: impl Fn(usize, String) -> String) {
        put!(self, "<tbody>\n");
        for (number, row) in table.rows.iter().enumerate() {
            put!(self, "<tr>");
            for (index, (cell, column)) in row.iter().zip(&table.columns).enumerate() {
                let text = escape(&cell.text);
                let text = if cell.bold { format!("<b>{text}</b>") } else { text };
                if index == 0 {
                    put!(self, "<th scope=\"row\">{}</th>", first(number, text));
                } else {
                    let long = !column.numeric && cell.text.chars().count() > MAX_LINE;
                    let class = if long { " class=\"long\"" } else { class(column.numeric) };
                    put!(self, "<td{class}>{text}</td>");
                }
            }
            put!(self, "</tr>\n");
        }
        put!(self, "</tbody>");
    }

    fn end_table(&mut self) {
        put!(self, "</table></div>\n");
    }
}

fn class(numeric: bool) -> &'static str {
    if numeric { " class=\"n\"" } else { "" }
}
