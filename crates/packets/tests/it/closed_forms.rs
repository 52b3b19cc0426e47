//! Runs with a known answer.

use crate::common::{simulate, some};

/// Poisson packets of 1000 bytes through a link that takes 1 ms for each.
fn poisson(rho: f64, limit: u32, seed: u64) -> sojourn_packets::Summary {
    simulate(&format!(
        r#"
        duration = "2000s"
        warmup = "20s"
        seed = {seed}
        [bottleneck]
        rate = "8mbit"
        qdisc = {{ kind = "droptail", limit = {limit} }}
        [[traffic]]
        kind = "udp"
        rate = "{}kbit"
        packet = "1kB"
        poisson = true
        "#,
        8000.0 * rho
    ))
}

/// Half the width of a 99.9 % interval from a handful of independent runs (Student, 7 degrees of
/// freedom: 5.41).
fn mean_and_margin(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / (n - 1.0);
    (mean, 5.41 * (variance / n).sqrt())
}

#[test]
fn the_mean_wait_of_poisson_packets_is_that_of_an_m_d_1_queue() {
    for rho in [0.5, 0.8, 0.9] {
        let runs: Vec<_> = (1..=8).map(|seed| poisson(rho, 1_000_000, seed)).collect();
        let waits: Vec<f64> = runs.iter().map(|s| some(s.links[0].sojourn_s.mean)).collect();
        let (mean, margin) = mean_and_margin(&waits);
        let exact = rho / (2.0 * (1.0 - rho)) * 1e-3;
        assert!((mean - exact).abs() < margin, "rho {rho}: {mean} ± {margin}, exact {exact}");
        assert!(margin < 0.06 * exact, "the interval is too wide to say anything: {margin}");
        // Little's law ties the two measures of the queue together.
        for run in &runs {
            let link = &run.links[0];
            let arrivals = link.counts.arrived as f64 / (run.window_s.1 - run.window_s.0);
            let little = arrivals * some(link.sojourn_s.mean);
            assert!((some(link.queue_packets.mean) / little - 1.0).abs() < 1e-3);
        }
    }
}

/// Loss of an M/D/1/K queue by its embedded Markov chain: K counts the packet in service.
fn md1k_loss(rho: f64, k: usize) -> f64 {
    // a[j]: probability of j Poisson arrivals in one service.
    let mut a = vec![(-rho).exp()];
    for j in 1..=k {
        a.push(a[j - 1] * rho / j as f64);
    }
    // Unnormalised state probabilities that a departure leaves behind (Gross and Harris 5.1.7).
    let mut pi = vec![1.0];
    for n in 0..k - 1 {
        let mut next = pi[n] - pi[0] * a[n];
        for j in 1..=n {
            next -= pi[j] * a[n + 1 - j];
        }
        pi.push(next / a[0]);
    }
    let sum: f64 = pi.iter().sum();
    1.0 - 1.0 / (pi[0] / sum + rho)
}

#[test]
fn losses_of_poisson_packets_are_those_of_an_m_d_1_k_queue() {
    assert!((md1k_loss(0.9, 10) - 0.0166).abs() < 1e-4);
    assert!((md1k_loss(0.9, 11) - 0.0132).abs() < 1e-4);
    for (rho, k) in [(0.9, 10), (0.9, 11), (1.1, 5)] {
        let runs = (1..=8).map(|seed| some(poisson(rho, k - 1, seed).links[0].loss));
        let (mean, margin) = mean_and_margin(&runs.collect::<Vec<_>>());
        let exact = md1k_loss(rho, k as usize);
        assert!((mean - exact).abs() < margin, "{rho} {k}: {mean} ± {margin}, exact {exact}");
        assert!(margin < 0.06 * exact, "the interval is too wide to say anything: {margin}");
    }
}

