//! Changes of a text that leave its lines where they are.

use proc_macro2::{LineColumn, Span};

pub(crate) struct Edits<'a> {
    text: &'a str,
    /// Where lines begin.
    lines: Vec<usize>,
    edits: Vec<Edit>,
}

struct Edit {
    start: usize,
    end: usize,
    /// Of several at one place: what closes comes first, inner before outer; what opens after it,
    /// outer before inner.
    order: (bool, i64),
    text: String,
}

impl<'a> Edits<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        let after = text.match_indices('\n').map(|(at, _)| at + 1);
        Self { text, lines: std::iter::once(0).chain(after).collect(), edits: Vec::new() }
    }

    /// Puts something around what lies in a span.
    pub(crate) fn around(&mut self, span: Span, before: String, after: &str) {
        let (start, end) = (self.offset(span.start()), self.offset(span.end()));
        let length = (end - start) as i64;
        self.edits.push(Edit { start, end: start, order: (true, -length), text: before });
        self.edits.push(Edit { start: end, end, order: (false, length), text: after.into() });
    }

    /// Puts something before all else that begins there.
    pub(crate) fn before(&mut self, place: LineColumn, text: String) {
        let start = self.offset(place);
        self.edits.push(Edit { start, end: start, order: (true, i64::MIN), text });
    }

    /// Puts something after what ends there.
    pub(crate) fn after(&mut self, place: LineColumn, text: String) {
        let start = self.offset(place);
        self.edits.push(Edit { start, end: start, order: (false, i64::MAX), text });
    }

    pub(crate) fn remove(&mut self, span: Span) {
        let (start, end) = (self.offset(span.start()), self.offset(span.end()));
        self.edits.push(Edit { start, end, order: (true, i64::MAX), text: String::new() });
    }

    pub(crate) fn finish(mut self) -> String {
        self.edits.sort_by_key(|edit| (edit.start, edit.order));
        let (mut out, mut at) = (String::new(), 0);
        for edit in &self.edits {
            out.push_str(&self.text[at..edit.start]);
            out.push_str(&edit.text);
            at = edit.end;
        }
        out + &self.text[at..]
    }

    fn offset(&self, place: LineColumn) -> usize {
        let start = self.lines[place.line - 1];
        let line = &self.text[start..];
        start + line.char_indices().nth(place.column).map_or(line.len(), |(at, _)| at)
    }
}
