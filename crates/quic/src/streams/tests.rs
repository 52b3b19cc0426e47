//! Whose turn it is, what flow control holds back, and when a stream is over.

use super::*;
use crate::Spec;
use alloc::vec::Vec;
use sojourn_base::Size;

fn params(all: u64, each: u64) -> Params {
    let (max_data, max_stream_data) = (Some(Size(all)), Some(Size(each)));
    Spec::resolve(&[&Spec { max_data, max_stream_data, ..Spec::default() }]).unwrap()
}

fn taken(streams: &mut Streams, room: u32) -> Vec<(u32, u64, u16)> {
    core::iter::from_fn(|| streams.take(room)).map(|f| (f.id, f.offset, f.len)).collect()
}

#[test]
fn streams_take_turns() {
    let p = params(1_000_000, 1_000_000);
    let mut streams = Streams::new(&p, false);
    let [a, b] = [streams.open(&p), streams.open(&p)];
    assert_eq!([a, b], [0, 4]);
    streams.write(&p, a, 2000);
    streams.write(&p, b, 1000);
    let frames = taken(&mut streams, 1006);
    // Type, ID, length of two bytes; the offset when it is not zero takes two more.
    assert_eq!(frames[..3], [(0, 0, 1002), (4, 0, 1000), (0, 1002, 998)]);
}

#[test]
fn urgent_streams_come_first_and_those_that_are_not_incremental_in_one_piece() {
    let p = params(1_000_000, 1_000_000);
    let mut streams = Streams::new(&p, false);
    let ids: Vec<u32> = (0..4).map(|_| streams.open(&p)).collect();
    // Two pictures, then two scripts, the later one written first.
    for (at, urgency, incremental) in [(0, 5, true), (1, 5, true), (3, 3, false), (2, 3, false)] {
        streams.prioritise(&p, ids[at], urgency, incremental);
        streams.write(&p, ids[at], 3000);
    }
    let order = |streams: &mut Streams| -> Vec<u32> {
        taken(streams, 1100).iter().map(|frame| frame.0 / 4).collect()
    };
    let first = streams.take(1100).unwrap();
    assert_eq!(first.id, ids[2]);
    assert_eq!(order(&mut streams), [2, 2, 3, 3, 3, 0, 1, 0, 1, 0, 1]);
    // What is lost comes before all that is less urgent, in the place of its stream.
    streams.write(&p, ids[0], 1000);
    streams.write(&p, ids[3], 1000);
    streams.lose(&first);
    assert_eq!(order(&mut streams), [2, 3, 0]);
}

#[test]
fn whatever_the_priorities_every_byte_is_sent_and_every_stream_ends() {
    let p = params(1_000_000, 60_000);
    let mut state = 1_u64;
    let mut draw = |most: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 33) % most
    };
    for _ in 0..50 {
        let mut streams = Streams::new(&p, false);
        let (mut wanted, mut flying) = (0, Vec::new());
        for _ in 0..1 + draw(20) {
            let (id, bytes) = (streams.open(&p), 1 + draw(50_000));
            streams.prioritise(&p, id, draw(8) as u8, draw(2) == 0);
            streams.write(&p, id, bytes);
            streams.finish(&p, id);
            wanted += bytes;
        }
        while streams.can_send() || !flying.is_empty() {
            if let Some(frame) = streams.take(100 + draw(1100) as u32) {
                flying.push(frame);
            }
            if !flying.is_empty() && draw(2) == 0 {
                let frame = flying.swap_remove(draw(flying.len() as u64) as usize);
                if draw(5) == 0 {
                    streams.lose(&frame);
                } else {
                    streams.acknowledged(&frame);
                    let end = StreamFrame { id: frame.id, len: 0, fin: true, offset: 0 };
                    streams.come(&p, &end);
                }
            }
        }
        assert_eq!(streams.acked, wanted);
        assert!(streams.all_over());
    }
}

