//! A [`Table`] as text, Markdown, CSV, JSON and HTML.

use unicode_width::UnicodeWidthStr;

use crate::{
    interval::Basis,
    table::{Align, Cell, Column, Table},
};

impl Table {
    /// Text for a terminal, with columns aligned by spaces.
    pub fn to_text(&self) -> String {
        let heads: Vec<String> = self.columns.iter().map(Column::head).collect();
        let rows: Vec<Vec<String>> = self.rows.iter().map(|row| row.iter().map(one_line).collect()).collect();
        let widths: Vec<usize> = (0..heads.len())
            .map(|i| rows.iter().map(|row| row[i].width()).chain([heads[i].width()]).max().unwrap_or(0))
            .collect();
        let line = |cells: &[String]| {
            let padded: Vec<String> = cells
                .iter()
                .enumerate()
                .map(|(i, cell)| {
                    let space = " ".repeat(widths[i].saturating_sub(cell.width()));
                    match self.columns[i].align {
                        Align::Left => format!("{cell}{space}"),
                        Align::Right => format!("{space}{cell}"),
                    }
                })
                .collect();
            format!("{}\n", padded.join("  ").trim_end())
        };
        let rule: Vec<String> = widths.iter().map(|&width| "─".repeat(width)).collect();
        let mut text = format!("{}\n{}{}", self.title, line(&heads), line(&rule));
        text.extend(rows.iter().map(|row| line(row)));
        text.extend(self.note.iter().map(|note| format!("{note}\n")));
        text
    }

    /// A Markdown table (GitHub) under a bold title.
    pub fn to_markdown(&self) -> String {
        let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
        let mut text = format!("**{}**\n\n", markdown(&self.title));
        text += &line(self.columns.iter().map(|column| markdown(&column.head())).collect());
        let leaning = |column: &Column| if column.align == Align::Left { "---" } else { "--:" };
        text += &line(self.columns.iter().map(|column| leaning(column).to_owned()).collect());
        text.extend(self.rows.iter().map(|row| line(row.iter().map(|cell| markdown(&cell.shown())).collect())));
        text.extend(self.note.iter().map(|note| format!("\n{}\n", markdown(note))));
        text
    }

    /// CSV (RFC 4180): a header line, then one line for each row, with figures in full precision. A column with
    /// intervals becomes three columns: the median, `low` and `high`.
    pub fn to_csv(&self) -> String {
        let wide: Vec<bool> = (0..self.columns.len())
            .map(|i| self.rows.iter().any(|row| matches!(row[i], Cell::Interval { .. })))
            .collect();
        let mut records = vec![Vec::new()];
        for (column, &wide) in self.columns.iter().zip(&wide) {
            let head = column.head();
            let ends = wide.then(|| [format!("{head} low"), format!("{head} high")]);
            records[0].push(head);
            records[0].extend(ends.into_iter().flatten());
        }
        records.extend(self.rows.iter().map(|row| row.iter().zip(&wide).flat_map(|(c, &w)| fields(c, w)).collect()));
        let mut writer = csv::WriterBuilder::new().terminator(csv::Terminator::CRLF).from_writer(Vec::new());
        for record in &records {
            writer.write_record(record).expect("records of one length into memory");
        }
        String::from_utf8(writer.into_inner().expect("memory takes every byte")).expect("fields are UTF-8")
    }

    /// The table with the kinds of its cells; [`serde_json::from_str`] restores it.
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).expect("strings and finite numbers are JSON")
    }

    /// A `<table>` with caption and scopes, in which all text is escaped. Verdicts have the class `holds`,
    /// `does-not-hold` or `cannot-be-told`, and gaps `empty`.
    pub fn to_html(&self) -> String {
        let mut html = format!("<table>\n<caption>{}</caption>\n<thead>\n<tr>", escape(&self.title));
        for column in &self.columns {
            html += &format!("<th scope=\"col\"{}>{}</th>", class(column.align, ""), escape(&column.head()));
        }
        html += "</tr>\n</thead>\n<tbody>\n";
        for row in &self.rows {
            html += "<tr>";
            for (i, (cell, column)) in row.iter().zip(&self.columns).enumerate() {
                let (open, close) = if i == 0 { ("th scope=\"row\"", "th") } else { ("td", "td") };
                html += &format!("<{open}{}>{}</{close}>", class(column.align, kind(cell)), inner(cell));
            }
            html += "</tr>\n";
        }
        html += "</tbody>\n</table>\n";
        html.extend(self.note.iter().map(|note| format!("<p class=\"note\">{}</p>\n", escape(note))));
        html
    }
}

/// A cell on one line of a terminal.
fn one_line(cell: &Cell) -> String {
    cell.shown().chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// Escapes text for a Markdown table.
fn markdown(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\r' => plain.push(' '),
            '\\' | '|' | '`' | '*' | '_' | '<' | '>' | '[' | ']' | '&' => plain.extend(['\\', c]),
            _ => plain.push(c),
        }
    }
    plain
}

/// The CSV fields of a cell: three if the column has intervals.
fn fields(cell: &Cell, wide: bool) -> Vec<String> {
    let mut fields = match cell {
        Cell::Interval { interval, .. } if interval.basis == Basis::Open => vec![interval.median.to_string()],
        Cell::Interval { interval, .. } => [interval.median, interval.low, interval.high].map(|x| x.to_string()).into(),
        Cell::Number { value, .. } => vec![value.to_string()],
        Cell::Empty { .. } => vec![String::new()],
        Cell::Text { .. } | Cell::Verdict { .. } => vec![cell.shown()],
    };
    fields.resize(if wide { 3 } else { 1 }, String::new());
    fields
}

fn escape(text: &str) -> String {
    html_escape::encode_quoted_attribute(text).into_owned()
}

/// The HTML content of a cell.
fn inner(cell: &Cell) -> String {
    let Cell::Interval { interval, decimals } = cell else { return escape(&cell.shown()) };
    let digits = usize::from(*decimals);
    format!("{:.digits$} <small>{}</small>", interval.median, interval.ends(digits))
}

/// The CSS class for the kind of a cell.
fn kind(cell: &Cell) -> &'static str {
    use crate::verdict::Verdict;
    match cell {
        Cell::Text { .. } | Cell::Number { .. } | Cell::Interval { .. } => "",
        Cell::Verdict { verdict: Verdict::Holds } => "holds",
        Cell::Verdict { verdict: Verdict::DoesNotHold } => "does-not-hold",
        Cell::Verdict { verdict: Verdict::CannotBeTold } => "cannot-be-told",
        Cell::Empty { .. } => "empty",
    }
}

/// The class attribute for an alignment and a kind, with a space before it, or nothing.
fn class(align: Align, kind: &str) -> String {
    let classes = match (align, kind) {
        (Align::Left, "") => return String::new(),
        (Align::Left, kind) => kind.to_owned(),
        (Align::Right, "") => "right".to_owned(),
        (Align::Right, kind) => format!("right {kind}"),
    };
    format!(" class=\"{classes}\"")
}

#[cfg(test)]
#[path = "render_tests.rs"]
mod tests;
