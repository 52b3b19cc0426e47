//! The ACK filter: where an acknowledgement says what earlier ones of its connection said that
//! still stand, one of those goes.

use super::params::AckFilter;
use crate::pool::{Line, Pool};
use crate::{Ack, Packet, Sacks, Sink, Stamped};

/// Whether `number` comes after `other`, modulo 2³².
fn after(number: u32, other: u32) -> bool {
    (number.wrapping_sub(other) as i32) > 0
}

/// Whether `newer` tells the sender all that `older` does, and more. `sacks` has the blocks of
/// both, of which only those are looked at that there are.
fn covers(newer: &Ack, older: &Ack, sacks: impl FnOnce() -> [Sacks; 2]) -> bool {
    let times = after(older.tsval, newer.tsval) || after(older.tsecr, newer.tsecr);
    if !older.bare || times || after(older.number, newer.number) {
        return false;
    }
    let further = newer.number != older.number;
    match (newer.blocks, older.blocks) {
        (_, false) => further || newer.blocks,
        (false, true) => false,
        (true, true) => {
            let [newer, sacks] = sacks();
            held(&newer, &sacks, older.number).is_some_and(|more| further || more)
        }
    }
}

/// Whether blocks say more than `older` ones, which came with the number `ack`; none if they say
/// less, or the older ones tell of bytes that came twice (RFC 2883).
fn held(newer: &Sacks, older: &Sacks, ack: u32) -> Option<bool> {
    let told =
        |sacks: &Sacks| sacks.iter().map(|(start, end)| end.wrapping_sub(*start)).sum::<u32>();
    let within = |&(start, end): &(u32, u32)| {
        let inside = |block: &(u32, u32)| !after(block.0, start) && !after(end, block.1);
        !after(ack, start) && newer.iter().any(inside)
    };
    older.iter().filter(|block| block.0 != block.1).all(within).then(|| told(newer) > told(older))
}

/// Takes out of a queue the acknowledgement that the packet at its tail makes superfluous. Where
/// congestion is echoed a change of that must reach the sender, so that the last with each echo
/// stays; but for the aggressive filter two must be superfluous for one to go.
pub(super) fn filter<P: Packet>(
    line: &mut Line,
    pool: &mut Pool<Stamped<P>>,
    how: AckFilter,
    sink: &impl Sink<P>,
) -> Option<Stamped<P>> {
    let last = *pool.tail(line)?;
    let newer = last.ack()?;
    let same = |packet: &Stamped<P>| {
        packet.flow_hash() == last.flow_hash()
            && packet.source() == last.source()
            && packet.destination() == last.destination()
    };
    // The first that may go, and how many are superfluous.
    let (mut first, mut found, mut nearest) = (None, 0, u32::MAX);
    let before_last = line.len() as usize - 1;
    for (place, packet) in pool.placed(line).take(before_last) {
        nearest = place;
        let Some(older) = packet.ack().filter(|_| same(packet)) else { continue };
        if first.is_some_and(|(_, echo)| echo != older.echo) {
            first = None;
            found -= 1;
        }
        let sacks = || [&last, packet].map(|stamped| sink.sacks(&stamped.packet));
        if !covers(&newer, &older, sacks) {
            continue;
        }
        first = first.or(Some((place, older.echo)));
        found += 1;
        if found > 1 {
            break;
        }
    }
    let (place, echo) = first?;
    let alone = how == AckFilter::Aggressive && place == nearest && echo == newer.echo;
    (found > 1 || alone).then(|| pool.take_out(line, place))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ack(number: u32, blocks: bool) -> Ack {
        Ack { number, blocks, bare: true, ..Ack::default() }
    }

    fn sacks<const N: usize>(blocks: [(u32, u32); N]) -> Sacks {
        let mut sacks = Sacks::default();
        sacks[..N].copy_from_slice(&blocks);
        sacks
    }

    #[test]
    fn blocks_are_covered_by_larger_ones_and_by_the_same_further_on() {
        let older = sacks([(20, 30), (50, 60)]);
        let covered =
            |number, newer: Sacks| covers(&ack(number, true), &ack(10, true), || [newer, older]);
        // In another order, and one of them larger.
        assert!(covered(10, sacks([(50, 70), (20, 30)])));
        assert!(covered(10, sacks([(15, 60)])));
        assert!(covered(12, older));
        // The same again, less of one, and one that is no longer told.
        assert!(!covered(10, older));
        assert!(!covered(12, sacks([(20, 29), (50, 90)])));
        assert!(!covered(30, sacks([(50, 90)])));
        // Without blocks nothing is known of them, and where there are none nothing is asked.
        assert!(!covers(&ack(90, false), &ack(10, true), || unreachable!()));
        assert!(covers(&ack(10, true), &ack(10, false), || unreachable!()));
        // Numbers wrap around.
        let [newer, older] = [(u32::MAX - 3, 9), (u32::MAX - 1, 2)].map(|block| sacks([block]));
        let (a, b) = (ack(u32::MAX - 9, true), ack(u32::MAX - 9, true));
        assert!(covers(&a, &b, || [newer, older]));
        assert!(!covers(&a, &b, || [older, newer]));
    }

    #[test]
    fn what_tells_of_bytes_that_came_twice_stays() {
        let newer = sacks([(0, 200)]);
        let older = sacks([(5, 9), (20, 30)]);
        assert!(!covers(&ack(12, true), &ack(10, true), || [newer, older]));
    }
}
