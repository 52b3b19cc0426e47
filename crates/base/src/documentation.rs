//! What a source file says of itself, for those who read it without the source.

use alloc::string::String;

/// The documentation at the head of a Rust file, its `//!` lines: Markdown, without those marks.
#[must_use]
pub fn module_documentation(source: &str) -> String {
    let mut text = String::new();
    for line in source.lines() {
        let Some(rest) = line.strip_prefix("//!") else { break };
        text.push_str(rest.strip_prefix(' ').unwrap_or(rest));
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_what_stands_before_the_first_line_of_code() {
        let source = "//! One.\n//!\n//! # Two\n\nuse x;\n//! three\n";
        assert_eq!(module_documentation(source), "One.\n\n# Two\n");
        assert_eq!(module_documentation("use x;\n"), "");
    }
}
