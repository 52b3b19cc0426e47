//! When the members of a group start. Every engine that has members asks here, so that member `i`
//! starts at the same time in one as in another.

use sojourn_base::{Kind, Stream, Time};

use crate::NetworkGroup;

impl NetworkGroup {
    /// When member `index` starts under a seed.
    #[must_use]
    pub fn start_of(&self, seed: u64, index: u64) -> Time {
        let mut stream = Stream::new(seed, Kind::Start, self.key, index);
        Time(self.start.sample_member(index, u64::from(self.members), &mut stream))
    }
}
