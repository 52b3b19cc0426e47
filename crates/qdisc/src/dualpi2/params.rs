//! What a scenario may say of DualPI2.

use sojourn_base::Time;

/// How L marks on its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "snake_case"))]
pub enum Marking {
    /// With a probability that rises from 0 at `min_th` to 1 at `max_th`.
    #[default]
    Ramp,
    /// All packets above `step_th`.
    Step,
}

/// Which queue is served.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "snake_case"))]
pub enum Scheduler {
    /// By turns, in bytes, C having `classic_weight`.
    #[default]
    Wrr,
    /// The one whose head came first, L's being taken for older by `time_shift`.
    TimeShifted,
}

/// How a probability becomes a decision.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "snake_case"))]
pub enum Decision {
    /// Probabilities add up, and each whole one is a hit.
    #[default]
    Recur,
    /// By random numbers.
    Random,
}

/// DualPI2. The defaults are those of RFC 9332, appendix A.1, rounded as in Linux.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(default, deny_unknown_fields))]
pub struct Params {
    /// The delay to hold in C: "1us" to "1000s" (default "15ms", RFC 9332).
    pub target: Time,
    /// Time between two updates: "1us" to "1000s" (default "16ms", Linux; RFC 9332: 15 ms).
    pub tupdate: Time,
    /// Gain on the delay's distance from the target, in hertz: 0 to 32 (default 0.16, Linux;
    /// RFC 9332: 0.15).
    pub alpha: f64,
    /// Gain on the delay's change since the last update, in hertz: 0 to 32 (default 3.2, Linux;
    /// RFC 9332: 3).
    pub beta: f64,
    /// By how much L is marked more, k: 1 to 16 (default 2, RFC 9332).
    pub coupling: f64,
    /// How L marks on its own: "ramp" (default, RFC 9332) or "step" (Linux).
    pub marking: Marking,
    /// Sojourn time in L where the ramp begins (default "800us", RFC 9332).
    pub min_th: Time,
    /// Sojourn time in L from which all packets are marked, above `min_th`, at most "1000s"
    /// (default "1.2ms", RFC 9332).
    pub max_th: Time,
    /// Sojourn time in L above which all packets are marked if `marking` is "step": at most
    /// "1000s" (default "1ms", Linux).
    pub step_th: Time,
    /// L only marks on its own if more than so many packets stand in it, the one that leaves
    /// counted (default 1, RFC 9332's Th_len).
    pub min_packets: u32,
    /// Which queue is served: "wrr" (default, Linux) or "time_shifted" (RFC 9332).
    pub scheduler: Scheduler,
    /// C's share of the link if both queues stand: 0 to 1 (default 0.1, Linux).
    pub classic_weight: f64,
    /// How much older L's head is taken for, up to "1000s"; default: twice the target (RFC 9332,
    /// appendix A.2: "50ms" on the public Internet).
    #[cfg_attr(feature = "schema", serde(skip_serializing_if = "Option::is_none"))]
    pub time_shift: Option<Time>,
    /// How a probability becomes a decision: "recur" (default, RFC 9332) or "random" (Linux).
    pub decision: Decision,
    /// Once `coupling`·p' reaches 1, drop ECN-capable packets too, with p'², in both queues;
    /// otherwise p' ends at 1/`coupling` and the limit alone holds the queue (default true,
    /// RFC 9332).
    pub drop_on_overload: bool,
    /// Mean packet in bytes, 40 to 65535, for the credit at the start. Default: the link's.
    #[cfg_attr(feature = "schema", serde(skip_serializing_if = "Option::is_none"))]
    pub mean_packet: Option<u32>,
    /// Most packets in both queues together: 1 to 67108864 (default 10000, Linux).
    pub limit: u32,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            target: Time::from_millis(15),
            tupdate: Time::from_millis(16),
            alpha: 0.16,
            beta: 3.2,
            coupling: 2.0,
            marking: Marking::Ramp,
            min_th: Time::from_micros(800),
            max_th: Time::from_micros(1200),
            step_th: Time::from_millis(1),
            min_packets: 1,
            scheduler: Scheduler::Wrr,
            classic_weight: 0.1,
            time_shift: None,
            decision: Decision::Recur,
            drop_on_overload: true,
            mean_packet: None,
            limit: 10_000,
        }
    }
}
