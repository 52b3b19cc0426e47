//! Which links are captured, and what is counted of them.

use crate::host::read;
use sojourn_base::Time;
use sojourn_link::Probes;
use sojourn_records::Recorder;

const LINKS: &str = "[[links]]\nname = \"up\"\nfrom = \"a\"\nto = \"b\"\nrate = \"1mbit\"\n\
    [[links]]\nname = \"down\"\nfrom = \"b\"\nto = \"a\"\nrate = \"2mbit\"\n[[traffic]]\n\
    kind = \"bulk\"\nfrom = \"a\"\nto = \"b\"\n";

#[test]
fn captures_are_of_the_links_that_were_named() {
    let folder = std::env::temp_dir().join(format!("sojourn-probes-{}", std::process::id()));
    for (pcap, of_links) in [("", [0, 0]), ("[probes]\npcap = [\"down\"]\n", [0, 1])] {
        let recorder = Recorder::to_directory(&folder).unwrap();
        let mut probes = Probes::open(&read(&format!("{LINKS}{pcap}")), recorder);
        assert_eq!(probes.capturing(), of_links != [0, 0]);
        assert_eq!([0, 1].map(|link| probes.captures(link).0.count()), of_links);
    }
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn what_comes_last_is_counted_when_the_run_is_over() {
    let network = read(&format!("{LINKS}[probes]\npacket_counts = \"10ms\"\n"));
    let mut probes = Probes::open(&network, Recorder::in_memory());
    for (at, link, bytes) in [(1, 0, 100), (12, 1, 40), (13, 0, 60), (14, 0, 30)] {
        probes.arrived(Time::from_millis(at), link, bytes);
    }
    // Time, link, packets and bytes of a span that is over.
    assert_eq!(probes.recorder.take("packet_counts").unwrap(), [0.0, 0.0, 1.0, 100.0]);
    probes.finish();
    let rest = probes.recorder.take("packet_counts").unwrap();
    assert_eq!(rest, [0.01, 0.01, 0.0, 1.0, 2.0, 1.0, 90.0, 40.0]);
}
