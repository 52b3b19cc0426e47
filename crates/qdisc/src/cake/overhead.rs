//! How many bytes a packet takes on the line, of which the discipline only sees the IP packet.

/// What the line cuts packets into.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "schema", schemars(rename = "CakeFraming"))]
pub enum Framing {
    /// Nothing.
    #[default]
    None,
    /// Cells of 53 bytes, each with 48 bytes of payload; the last one is filled up.
    Atm,
    /// 64 bytes become 65.
    Ptm,
}

/// A kind of line, by the names that `tc` has: bytes added, shortest packet, framing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "schema", schemars(rename = "CakeLinkLayer"))]
pub enum LinkLayer {
    /// Nothing is added.
    #[default]
    Raw,
    /// More than any line adds: 48 bytes, in ATM cells.
    Conservative,
    /// Header, check sum, preamble and gap of an Ethernet frame: 38 bytes, at least 84.
    Ethernet,
    /// Header and check sum of an Ethernet frame, as cable modems count: 18 bytes, at least 64.
    Docsis,
    /// ADSL: IP over ATM, VC multiplexing. 8 bytes, in ATM cells.
    IpoaVcmux,
    /// ADSL: IP over ATM, LLC/SNAP. 16 bytes, in ATM cells.
    IpoaLlcsnap,
    /// ADSL: bridged Ethernet, VC multiplexing. 24 bytes, in ATM cells.
    BridgedVcmux,
    /// ADSL: bridged Ethernet, LLC/SNAP. 32 bytes, in ATM cells.
    BridgedLlcsnap,
    /// ADSL: PPP over ATM, VC multiplexing. 10 bytes, in ATM cells.
    PppoaVcmux,
    /// ADSL: PPP over ATM, LLC. 14 bytes, in ATM cells.
    PppoaLlc,
    /// ADSL: PPP over Ethernet, VC multiplexing. 32 bytes, in ATM cells.
    PppoeVcmux,
    /// ADSL: PPP over Ethernet, LLC/SNAP. 40 bytes, in ATM cells.
    PppoeLlcsnap,
    /// VDSL2: PPP over Ethernet. 30 bytes, PTM.
    PppoePtm,
    /// VDSL2: bridged Ethernet. 22 bytes, PTM.
    BridgedPtm,
}

impl LinkLayer {
    /// Bytes added, shortest packet, framing.
    pub(super) const fn adds(self) -> (i32, u32, Framing) {
        match self {
            Self::Raw => (0, 0, Framing::None),
            Self::Conservative => (48, 0, Framing::Atm),
            Self::Ethernet => (38, 84, Framing::None),
            Self::Docsis => (18, 64, Framing::None),
            Self::IpoaVcmux => (8, 0, Framing::Atm),
            Self::IpoaLlcsnap => (16, 0, Framing::Atm),
            Self::BridgedVcmux => (24, 0, Framing::Atm),
            Self::BridgedLlcsnap => (32, 0, Framing::Atm),
            Self::PppoaVcmux => (10, 0, Framing::Atm),
            Self::PppoaLlc => (14, 0, Framing::Atm),
            Self::PppoeVcmux => (32, 0, Framing::Atm),
            Self::PppoeLlcsnap => (40, 0, Framing::Atm),
            Self::PppoePtm => (30, 0, Framing::Ptm),
            Self::BridgedPtm => (22, 0, Framing::Ptm),
        }
    }
}

/// From IP bytes to bytes on the line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LineLength {
    pub overhead: i32,
    pub mpu: u32,
    pub framing: Framing,
}

impl LineLength {
    /// What an IP packet of `bytes` takes.
    #[inline]
    pub(super) fn of(&self, bytes: u32) -> u32 {
        let whole = bytes.saturating_add_signed(self.overhead).max(self.mpu);
        match self.framing {
            Framing::None => whole,
            Framing::Atm => whole.div_ceil(48) * 53,
            Framing::Ptm => whole + whole.div_ceil(64),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn length(layer: LinkLayer, bytes: u32) -> u32 {
        let (overhead, mpu, framing) = layer.adds();
        LineLength { overhead, mpu, framing }.of(bytes)
    }

    #[test]
    fn full_packets_and_acks_take_what_their_line_needs() {
        // An ACK of 40 bytes over PPPoE and LLC/SNAP is 80 bytes: two cells.
        assert_eq!(length(LinkLayer::PppoeLlcsnap, 40), 106);
        // 1500 + 40 bytes are 32.08 cells' payload.
        assert_eq!(length(LinkLayer::PppoeLlcsnap, 1500), 33 * 53);
        // Exactly full cells: none is added.
        assert_eq!(length(LinkLayer::IpoaVcmux, 40), 53);
        assert_eq!(length(LinkLayer::IpoaVcmux, 41), 106);
        // A gigabit Ethernet sends a full frame in 1538 byte times, a short one in 84.
        assert_eq!(length(LinkLayer::Ethernet, 1500), 1538);
        assert_eq!(length(LinkLayer::Ethernet, 40), 84);
        assert_eq!(length(LinkLayer::Docsis, 1500), 1518);
        assert_eq!(length(LinkLayer::Docsis, 40), 64);
        // 1530 bytes are 23.9 pieces of 64.
        assert_eq!(length(LinkLayer::PppoePtm, 1500), 1554);
        assert_eq!(length(LinkLayer::Raw, 1500), 1500);
    }

    #[test]
    fn overhead_below_zero_takes_bytes_off_and_never_more_than_there_are() {
        let line = LineLength { overhead: -64, mpu: 0, framing: Framing::None };
        assert_eq!([line.of(100), line.of(40)], [36, 0]);
    }
}
