#![allow(clippy::unwrap_used)]
use proptest::prelude::*;
use unicode_width::UnicodeWidthStr;

use crate::{Basis, Cell, Column, Interval, Table, Verdict};

fn sample() -> Table {
    let interval = Interval::new(12.345, 12.3, 12.4);
    let columns = [Column::text("who"), Column::number("speed").unit("GB/s"), Column::text("claim")];
    let mut table = Table::new("Speed & \"truth\"", columns).with_note("a note");
    table.row([Cell::text("ours, best"), Cell::interval(interval, 2), Cell::verdict(Verdict::Holds)]);
    table.row([Cell::text("größe|<b>"), Cell::number(3.0, 1), Cell::verdict(Verdict::CannotBeTold)]);
    table.row([Cell::text("表"), Cell::quantity(0.5, 2, "MB/s"), Cell::empty("paper gives none")]);
    table
}

#[test]
fn text_lines_up() {
    let expected = "\
Speed & \"truth\"
who                 speed (GB/s)  claim
──────────  ────────────────────  ──────────────────
ours, best  12.35 [12.30, 12.40]  holds
größe|<b>                    3.0  cannot be told
表                     0.50 MB/s  (paper gives none)
a note
";
    assert_eq!(sample().to_text(), expected);
}

#[test]
fn markdown_escapes_what_would_break_it() {
    let expected = "\
**Speed \\& \"truth\"**

| who | speed (GB/s) | claim |
| --- | --: | --- |
| ours, best | 12.35 \\[12.30, 12.40\\] | holds |
| größe\\|\\<b\\> | 3.0 | cannot be told |
| 表 | 0.50 MB/s | (paper gives none) |

a note
";
    assert_eq!(sample().to_markdown(), expected);
}

#[test]
fn csv_gives_intervals_three_columns() {
    let expected = "who,speed (GB/s),speed (GB/s) low,speed (GB/s) high,claim\r\n\
                    \"ours, best\",12.345,12.3,12.4,holds\r\n\
                    größe|<b>,3,,,cannot be told\r\n\
                    表,0.5,,,\r\n";
    assert_eq!(sample().to_csv(), expected);
}

#[test]
fn html_is_escaped_and_says_what_cells_are() {
    let expected = "<table>\n<caption>Speed &amp; &quot;truth&quot;</caption>\n<thead>\n<tr><th scope=\"col\">who</th>\
                    <th scope=\"col\" class=\"right\">speed (GB/s)</th><th scope=\"col\">claim</th></tr>\n</thead>\n\
                    <tbody>\n<tr><th scope=\"row\">ours, best</th><td class=\"right\">12.35 \
                    <small>[12.30, 12.40]</small></td><td class=\"holds\">holds</td></tr>\n\
                    <tr><th scope=\"row\">größe|&lt;b&gt;</th><td class=\"right\">3.0</td>\
                    <td class=\"cannot-be-told\">cannot be told</td></tr>\n\
                    <tr><th scope=\"row\">表</th><td class=\"right\">0.50 MB/s</td>\
                    <td class=\"empty\">(paper gives none)</td></tr>\n</tbody>\n</table>\n<p class=\"note\">a note</p>\n";
    assert_eq!(sample().to_html(), expected);
}

#[test]
fn json_gives_the_table_back() {
    assert_eq!(serde_json::from_str::<Table>(&sample().to_json()).unwrap(), sample());
    let json: serde_json::Value = serde_json::from_str(&sample().to_json()).unwrap();
    assert_eq!(json["rows"][0][1]["kind"], "interval");
    assert_eq!(json["rows"][0][1]["median"], 12.345);
    assert_eq!(json["rows"][2][2]["why"], "paper gives none");
}

/// Otherwise renderers would index a cell that does not exist.
#[test]
fn a_table_with_a_cell_too_few_or_too_many_is_refused() {
    let json: serde_json::Value = serde_json::from_str(&sample().to_json()).unwrap();
    for cells in [0, 2, 4] {
        let mut changed = json.clone();
        let row = changed["rows"][1].as_array_mut().unwrap();
        row.resize(cells, row[0].clone());
        let error = serde_json::from_value::<Table>(changed).unwrap_err().to_string();
        assert!(error.contains(&format!("row 2 has {cells} cells, of 3")), "{error}");
    }
    let mut changed = json;
    changed.as_object_mut().unwrap().remove("note");
    assert_eq!(serde_json::from_value::<Table>(changed).unwrap().note, None);
}

#[test]
fn a_table_without_rows_renders() {
    let table = Table::new("empty", [Column::text("a"), Column::number("b")]);
    assert_eq!(table.to_text(), "empty\na  b\n─  ─\n");
    assert_eq!(table.to_csv(), "a,b\r\n");
    assert!(table.to_html().contains("<tbody>\n</tbody>"));
}

