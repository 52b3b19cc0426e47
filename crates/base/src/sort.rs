//! Sorting what is short, or is sorted once: one piece of code for all types. The standard
//! library's is made anew for each, which takes some 4 kB of WebAssembly a time.

use alloc::vec::Vec;
use core::cmp::Ordering;

/// Sorts; what is equal keeps its order. It takes about twice as long as the standard library's.
pub fn sort_by<T>(items: &mut [T], compare: impl Fn(&T, &T) -> Ordering) {
    let mut places = order(items.len(), &|a, b| compare(&items[a], &items[b]));
    // Each item is swapped into its place at once, along the cycles of the permutation.
    for start in 0..items.len() {
        let mut at = start;
        while places[at] != start {
            let from = core::mem::replace(&mut places[at], at);
            items.swap(at, from);
            at = from;
        }
        places[at] = at;
    }
}

/// Sorts by a key.
pub fn sort_by_key<T, K: Ord>(items: &mut [T], key: impl Fn(&T) -> K) {
    sort_by(items, |a, b| key(a).cmp(&key(b)));
}

/// Where the items come from that belong at 0, 1, 2 and so on.
fn order(count: usize, compare: &dyn Fn(usize, usize) -> Ordering) -> Vec<usize> {
    let mut places: Vec<usize> = (0..count).collect();
    places.sort_by(|a, b| compare(*a, *b));
    places
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Kind, Stream};

    #[test]
    fn it_sorts_as_the_standard_library_does() {
        for count in 0..200 {
            let stream = &mut Stream::new(1, Kind::Test, 0, count);
            let drawn = |place| (stream.below(20), place);
            let mut items: Vec<(u64, u64)> = (0..count).map(drawn).collect();
            let mut expected = items.clone();
            expected.sort_by_key(|item| item.0);
            sort_by_key(&mut items, |item| item.0);
            assert_eq!(items, expected);
        }
    }
}
