//! Tables as files: what goes in comes out, the same bytes each time, one clear error.

use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;
use sojourn_base::Time;
use sojourn_records::pcapng::{Content, Packet, UDP};
use sojourn_records::qlog::{QUIC, Vantage};
use sojourn_records::{
    ExchangeRow, FlowRow, GroupId, LinkId, Names, Outcome, PacketCountRow, Provenance, QueueRow,
    Recorder, Row, TraceRow, TransferRow,
};
use std::collections::HashMap;
use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A folder of this process that is removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("sojourn-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }
    fn files(&self) -> Vec<String> {
        let mut names: Vec<_> = std::fs::read_dir(&self.0)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn names() -> Names {
    Names {
        links: vec!["bottleneck".into(), "reverse".into()],
        groups: vec!["web".into()],
        flows: vec![],
    }
}

fn queue(i: u64) -> QueueRow {
    QueueRow {
        time_s: Time::from_millis(10 * (i + 1)),
        link: LinkId((i % 2) as u32),
        rate_bps: 100_000_000,
        packets: i % 100,
        bytes: i % 100 * 1500,
        probability: i as f64 / 1e6,
        entered: 80,
        dropped: i % 3,
        marked: 0,
        dequeued: 78,
        dequeued_bytes: u64::MAX - i,
        standing_packets: 3,
        standing_s: None,
        lost: 0,
        device_packets: 0,
        device_bytes: 0,
    }
}

fn exchange(i: u64) -> ExchangeRow {
    let finished = !i.is_multiple_of(3);
    ExchangeRow {
        group: GroupId(0),
        user: i as u32,
        started_s: Time::from_millis(i),
        requested_s: Time::from_millis(i + 20),
        first_byte_s: Some(Time::from_millis(i + 50)),
        finished_s: finished.then_some(Time::from_millis(i + 100)),
        request_bytes: 350,
        response_bytes: 10_000 + i,
        response_time_s: finished.then_some(Time::from_millis(100)),
        time_to_first_byte_s: Some(Time::from_millis(30)),
        timeouts: 0,
        retransmissions: 1,
        syn_retries: 0,
        outcome: if finished { Outcome::Finished } else { Outcome::Censored },
    }
}

/// More than one row group of queues, a few exchanges, an empty table.
const QUEUE_ROWS: u64 = 100_003;

fn record(folder: &Path) {
    let mut recorder = Recorder::to_directory(folder).unwrap();
    recorder.begin(names());
    recorder.open::<QueueRow>();
    recorder.open::<ExchangeRow>();
    recorder.open::<PacketCountRow>();
    for i in 0..QUEUE_ROWS {
        recorder.push(queue(i));
        if i < 1000 {
            recorder.push(exchange(i));
        }
    }
    let rows: Vec<_> = recorder.finish().unwrap().iter().map(|w| w.rows).collect();
    assert_eq!(rows, [QUEUE_ROWS, 0, 1000]);
}

#[test]
fn rows_read_back_as_written() {
    let folder = Folder::new("rows");
    record(&folder.0);
    assert_eq!(folder.files(), ["exchanges.parquet", "packet_counts.parquet", "queues.parquet"]);
    let file = File::open(folder.0.join("queues.parquet")).unwrap();
    let reader = SerializedFileReader::new(file).unwrap();
    assert!(reader.num_row_groups() > 1);
    let mut count = 0;
    for (i, row) in (0u64..).zip(reader.get_row_iter(None).unwrap()) {
        let row = row.unwrap();
        let fields: Vec<&Field> = row.get_column_iter().map(|(_, field)| field).collect();
        let expected = queue(i);
        assert_eq!(fields[0], &Field::Double((i + 1) as f64 / 100.0));
        assert_eq!(fields[1], &Field::Str(["bottleneck", "reverse"][i as usize % 2].into()));
        assert_eq!(fields[3], &Field::Long(expected.bytes as i64));
        assert_eq!(fields[4], &Field::Double(expected.probability));
        assert_eq!(fields[9], &Field::Long(i64::MAX), "a count past the range saturates");
        count += 1;
    }
    assert_eq!(count, QUEUE_ROWS);

    let file = File::open(folder.0.join("exchanges.parquet")).unwrap();
    let reader = SerializedFileReader::new(file).unwrap();
    for (i, row) in (0u64..).zip(reader.get_row_iter(None).unwrap()) {
        let row = row.unwrap();
        let fields: Vec<&Field> = row.get_column_iter().map(|(_, field)| field).collect();
        let finished = !i.is_multiple_of(3);
        let time = if finished { Field::Double(0.1) } else { Field::Null };
        let outcome = if finished { "finished" } else { "censored" };
        assert_eq!((fields[8], fields[13]), (&time, &Field::Str(outcome.into())));
        assert_eq!(fields[7], &Field::Long(10_000 + i as i64));
    }
}

#[test]
fn the_same_rows_give_the_same_bytes() {
    let (a, b) = (Folder::new("bytes-a"), Folder::new("bytes-b"));
    record(&a.0);
    record(&b.0);
    for file in a.files() {
        let read = |folder: &Folder| std::fs::read(folder.0.join(&file)).unwrap();
        assert!(read(&a) == read(&b), "{file} differs");
    }
}

fn metadata(path: &Path) -> HashMap<String, String> {
    let reader = SerializedFileReader::new(File::open(path).unwrap()).unwrap();
    let pairs = reader.metadata().file_metadata().key_value_metadata().unwrap();
    pairs.iter().map(|pair| (pair.key.clone(), pair.value.clone().unwrap())).collect()
}

#[test]
fn file_says_its_units_and_its_run() {
    let folder = Folder::new("provenance");
    let run = Provenance { engine: "packets".into(), seed: 7, scenario: "{\"seed\":7}".into() };
    let mut recorder = Recorder::to_directory(&folder.0).unwrap().of_run(run);
    recorder.begin(names());
    recorder.open::<QueueRow>();
    recorder.finish().unwrap();
    let found = metadata(&folder.0.join("queues.parquet"));
    assert_eq!(found["sojourn.engine"], "packets");
    assert_eq!(found["sojourn.seed"], "7");
    assert_eq!(found["sojourn.scenario"], "{\"seed\":7}");
    assert_eq!(found["sojourn.version"], env!("CARGO_PKG_VERSION"));
    let columns: serde_json::Value = serde_json::from_str(&found["sojourn.columns"]).unwrap();
    assert_eq!(columns["rate_bps"]["unit"], "bit/s");
    assert_eq!(columns["link"]["unit"], serde_json::Value::Null);
    assert!(columns["time_s"]["meaning"].as_str().unwrap().starts_with("The sampling instant"));
}

#[test]
fn column_whose_name_has_a_unit_has_that_unit() {
    fn check<R: Row>() {
        for column in R::COLUMNS {
            let named = [("_s", "s"), ("_bps", "bit/s"), ("bytes", "B"), ("packets", "packets")];
            let named = named.iter().find(|(end, _)| column.name.ends_with(end));
            if let Some((_, unit)) = named {
                assert_eq!(column.unit, Some(*unit), "{}.{}", R::NAME, column.name);
            }
        }
    }
    check::<QueueRow>();
    check::<PacketCountRow>();
    check::<TraceRow>();
    check::<ExchangeRow>();
    check::<TransferRow>();
    check::<FlowRow>();
}

#[test]
fn recorder_without_tables_writes_nothing() {
    let mut recorder = Recorder::none();
    recorder.begin(names());
    recorder.open::<QueueRow>();
    assert!(!recorder.wants::<QueueRow>());
    recorder.push(queue(1));
    assert!(recorder.open_capture("bottleneck", Content::Headers).is_none());
    assert_eq!(recorder.finish().unwrap(), []);
}

#[test]
fn rows_of_a_table_that_is_not_open_are_ignored() {
    let folder = Folder::new("closed");
    let mut recorder = Recorder::to_directory(&folder.0).unwrap();
    recorder.push(queue(1));
    assert_eq!(recorder.finish().unwrap(), []);
    assert!(folder.files().is_empty());
}

#[test]
fn an_abandoned_recorder_leaves_no_files() {
    let folder = Folder::new("abandoned");
    let mut recorder = Recorder::to_directory(&folder.0).unwrap();
    recorder.begin(names());
    recorder.open::<QueueRow>();
    recorder.open_capture("bottleneck", Content::Headers).unwrap();
    (0..50_000).for_each(|i| recorder.push(queue(i)));
    drop(recorder);
    assert!(folder.files().is_empty(), "{:?}", folder.files());
}

#[test]
fn a_folder_that_cannot_be_made_is_one_error_at_the_start() {
    let folder = Folder::new("unwritable");
    let file = folder.0.join("file");
    std::fs::write(&file, "").unwrap();
    let message = Recorder::to_directory(file.join("run")).err().unwrap().to_string();
    assert!(message.starts_with("cannot write ") && message.contains("file/run"), "{message}");
    assert_eq!(message.lines().count(), 1);
}

#[test]
fn captures_are_kept_under_their_links_names_and_may_not_collide() {
    let folder = Folder::new("captures");
    let mut recorder = Recorder::to_directory(&folder.0).unwrap();
    let id = recorder.open_capture("hop/1", Content::Headers).unwrap();
    assert!(recorder.open_capture("hop_1", Content::Headers).is_none());
    recorder.capture(
        id,
        &Packet {
            time: Time(1),
            src: [10, 0, 0, 1],
            dst: [10, 0, 0, 2],
            sport: 1,
            dport: 2,
            protocol: UDP,
            tos: 0,
            ident: 0,
            payload_len: 100,
            seq: 0,
            ack: 0,
            flags: 0,
            window: 0,
            options: &[],
        },
    );
    let message = recorder.finish().unwrap_err().to_string();
    assert!(message.contains("hop_1.pcapng: two captures"), "{message}");
    assert_eq!(folder.files(), ["hop_1.pcapng"]);
}

#[test]
fn logs_are_kept_under_their_flows_names_and_ends() {
    let folder = Folder::new("logs");
    let mut recorder = Recorder::to_directory(&folder.0).unwrap();
    let first = recorder.open_log("bulk.0", Vantage::Client, QUIC).unwrap();
    let second = recorder.open_log("bulk.0", Vantage::Server, QUIC).unwrap();
    recorder.log(second, Time::from_millis(5), "sent", 3, &["one"]);
    recorder.log(second, Time::from_millis(7), "sent", 3, &["two"]);
    recorder.log(first, Time::from_millis(9), "sent", 3, &["three"]);
    let bytes: Vec<u8> = (0..200).collect();
    let capture = recorder.open_capture("link", Content::Headers).unwrap();
    recorder.capture_bytes(capture, Time(1), &bytes);
    recorder.capture_bytes(capture, Time(2), &bytes[..60]);
    let written = recorder.finish().unwrap();
    let items: Vec<_> = written.iter().map(|file| file.rows).collect();
    assert_eq!(items, [2, 1, 2]);
    assert_eq!(folder.files(), ["bulk.0.client.sqlog", "bulk.0.server.sqlog", "link.pcapng"]);
    let read = |name: &str| std::fs::read(folder.0.join(name)).unwrap();
    let text = String::from_utf8(read("bulk.0.server.sqlog")).unwrap();
    let events: Vec<_> = text.split('\u{1e}').skip(2).collect();
    assert!(events.len() == 2 && events[0].contains("\"one\"") && events[1].contains("two"));
    // The first 80 bytes of the longer one, which a header of IPv4 and one of TCP may take.
    let capture = read("link.pcapng");
    let holds = |bytes: &[u8]| capture.windows(bytes.len()).any(|window| window == bytes);
    assert!(holds(&bytes[..80]) && !holds(&bytes[..81]));
    drop(written);
    let mut recorder = Recorder::to_directory(&folder.0).unwrap();
    let log = recorder.open_log("other", Vantage::Client, QUIC).unwrap();
    recorder.log(log, Time(1), "sent", 0, &[0]);
    drop(recorder);
    assert_eq!(folder.files().len(), 3, "what is not finished leaves nothing");
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_is_one_error_at_the_end_and_other_files_are_kept() {
    let folder = Folder::new("full");
    // Writing to this device gives "no space left".
    std::os::unix::fs::symlink("/dev/full", folder.0.join("queues.parquet.partial")).unwrap();
    let mut recorder = Recorder::to_directory(&folder.0).unwrap();
    recorder.begin(names());
    recorder.open::<QueueRow>();
    recorder.open::<ExchangeRow>();
    // Many more rows than all buffers hold: a writer that has failed must not block the run.
    for i in 0..200_000 {
        recorder.push(queue(i));
    }
    recorder.push(exchange(1));
    let message = recorder.finish().unwrap_err().to_string();
    assert!(message.contains("queues.parquet: No space left on device"), "{message}");
    assert_eq!(folder.files(), ["exchanges.parquet"]);
}

#[test]
fn polars_reads_the_files_with_sensible_types() {
    let python = std::env::var("SOJOURN_POLARS_PYTHON").unwrap_or_else(|_| "python3".into());
    let has_polars = Command::new(&python).args(["-c", "import polars"]).output();
    if !has_polars.is_ok_and(|output| output.status.success()) {
        // Past the test harness, which hides what passing tests print.
        let _ = writeln!(
            std::io::stderr(),
            "\n*** SKIPPED: {python} has no polars; set SOJOURN_POLARS_PYTHON ***\n"
        );
        return;
    }
    let folder = Folder::new("polars");
    record(&folder.0);
    let script = r#"
import sys, polars as pl
q = pl.read_parquet(sys.argv[1] + "/queues.parquet")
assert q.height == 100003, q.height
assert q.schema == {"time_s": pl.Float64, "link": pl.String, "packets": pl.Int64,
    "bytes": pl.Int64, "probability": pl.Float64, "entered": pl.Int64, "dropped": pl.Int64,
    "marked": pl.Int64, "dequeued": pl.Int64, "dequeued_bytes": pl.Int64, "rate_bps": pl.Int64,
    "standing_packets": pl.Int64, "standing_s": pl.Float64, "lost": pl.Int64,
    "device_packets": pl.Int64, "device_bytes": pl.Int64}, q.schema
assert q["time_s"][9] == 0.1 and q["link"].n_unique() == 2
assert q["packets"].sum() == sum(i % 100 for i in range(100003))
e = pl.read_parquet(sys.argv[1] + "/exchanges.parquet")
assert e["response_time_s"].null_count() == 334 and abs(e["response_time_s"].mean() - 0.1) < 1e-12
assert e.schema["finished_s"] == pl.Float64 and e["outcome"].to_list()[:2] == ["censored", "finished"]
assert pl.scan_parquet(sys.argv[1] + "/exchanges.parquet").filter(pl.col("user") > 990).collect().height == 9
p = pl.read_parquet(sys.argv[1] + "/packet_counts.parquet")
assert p.height == 0 and p.columns == ["time_s", "link", "packets", "bytes"]
"#;
    let output = Command::new(&python).args(["-c", script]).arg(&folder.0).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
