#![doc = include_str!("../README.md")]
//!
//! # What holds for all of them
//!
//! Everything that samples at fixed instants does so lazily: what is due by `now` runs, in order,
//! before the call does its own work, with the queue as it stood since the previous call.
//!
//! **What the queue counts.** `dequeue` is called when a transmission starts, so neither the
//! packet in service nor its bytes are in the queue, in any limit, or in anything a controller
//! measures.
//!
//! **Adding a discipline** takes a file that exports `Params` and `Discipline<P>`, and one line
//! in the list at the end of this one, with `at enqueue` if it is a strict FIFO that drops and
//! marks only there. Most that do only need a control law: see [`managed`].
// Only `bank::pass` calls what the processor must have been asked for before.
#![deny(unsafe_code)]
#![no_std]
extern crate alloc;
#[cfg(feature = "std")]
extern crate std;

pub mod bank;
mod classes;
mod cobalt_law;
pub mod codel_law;
mod counters;
mod delay_pi;
mod ecn_marking;
mod env;
mod fifo;
mod fixed;
mod flow_queue;
pub mod integers;
pub mod managed;
mod packet;
mod parameters;
mod pool;
mod power;
mod ring;
mod spacing;
mod stamped;
pub mod vectors;
#[macro_use]
mod list;

pub use classes::{DEEPEST, MOST_CLASSES};
pub use counters::{Count, Counters, Standing};
pub use delay_pi::DelayPi;
pub use ecn_marking::EcnMarking;
pub use env::Env;
pub use fifo::Fifo;
pub use fixed::{ByteMode, Measure, Periodic, Probability, Sampled};
pub use list::Visit;
pub use packet::{Ack, Discipline, DropReason, Ecn, Packet, Sacks, Sink, Verdict, label_hash};
pub use parameters::{Change, ClassInfo, Parameters};
pub use sojourn_base::Invalid;
pub use spacing::Spacing;
pub use stamped::{Kept, Stamped, Unkept, Unstamp};

disciplines! {
    /// First come, first served, with a limit in packets, bytes or time.
    Droptail = "droptail" in droptail, at enqueue;
    /// Random early detection, Floyd and Jacobson (1993), gentle or not.
    Red = "red" in red, at enqueue;
    /// Adaptive RED, Floyd, Gummadi and Shenker (2001): RED that adapts its `max_p`.
    Ared = "ared" in ared, at enqueue;
    /// Self-configuring RED, Feng, Kandlur, Saha and Shin (1999): RED that moves its `max_p` when
    /// the average crosses a threshold.
    FengRed = "feng_red" in feng_red, at enqueue;
    /// CHOKe, Pan, Prabhakar and Psounis (2000): RED that drops what is of the same flow as a
    /// packet drawn from the queue.
    Choke = "choke" in choke;
    /// The proportional controller of Hollot, Misra, Towsley and Gong (INFOCOM 2001): RED without
    /// its average.
    Proportional = "proportional" in proportional, at enqueue;
    /// The proportional-integral controller of Hollot, Misra, Towsley and Gong (INFOCOM 2001).
    Pi = "pi" in pi, at enqueue;
    /// PI whose probability comes from a table of at most 16 entries, as in hardware.
    PiTable = "pi_table" in pi_table, at enqueue;
    /// PIE: PI on the queueing delay, RFC 8033.
    Pie = "pie" in pie, at enqueue;
    /// PI2, De Schepper et al. (CoNEXT 2016): a linear PI controller, its output squared.
    Pi2 = "pi2" in pi2, at enqueue;
    /// DualPI2, the coupled dual-queue AQM of RFC 9332 (L4S).
    Dualpi2 = "dualpi2" in dualpi2;
    /// BLUE, Feng, Shin, Kandlur and Saha (2002): a probability moved by overflow and idleness.
    Blue = "blue" in blue, at enqueue;
    /// Adaptive virtual queue, Kunniyur and Srikant (2001).
    Avq = "avq" in avq, at enqueue;
    /// Random exponential marking, Athuraliya, Li, Low and Yin (2001).
    Rem = "rem" in rem, at enqueue;
    /// Feedback on the arrival rate alone, Kelly (2000): p is a power of the load.
    Rate = "rate" in rate, at enqueue;
    /// A discipline written in Python: a class that decides, in a queue that is kept here.
    External = "python" in external;
    /// Controlled delay, Nichols and Jacobson (RFC 8289): drops by the time spent in the queue.
    Codel = "codel" in codel;
    /// Flow queueing with controlled delay (RFC 8290): CoDel in each of many queues, served in
    /// turn.
    FqCodel = "fq_codel" in fq_codel;
    /// CoDel and BLUE in one, as in CAKE (Palmei and others, 2019).
    Cobalt = "cobalt" in cobalt;
    /// Shaper, tins, host and flow isolation and COBALT in one (Høiland-Jørgensen, Täht and Morton,
    /// 2018).
    Cake = "cake" in cake;
    /// Stochastic fairness queueing, McKenney (1990): a queue for each hash of a flow, in turn.
    Sfq = "sfq" in sfq;
    /// Flow queueing with PIE in each of many queues, as in Linux.
    FqPie = "fq_pie" in fq_pie;
    /// Strict priority over classes: a class sends when no earlier one has packets.
    Prio = "prio" in prio;
    /// Deficit round robin over classes, Shreedhar and Varghese (1996).
    Drr = "drr" in drr;
    /// A token bucket over another discipline: holds packets back to a rate and a burst.
    Tbf = "tbf" in tbf;
    /// Class-based queueing, Floyd and Van Jacobson (1995): link-sharing over a tree of classes.
    Cbq = "cbq" in cbq;
}
