//! The list of algorithms: one line each makes its module, its place in `Algorithm` (settings), in
//! `Tuning` (settings in integers) and in `Congestion` (state). A state of more than twelve bytes
//! is `boxed`, so that endpoints whose algorithm needs less stay small.

/// A state, where it lies in `Congestion`.
macro_rules! held {
    ($module:ident) => { $module::State };
    ($module:ident boxed) => { alloc::boxed::Box<$module::State> };
}
pub(super) use held;

/// A state for where it lies.
macro_rules! hold {
    ($state:expr) => {
        $state
    };
    ($state:expr, boxed) => {
        alloc::boxed::Box::new($state)
    };
}
pub(super) use hold;

macro_rules! algorithms {
    (($dollar:tt)
    $($(#[doc = $doc:literal])+ $variant:ident = $name:literal in $module:ident $($boxed:ident)?;)+)
    => {
        $(pub mod $module;)+

        sojourn_base::choices! {
            /// A congestion control and its settings. In a scenario: its name alone, or a table
            /// with its name as `kind` and the settings that differ from their defaults.
            pub enum Algorithm: "CongestionControl",
                "A congestion control: its name, or a table with `kind` and settings."
            {
                $($(#[doc = $doc])+
                $variant(<$module::State as Control>::Settings) = $name in $module;)+
            }
        }

        impl Algorithm {
            /// Gives settings that are left to the profile their values.
            pub fn settle(&mut self, profile: Profile) {
                match self {
                    $(Self::$variant(s) => <$module::State as Control>::settle(s, profile),)+
                }
            }

            /// Checks the settings and turns them into integers. What is left to the profile is as
            /// in the algorithm's source.
            pub fn tune(&self) -> Result<Tuning, Invalid> {
                Ok(match self {
                    $(Self::$variant(s) =>
                        Tuning::$variant(<$module::State as Control>::tune(s)?),)+
                })
            }
        }

        /// A congestion control with its settings checked and turned into integers; all
        /// connections of a group share it. Made by [`Algorithm::tune`].
        #[derive(Clone, Debug, PartialEq)]
        pub enum Tuning {
            $($(#[doc = $doc])+
            $variant(<$module::State as Control>::Tuning),)+
        }

        impl Tuning {
            /// The algorithm's name.
            #[must_use]
            pub fn name(&self) -> &'static str {
                match self { $(Self::$variant(_) => $name,)+ }
            }
            /// See [`Control::samples`].
            #[inline]
            #[must_use]
            pub fn samples(&self) -> bool {
                match self { $(Self::$variant(t) => <$module::State as Control>::samples(t),)+ }
            }
            /// See [`Control::RULES_RECOVERY`].
            #[inline]
            #[must_use]
            pub fn rules_recovery(&self) -> bool {
                match self {
                    $(Self::$variant(_) => <$module::State as Control>::RULES_RECOVERY,)+
                }
            }
            /// See [`Control::PACED`].
            #[inline]
            #[must_use]
            pub fn paced(&self) -> bool {
                match self { $(Self::$variant(_) => <$module::State as Control>::PACED,)+ }
            }
            /// See [`Control::marks`].
            #[must_use]
            pub fn marks(&self) -> Marks {
                match self { $(Self::$variant(t) => <$module::State as Control>::marks(t),)+ }
            }
        }

        /// The state of a congestion control, dispatched by a `match`. Every call is given the
        /// [`Tuning`] that it was made with.
        #[derive(Clone, Debug)]
        pub enum Congestion {
            $($(#[doc = $doc])+
            $variant(list::held!($module $($boxed)?)),)+
        }

        /// Calls a method of the algorithm that state and tuning belong to.
        macro_rules! call {
            ($dollar state:expr, $dollar tuning:expr,
            $dollar method:ident($dollar($dollar argument:expr),*)) => {
                match ($dollar state, $dollar tuning) {
                    $((Congestion::$variant(c), Tuning::$variant(t)) =>
                        c.$dollar method(t, $dollar($dollar argument),*),)+
                    _ => mixed(),
                }
            };
        }

        impl Congestion {
            /// The state at the start of a connection.
            #[must_use]
            pub fn new(tuning: &Tuning) -> Self {
                match tuning {
                    $(Tuning::$variant(t) => {
                        let state = <$module::State as Control>::new(t);
                        Self::$variant(list::hold!(state $(, $boxed)?))
                    })+
                }
            }
            /// See [`Control::on_ack`].
            #[inline]
            pub fn on_ack(&mut self, tuning: &Tuning, window: &mut Window, acked: Acked) {
                call!(self, tuning, on_ack(window, acked))
            }
            /// See [`Control::on_loss`].
            pub fn on_loss(&mut self, tuning: &Tuning, window: &mut Window, at: Congested) {
                call!(self, tuning, on_loss(window, at))
            }
            /// See [`Control::answers_marks`].
            #[must_use]
            pub fn answers_marks(&self, now: Time) -> bool {
                match self { $(Self::$variant(c) => c.answers_marks(now),)+ }
            }
            /// See [`Control::on_mark`].
            pub fn on_mark(&mut self, tuning: &Tuning, window: &mut Window, at: Congested) {
                call!(self, tuning, on_mark(window, at))
            }
            /// See [`Control::on_timeout`].
            pub fn on_timeout(
                &mut self,
                tuning: &Tuning,
                window: &mut Window,
                at: Congested,
                first: bool,
            ) {
                call!(self, tuning, on_timeout(window, at, first))
            }
            /// See [`Control::on_undo`].
            pub fn on_undo(&mut self, tuning: &Tuning, window: &mut Window) {
                call!(self, tuning, on_undo(window))
            }
            /// See [`Control::on_recovered`].
            pub fn on_recovered(&mut self, tuning: &Tuning, window: &mut Window, mss: u32) {
                call!(self, tuning, on_recovered(window, mss))
            }
            /// See [`Control::on_restart`].
            pub fn on_restart(&mut self, tuning: &Tuning, window: &mut Window, at: Congested) {
                call!(self, tuning, on_restart(window, at))
            }
            /// See [`Control::on_tx_start`].
            #[inline(never)]
            pub fn on_tx_start(&mut self, tuning: &Tuning, window: &mut Window, now: Time) {
                call!(self, tuning, on_tx_start(window, now))
            }
            /// See [`Control::on_lost`].
            #[inline(never)]
            pub fn on_lost(&mut self, tuning: &Tuning, window: &Window, lost: &Lost) {
                call!(self, tuning, on_lost(window, lost))
            }
            /// See [`Control::on_sample`].
            #[inline]
            pub fn on_sample(&mut self, tuning: &Tuning, window: &mut Window, sample: &Sample) {
                call!(self, tuning, on_sample(window, sample))
            }
            /// See [`Control::pace`].
            #[inline]
            #[must_use]
            pub fn pace(&self, tuning: &Tuning, window: &Window, srtt: Time) -> u64 {
                call!(self, tuning, pace(window, srtt))
            }
            /// See [`Control::is_app_limited`].
            #[inline]
            #[must_use]
            pub fn is_app_limited(&self) -> bool {
                match self { $(Self::$variant(c) => c.is_app_limited(),)+ }
            }
            /// See [`Control::mode`].
            #[must_use]
            pub fn mode(&self) -> Option<&'static str> {
                match self { $(Self::$variant(c) => c.mode(),)+ }
            }
        }
    };
}
pub(super) use algorithms;
