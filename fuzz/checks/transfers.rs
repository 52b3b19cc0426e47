//! Any text as a file of transfers: refused with a line's number, or transfers in order between
//! nodes that there are, which read back when they are written plainly.

use sojourn_traffic::Trace;

pub(crate) fn check(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let trace = match Trace::parse(text) {
        Ok(trace) => trace,
        Err(error) => {
            assert!((1..=text.lines().count()).contains(&error.line), "{error}");
            return;
        }
    };
    assert!(trace.entries.is_sorted_by_key(|entry| entry.start));
    let mut written = String::new();
    for entry in &trace.entries {
        let name = |node: u32| &trace.nodes[node as usize];
        assert!(entry.bytes > 0 && entry.source != entry.destination, "{entry:?}");
        let (from, to) = (name(entry.source), name(entry.destination));
        written += &format!("{}ns,{from},{to},{}\n", entry.start.0, entry.bytes);
    }
    let again = Trace::parse(&written).unwrap_or_else(|error| panic!("{error}\n{written}"));
    let plain = |trace: &Trace| {
        let name = |node: u32| trace.nodes[node as usize].clone();
        let entries = trace.entries.iter();
        entries.map(|e| (e.start, name(e.source), name(e.destination), e.bytes)).collect::<Vec<_>>()
    };
    assert_eq!(plain(&again), plain(&trace));
}
