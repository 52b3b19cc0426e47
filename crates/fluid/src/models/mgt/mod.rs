//! The model of Misra, Gong and Towsley, "Fluid-based analysis of a network of AQM routers
//! supporting TCP flows with an application to RED", SIGCOMM 2000: classes of like TCP flows over
//! queues in series.
//!
//! ```text
//! R_i(t)   = a_i + Σ q_v(t)/C_v                                  round trip of class i
//! dW_i/dt  = growth − cut(W_i) · x_i(t − R_i) · p_i(t − R_i)     x_i = W_i/R_i, Reno: 1/R, W/2
//! p_i      = 1 − Π (1 − p_v)                                     over the queues on its path
//! dq_v/dt  = Σ N_i x_i − C_v                                     between 0 and the buffer
//! ```
//!
//! With `timeouts` the share Q = min(1, 3/W) of losses takes the window to 1 (section 3 there).
//!
//! **Spread.** A flow loses x p packets a second and W/2 for each, so what counts is the mean of W²
//! over its flows; the equations take the square of the mean window for it. `spread` is the ratio
//! of the two. It is 1 in the paper. For Reno flows that are hit independently of each other it is
//! 2/1.3098² = 1.1658, the window being distributed as Ott, Kemperman and Mathis found ("The
//! stationary behavior of ideal TCP congestion avoidance", 1996): W = 1.3098/√p, not √2/√p.
//!
//! # Differences from the source
//!
//! 1. A full buffer loses what does not fit, 1 − C/x of the arrivals; they have no such limit.
//! 2. A queue may thin its arrivals (`thins`): what is dropped does not wait, nor reach the queues
//!    behind. In the paper everything that is sent arrives at every queue.
//! 3. Flows of a class may come and go; those that come begin with the initial window, and the mean
//!    window of the class becomes the mean over old and new.
//! 4. A window has a limit; its growth is tapered over the last hundredth below it.
//! 5. What a class has on the way when it starts was sent without loss.

mod class;
mod equilibrium;
mod lane;
mod layout;
mod opened;
mod parameters;
mod port;
mod quad;
mod queue;
mod system;
#[cfg(test)]
mod tests;

pub use class::Class;
pub use equilibrium::Equilibrium;
pub use layout::Layout;
pub use opened::Form;
pub(crate) use opened::Opened;
pub use parameters::Parameters;
pub use queue::Queue;
pub(crate) use queue::typical_packet;
pub use system::Mgt;
