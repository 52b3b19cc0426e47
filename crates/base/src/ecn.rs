//! The ECN field of the IP header, which queues and transports share.

/// The two ECN bits of the IP header, with their values on the wire (RFC 3168 section 5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum Ecn {
    /// The sender does not take part.
    #[default]
    NotEct = 0,
    /// ECN-capable, codepoint 01 (RFC 9331 uses it to name L4S traffic).
    Ect1 = 1,
    /// ECN-capable, codepoint 10.
    Ect0 = 2,
    /// Congestion experienced.
    Ce = 3,
}

impl Ecn {
    /// The codepoint in the lowest two bits of `bits`.
    #[inline]
    #[must_use]
    pub const fn from_bits(bits: u8) -> Self {
        match bits & 3 {
            0 => Self::NotEct,
            1 => Self::Ect1,
            2 => Self::Ect0,
            _ => Self::Ce,
        }
    }

    /// Whether the transport takes part in ECN: anything but [`Ecn::NotEct`].
    #[inline]
    #[must_use]
    pub const fn capable(self) -> bool {
        !matches!(self, Self::NotEct)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lowest_two_bits_are_the_codepoint() {
        for bits in 0..=u8::MAX {
            let ecn = Ecn::from_bits(bits);
            assert_eq!(ecn as u8, bits % 4);
            assert_eq!(ecn.capable(), bits % 4 != 0);
        }
    }
}
