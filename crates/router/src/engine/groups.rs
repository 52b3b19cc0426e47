//! From the hosts' books to the summary's groups and flows.

use crate::hosts::ledger::Books;
use crate::hosts::receipts::{Receipt, Receipts};
use crate::hosts::{Common, Totals};
use sojourn_base::Time;
use sojourn_records::{
    Distribution, FlowRow, FlowSummary, GroupId, GroupSummary, Quantiles, Summary, jain, rate_bps,
    ratio,
};
use sojourn_scenario::{Network, NetworkGroup};
use sojourn_traffic::Source;

/// Adds groups, and flows if they are asked for, over a window of this length.
pub fn add(summary: &mut Summary, common: &Common, window: Time) {
    let network = &common.network;
    let books = &mut *common.ledger.books();
    for (at, group) in network.groups.iter().enumerate() {
        let flows = flows(network, books, &common.receipts, at, window);
        summary.groups.push(group_summary(books, &common.receipts, group, at, window));
        if network.probes.flows {
            for flow in &flows {
                books.recorder.push(FlowRow::new(GroupId(at as u32), flow));
            }
            summary.flows.extend(flows);
        }
    }
}

fn group_summary(
    books: &Books,
    receipts: &Receipts,
    group: &NetworkGroup,
    at: usize,
    window: Time,
) -> GroupSummary {
    let book = &books.groups[at];
    let each = books.in_window(at);
    let mut all = Totals::default();
    for totals in &each {
        all += *totals;
    }
    let mut summary = GroupSummary {
        name: group.name.clone(),
        kind: group.source.kind().into(),
        members: u64::from(group.members),
        goodput_bps: rate_bps(all.delivered, window),
        jain: (matches!(group.source, Source::Bulk(_)) && each.len() > 1)
            .then(|| jain(each.iter().map(|totals| totals.delivered as f64)))
            .flatten(),
        retransmissions: Some(all.retransmissions),
        timeouts: books.knows_timeouts().then_some(all.timeouts),
        started: book.started,
        finished: book.finished,
        failed: book.failed,
        censored: book.censored,
        response_time_s: Distribution::seconds(&book.response),
        rtt_s: Quantiles::seconds(&book.rtt),
    };
    if matches!(group.source, Source::Udp(_) | Source::OnOff(_)) {
        let pages = receipts.in_window(at);
        let sum = |of: fn(&Receipt) -> u64| pages.iter().map(of).sum::<u64>();
        summary.started = sum(|page| page.sent);
        summary.finished = sum(|page| page.received);
        summary.goodput_bps = rate_bps(sum(|page| page.bytes), window);
        if pages.len() > 1 {
            summary.jain = jain(pages.iter().map(|page| page.bytes as f64));
        }
    }
    summary
}

fn flows(
    network: &Network,
    books: &Books,
    receipts: &Receipts,
    at: usize,
    window: Time,
) -> Vec<FlowSummary> {
    let group = &network.groups[at];
    let flow = |index: usize| FlowSummary {
        group: group.name.clone(),
        index: index as u64,
        ..FlowSummary::default()
    };
    match &group.source {
        Source::Bulk(_) => {
            let totals = books.in_window(at).into_iter().enumerate();
            totals
                .map(|(index, totals)| FlowSummary {
                    goodput_bps: rate_bps(totals.delivered, window),
                    retransmissions: Some(totals.retransmissions),
                    timeouts: books.knows_timeouts().then_some(totals.timeouts),
                    rtt_s: Quantiles::seconds_coarse(&books.groups[at].flow_rtt[index]),
                    ..flow(index)
                })
                .collect()
        }
        Source::Udp(_) | Source::OnOff(_) => {
            let pages = receipts.in_window(at).into_iter().enumerate();
            pages
                .map(|(index, page)| {
                    let (delay_s, jitter_s) = page.delay_and_jitter();
                    FlowSummary {
                        goodput_bps: rate_bps(page.bytes, window),
                        delay_s,
                        jitter_s,
                        // What was under way at either end of the window hardly counts.
                        loss: ratio(page.sent.saturating_sub(page.received), page.sent),
                        retransmissions: Some(0),
                        timeouts: Some(0),
                        ..flow(index)
                    }
                })
                .collect()
        }
        _ => Vec::new(),
    }
}
