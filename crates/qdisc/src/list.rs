//! The list of disciplines: one line each makes its module, its place in [`Config`](crate::Config)
//! and its place in [`Qdisc`](crate::Qdisc).

/// Work on a discipline of whatever type, for [`AtEnqueue::visit`](crate::AtEnqueue::visit): what
/// makes several calls in a row finds out only once which discipline it is.
pub trait Visit<P: crate::Packet> {
    /// What the work gives.
    type Output;
    /// Does it.
    fn visit<D: crate::Discipline<P>>(self, discipline: &mut D) -> Self::Output;
}

/// An enum of disciplines that calls the same method on whichever it is.
macro_rules! dispatched {
    ($(#[$about:meta])+ $name:ident { $($(#[$doc:meta])+ $variant:ident in $module:ident;)+ }) => {
        $(#[$about])+
        #[derive(Clone, Debug)]
        pub enum $name<P: Packet> {
            $($(#[$doc])+
            $variant($module::Discipline<P>),)+
        }

        impl<P: Packet> $name<P> {
            /// Goes on with other parameters of the same discipline; `false` if it cannot.
            ///
            /// # Errors
            /// If the parameters are not allowed on such a link.
            pub fn change(&mut self, config: &Config, env: &Env) -> Result<bool, Invalid> {
                config.validate(env)?;
                match (self, config) {
                    $((Self::$variant(q), Config::$variant(params)) =>
                        $crate::Change::change(q, params, env),)+
                    _ => Ok(false),
                }
            }
        }

        impl<P: Packet> Discipline<P> for $name<P> {
            #[inline]
            fn enqueue(
                &mut self,
                now: sojourn_base::Time,
                packet: P,
                sink: &mut impl Sink<P>,
            ) -> Verdict {
                match self { $(Self::$variant(q) => q.enqueue(now, packet, sink),)+ }
            }
            #[inline]
            fn dequeue(
                &mut self,
                now: sojourn_base::Time,
                sink: &mut impl Sink<P>,
            ) -> Option<P> {
                match self { $(Self::$variant(q) => q.dequeue(now, sink),)+ }
            }
            #[inline]
            fn next_ready(&self, now: sojourn_base::Time) -> Option<sojourn_base::Time> {
                match self { $(Self::$variant(q) => q.next_ready(now),)+ }
            }
            #[inline]
            fn advance(&mut self, now: sojourn_base::Time) {
                match self { $(Self::$variant(q) => q.advance(now),)+ }
            }
            #[inline]
            fn peek(&self) -> Option<&P> {
                match self { $(Self::$variant(q) => q.peek(),)+ }
            }
            #[inline]
            fn packets(&self) -> u32 {
                match self { $(Self::$variant(q) => q.packets(),)+ }
            }
            #[inline]
            fn bytes(&self) -> u64 {
                match self { $(Self::$variant(q) => q.bytes(),)+ }
            }
            #[inline]
            fn counters(&self) -> &Counters {
                match self { $(Self::$variant(q) => q.counters(),)+ }
            }
            fn probability(&self) -> f64 {
                match self { $(Self::$variant(q) => q.probability(),)+ }
            }
            fn each(&self, tell: &mut dyn FnMut(&P)) {
                match self { $(Self::$variant(q) => q.each(tell),)+ }
            }
            fn class_of(&self, packet: &P) -> usize {
                match self { $(Self::$variant(q) => q.class_of(packet),)+ }
            }
            fn classes(&self, tell: &mut dyn FnMut(&Counters)) {
                match self { $(Self::$variant(q) => q.classes(tell),)+ }
            }
        }
    };
}

/// The modules of all disciplines, their [`Config`](crate::Config), and two enums of them: all,
/// and those that decide `at enqueue`. These are strict FIFOs that drop and mark only there.
macro_rules! disciplines {
    ($(
        $(#[doc = $doc:literal])+
        $variant:ident = $name:literal in $module:ident $(, at $enqueue:ident)?;
    )+) => {
        $(pub mod $module;)+

        sojourn_base::choices! {
            /// Which discipline, and its parameters. In a scenario: its name alone, or a table with
            /// its name as `kind` and the parameters that differ from their defaults.
            pub enum Config: "QueueDiscipline",
                "A queue discipline: its name, or a table with `kind` and parameters."
            {
                $($(#[doc = $doc])+ $variant($module::Params) = $name in $module;)+
            }
        }

        impl Config {
            /// Whether the discipline can be built on a link like `env`.
            pub fn validate(&self, env: &Env) -> Result<(), Invalid> {
                env.validate()?;
                match self {
                    $(Self::$variant(params) => Parameters::validate(params, env),)+
                }
            }

            /// Its classes, those inside classes included; none if it has none.
            #[must_use]
            pub fn classes(&self) -> alloc::vec::Vec<ClassInfo> {
                match self {
                    $(Self::$variant(params) => Parameters::classes(params),)+
                }
            }

            /// Whether decisions are made outside, here or in a class.
            #[must_use]
            pub fn is_external(&self) -> bool {
                matches!(self, Self::External(_))
                    || match self {
                        $(Self::$variant(params) => Parameters::inner(params),)+
                    }
                    .into_iter()
                    .any(Self::is_external)
            }

            /// Whether packets may stand and none be ready.
            #[must_use]
            pub fn holds_back(&self) -> bool {
                match self {
                    $(Self::$variant(params) => Parameters::holds_back(params),)+
                }
            }

            /// Whether it asks packets for their source and destination.
            #[must_use]
            pub fn looks_at_machines(&self) -> bool {
                match self {
                    $(Self::$variant(params) => Parameters::looks_at_machines(params),)+
                }
            }

            /// How many disciplines lie in each other here, this one included.
            #[must_use]
            pub fn depth(&self) -> u32 {
                match self {
                    $(Self::$variant(params) => Parameters::depth(params),)+
                }
            }
        }

        dispatched! {
            /// Any of the disciplines, dispatched by a `match`.
            Qdisc { $($(#[doc = $doc])+ $variant in $module;)+ }
        }

        impl<P: Packet> Qdisc<P> {
            /// Builds an empty queue. `coin` is its own random stream.
            ///
            /// # Errors
            /// If the parameters are not allowed on such a link.
            pub fn new(
                config: &Config,
                env: &Env,
                coin: sojourn_base::Stream,
            ) -> Result<Self, Invalid> {
                config.validate(env)?;
                Ok(match config {
                    $(Config::$variant(params) =>
                        Self::$variant($module::Discipline::new(params, env, coin)?),)+
                })
            }
        }

        disciplines!(@at_enqueue $($([$variant $module $enqueue])?)+);
    };
    (@at_enqueue $([$variant:ident $module:ident $enqueue:ident])+) => {
        dispatched! {
            /// Any discipline that decides at enqueue: a strict FIFO, so that departures may be
            /// worked out later than they happen (in order of time).
            AtEnqueue {
                $(#[doc = concat!("See [`Qdisc::", stringify!($variant), "`].")]
                $variant in $module;)+
            }
        }

        impl Config {
            /// Whether it is one of [`AtEnqueue`].
            #[must_use]
            pub fn decides_at_enqueue(&self) -> bool {
                matches!(self, $(Self::$variant(_))|+)
            }
        }

        impl<P: Packet> AtEnqueue<P> {
            /// Builds an empty queue; none if the discipline decides elsewhere as well. `coin` is
            /// its own random stream.
            ///
            /// # Errors
            /// If the parameters are not allowed on such a link.
            pub fn new(
                config: &Config,
                env: &Env,
                coin: sojourn_base::Stream,
            ) -> Result<Option<Self>, Invalid> {
                config.validate(env)?;
                Ok(Some(match config {
                    $(Config::$variant(params) =>
                        Self::$variant($module::Discipline::new(params, env, coin)?),)+
                    _ => return Ok(None),
                }))
            }

            /// Lets `visitor` work on the discipline itself.
            #[inline(always)]
            pub fn visit<V: $crate::Visit<P>>(&mut self, visitor: V) -> V::Output {
                match self {
                    $(Self::$variant(q) => visitor.visit(q),)+
                }
            }
        }
    };
}
