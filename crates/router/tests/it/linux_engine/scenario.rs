//! Scenarios on one bottleneck, as the command takes them.

/// A scenario in the making: values with units as they are, all else as TOML.
pub(super) struct Scenario {
    fields: String,
    groups: String,
}

impl Scenario {
    pub(super) fn new(duration: &str, rate: &str, delay: &str, qdisc: &str) -> Self {
        let fields = format!(
            "duration = \"{duration}\"\nbottleneck.rate = \"{rate}\"\n\
             bottleneck.delay = \"{delay}\"\nbottleneck.qdisc = {qdisc}\n"
        );
        Self { fields, groups: String::new() }
    }

    /// Hosts of today, with this congestion control.
    pub(super) fn modern(self, congestion: &str) -> Self {
        self.with(&format!("tcp.profile = \"modern\"\ntcp.congestion = \"{congestion}\""))
    }

    /// What comes back meets no queue.
    pub(super) fn ideal_way_back(self) -> Self {
        self.with("bottleneck.reverse = \"ideal\"")
    }

    /// Any field, by its dotted path: `warmup = "2s"`.
    pub(super) fn with(mut self, field: &str) -> Self {
        self.fields += field;
        self.fields += "\n";
        self
    }

    /// A group of traffic with these fields, in one line or several: `flows = 2, rtt = "40ms"`.
    pub(super) fn group(mut self, kind: &str, fields: &str) -> Self {
        let fields = fields.replace('\n', " ");
        self.groups += &format!("{{ kind = \"{kind}\", {fields} }}, ");
        self
    }

    pub(super) fn text(&self) -> String {
        format!("{}traffic = [{}]\n", self.fields, self.groups)
    }
}