#[test]
fn flow_control_of_a_stream_leaves_the_others_their_turn() {
    let p = params(1_000_000, 16_000);
    let mut streams = Streams::new(&p, false);
    let [a, b] = [streams.open(&p), streams.open(&p)];
    streams.write(&p, a, 20_000);
    streams.write(&p, b, 4000);
    let sum = |frames: &[(u32, u64, u16)], id| -> u32 {
        frames.iter().filter(|f| f.0 == id).map(|f| u32::from(f.2)).sum()
    };
    let frames = taken(&mut streams, 1200);
    assert_eq!((sum(&frames, a), sum(&frames, b)), (16_000, 4000));
    assert!(!streams.can_send());
    streams.on_max_stream_data(a, 18_000);
    assert_eq!(sum(&taken(&mut streams, 1200), a), 2000);
}

#[test]
fn flow_control_of_the_connection_holds_all_new_data_and_no_old() {
    let p = params(16_000, 1_000_000);
    let mut streams = Streams::new(&p, false);
    let a = streams.open(&p);
    streams.write(&p, a, 20_000);
    let frames = taken(&mut streams, 1200);
    assert_eq!(frames.iter().map(|f| u32::from(f.2)).sum::<u32>(), 16_000);
    streams.lose(&StreamFrame { id: a, len: 100, fin: false, offset: 300 });
    assert_eq!(taken(&mut streams, 1200), [(a, 300, 100)]);
    streams.on_max_data(20_000);
    assert_eq!(taken(&mut streams, 10_000), [(a, 16_000, 4000)]);
}

#[test]
fn a_receiver_grants_more_at_half_a_window() {
    let p = params(100_000, 16_000);
    let mut streams = Streams::new(&p, true);
    let frame = |offset, len| StreamFrame { id: 0, len, fin: false, offset };
    assert_eq!(streams.come(&p, &frame(0, 8000)).bytes, 8000);
    assert_eq!(streams.take_grant(), None);
    assert_eq!(streams.come(&p, &frame(8001, 99)).bytes, 0);
    assert_eq!(streams.come(&p, &frame(8000, 1)).bytes, 100);
    assert_eq!(streams.take_grant(), Some((0, 8100 + 16_000)));
    assert!(!streams.grant_all);
}

#[test]
fn a_stream_is_over_when_both_ends_have_come() {
    let p = params(100_000, 16_000);
    let mut streams = Streams::new(&p, false);
    let a = streams.open(&p);
    streams.write(&p, a, 100);
    streams.finish(&p, a);
    let frame = streams.take(1200).unwrap();
    assert!(frame.fin);
    let end = streams.come(&p, &StreamFrame { id: a, len: 0, fin: true, offset: 0 });
    assert_eq!(end, Brought { bytes: 0, first: false, end: true });
    assert!(!streams.all_over());
    streams.lose(&frame);
    let again = streams.take(1200).unwrap();
    assert_eq!(again, frame);
    streams.acknowledged(&again);
    assert!(streams.all_over());
    assert_eq!(streams.acked, 100);
}

#[test]
fn an_end_without_bytes_is_a_frame_of_its_own() {
    let p = params(100_000, 16_000);
    let mut streams = Streams::new(&p, true);
    streams.come(&p, &StreamFrame { id: 8, len: 10, fin: true, offset: 0 });
    streams.finish(&p, 8);
    let frame = streams.take(1200).unwrap();
    assert_eq!(frame, StreamFrame { id: 8, len: 0, fin: true, offset: 0 });
    streams.acknowledged(&frame);
    // The streams below it are open.
    assert!(!streams.all_over());
}

#[test]
fn memory_of_streams_that_are_over_serves_others() {
    let p = params(100_000, 16_000);
    let mut streams = Streams::new(&p, false);
    // Of three streams the first lacks something for a while, the second loses something.
    for number in 0..3 {
        let a = streams.open(&p);
        let come = |offset, fin| StreamFrame { id: a, len: 100, fin, offset };
        streams.write(&p, a, 100);
        streams.finish(&p, a);
        let mut frame = streams.take(1200).unwrap();
        if number == 1 {
            streams.lose(&frame);
            frame = streams.take(1200).unwrap();
        }
        for offset in if number == 0 { [100, 0] } else { [0, 100] } {
            streams.come(&p, &come(offset, offset == 100));
        }
        // The other's last is there; what it needs no more it leaves.
        let spare = streams.tables[0].spare.len();
        streams.acknowledged(&frame);
        assert!(streams.all_over());
        assert_eq!((spare, streams.tables[0].spare.len()), [(0, 1), (0, 1), (0, 1)][number]);
    }
}
