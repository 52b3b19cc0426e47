//! JSON for people as well: a line for each field of the outermost object.

use std::io;

use serde::Serialize;
use serde_json::ser::{Formatter, Serializer};

/// An object as such text.
pub(super) fn of(object: &impl Serialize) -> Result<String, serde_json::Error> {
    let mut text = Vec::new();
    object.serialize(&mut Serializer::with_formatter(&mut text, Lines { depth: 0 }))?;
    text.push(b'\n');
    String::from_utf8(text).map_err(serde::ser::Error::custom)
}

struct Lines {
    /// In how many objects we are.
    depth: usize,
}

impl Formatter for Lines {
    fn begin_object<W: io::Write + ?Sized>(&mut self, to: &mut W) -> io::Result<()> {
        self.depth += 1;
        to.write_all(b"{")
    }

    fn end_object<W: io::Write + ?Sized>(&mut self, to: &mut W) -> io::Result<()> {
        self.depth -= 1;
        to.write_all(if self.depth == 0 { b"\n}".as_slice() } else { b"}" })
    }

    fn begin_object_key<W: io::Write + ?Sized>(
        &mut self,
        to: &mut W,
        first: bool,
    ) -> io::Result<()> {
        to.write_all(match (self.depth, first) {
            (1, true) => b"\n".as_slice(),
            (1, false) => b",\n",
            (_, true) => b"",
            (_, false) => b", ",
        })
    }

    fn begin_object_value<W: io::Write + ?Sized>(&mut self, to: &mut W) -> io::Result<()> {
        to.write_all(b": ")
    }

    fn begin_array_value<W: io::Write + ?Sized>(
        &mut self,
        to: &mut W,
        first: bool,
    ) -> io::Result<()> {
        to.write_all(if first { b"".as_slice() } else { b", " })
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_outermost_fields_have_lines() {
        let value = serde_json::json!({"a": 1, "b": [{"c": [1, 2], "d": {}}, []]});
        let text = super::of(&value).unwrap();
        assert_eq!(text, "{\n\"a\": 1,\n\"b\": [{\"c\": [1, 2], \"d\": {}}, []]\n}\n");
    }
}
