//! Congestion control: how large the window may be. One file per algorithm; one line in the list
//! below makes its module, its name in a scenario and its place in [`Congestion`].
//!
//! The sender decides *when* the network says something, an algorithm decides *what follows*.

/// The two figures every algorithm sets, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// Congestion window: how much may be in the network; at least one segment.
    pub cwnd: u32,
    /// Below this the window grows by slow start; `u32::MAX` until the first congestion.
    pub ssthresh: u32,
}

/// An acknowledgement of new data.
#[derive(Clone, Copy, Debug)]
pub struct Acked {
    /// Bytes it acknowledges for the first time; a segment at most without byte counting.
    pub bytes: u32,
    /// Payload of a full segment.
    pub mss: u32,
    /// Whether what was lost before a timeout is still being sent again.
    pub after_timeout: bool,
    /// Whether congestion avoidance grows with every acknowledgement.
    pub smooth: bool,
}

/// What an algorithm may react to. What it leaves out does nothing.
pub trait Control: Copy + Default {
    /// New data were acknowledged while the window was the limit, outside fast recovery.
    #[inline]
    fn on_ack(&mut self, window: &mut Window, acked: Acked) {
        let _ = (window, acked);
    }
    /// Loss was inferred from duplicate acknowledgements: sets the window for the recovery and
    /// after it. `flight` bytes are outstanding.
    fn on_loss(&mut self, window: &mut Window, flight: u32, mss: u32) {
        let _ = (window, flight, mss);
    }
    /// The peer reports a congestion mark; at most once per window of data.
    fn on_mark(&mut self, window: &mut Window, flight: u32, mss: u32) {
        self.on_loss(window, flight, mss);
    }
    /// The retransmission timer ran out; `first` unless the same data had timed out before.
    fn on_timeout(&mut self, window: &mut Window, flight: u32, mss: u32, first: bool) {
        let _ = (window, flight, mss, first);
    }
    /// The sender begins again after a pause; the window has been reduced.
    fn on_restart(&mut self, window: &mut Window) {
        let _ = window;
    }
}

macro_rules! algorithms {
    ($($(#[doc = $doc:literal])+ $variant:ident = $name:literal in $module:ident;)+) => {
        $(pub mod $module;)+

        /// A congestion control, by name.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[cfg_attr(
            feature = "schema",
            derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema)
        )]
        pub enum Algorithm {
            $($(#[doc = $doc])+
            #[cfg_attr(feature = "schema", serde(rename = $name))]
            $variant,)+
        }

        impl Algorithm {
            /// The names of all algorithms, in the order of the list.
            pub const NAMES: &'static [&'static str] = &[$($name),+];
        }

        /// The state of a congestion control, dispatched by a `match`.
        #[derive(Clone, Copy, Debug)]
        pub enum Congestion {
            $($(#[doc = $doc])+
            $variant($module::State),)+
        }

        impl Congestion {
            /// The state at the start of a connection.
            #[must_use]
            pub fn new(algorithm: Algorithm) -> Self {
                match algorithm {
                    $(Algorithm::$variant => Self::$variant($module::State::default()),)+
                }
            }
            /// See [`Control::on_ack`].
            #[inline]
            pub fn on_ack(&mut self, window: &mut Window, acked: Acked) {
                match self { $(Self::$variant(c) => c.on_ack(window, acked),)+ }
            }
            /// See [`Control::on_loss`].
            pub fn on_loss(&mut self, window: &mut Window, flight: u32, mss: u32) {
                match self { $(Self::$variant(c) => c.on_loss(window, flight, mss),)+ }
            }
            /// See [`Control::on_mark`].
            pub fn on_mark(&mut self, window: &mut Window, flight: u32, mss: u32) {
                match self { $(Self::$variant(c) => c.on_mark(window, flight, mss),)+ }
            }
            /// See [`Control::on_timeout`].
            pub fn on_timeout(&mut self, window: &mut Window, flight: u32, mss: u32, first: bool) {
                match self { $(Self::$variant(c) => c.on_timeout(window, flight, mss, first),)+ }
            }
            /// See [`Control::on_restart`].
            pub fn on_restart(&mut self, window: &mut Window) {
                match self { $(Self::$variant(c) => c.on_restart(window),)+ }
            }
        }
    };
}

algorithms! {
    /// Reno: RFC 5681 with appropriate byte counting, RFC 3465.
    Reno = "reno" in reno;
}
