//! Set-associative tables: a hash names a set of eight places, and the place of its own among
//! them; where that is taken the others of the set are tried.

/// Queues of a tin, and hosts that it tells apart on either side.
pub(super) const QUEUES: usize = 1024;
/// Places of a set.
const WAYS: usize = 8;

/// The places of a hash, its own first.
#[inline]
pub(super) fn places(hash: u32) -> impl Iterator<Item = usize> {
    let own = hash as usize % QUEUES;
    let set = own - own % WAYS;
    (0..WAYS).map(move |way| set + (own + way) % WAYS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    #[test]
    fn places_are_those_of_one_set_with_the_own_one_first() {
        for hash in [0, 7, 8, 1021, 5000, u32::MAX] {
            let found: Vec<usize> = places(hash).collect();
            assert_eq!(found[0], hash as usize % QUEUES);
            let mut sorted = found.clone();
            sorted.sort_unstable();
            let first = sorted[0];
            assert_eq!((first % WAYS, sorted.len()), (0, WAYS));
            assert!(sorted.iter().enumerate().all(|(way, &at)| at == first + way));
        }
    }
}