fn one_reno(limit: u32) -> f64 {
    // 10 Mb/s and 96 ms: the product is 80 packets of 1500 bytes.
    let summary = simulate(&format!(
        r#"
        duration = "600s"
        warmup = "100s"
        tcp = {{ profile = "classic", delayed_ack = false }}
        [bottleneck]
        rate = "10mbit"
        delay = "48ms"
        qdisc = {{ kind = "droptail", limit = {limit} }}
        [[traffic]]
        kind = "bulk"
        tcp = {{ receive_window = "4MB" }}
        "#
    ));
    some(summary.links[0].utilisation)
}

#[test]
fn one_reno_flow_fills_the_link_if_the_buffer_holds_the_product_and_three_quarters_without() {
    let full = one_reno(80);
    assert!(full >= 0.99, "{full}");
    let bare = one_reno(2);
    assert!((0.72..0.82).contains(&bare), "{bare}");
}

#[test]
fn sixty_flows_under_pi_are_held_at_qref_with_the_loss_of_the_square_root_law() {
    let summary = simulate(
        r#"
        duration = "300s"
        warmup = "100s"
        tcp = { profile = "classic", delayed_ack = false, mss = 460, receive_window = "1MB" }
        [bottleneck]
        rate = "15mbit"
        qdisc = { kind = "pi", qref = 200, a = 1.822e-5, b = 1.816e-5, limit = 800, mean_packet = 500 }
        mean_packet = 500
        [[traffic]]
        kind = "bulk"
        flows = 60
        rtt = "160ms..240ms"
        start = "0s..10s"
        "#,
    );
    let link = &summary.links[0];
    let mean = some(link.queue_packets.mean);
    assert!((mean - 200.0).abs() < 20.0, "{mean}");
    // W² p = 3/2 for periodic loss to 2 for the fluid: W = R C / N with queueing delay.
    let window = (0.2 + mean / 3750.0) * 3750.0 / 60.0;
    let product = window * window * some(link.loss);
    assert!((1.2..2.6).contains(&product), "W² p = {product}");
}

#[test]
fn pi_brings_the_queue_back_after_flows_leave_and_return() {
    let at_qref = |warmup: u32, until: u32| {
        let summary = simulate(&format!(
            r#"
            duration = "{until}s"
            warmup = "{warmup}s"
            tcp = {{ profile = "classic", delayed_ack = false, mss = 460, receive_window = "1MB" }}
            [bottleneck]
            rate = "15mbit"
            mean_packet = 500
            qdisc = {{ kind = "pi", qref = 200, limit = 800 }}
            [[traffic]]
            kind = "bulk"
            name = "stay"
            flows = 40
            rtt = "160ms..240ms"
            start = "0s..10s"
            [[traffic]]
            kind = "bulk"
            name = "leave"
            flows = 20
            rtt = "160ms..240ms"
            start = "0s..10s"
            stop = "100s"
            [[traffic]]
            kind = "bulk"
            name = "return"
            flows = 20
            rtt = "160ms..240ms"
            start = "140s"
            "#
        ));
        some(summary.links[0].queue_packets.mean)
    };
    for (change, until) in [(100, 140), (140, 200)] {
        let mean = at_qref(change + 30, until);
        assert!((mean - 200.0).abs() < 20.0, "{mean} packets from {change} + 30 s to {until} s");
    }
}

#[test]
fn host_processing_adds_half_of_maximum_at_each_end() {
    let summary = simulate(
        r#"
        duration = "200s"
        tcp = { profile = "classic", timestamps = true, delayed_ack = false, receive_window = "3000B", mss = 1460 }
        [bottleneck]
        rate = "1gbit"
        [access]
        processing = "10ms"
        [[traffic]]
        kind = "bulk"
        rtt = "50ms"
        "#,
    );
    let rtt = &summary.groups[0].rtt_s;
    // Two segments are under way; the later of two draws may hold up a segment behind it.
    assert!((0.060..0.0640).contains(&some(rtt.mean)), "{rtt:?}");
    assert!(some(rtt.max) < 0.0901, "{rtt:?}");
}
