//! Class-based queueing: Floyd and Van Jacobson, "Link-sharing and resource management models for
//! packet networks", IEEE/ACM Transactions on Networking 3(4), 1995.
//!
//! A tree of classes divides the link. Each class has a share of the class around it, and an
//! estimator tells whether it is over its limit: it looks at how long the class was idle between
//! its packets, against what its share would have it be. Classes with queues, the leaves, send by
//! priority, and within a priority in weighted or packet-by-packet turns. One that is over its
//! limit may borrow from classes around it (`borrowing`), and is held back where it may not.
//!
//! # Differences from the source
//!
//! 1. Integers: times in 1/256 ns, the average's gain 1/16 (section IV-B leaves it open; appendix
//!    A and the authors' simulator have 1/16).
//! 2. The link itself is never over its limit, so leaves that may borrow up to it always use it:
//!    the paper gives it a share and an estimator too. With `borrowing = "ancestor"` such leaves
//!    are then divided by priorities and turns alone.
//! 3. Where nobody may send by the formal or the top-level rule and the link would stand still,
//!    the ancestor-only rule decides instead.
//! 4. "Top-level" follows the heuristics of section V-C as the authors' simulator has them.
//! 5. A class that is held back waits for what its last packet takes at its own rate, and
//!    `extradelay`, as in the authors' simulator; the average's debt counts only until then.
//! 6. Sizes are IP bytes, times those of the link's nominal rate: what a frame costs beyond is not
//!    known here. Shares are parts of the nominal rate.
//! 7. Weighted turns are deficit round robin with quanta in proportion to the shares, a mean packet
//!    on average.
//! 8. Estimator and turns are as coarse as the authors': shares hold to about two points.
//!
//! # Differences from Linux
//!
//! 1. `sch_cbq` (removed in Linux 6.3) estimates the link too, and splits `bounded` (may not
//!    borrow: `borrow = false`) from `isolated` (does not lend), which does not exist here.
//! 2. Its `allot`, `weight` and `avpkt` are given by hand; here they follow from the shares and the
//!    link's mean packet. Its priority is 1 to 8 as here.
//! 3. It borrows by the top-level rule, here ancestor-only by default.
//! 4. Overlimit actions (`delay`, `drop`, `lowprio`, `rclassic`) do not exist: a class is held
//!    back.
//! 5. Its clock ticks in 64 ns; its `minidle` is unbounded by default, as here.
//! 6. It asks a class that has run empty once more when its turn comes, here at the next packet.

mod estimator;
mod params;

pub use params::{Borrowing, Class, Params, Rounds};

use crate::classes::{Leaves, Scheduled, Scheduler, Turns, bits};
use crate::{Env, Invalid, Packet};
use alloc::vec::Vec;
use estimator::{Constants, State, maxidle};
use params::Placed;
use sojourn_base::{Stream, Time};

/// No class: the link.
const LINK: usize = usize::MAX;
/// Above every level: borrowing has no bound.
const NO_LEVEL: u8 = u8::MAX;
/// The level of classes with queues.
const LEAF: u8 = 1;

/// A class in the tree.
#[derive(Clone, Debug)]
struct Node {
    constants: Constants,
    state: State,
    /// The class around it, or [`LINK`].
    parent: usize,
    /// One for a leaf, else one above the highest class inside.
    level: u8,
    /// Whether it may borrow from the class around it.
    borrows: bool,
}

/// A tree of classes.
pub type Discipline<P> = Scheduled<P, Tree>;

/// Which leaf of a tree of classes sends.
#[derive(Clone, Debug)]
pub struct Tree {
    nodes: Vec<Node>,
    /// The node of each leaf.
    node: Vec<usize>,
    /// For each priority that there is, the highest first: its leaves, and their turns.
    priorities: Vec<(u64, Turns)>,
    /// Leaves that may borrow all the way up to the link.
    free: u64,
    borrowing: Borrowing,
    rounds: Rounds,
    link_level: u8,
    /// For the top-level rule: up to which level may be borrowed from.
    top: u8,
    /// The level of the class by which the leaf that was chosen last may send.
    level: u8,
}