#[test]
fn figures_that_are_none_become_gaps() {
    for bad in [f64::NAN, f64::INFINITY] {
        assert_eq!(Cell::number(bad, 1), Cell::empty("not a number"));
        assert_eq!(Cell::quantity(bad, 1, "s"), Cell::empty("not a number"));
        assert_eq!(Cell::interval(Interval::exact(bad), 1), Cell::empty("not a number"));
    }
}

#[test]
#[should_panic(expected = "one cell a column")]
fn a_short_row_is_refused() {
    Table::new("t", [Column::text("a"), Column::text("b")]).row([Cell::text("alone")]);
}

fn cells() -> impl Strategy<Value = Cell> {
    prop_oneof![
        any::<String>().prop_map(Cell::text),
        (-1e12..1e12f64, 0u8..6).prop_map(|(value, decimals)| Cell::number(value, decimals)),
        (0.0..1e3f64, 0.0..1.0f64)
            .prop_map(|(low, width)| { Cell::interval(Interval::new(low + width / 2.0, low, low + width), 3) }),
        any::<String>().prop_map(Cell::empty),
    ]
}

fn tables() -> impl Strategy<Value = Table> {
    let rows = |columns| prop::collection::vec(prop::collection::vec(cells(), columns), 0..8);
    let names = |columns| prop::collection::vec(any::<String>(), columns);
    (1usize..5).prop_flat_map(move |columns| (any::<String>(), names(columns), rows(columns))).prop_map(
        |(title, names, rows)| {
            let column = |(i, name)| if i % 2 == 0 { Column::text(name) } else { Column::number(name).unit("µs") };
            let mut table = Table::new(title, names.into_iter().enumerate().map(column));
            rows.into_iter().for_each(|row| table.row(row));
            table
        },
    )
}

proptest! {
    #[test]
    fn any_table_survives_json(table in tables()) {
        prop_assert_eq!(serde_json::from_str::<Table>(&table.to_json()).unwrap(), table);
    }

    #[test]
    fn any_csv_reads_back_field_for_field(table in tables()) {
        let text = table.to_csv();
        let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(text.as_bytes());
        let records: Vec<csv::StringRecord> = reader.records().collect::<Result<_, _>>().unwrap();
        let heads: Vec<String> = table.columns.iter().map(Column::head).collect();
        prop_assert_eq!(records.len(), table.rows.len() + 1);
        prop_assert!(heads.iter().all(|head| records[0].iter().any(|field| field == head)));
        for (row, record) in table.rows.iter().zip(&records[1..]) {
            for cell in row {
                if let Cell::Text { text } = cell {
                    prop_assert!(record.iter().any(|field| field == text));
                }
            }
        }
    }

    #[test]
    fn any_html_holds_no_markup_of_its_cells(table in tables()) {
        let html = table.to_html();
        let cells = table.rows.len() * table.columns.len();
        prop_assert_eq!(html.matches("</td>").count() + html.matches("<th scope=\"row\"").count(), cells);
        // Text is escaped, so every remaining `<` begins one of the renderer's own tags
        let tags = ["<table", "</table", "<caption", "</caption", "<thead", "</thead", "<tbody", "</tbody", "<tr", "</tr",
            "<th", "</th", "<td", "</td", "<small", "</small"];
        for (at, _) in html.match_indices('<') {
            prop_assert!(tags.iter().any(|tag| html[at..].starts_with(tag)), "{}", &html[at..]);
        }
    }

    #[test]
    fn any_text_table_has_a_line_a_row_and_equal_rules(words in prop::collection::vec("[a-zß漢é ]{0,12}", 1..9)) {
        let mut table = Table::new("t", [Column::text("left"), Column::number("right")]);
        words.iter().for_each(|word| table.row([Cell::text(word), Cell::number(1.5, 1)]));
        let text = table.to_text();
        let lines: Vec<&str> = text.lines().collect();
        prop_assert_eq!(lines.len(), words.len() + 3);
        // The right column ends every line at the same width
        prop_assert!(lines[1..].iter().all(|line| line.width() == lines[2].width()));
    }
}

#[test]
fn ends_that_do_not_hold_are_said_everywhere() {
    let mut table = Table::new("t", [Column::number("few"), Column::number("open")]);
    let few = Interval::of(&[1.0, 2.0, 3.0], 1).unwrap();
    let open = Interval { basis: Basis::Open, ..Interval::exact(4.0) };
    table.row([Cell::interval(few, 1), Cell::interval(open, 1)]);
    for text in [table.to_text(), table.to_html()] {
        assert!(text.contains("[1.0, 3.0] (75 %)") && text.contains("[ends unknown]"), "{text}");
    }
    assert!(table.to_csv().ends_with("2,1,3,4,,\r\n"), "{}", table.to_csv());
    assert_eq!(serde_json::from_str::<Table>(&table.to_json()).unwrap(), table);
}
