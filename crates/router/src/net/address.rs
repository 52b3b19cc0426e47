//! Addresses of the endpoints: a number for each, two addresses for a number.
//!
//! The left namespace holds 10.0.0.0/9 and the right one 10.128.0.0/9, whole: a local route for all
//! of it makes every address usable without adding any, so that each flow can have its own, by
//! which the router knows it.

use std::net::Ipv4Addr;

/// A side of the router.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Side {
    /// Where the data of groups come `from`.
    Left = 0,
    /// Where they go `to`.
    Right = 1,
}

impl Side {
    /// Both.
    pub const BOTH: [Self; 2] = [Self::Left, Self::Right];

    /// The other one.
    #[must_use]
    pub const fn other(self) -> Self {
        match self {
            Self::Left => Self::Right,
            Self::Right => Self::Left,
        }
    }

    /// The addresses of a side: network and length of its prefix.
    #[must_use]
    pub const fn network(self) -> (Ipv4Addr, u8) {
        (Ipv4Addr::from_bits(base(self)), 9)
    }

    /// The address of the device, which programs that do not choose one use.
    #[must_use]
    pub const fn device(self) -> Ipv4Addr {
        Ipv4Addr::from_bits(base(self) + 1)
    }

    /// The address of endpoint `number`, below [`ENDPOINTS`].
    #[must_use]
    pub const fn endpoint(self, number: u32) -> Ipv4Addr {
        Ipv4Addr::from_bits(base(self) + FIRST + number)
    }
}

/// Endpoints that there are addresses for; the last address, a broadcast, is left out.
pub const ENDPOINTS: u32 = (1 << 23) - FIRST - 1;

/// Addresses before the first endpoint's.
const FIRST: u32 = 0x100;

const fn base(side: Side) -> u32 {
    match side {
        Side::Left => 0x0a00_0000,
        Side::Right => 0x0a80_0000,
    }
}

/// The endpoint that an address belongs to, and its side.
#[inline]
#[must_use]
pub const fn endpoint_of(address: u32) -> Option<(Side, u32)> {
    if address >> 24 != 10 {
        return None;
    }
    let side = if address & 0x0080_0000 == 0 { Side::Left } else { Side::Right };
    let place = address & 0x007f_ffff;
    if place < FIRST || place - FIRST >= ENDPOINTS { None } else { Some((side, place - FIRST)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_become_addresses_and_back() {
        assert_eq!(Side::Left.endpoint(0), Ipv4Addr::new(10, 0, 1, 0));
        assert_eq!(Side::Right.endpoint(258), Ipv4Addr::new(10, 128, 2, 2));
        for number in [0, 1, 255, 256, 65_536, ENDPOINTS - 1] {
            for side in Side::BOTH {
                let address = side.endpoint(number).to_bits();
                assert_eq!(endpoint_of(address), Some((side, number)));
            }
        }
    }

    #[test]
    fn other_addresses_are_no_endpoint() {
        for address in [[10, 0, 0, 1], [10, 128, 0, 1], [10, 127, 255, 255], [11, 0, 1, 0]] {
            assert_eq!(endpoint_of(u32::from_be_bytes(address)), None, "{address:?}");
        }
    }
}