impl<P: Packet> Discipline<P> {
    /// Empty queues; each draws from its own stream.
    pub fn new(params: &Params, env: &Env, coin: Stream) -> Result<Self, Invalid> {
        let placed = params.placed();
        let default = params.check(&placed, env)?;
        let link = env.rate.as_f64();
        let mut nodes: Vec<Node> =
            placed.iter().map(|placed| node(placed, params, env, link)).collect();
        let mut link_level = LEAF;
        for at in (0..nodes.len()).rev() {
            let (level, parent) = (nodes[at].level + 1, nodes[at].parent);
            let above = if parent == LINK { &mut link_level } else { &mut nodes[parent].level };
            *above = level.max(*above);
        }
        let node: Vec<usize> = (0..placed.len()).filter(|&at| placed[at].is_leaf()).collect();
        let mut free = 0;
        for (leaf, &at) in node.iter().enumerate() {
            let mut at = at;
            while at != LINK && nodes[at].borrows {
                at = nodes[at].parent;
            }
            free |= u64::from(at == LINK && params.borrowing != Borrowing::None) << leaf;
        }
        let scheduler = Tree {
            priorities: priorities(&placed, &node, env),
            nodes,
            node,
            free,
            borrowing: params.borrowing,
            rounds: params.rounds,
            link_level,
            top: NO_LEVEL,
            level: LEAF,
        };
        let leaves = Leaves::new(&Params::leaves(&placed), default, env, coin)?;
        Ok(Self { leaves, scheduler })
    }
}

impl Tree {
    /// The level of the class by which `leaf` may send: its own, or the one it borrows from; none
    /// if it may not send. `eligible` says from which levels may be borrowed.
    #[inline]
    fn lender(&mut self, leaf: usize, now: Time, eligible: impl Fn(u8) -> bool) -> Option<u8> {
        let mut at = self.node[leaf];
        if self.nodes[at].state.under(now) {
            return Some(LEAF);
        }
        if self.borrowing == Borrowing::None {
            return None;
        }
        while self.nodes[at].borrows {
            at = self.nodes[at].parent;
            if at == LINK {
                return eligible(self.link_level).then_some(self.link_level);
            }
            let level = self.nodes[at].level;
            if self.nodes[at].state.under(now) && eligible(level) {
                return Some(level);
            }
        }
        None
    }

    /// The lowest level with an unsatisfied class: one under its limit, with packets waiting in it
    /// or in a class inside that may borrow from it.
    fn lowest_unsatisfied(&self, ready: u64, now: Time) -> u8 {
        let mut lowest = NO_LEVEL;
        for leaf in bits(ready) {
            let mut at = self.node[leaf];
            while at != LINK {
                let node = &self.nodes[at];
                if node.state.undertime() <= now.0 {
                    lowest = lowest.min(node.level);
                    break;
                }
                at = if node.borrows { node.parent } else { LINK };
            }
        }
        lowest
    }

    /// Which of the leaves in `ready` sends next, and by which level.
    fn choose(&mut self, ready: u64, now: Time) -> Option<(usize, u8)> {
        let bound = match self.borrowing {
            Borrowing::Formal => self.lowest_unsatisfied(ready, now),
            Borrowing::TopLevel => self.top,
            Borrowing::Ancestor | Borrowing::None => NO_LEVEL,
        };
        let mut denied = 0;
        let mut chosen = self.choose_up_to(bound, ready, now, &mut denied);
        if chosen.is_none() && bound != NO_LEVEL {
            self.top = NO_LEVEL;
            chosen = self.choose_up_to(NO_LEVEL, ready, now, &mut 0);
        }
        for leaf in bits(denied) {
            if chosen.is_none_or(|(other, _)| other != leaf) {
                let node = &mut self.nodes[self.node[leaf]];
                node.state.held_back(&node.constants, now);
            }
        }
        chosen
    }

    fn choose_up_to(
        &mut self,
        bound: u8,
        ready: u64,
        now: Time,
        denied: &mut u64,
    ) -> Option<(usize, u8)> {
        for priority in 0..self.priorities.len() {
            let mut permitted = 0;
            for leaf in bits(ready & self.priorities[priority].0) {
                match self.lender(leaf, now, |level| level <= bound) {
                    Some(_) => permitted |= 1 << leaf,
                    None => *denied |= 1 << leaf,
                }
            }
            if permitted != 0 {
                let turns = &mut self.priorities[priority].1;
                let leaf = match self.rounds {
                    Rounds::Weighted => turns.choose(permitted, |_| 1),
                    Rounds::Packet => turns.follow(permitted),
                };
                return self.lender(leaf, now, |level| level <= bound).map(|level| (leaf, level));
            }
        }
        None
    }

