//! Observations as numbers: what is missing is NaN.

use serde_json::{Value, json};
use sojourn_packets::{
    FlowObservation, GroupObservation, LinkObservation, Observation, QueuedPacket,
};

/// A value of an observation.
trait Number {
    fn number(self) -> f64;
}

impl Number for f64 {
    fn number(self) -> f64 {
        self
    }
}

impl Number for u32 {
    fn number(self) -> f64 {
        self.into()
    }
}

/// Counts stay far below 2⁵³, up to where a double holds every integer.
impl Number for u64 {
    fn number(self) -> f64 {
        self as f64
    }
}

impl Number for usize {
    fn number(self) -> f64 {
        self as f64
    }
}

impl Number for bool {
    fn number(self) -> f64 {
        self.into()
    }
}

impl<N: Number> Number for Option<N> {
    fn number(self) -> f64 {
        self.map_or(f64::NAN, N::number)
    }
}

macro_rules! columns {
    ($($names:ident, $push:ident, $type:ty: $($field:ident)+;)+) => {$(
        const $names: &[&str] = &[$(stringify!($field)),+];

        fn $push(of: &$type, out: &mut Vec<f64>) {
            $(out.push(of.$field.number());)+
        }
    )+};
}

columns! {
    LINK, link, LinkObservation:
        rate_bps mean_rate_bps queue_packets queue_bytes queue_s probability enqueued dropped marked
        dequeued dequeued_bytes throughput_bps;
    GROUP, group, GroupObservation: delivered_bytes throughput_bps;
    FLOW, flow, FlowObservation:
        cwnd_bytes srtt_s in_flight_bytes delivered_bytes throughput_bps dropped marked;
    QUEUED, queued_packet, QueuedPacket: group flow bytes marked;
}

/// The time; of each link its columns; of each group its columns, the number of its flows, and of
/// each flow its columns.
pub(crate) fn observation(seen: &Observation, out: &mut Vec<f64>) {
    out.push(seen.time_s);
    for each in &seen.links {
        link(each, out);
    }
    for each in &seen.groups {
        group(each, out);
        out.push(each.flows.len() as f64);
        for each in &each.flows {
            flow(each, out);
        }
    }
}

/// The columns of each packet in a queue, packet by packet.
pub(crate) fn queued(packets: &[QueuedPacket], out: &mut Vec<f64>) {
    packets.iter().for_each(|packet| queued_packet(packet, out));
}

/// What those numbers are called.
pub(crate) fn description(seen: &Observation) -> Value {
    let links: Vec<&str> = seen.links.iter().map(|link| link.name.as_str()).collect();
    let groups: Vec<&str> = seen.groups.iter().map(|group| group.name.as_str()).collect();
    json!({
        "links": links,
        "groups": groups,
        "link_columns": LINK,
        "group_columns": GROUP,
        "flow_columns": FLOW,
        "queued_columns": QUEUED,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_is_observed_is_left_out() {
        let one = LinkObservation {
            name: "bottleneck".into(),
            rate_bps: 1,
            mean_rate_bps: Some(1.5),
            queue_packets: 2,
            queue_bytes: 3,
            queue_s: None,
            probability: 0.5,
            enqueued: 6,
            dropped: 7,
            marked: 8,
            dequeued: 9,
            dequeued_bytes: 10,
            throughput_bps: Some(11.0),
        };
        let two = GroupObservation {
            name: "bulk1".into(),
            delivered_bytes: 1,
            throughput_bps: None,
            flows: vec![FlowObservation::default()],
        };
        let keys = |value: Value, without: &[&str]| -> Vec<String> {
            let Value::Object(map) = value else { panic!("{value}") };
            map.keys().filter(|key| !without.contains(&key.as_str())).cloned().collect()
        };
        assert_eq!(keys(serde_json::to_value(&one).unwrap(), &["name"]), LINK);
        assert_eq!(keys(serde_json::to_value(&two).unwrap(), &["name", "flows"]), GROUP);
        assert_eq!(keys(serde_json::to_value(two.flows[0]).unwrap(), &[]), FLOW);

        let packet = QueuedPacket { group: 1, flow: 2, bytes: 3, marked: true };
        assert_eq!(keys(serde_json::to_value(packet).unwrap(), &[]), QUEUED);
        let mut out = Vec::new();
        queued(&[packet, packet], &mut out);
        assert_eq!(out, [1.0, 2.0, 3.0, 1.0].repeat(2));

        let mut out = Vec::new();
        let seen = Observation { time_s: 0.25, links: vec![one], groups: vec![two] };
        observation(&seen, &mut out);
        assert_eq!(out.len(), 1 + LINK.len() + GROUP.len() + 1 + FLOW.len());
        assert_eq!(out[..5], [0.25, 1.0, 1.5, 2.0, 3.0]);
        assert!(out[5].is_nan());
        assert_eq!(description(&seen)["groups"], json!(["bulk1"]));
    }
}
