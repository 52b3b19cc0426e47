//! Variable-length integers.

/// Bytes of a variable-length integer (RFC 9000 section 16).
pub(crate) const fn varint(value: u64) -> u32 {
    match value {
        0..=0x3f => 1,
        0x40..=0x3fff => 2,
        0x4000..=0x3fff_ffff => 4,
        _ => 8,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variable_length_integers_have_the_sizes_of_the_rfc() {
        // RFC 9000 appendix A.1.
        assert_eq!(varint(151_288_809_941_952_652), 8);
        assert_eq!([varint(494_878_333), varint(15_293), varint(37)], [4, 2, 1]);
    }
}