    /// A packet of `leaf`, which was chosen last, has been taken, and has left it `empty` or not:
    /// the books of its class and of all around it.
    #[inline]
    fn account(&mut self, leaf: usize, bytes: u32, empty: bool, now: Time) {
        let level = self.level;
        let mut at = self.node[leaf];
        let (mut lender, mut seen) = (None, LINK);
        while at != LINK {
            let node = &mut self.nodes[at];
            let finish = node.constants.finish(now, bytes);
            node.state.sent(&node.constants, finish, bytes);
            if node.level == level && lender.is_none() {
                lender = Some(node.state.undertime() > now.0);
            }
            seen = at;
            at = node.parent;
        }
        debug_assert!(seen != LINK);
        let bit = 1 << leaf;
        let of = self.priorities.iter_mut().find(|(leaves, _)| leaves & bit != 0);
        if let Some((_, turns)) = of {
            turns.spend(leaf, bytes, empty);
        }
        if self.borrowing == Borrowing::TopLevel && self.top >= level {
            // Section V-C: nothing more to be had at this level, so the bound falls away.
            let spent = empty || lender.unwrap_or(false);
            self.top = if spent { NO_LEVEL } else { level };
        }
    }

    /// Section V-C: a packet has come for `leaf`.
    #[inline]
    fn lower_top(&mut self, leaf: usize, now: Time) {
        let at = self.node[leaf];
        if self.top <= LEAF {
            return;
        }
        let node = &self.nodes[at];
        if node.state.undertime() <= now.0 {
            self.top = LEAF;
        } else if node.borrows && node.parent != LINK {
            let parent = &self.nodes[node.parent];
            if parent.state.undertime() <= now.0 {
                self.top = self.top.min(parent.level);
            }
        }
    }

    /// When `leaf` may send if nothing else happens.
    fn permitted_at(&self, leaf: usize, now: Time) -> Time {
        if self.free >> leaf & 1 == 1 {
            return now;
        }
        let mut at = self.node[leaf];
        let mut first = self.nodes[at].state.undertime();
        while self.borrowing != Borrowing::None && self.nodes[at].borrows {
            at = self.nodes[at].parent;
            first = first.min(self.nodes[at].state.undertime());
        }
        Time(first).max(now)
    }
}

fn node(placed: &Placed<'_>, params: &Params, env: &Env, link: f64) -> Node {
    let class = placed.class;
    let time = f64::from(env.mean_packet) * 8e9 / link;
    let most = class.maxidle.unwrap_or_else(|| maxidle(time, placed.share, params.max_burst));
    let rate = placed.share * link;
    Node {
        constants: Constants::new(rate, link, most, class.minidle, class.extradelay),
        state: State::default(),
        parent: placed.parent.unwrap_or(LINK),
        level: LEAF,
        borrows: class.borrow,
    }
}

/// The leaves of each priority with quanta in proportion to their shares.
fn priorities(placed: &[Placed<'_>], node: &[usize], env: &Env) -> Vec<(u64, Turns)> {
    let leaves = || node.iter().map(|&at| &placed[at]).enumerate();
    let of = |priority| {
        let here = leaves().filter(|(_, one)| one.class.priority == priority);
        let (mut set, mut sum) = (0u64, 0.0);
        for (leaf, one) in here {
            set |= 1 << leaf;
            sum += one.share;
        }
        let all = f64::from(set.count_ones() * env.mean_packet);
        let quanta = leaves().map(|(_, one)| (one.share / sum * all).max(1.0) as i64);
        (set != 0).then(|| (set, Turns::new(quanta.collect())))
    };
    (1..=8).filter_map(of).collect()
}

impl<P: Packet> crate::Change<Params> for Discipline<P> {}

impl<P: Packet> Scheduler<P> for Tree {
    fn next(&mut self, ready: u64, _: &Leaves<P>, now: Time) -> Option<usize> {
        let (leaf, level) = self.choose(ready, now)?;
        self.level = level;
        Some(leaf)
    }

    #[inline]
    fn sent(&mut self, leaf: usize, bytes: u32, leaves: &Leaves<P>, now: Time) {
        self.account(leaf, bytes, !leaves.backlogged(leaf), now);
    }

    #[inline]
    fn arrived(&mut self, leaf: usize, leaves: &Leaves<P>, now: Time) {
        if self.borrowing == Borrowing::TopLevel && leaves.backlogged(leaf) {
            self.lower_top(leaf, now);
        }
    }

    fn next_ready(&self, leaves: &Leaves<P>, now: Time) -> Option<Time> {
        let waiting = bits(leaves.backlog());
        waiting.map(|leaf| leaves.ready_at(leaf, now).max(self.permitted_at(leaf, now))).min()
    }
}
