//! Which links are captured.

use crate::host::read;
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
