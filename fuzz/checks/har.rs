//! Any bytes as a page that a browser has recorded: refused by one error, or objects each of which
//! is named by one before it, and which lie on servers in the order in which these are asked first.

use super::file::network;
use sojourn_traffic::Source;

const SCENARIO: &str = "duration = \"1s\"\n[bottleneck]\nrate = \"1mbit\"\n[[traffic]]\n\
                        kind = \"web\"\nusers = 1\nmodel = \"httparchive\"\nhar = \"fuzzed\"\n";

pub(crate) fn check(bytes: &[u8]) {
    let Some(network) = network(SCENARIO, bytes) else { return };
    let Source::Web(web) = &network.groups[0].source else { panic!("no web") };
    let objects = &web.har.as_ref().unwrap().objects;
    assert!(!objects.is_empty());
    let mut servers = 0;
    for (at, object) in objects.iter().enumerate() {
        assert!(object.request > 0 && object.response > 0, "{object:?}");
        assert!(at == 0 || (object.named_by as usize) < at, "{at}: {object:?}");
        assert!(object.server <= servers, "{at}: {object:?}, {servers} before");
        servers = servers.max(object.server + 1);
    }
}
