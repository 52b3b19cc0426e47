//! The gains of one class's controllers, as mantissas of 15 bits with shifts.

use super::decide::rounded;
use super::table::THRESHOLD_BITS;
use super::{MOST_ENTRIES, Table};
use crate::Invalid;

/// Fraction bits of a controller's p.
pub(super) const P_BITS: i32 = 29;
/// Further fraction bits of what the integral part leaves over.
pub(super) const REST_BITS: i32 = 16;
/// A threshold that no p reaches, Q.15.
const OUT_OF_REACH: u64 = 1 << THRESHOLD_BITS;

/// `mantissa`·2^`left`·2^−`right`, one of the shifts being 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Scaled {
    pub mantissa: i16,
    pub left: u32,
    pub right: u32,
    /// The largest factor that is not cut: beyond it the product is more than 1.
    pub most: i16,
}

impl Scaled {
    /// `gain` in units of 2^−`bits`, with at most `right` places to be shifted off.
    fn new(gain: f64, most_right: u32) -> Self {
        let scaled = libm::ldexp(gain, P_BITS);
        // gain·2²⁹ = mantissa·2^shift, the mantissa below 2¹⁵.
        let shift = (libm::frexp(scaled).1 - 15).max(-(most_right as i32));
        let mantissa = libm::round(libm::ldexp(scaled, -shift)).min(32_767.0);
        let most = libm::floor(libm::ldexp(1.0, P_BITS - shift) / mantissa);
        Self {
            mantissa: mantissa as i16,
            left: shift.max(0) as u32,
            right: (-shift).max(0) as u32,
            most: most.clamp(1.0, 32_767.0) as i16,
        }
    }

    /// The gain that is really used.
    pub(super) fn exact(&self) -> f64 {
        libm::ldexp(f64::from(self.mantissa), self.left as i32 - self.right as i32 - P_BITS)
    }
}

/// What the controllers of a class have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gains {
    /// a, on the change of the queue.
    pub(super) a: Scaled,
    /// a − b, on the distance from the setpoint.
    pub(super) difference: Scaled,
    /// The setpoint.
    pub(super) qref: i16,
}

impl Gains {
    /// From gains per unit of the queue, and the setpoint in such units. A unit is whatever the
    /// queues are given in (a packet, or more where queues exceed 32767 packets). `a` must be
    /// 2⁻³⁰ to 1, a − b at least 2⁻⁴¹ (where 4 bits of the mantissa are left).
    pub fn new(a: f64, b: f64, qref: u16) -> Result<Self, Invalid> {
        if !(libm::ldexp(1.0, -30)..=1.0).contains(&a) {
            return Err(Invalid::new("a", a, "must be 2^-30 to 1 per unit of the queue"));
        }
        if !((a - b) >= libm::ldexp(1.0, -41) && b >= 0.0) {
            let remedy = "must be 0 to below a by 2^-41 at least; sample less often, or give \
                          queues in larger units";
            return Err(Invalid::new("b", b, remedy));
        }
        if qref > 32_767 {
            return Err(Invalid::new("qref", qref, "must be at most 32767 units of the queue"));
        }
        Ok(Self {
            a: Scaled::new(a, 15),
            difference: Scaled::new(a - b, REST_BITS as u32),
            qref: qref as i16,
        })
    }

    /// The gains a and a − b that are really used.
    #[must_use]
    pub fn exact(&self) -> (f64, f64) {
        (self.a.exact(), self.difference.exact())
    }

    /// A class as gates are given it, in whole numbers: the setpoint; mantissa, left shift, right
    /// shift and largest factor of a, then those of a − b; from 9 on 15 thresholds of `table`
    /// (Q.15, 32768 where it has none); from 24 on 16 entries (Q.32).
    #[must_use]
    pub fn numbers(&self, table: &Table) -> [u64; 40] {
        let mut numbers = [0; 40];
        numbers[0] = self.qref as u64;
        for (place, gain) in numbers[1..9].chunks_exact_mut(4).zip([self.a, self.difference]) {
            let Scaled { mantissa, left, right, most } = gain;
            place.copy_from_slice(&[mantissa as u64, left.into(), right.into(), most as u64]);
        }
        let within = table.entries().len() - 1;
        for (i, (place, &t)) in numbers[9..24].iter_mut().zip(table.thresholds()).enumerate() {
            *place = if i < within { t as u64 } else { OUT_OF_REACH };
        }
        numbers[24..24 + MOST_ENTRIES].copy_from_slice(&rounded(table));
        numbers
    }
}
