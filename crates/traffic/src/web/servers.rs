//! Which server each object of a page comes from.

use super::object::Object;
use crate::{Count, Distribution, Invalid, Sampler};
use sojourn_base::Stream;

/// Servers of a page are at most this many.
pub const MOST_SERVERS: u8 = 100;

/// Share of the first server among the objects of a page where nothing else is said: 45.1 % of
/// the requests of desktops are to third parties (Web Almanac 2021, chapter Third Parties).
pub(super) const FIRST_SHARE: f64 = 0.55;

/// What to do about a field that needs several servers where there is one.
pub(super) const ALONE: &str = "there is one server: give servers too, or leave it out";

/// The servers of pages, compiled.
#[derive(Clone, Debug)]
pub(super) struct Servers {
    count: Sampler,
    first_share: f64,
}

impl Servers {
    /// From what a scenario says; none if it says nothing.
    pub(super) fn of(
        count: Option<&Distribution<Count>>,
        first_share: Option<f64>,
    ) -> Result<Option<Self>, Invalid> {
        let Some(count) = count else {
            return match first_share {
                Some(share) => Err(Invalid::new("first_share", share, ALONE)),
                None => Ok(None),
            };
        };
        if let Distribution::Constant(Count(given)) = count
            && !(1.0..=f64::from(MOST_SERVERS)).contains(given)
        {
            let remedy = format!("a page has 1 to {MOST_SERVERS} servers");
            return Err(Invalid::new("servers", given, remedy));
        }
        let share = first_share.unwrap_or(FIRST_SHARE);
        if !(0.0..=1.0).contains(&share) {
            let remedy = "must be a probability between 0 and 1";
            return Err(Invalid::new("first_share", share, remedy));
        }
        Ok(Some(Self { count: count.sampler("servers")?, first_share: share }))
    }

    /// Deals the objects of a page, the document first: that is the first server's. Every other
    /// takes two draws, however many servers there are.
    pub(super) fn deal(&self, stream: &mut Stream, objects: &mut [Object]) {
        let count = self.count.sample(stream).clamp(1, u64::from(MOST_SERVERS));
        objects[0].server = 0;
        for object in &mut objects[1..] {
            let elsewhere = stream.uniform() >= self.first_share;
            let other = stream.below((count - 1).max(1));
            object.server = if elsewhere && count > 1 { other as u8 + 1 } else { 0 };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn_base::Kind;

    fn dealt(count: f64, first_share: Option<f64>) -> Vec<usize> {
        let servers = Distribution::Constant(Count(count));
        let servers = Servers::of(Some(&servers), first_share).unwrap().unwrap();
        let stream = &mut Stream::new(1, Kind::Test, 6, 0);
        let mut objects = vec![Object::default(); 10_001];
        servers.deal(stream, &mut objects);
        assert_eq!(objects[0].server, 0);
        let mut found = vec![0; count as usize];
        objects[1..].iter().for_each(|object| found[usize::from(object.server)] += 1);
        found
    }

    #[test]
    fn the_first_has_its_share_and_the_others_have_the_same() {
        let near = |found: usize, wanted: f64| (found as f64 / wanted - 1.0).abs() < 0.06;
        let found = dealt(4.0, None);
        assert!(near(found[0], 5500.0) && found[1..].iter().all(|&n| near(n, 1500.0)), "{found:?}");
        let found = dealt(2.0, Some(0.2));
        assert!(near(found[0], 2000.0) && near(found[1], 8000.0), "{found:?}");
        assert_eq!(dealt(1.0, Some(0.0)), [10_000]);
        assert_eq!(dealt(3.0, Some(1.0)), [10_000, 0, 0]);
    }

    #[test]
    fn what_cannot_be_is_refused_in_words() {
        let refused = |count: f64, share| {
            let error =
                Servers::of(Some(&Distribution::Constant(Count(count))), share).unwrap_err();
            (error.field.clone(), error.to_string())
        };
        for count in [0.0, 101.0, -1.0] {
            let (field, words) = refused(count, None);
            assert!(field == "servers" && words.contains("1 to 100 servers"), "{words}");
        }
        assert_eq!(refused(3.0, Some(1.5)).0, "first_share");
        assert_eq!(Servers::of(None, Some(0.5)).unwrap_err().field, "first_share");
        assert!(Servers::of(None, None).unwrap().is_none());
    }
}
