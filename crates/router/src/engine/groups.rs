//! From the hosts' books to the summary's groups and flows.

use crate::hosts::Common;
use crate::hosts::ledger::Group;
use sojourn_base::Time;
use sojourn_records::{Quantiles, Summary, ratio};
use sojourn_traffic::Source;

/// Adds groups, and flows if they are asked for, over a window of this length.
pub(super) fn add(summary: &mut Summary, common: &Common, window: Time) {
    let network = &common.network;
    let books = &mut *common.ledger.books();
    let knows_timeouts = books.knows_timeouts();
    for (number, of) in network.groups.iter().enumerate() {
        let Group { book, flow_rtt, .. } = &books.groups[number];
        // Quinn tells of none.
        let knows_timeouts = knows_timeouts && of.quic.is_none();
        let mut group = book.summary(window);
        group.timeouts = group.timeouts.filter(|_| knows_timeouts);
        let mut flows = book.flows(window);
        if matches!(of.source, Source::Bulk(_)) {
            for (flow, rtt) in flows.iter_mut().zip(flow_rtt) {
                flow.timeouts = flow.timeouts.filter(|_| knows_timeouts);
                flow.rtt_s = Quantiles::seconds_coarse(rtt);
            }
        } else {
            for ((flow, counted), member) in flows.iter_mut().zip(book.counted()).zip(0..) {
                let page = common.receipts.page(number, member);
                (flow.delay_s, flow.jitter_s) = page.delay_and_jitter();
                // What was under way at either end of the window hardly counts.
                flow.loss = ratio(counted.sent.saturating_sub(counted.received), counted.sent);
            }
        }
        let flows = network.probes.flows.then_some(flows);
        summary.add_group(group, flows, &mut books.recorder);
    }
}
