//! The ACK filter: where an acknowledgement says what earlier ones of its connection said that
//! still stand, one of those goes.

use super::params::AckFilter;
use crate::pool::{Line, Pool};
use crate::{Ack, Packet, Stamped};

/// Whether `number` comes after `other`, modulo 2³².
fn after(number: u32, other: u32) -> bool {
    (number.wrapping_sub(other) as i32) > 0
}

/// Whether `newer` tells the sender all that `older` does. The numbers of SACK blocks are not
/// seen: what carries some stays.
fn covers(newer: &Ack, older: &Ack) -> bool {
    let times = after(older.tsval, newer.tsval) || after(older.tsecr, newer.tsecr);
    if !older.bare || times || after(older.number, newer.number) {
        return false;
    }
    newer.number != older.number || newer.blocks
}

/// Takes out of a queue the acknowledgement that the packet at its tail makes superfluous. Where
/// congestion is echoed a change of that must reach the sender, so that the last with each echo
/// stays; but for the aggressive filter two must be superfluous for one to go.
pub(super) fn filter<P: Packet>(
    line: &mut Line,
    pool: &mut Pool<Stamped<P>>,
    how: AckFilter,
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
        if !covers(&newer, &older) {
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
