//! Which object of a page names which: a tree drawn level by level, the document at its root.
//!
//! A browser learns of an object from one that it has: of a style or script from the document, of a
//! font or a further script from those. Each embedded object has a level of its own draw; its
//! parent is one of the level above, all equally likely. Objects lie in breadth-first order, so
//! that the children of each are a range.

use super::object::Object;
use crate::Sampler;
use sojourn_base::Stream;

/// Levels are at most this many.
pub(super) const MOST_LEVELS: u64 = 64;

/// Draws who names whom among the objects of a page, the document being the first. Every embedded
/// object takes a draw of its level and one of its parent.
pub(super) fn draw(level: &Sampler, stream: &mut Stream, objects: &mut [Object]) {
    let mut sizes = [0u32; MOST_LEVELS as usize];
    for _ in 1..objects.len() {
        sizes[level.sample(stream).clamp(1, MOST_LEVELS) as usize - 1] += 1;
    }
    // What else is drawn of an object has nothing to do with its level: the first are the highest.
    let (mut parents, mut next) = (0..1, 1);
    for size in sizes.into_iter().filter(|&size| size > 0) {
        for _ in 0..size {
            let parent =
                parents.start + stream.below(u64::from(parents.end - parents.start)) as u32;
            objects[parent as usize].children.end += 1;
        }
        let level = next..next + size;
        for parent in parents {
            let count = objects[parent as usize].children.end;
            objects[parent as usize].children = next..next + count;
            next += count;
        }
        parents = level;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Count, Distribution};
    use sojourn_base::Kind;

    #[test]
    fn every_object_has_a_parent_in_the_level_above() {
        let level = Distribution::Exponential { mean: Count(2.0) }.sampler("level").unwrap();
        let stream = &mut Stream::new(1, Kind::Test, 4, 0);
        let object = Object::default();
        let mut deepest = 0;
        for count in [1, 2, 3, 10, 100, 1000] {
            let mut objects = vec![object.clone(); count];
            draw(&level, stream, &mut objects);
            // Breadth first: the children of one come behind those of the one before.
            let (mut next, mut levels) = (1, vec![0; count]);
            for (at, object) in objects.iter().enumerate() {
                let children = object.children.clone();
                if children.is_empty() {
                    continue;
                }
                assert!(children.start == next && children.start as usize > at);
                children.clone().for_each(|child| levels[child as usize] = levels[at] + 1);
                next = children.end;
            }
            assert_eq!(next as usize, count);
            assert!(levels.is_sorted());
            deepest = deepest.max(levels[count - 1]);
        }
        assert!(deepest > 5, "{deepest}");
    }

    #[test]
    fn share_of_a_level_is_what_is_drawn() {
        let level =
            Distribution::Uniform { min: Count(1.0), max: Count(2.0), step: Some(Count(1.0)) };
        let level = level.sampler("level").unwrap();
        let stream = &mut Stream::new(1, Kind::Test, 5, 0);
        let object = Object::default();
        let mut objects = vec![object; 10_001];
        draw(&level, stream, &mut objects);
        let named = f64::from(objects[0].children.end - objects[0].children.start);
        assert!((named / 5000.0 - 1.0).abs() < 0.04, "{named}");
    }
}
