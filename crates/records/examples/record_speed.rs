//! What recording costs: `cargo run --release -p sojourn-records --example record_speed`.

use sojourn_base::{Kind, Stream, Time};
use sojourn_records::pcapng::{Content, Packet, TCP, Writer};
use sojourn_records::{
    CoarseHistogram, Histogram, LinkId, Names, PacketCountRow, QueueRow, Recorder,
};
use std::hint::black_box;
use std::time::Instant;

const N: u64 = 50_000_000;

fn time(what: &str, n: u64, mut run: impl FnMut()) {
    run();
    let best = (0..3).map(|_| {
        let start = Instant::now();
        run();
        start.elapsed().as_secs_f64()
    });
    println!("{what:42} {:6.2} ns each", best.fold(f64::MAX, f64::min) * 1e9 / n as f64);
}

fn main() {
    // Waiting times around 5 ms, as a link records them.
    let mut stream = Stream::new(1, Kind::Test, 0, 0);
    let values: Vec<u64> = (0..4096).map(|_| 3_000_000 + stream.below(4_000_000)).collect();
    let mut histogram = Histogram::new();
    time("Histogram::record", N, || {
        for i in 0..N {
            histogram.record(values[(i & 4095) as usize]);
        }
        black_box(&histogram);
    });
    time("Histogram::record_n", N, || {
        for i in 0..N {
            let v = values[(i & 4095) as usize];
            histogram.record_n(v >> 16, v);
        }
        black_box(&histogram);
    });
    let mut coarse = CoarseHistogram::new();
    time("CoarseHistogram::record", N, || {
        for i in 0..N {
            coarse.record(values[(i & 4095) as usize]);
        }
        black_box(&coarse);
    });
    time("Recorder::push, table not open", N, || {
        let mut recorder = Recorder::none();
        for i in 0..N {
            recorder.push(PacketCountRow {
                time_s: Time(i),
                link: LinkId(0),
                packets: i,
                bytes: black_box(i),
            });
        }
    });
    let folder = std::env::temp_dir().join(format!("sojourn-speed-{}", std::process::id()));
    let rows = 3_000_000;
    time("Recorder::push of queues, with the file", rows, || {
        let mut recorder = Recorder::to_directory(&folder).expect("a writable folder");
        recorder.begin(Names { links: vec!["bottleneck".into()], ..Names::default() });
        recorder.open::<QueueRow>();
        for i in 0..rows {
            let v = values[(i & 4095) as usize];
            recorder.push(QueueRow {
                time_s: Time::from_millis(10 * i),
                link: LinkId(0),
                rate_bps: 100_000_000,
                packets: v & 127,
                bytes: (v & 127) * 1500,
                probability: v as f64 * 1e-9,
                entered: 80,
                dropped: v & 3,
                marked: 0,
                dequeued: 78 + (v & 3),
                dequeued_bytes: 117_000,
                standing_packets: 3,
                standing_s: None,
                lost: 0,
                device_packets: 0,
                device_bytes: 0,
            });
        }
        let written = recorder.finish().expect("room on the disk");
        assert_eq!(written[0].rows, rows);
    });
    let size = std::fs::metadata(folder.join("queues.parquet")).map_or(0, |m| m.len());
    println!("{:42} {:6.1} bytes each", "  in the file", size as f64 / rows as f64);
    let _ = std::fs::remove_dir_all(&folder);

    let packets = 3_000_000;
    let mut out = Vec::with_capacity(packets as usize * 110);
    time("pcapng::Writer::write, headers to memory", packets, || {
        out.clear();
        let mut writer = Writer::new(&mut out, "bottleneck", Content::Headers).expect("memory");
        for i in 0..packets {
            let packet = Packet {
                time: Time(i * 1000),
                src: [10, 0, 0, 1],
                dst: [10, 0, 0, 2],
                sport: 40_000,
                dport: 80,
                protocol: TCP,
                tos: 2,
                ident: i as u16,
                payload_len: 1448,
                seq: i as u32 * 1448,
                ack: 1,
                flags: 16,
                window: 500,
                options: &[1, 1, 8, 10, 0, 0, 0, 1, 0, 0, 0, 2],
            };
            writer.write(&packet).expect("memory");
        }
    });
}
