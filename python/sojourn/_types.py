"""Scenarios as typed dictionaries, so that an editor completes and checks them.

Made from the schema by ``python -m sojourn._typegen``: change that or the schema, not this file.
"""

from __future__ import annotations

from typing import Literal, Required, TypeAlias, TypedDict


Time: TypeAlias = "str"
"""A time, for example "10ms"."""


class Tcp(TypedDict, total=False):
    """TCP settings. What is left out comes from the profile."""

    profile: Profile
    """The set of defaults: "modern" (the default), "classic" or "freebsd4"."""
    congestion: CongestionControl
    """Congestion control: its name, or a table with `kind` and its settings (default
    "reno")."""
    mss: int
    """The MSS option in bytes: 88 to 65495 (default 1460). With timestamps a segment
    carries 12 bytes less."""
    receive_window: Size
    """Receive window: at least two segments, at most 1073725440 bytes (classic "16KiB",
    modern "4MiB"). Above 65535 bytes the window scale option is used."""
    initial_window: int
    """Initial congestion window in segments: 1 to 1000 (classic 2, modern 10)."""
    max_window: int
    """Most segments that the congestion window may grow to, as `window_` in ns-2: at least
    1 (default unlimited)."""
    sack: bool
    """Selective acknowledgements; without them recovery is NewReno (default true)."""
    timestamps: bool
    """Timestamps in every segment (classic false, modern true)."""
    ecn: bool
    """Explicit congestion notification (default false; true where the congestion control
    needs it)."""
    accecn: bool
    """Count marked packets in three bits of every segment, AccECN, RFC 9768, instead of
    echoing that there was one. Turns `ecn` on; needs `sack` (default false; true where the
    congestion control needs it)."""
    accecn_option: bool
    """With `accecn`: count marked bytes too, in an option on bare acknowledgements, RFC
    9768 section 3.2.3, so that the sender need not guess when acknowledgements are lost or
    cover many segments; eight bytes each (default true)."""
    ect_control: bool
    """Mark retransmissions and bare acknowledgements as ECN-capable too, as hosts in data
    centres do whose queues drop what is not, instead of data only, RFC 3168 (default false;
    retransmissions: true where the congestion control wants it)."""
    limited_transmit: bool
    """New data on the first two duplicate acknowledgements (default true)."""
    byte_counting: bool
    """Grow the window by bytes acknowledged; if false, by one segment an acknowledgement at
    most, so that delayed acknowledgements slow the growth, as in older hosts (default
    true)."""
    smooth_growth: bool
    """In congestion avoidance grow with every acknowledgement by MSS times its share of the
    window, RFC 5681 equation 3, as ns-2; if false, by a whole segment once a window is
    acknowledged, RFC 3465 section 2.1, as Linux (default false)."""
    simple_pipe: bool
    """In recovery with SACK take a segment for under way until an acknowledgement comes in
    its place, be it lost or not, as ns-2 (Fall and Floyd, 1996); if false, what is lost has
    left the network, RFC 6675 section 4, as Linux (default false)."""
    early_rescue: bool
    """In recovery with SACK and without `rack`: send the last segment that is outstanding
    again (`NextSeg` rule 4 of RFC 6675) as soon as there is room and nothing else to send;
    if false, not before something beyond the first retransmission is acknowledged, RFC 6675
    section 5 step 4.3 (default true)."""
    lost_syn_threshold: bool
    """Take a lost SYN for congestion: the slow-start threshold becomes half the initial
    window, as ns-2, where it is a timeout like any other; if false, slow start merely
    begins with one segment, RFC 5681 section 3.1 (default false)."""
    rack: bool
    """Find losses by time: what was sent a reordering window before something that has
    arrived is lost, RFC 8985 section 6. If false, what has three segments above it is, RFC
    6675. Needs `sack` (classic false, modern true)."""
    tlp: bool
    """Send a probe when nothing was acknowledged for two round trips, RFC 8985 section 7.
    Needs `sack` (classic false, modern true)."""
    dsack: bool
    """Report data that came twice to the sender, RFC 2883. Needs `sack` (classic false,
    modern true)."""
    prr: bool
    """Bring the flight down over the round trip of a recovery, RFC 9937, instead of falling
    silent until it has come down. Needs `sack` (classic false, modern true)."""
    prr_marks: bool
    """Bring the flight down over the round trip after a mark too, with no growth meanwhile,
    as Linux (`TCP_CA_CWR`); if false, the window is reduced at once and grows on.
    Congestion controls that set the window from measurements, and Prague, do without. Needs
    `sack` (classic false, modern true)."""
    frto: bool
    """Find out by new data whether a timeout was spurious, RFC 5682. Needs `sack` (classic
    false, modern true)."""
    undo: bool
    """Take back the reduction of a spurious recovery or timeout, as timestamps (RFC 3522)
    or duplicates (RFC 3708) show. Needs `sack` (classic false, modern true)."""
    hystart: bool
    """Leave slow start when round trips grow: HyStart++, RFC 9406. Congestion controls that
    set the window from measurements do without. Needs `sack` (classic false, modern true)."""
    hystart_css: bool
    """With `hystart`: grow by a quarter for five round trips first, conservative slow start
    (RFC 9406 section 4.2); if false, Linux's HyStart instead, which ends slow start at
    once, also by long trains of acknowledgements, from 16 segments on (default true)."""
    pacing: bool
    """Spread what the window allows over the round trip, as Linux under the queue
    discipline fq. Congestion controls with a pace of their own always do. Needs `sack`
    (default false)."""
    autotune: bool
    """Let the receive window begin with 64 KiB and grow with what the application takes in
    a round trip, up to `receive_window`, as Linux; if false, it is that from the start.
    Needs `sack` (classic false, modern true)."""
    burst_segments: int
    """Most segments that a paced sender hands down at once, as segmentation offload makes
    it: 1 to 1000 (classic 1, modern 45). What the pace sends in a millisecond is a burst
    otherwise."""
    small_queues: bool
    """Let no more of a flow wait at its own host's interface than two packets, or what it
    sends in a millisecond, as Linux does (TCP small queues). Matters where `access.rate`
    gives hosts an interface. Needs `sack` (classic false, modern true)."""
    tso: bool
    """Hold new data back until they make a burst of what the pace sends in a millisecond,
    up to `burst_segments`, or of a third of the window, as Linux does for segmentation
    offload. Needs `sack` (default false)."""
    delayed_ack: bool
    """Acknowledge every second segment only, or after a while (default true)."""
    quick_acks: int
    """With `delayed_ack`: segments at the beginning of a connection that are each
    acknowledged at once, 0 to 1000 (classic 0, modern 16, `TCP_MAX_QUICKACKS` of Linux)."""
    quick_marks: bool
    """With `ecn` as in RFC 3168: acknowledge at once what carries CWR, and the first two
    segments from a mark on that is not echoed yet, as Linux does, because the sender's
    window may be so small that it would wait for an acknowledgement that is delayed. Needs
    `sack` (classic false, modern true)."""
    sack_compression: bool
    """Have one acknowledgement report what came above a hole in a twentieth of a round
    trip, a millisecond at most, after the first three, as Linux does (SACK compression).
    Needs `sack` (classic false, modern true)."""
    delayed_ack_time: Time
    """How long an acknowledgement may wait: up to "500ms" (classic "100ms", modern "40ms")."""
    idle_restart: bool
    """Restart from the initial window after a pause longer than the timeout (default true)."""
    idle_decay: bool
    """With `idle_restart`: halve the window once for each timeout of the pause instead,
    down to the initial window, and remember three quarters of it as the slow-start
    threshold, RFC 2861, as Linux (classic false, modern true)."""
    unused_decay: bool
    """While the application leaves part of the window unused, bring it halfway down to what
    is used once in each timeout, RFC 2861 section 3.2, as Linux. Needs `sack` and, as
    there, `idle_restart` (classic false, modern true)."""
    initial_rto: Time
    """Retransmission timeout before a round trip is measured (classic "3s", modern "1s")."""
    min_rto: Time
    """Least retransmission timeout (classic "1s", modern "200ms")."""
    max_rto: Time
    """Greatest retransmission timeout: at most "1h" (classic "64s", modern "120s")."""
    rto_granularity: Time
    """Least that the timeout exceeds the smoothed round trip by (classic "10ms", modern
    "200ms")."""
    linux_rto: bool
    """Compute the deviation for the timeout as Linux does: the largest of a round trip
    counts and comes down by a quarter a round trip, and round trips that fall move it by an
    eighth as much. Needs `sack` (classic false, modern true)."""
    linux_handshake: bool
    """Begin with the initial window after one lost SYN too, and with one segment from two
    on; start the timer of a SYN-ACK anew where the SYN comes again, as Linux does. If
    false, begin with one segment after any lost SYN, RFC 5681 section 3.1 (classic false,
    modern true)."""
    syn_retries: int
    """How often a SYN is sent again before the connection fails: 0 to 30 (classic 5, modern
    6)."""
    retries: int
    """How often in a row data may time out before the connection fails: 1 to 30 (classic
    12, modern 15)."""


Profile: TypeAlias = "Literal['classic'] | Literal['freebsd4'] | Literal['modern']"
"""A set of defaults."""


class RenoCongestionControl(TypedDict, total=False):
    """Reno: RFC 5681 with appropriate byte counting, RFC 3465."""

    kind: Required[Literal['reno']]
    beta_ecn: float
    """Share of the window that a mark leaves: 0.5 to 0.95 (default 0.5, RFC 3168 section
    6.1.2; RFC 8511 section 3.1 has 0.8)."""


class ScalableCongestionControl(TypedDict, total=False):
    """Scalable TCP, Kelly (2003): a constant per acknowledgement, a share of the window per
    loss."""

    kind: Required[Literal['scalable']]
    a: float
    """Segments that the window grows by for each segment acknowledged: 1e-6 to 1 (default
    0.01, Kelly 2003 section 3.1)."""
    b: float
    """Share of the window that a loss takes: 0.001 to 0.9 (default 0.125, Kelly 2003
    section 3.1)."""
    lwnd: int
    """Segments up to which the window is that of traditional TCP: 0 to 1000000 (default 16,
    Kelly 2003 section 3.1; in modern 0, as Linux)."""
    at_least_reno: bool
    """Whether the window grows like Reno's where that is faster, below 1/`a` segments
    (default false, Kelly 2003 section 3.1; in modern true, `tcp_scalable.c`)."""
    whole_segments: bool
    """Whether the window is a whole number of segments, as in Linux: growth is saved up
    until it makes one, a loss takes whole segments of the window, not of what is
    outstanding, none if `b` of it is less than one, and slow start ends at the threshold
    (default false, Kelly 2003 has bytes; in modern true, `tcp_scalable.c`)."""
    delayed_ack_correction: bool
    """Count segments acknowledged, not acknowledgements (default true, as Linux)."""
    reference_rtt: Time
    """Round trip at which `a` is what it says; elsewhere it grows in proportion to the
    smoothed round trip: "1us" to "100s" (default none: the same `a` for all, as Kelly
    2003)."""


class AimdCongestionControl(TypedDict, total=False):
    """AIMD(a, b): `a` segments more per round trip, a share `b` less per loss."""

    kind: Required[Literal['aimd']]
    a: float
    """Segments that the window grows by per round trip: 0.001 to 1000 (default 1, RFC 5681
    section 3.1)."""
    b: float
    """Share of the window that a loss takes: 0.001 to 0.9 (default 0.5, RFC 5681 section
    3.1)."""


class HighspeedCongestionControl(TypedDict, total=False):
    """HighSpeed TCP, RFC 3649: AIMD whose terms depend on the window."""

    kind: Required[Literal['highspeed']]
    low_window: int
    """Segments up to which it is Reno: 2 to 1000000 (default 38, RFC 3649 section 5)."""
    low_p: float
    """Loss rate at which the window is `low_window`: 1e-6 to 0.1 (default 0.001, RFC 3649
    section 5)."""
    high_window: int
    """Segments of the upper end of the line: twice `low_window` to 10000000 (default 83000,
    RFC 3649 section 5)."""
    high_p: float
    """Loss rate at which the window is `high_window`: 1e-15 to half of `low_p` (default
    1e-7, RFC 3649 section 5)."""
    high_decrease: float
    """Share of the window that a loss takes at `high_window`: 0.01 to 0.5 (default 0.1, RFC
    3649 section 7)."""


class CubicCongestionControl(TypedDict, total=False):
    """CUBIC, RFC 9438: a cubic function of the time since the last reduction."""

    kind: Required[Literal['cubic']]
    c: float
    """Scale of the cubic, in segments per cubed second: 0.001 to 100 (default 0.4, RFC 9438
    section 5.1)."""
    beta: float
    """Share of the window that a loss leaves: 0.1 to 0.95 (default 0.7, RFC 9438 section
    4.6)."""
    beta_ecn: float
    """Share of the window that a mark leaves: 0.1 to 0.95 (default 0.7, RFC 9438 section
    4.6; RFC 8511 section 3.1 has 0.85)."""
    fast_convergence: bool
    """Whether a window that did not reach its last maximum lowers it further (default true,
    RFC 9438 section 4.7)."""
    reno_friendly: bool
    """Whether the window is at least what Reno's would be (default true, RFC 9438 section
    4.3)."""
    alpha_rises: bool
    """Whether the estimate of Reno's window grows by a whole segment a round trip once it
    has reached the window before the last reduction, RFC 9438 section 4.3; if false, by 3(1
    − β)/(1 + β) for ever, 0.53 of a segment, as Linux (default true, RFC 9438 section 4.3;
    in modern false)."""
    whole_segments: bool
    """Whether the window is a whole number of segments, as in Linux: growth is saved up
    until it makes one, a reduction takes the window, not what is outstanding, and rounds
    down, and slow start ends at the threshold. It matters below some ten segments: of four
    a loss leaves two (default false, RFC 9438 counts fractions; in modern true,
    `tcp_cubic.c`)."""


class WestwoodCongestionControl(TypedDict, total=False):
    """Westwood+, Grieco and Mascolo (2004): a loss leaves what the path was seen to
    deliver."""

    kind: Required[Literal['westwood']]
    tau: Time
    """Time constant of the bandwidth filter: "1ms" to "100s" (default "500ms", Grieco and
    Mascolo 2004 section 2.2)."""
    linux_filter: bool
    """Whether the filter is that of Linux, which has no `tau`: two averages with a gain of
    1/8, a sample every 50 ms at most (default false, Grieco and Mascolo 2004; in modern
    true, `tcp_westwood.c`)."""
    estimate_after: bool
    """Whether the estimate becomes the window when a recovery is over, half the window
    being used until then (default false, Grieco and Mascolo 2004: at once; in modern true,
    `tcp_westwood.c`)."""


class DctcpCongestionControl(TypedDict, total=False):
    """DCTCP, RFC 8257: a mark takes half the share of bytes that are being marked."""

    kind: Required[Literal['dctcp']]
    g: float
    """Gain of the moving average: 0.0001 to 1 (default 0.0625, RFC 8257 section 4.2)."""
    initial_alpha: float
    """The average at the start: 0 to 1 (default 1, RFC 8257 section 3.3: the first mark
    halves)."""


class PragueCongestionControl(TypedDict, total=False):
    """Prague, draft-briscoe-iccrg-prague-congestion-control-04: DCTCP for the Internet."""

    kind: Required[Literal['prague']]
    g: float
    """Gain of the moving average: 0.0001 to 1 (default 0.0625,
    draft-briscoe-iccrg-prague-congestion-control-04 section 2.4)."""
    initial_alpha: float
    """The average at the start: 0 to 1 (default 1, the same: the first mark halves)."""
    virtual_rtt: Time
    """Round trip that shorter ones are taken for: "0s", which leaves them what they are, to
    "10s" (default "25ms", the same)."""
    fallback: bool
    """Whether a queue that marks and yet lets delay grow is taken for a classic one, and
    marks then take up to five sixteenths of the window (default false, as in the L4S team's
    Linux; arXiv 1911.00710; RFC 9331 section 4.3)."""


class BbrCongestionControl(TypedDict, total=False):
    """BBR version 3, draft-ietf-ccwg-bbr-05: a model of the path, from delivery rates."""

    kind: Required[Literal['bbr']]
    loss_threshold: float
    """Share of what was in flight whose loss ends a probe: 0.001 to 0.5 (default 0.02,
    draft-ietf-ccwg-bbr-05 section 2.7)."""
    beta: float
    """Share of the short-term bounds that a round trip with losses leaves at least: 0.1 to
    0.99 (default 0.7, the same)."""
    headroom: float
    """Share of the long-term bound that is left free while cruising: 0 to 0.5 (default
    0.15, the same)."""
    ecn_factor: float
    """Share of the marks' moving average that a round trip with marks takes: 0 to 1, where
    0 ignores marks (default 1/3, Linux's BBRv3)."""
    ecn_threshold: float
    """Share of what was in flight whose marking ends a probe: 0.01 to 1 (default 0.5,
    Linux's BBRv3)."""


PythonCongestionControl = TypedDict(
    'PythonCongestionControl',
    {
        'kind': "Required[Literal['python']]",
        'class': 'str',
        'with': 'object',
        'samples': 'bool',
    },
    total=False,
)
"""A congestion control written in Python: a class that sets the window."""


class VegasCongestionControl(TypedDict, total=False):
    """Vegas, Brakmo and Peterson (1995): a few segments of its own in the queue."""

    kind: Required[Literal['vegas']]
    alpha: int
    """Segments waiting below which the window grows: 1 to 1000 (default 1, Brakmo and
    Peterson 1995 section III-B)."""
    beta: int
    """Segments waiting above which it shrinks: `alpha` to 1000 (default 3, the same)."""
    gamma: int
    """Segments waiting above which slow start ends: 1 to 1000 (default 1, section III-C)."""


class LedbatCongestionControl(TypedDict, total=False):
    """LEDBAT, RFC 6817: takes what others leave."""

    kind: Required[Literal['ledbat']]
    target: Time
    """Queueing delay aimed at: "1ms" to "100ms" (default "100ms", RFC 6817 section 2.5)."""
    gain: float
    """Segments that an empty queue adds per round trip: 0.01 to 1 (default 1, RFC 6817
    section 2.5)."""


class ConstantCongestionControl(TypedDict, total=False):
    """A window that is set, by hand or by a learner; nothing follows from losses or marks."""

    kind: Required[Literal['constant']]
    cwnd: Size
    """The window, a segment at least: "1B" to "1GB" (default "64KiB", the most without the
    option of RFC 7323)."""
    pacing_rate: Rate
    """The rate at which it is sent: "1kbit" to "1tbit" (default none: what the window is
    over a round trip, with Linux's gains)."""


CongestionControl: TypeAlias = "Literal['reno', 'scalable', 'aimd', 'highspeed', 'cubic', 'westwood', 'dctcp', 'prague', 'bbr', 'python', 'vegas', 'ledbat', 'constant'] | RenoCongestionControl | ScalableCongestionControl | AimdCongestionControl | HighspeedCongestionControl | CubicCongestionControl | WestwoodCongestionControl | DctcpCongestionControl | PragueCongestionControl | BbrCongestionControl | PythonCongestionControl | VegasCongestionControl | LedbatCongestionControl | ConstantCongestionControl"
"""A congestion control: its name, or a table with `kind` and settings."""


Value: TypeAlias = "bool | int | float | str"
"""A value given to a class that is written outside this program."""


Size: TypeAlias = "str"
"""A size, for example "16kB"."""


Rate: TypeAlias = "str"
"""A rate, for example "100mbit"."""


class Quic(TypedDict, total=False):
    """QUIC settings. What is left out has its default."""

    congestion: CongestionControl
    """Congestion control: its name, or a table with `kind` and its settings, as TCP's
    (default "reno", which is what RFC 9002 section 7 describes)."""
    max_udp_payload: int
    """Bytes of UDP payload in a full datagram once the handshake is complete: 1200 to 65507
    (default 1452). Until then it is 1200; larger ones are not probed for."""
    initial_window: int
    """Initial congestion window in full datagrams, 14720 bytes at most unless two are more
    (RFC 9002 section 7.2): 1 to 1000 (default 10)."""
    max_window: int
    """Most full datagrams that the congestion window may grow to: at least 2 (default
    unlimited)."""
    ecn: bool
    """Explicit congestion notification (RFC 9000 section 13.4; default false; true where
    the congestion control needs it)."""
    pacing: bool
    """Spread what the window allows over the round trip (RFC 9002 section 7.7; default
    true)."""
    burst_packets: int
    """Most datagrams that a paced sender hands down at once: 1 to 1000 (default 10). What
    the pace sends in a millisecond is a burst otherwise."""
    ack_every: int
    """Acknowledge after so many packets that ask for it: 1 to 100 (default 2, RFC 9000
    section 13.2.2)."""
    max_ack_delay: Time
    """How long an acknowledgement may wait, `max_ack_delay`: up to "500ms" (default "25ms",
    RFC 9000 section 18.2)."""
    initial_rtt: Time
    """Round trip that is assumed before one is measured: "1ms" to "10s" (default "333ms",
    RFC 9002 section 6.2.2)."""
    certificate: Size
    """Bytes of the server's chain of certificates: "100B" to "64kB" (default "3kB"). Until
    it hears the client's second flight a server sends three times what it got at most."""
    zero_rtt: bool
    """The client has been there before and sends data in its first flight, 0-RTT; the
    server sends no certificate then (default false)."""
    max_data: Size
    """Bytes that the peer may send ahead of what the application has taken, on all streams
    together: "16kB" to "1GB" (default "15MiB")."""
    max_stream_data: Size
    """The same on each stream (default "6MiB")."""
    idle_timeout: Time
    """How long nothing may come while something is awaited before the connection fails:
    "1s" to "1h" (default "30s")."""


class Bottleneck(TypedDict, total=False):
    """A dumbbell: the nodes `left` and `right`, the links `bottleneck` from left to right
    and `reverse` from right to left."""

    rate: Required[Rate]
    """Rate in bits per second, such as "100mbit". Only a link of the free form `[[links]]`
    may leave it out; it is then ideal: pure delay, no queue."""
    schedule: Schedule
    """How the rate changes, if it does: a table with `kind`, one of `steps`, `trace`,
    `lognormal`, `markov` and `radio`, and its parameters. Disciplines, and a `load`, are
    told `rate`."""
    delay: Time
    """One-way propagation delay."""
    qdisc: QueueDiscipline
    """Queue discipline: its name, for its defaults, or a table with `kind` and its
    parameters."""
    frame_overhead: int
    """Bytes that each packet costs on the wire beyond the IP packet (Ethernet: 38)."""
    min_frame: int
    """Least bytes that a packet takes on the wire, overhead included (Ethernet: 84)."""
    mean_packet: int
    """Mean packet size in bytes that disciplines assume where they must know the rate in
    packets."""
    loss: float
    """Probability that a packet is lost on the wire after its transmission, from 0 to below
    1."""
    loss_burst: float
    """Mean number of packets lost in a row (Gilbert's model: all are lost in the bad state,
    none in the good one), with the same `loss`. Left out, each is lost on its own."""
    jitter: DistributionOfTime
    """Delay of each packet on the wire beyond `delay`, a distribution. Packets keep their
    order: one that would overtake arrives together with the one before it."""
    reorder: bool
    """Let `jitter` change the order of packets."""
    device: Device
    """A queue of the device below the discipline, which does not see it."""
    docsis: Docsis
    """The upstream of a cable modem: requests, grants and bursts; `{}` for its defaults."""
    wifi: str
    """The name of a `[[wifi]]`: its medium, on which `rate` is that of the PHY for this
    link."""
    autorate: Autorate
    """Let the rate follow the delay of pings, as cake-autorate does."""
    reverse: Reverse
    """The direction from right to left: "ideal", or a table of what differs from the
    direction forward. Left out, both are alike."""


class StepsSchedule(TypedDict, total=False):
    """Named rates from named instants on; the link's `rate` before the first."""

    kind: Required[Literal['steps']]
    steps: Required[list[list[Time | Rate]]]
    """Instants and the rate from then on: `[["20s", "10mbit"], ["40s", "1mbit"]]`, in
    order. A rate of "0bit" is an outage."""
    repeat: Time
    """Everything begins again after this time, at least "10us"; never if left out."""


class TraceSchedule(TypedDict, total=False):
    """A file of opportunities to send, as Mahimahi and its recordings of cellular networks
    have it."""

    kind: Required[Literal['trace']]
    file: Required[str]
    """The file: each line a whole number of milliseconds, never falling, at which 1500
    bytes have been sent. They are spread over the millisecond before. After the last line
    it begins again."""


class LognormalSchedule(TypedDict, total=False):
    """A random walk about the link's `rate`: its logarithm is a Gaussian process that
    forgets."""

    kind: Required[Literal['lognormal']]
    every: Time
    """Time from one change to the next, at least "10us"."""
    sigma: float
    """Standard deviation of the logarithm, above 0 and at most 3: at 0.5 two thirds of the
    time the rate is between 0.61 and 1.65 times the median."""
    memory: Time
    """Time in which the correlation falls to 1/e; "0ns": each step is drawn afresh."""
    min: Rate
    """Never below this rate, which is at most the link's."""
    max: Rate
    """Never above this rate, which is at least the link's; no bound if left out."""


class MarkovSchedule(TypedDict, total=False):
    """Jumps at random between named rates."""

    kind: Required[Literal['markov']]
    rates: Required[list[Rate]]
    """The rates, at least two; "0bit" is an outage. The first is drawn from all."""
    hold: Required[Time]
    """Mean time at a rate, at least "10us"."""


class RadioSchedule(TypedDict, total=False):
    """Rates as measured over LTE, 5G and Starlink."""

    kind: Required[Literal['radio']]
    model: Required[RadioModel]
    """Whose rates, measured in moving cars: "lte", "5g" or "starlink". What follows is then
    theirs unless given."""
    every: Time
    """Step of fading and outages, at least "10us"."""
    hold: Time
    """How long a level is held, a multiple of `every`."""
    phase: Time
    """When the first new level begins, a multiple of `every` and at most `hold`."""
    level: float
    """Standard deviation of the level's logarithm, 0 to 3."""
    memory: Time
    """Time in which the correlation of levels falls to 1/e; "0ns": each is drawn afresh."""
    fading: float
    """Standard deviation of the fading's logarithm, 0 to 3."""
    fading_memory: Time
    """Time in which the correlation of fading falls to 1/e; "0ns": each step is drawn
    afresh."""
    outage: float
    """Fraction of the time in which nothing is sent, 0 to 0.9."""
    outage_length: Time
    """Mean length of an outage, at least `every`, and `every` times outage/(1 − outage)."""


Schedule: TypeAlias = "StepsSchedule | TraceSchedule | LognormalSchedule | MarkovSchedule | RadioSchedule"
"""How a link's rate changes. Disciplines are told the link's `rate`, whatever the schedule
says."""


RadioModel: TypeAlias = "Literal['lte'] | Literal['5g'] | Literal['starlink']"
"""Whose measured rates they are."""


class DroptailQueueDiscipline(TypedDict, total=False):
    """First come, first served, with a limit in packets, bytes or time."""

    kind: Required[Literal['droptail']]
    limit: int
    """Most packets in the queue, the one in service not counted: 1 to 67108864 (default
    1000)."""
    limit_bytes: Size
    """Most bytes in the queue, for example "360kB"; at least one mean packet."""
    limit_time: Time
    """Most bytes in the queue as the time the link needs to send them, for example "100ms";
    at least the time of one mean packet."""


class RedQueueDiscipline(TypedDict, total=False):
    """Random early detection, Floyd and Jacobson (1993), gentle or not."""

    kind: Required[Literal['red']]
    preset: Preset
    """Whose RED this is, so that what is not given is theirs: "floyd", the paper's; "ns2";
    "altq", the BSDs'; "linux" (default: none, and the defaults below)."""
    min_th: float
    """Average queue in packets (of mean size if `queue_in_bytes`) at which marking starts:
    0 to below `max_th` (default 5)."""
    max_th: float
    """Average queue in packets at which p reaches `max_p`: up to 33554432 (default 15)."""
    max_p: float
    """Probability at `max_th`: above 0, at most 1 (default 0.1)."""
    wq: float
    """Weight of a new sample in the average: 1e-9 to 1; default: 1 − exp(−1/C) with C the
    link's rate in mean packets per second, an average over about one second."""
    gentle: bool
    """From `max_th` let p rise to 1 at twice `max_th`, instead of jumping to 1 (default
    true)."""
    idle_decay: bool
    """Let the average fall over times in which the link is idle, as the paper; Linux does
    not below a shaper, where it falls with arriving packets only (default true)."""
    spacing: Spacing
    """How far apart hits lie at a probability p: "uniform", 1 to 1/p packets; "wait", 1/p
    to 2/p, as ns-2; "altq", 1 to 2/p, as ALTQ (default "uniform", that of RED's paper)."""
    min_queue: int
    """Let every packet pass that finds fewer packets than this in the queue, and start the
    spacing anew. RED's paper knows nothing of it; ns-2 and ALTQ have 2 (default 0)."""
    ecn: EcnMarking
    """Mark ECN-capable packets instead of dropping them, with "ect0" only those of ECT(0)
    (default false)."""
    ecn_drop_above_max: bool
    """With `ecn`: above `max_th` drop ECN-capable packets too, instead of marking them, as
    RFC 3168 section 7 recommends (default true)."""
    queue_in_bytes: bool
    """Measure the queue, and arrivals where they count, in bytes divided by `mean_packet`
    instead of in packets (default false)."""
    scale_by_size: bool
    """Multiply the probability by the packet's size over `mean_packet` (default false)."""
    mean_packet: int
    """Mean packet in bytes, 40 to 65535; default: the link's."""
    limit: int
    """Most packets in the queue: 1 to 67108864 (default 1000000)."""


class AredQueueDiscipline(TypedDict, total=False):
    """Adaptive RED, Floyd, Gummadi and Shenker (2001): RED that adapts its `max_p`."""

    kind: Required[Literal['ared']]
    target_delay: Time
    """The delay that the automatic thresholds aim at (default "5ms")."""
    min_th: float
    """Average queue in packets at which marking starts, below `max_th`; default: the larger
    of 5 and half of what the link sends in `target_delay`."""
    max_th: float
    """Average queue in packets at which p reaches `max_p`; default: three times `min_th`."""
    max_p: float
    """Probability at `max_th` at the start: `bottom` to `top` (default 0.1)."""
    bottom: float
    """Least `max_p`: 0.0001 to `top` (default 0.01)."""
    top: float
    """Largest `max_p`: up to 1 (default 0.5)."""
    alpha: float
    """Largest increase of `max_p` in one interval: 0.0001 to 1 (default 0.01)."""
    beta: float
    """Factor of decrease of `max_p`: 0.1 to 0.999 (default 0.9)."""
    interval: Time
    """Time between two adaptations: at least "1ms" (default "500ms")."""
    wq: float
    """Weight of a new sample in the average: 1e-9 to 1; default: 1 − exp(−1/C) with C the
    link's rate in mean packets per second."""
    gentle: bool
    """From `max_th` let p rise to 1 at twice `max_th`, instead of jumping to 1 (default
    true)."""
    spacing: Spacing
    """How far apart hits lie at a probability p: "uniform", 1 to 1/p packets; "wait", 1/p
    to 2/p, as ns-2; "altq", 1 to 2/p, as ALTQ (default "uniform", that of RED's paper)."""
    min_queue: int
    """Let every packet pass that finds fewer packets than this in the queue, and start the
    spacing anew. RED's paper knows nothing of it; ns-2 and ALTQ have 2 (default 0)."""
    ecn: EcnMarking
    """Mark ECN-capable packets instead of dropping them, with "ect0" only those of ECT(0)
    (default false)."""
    ecn_drop_above_max: bool
    """With `ecn`: above `max_th` drop ECN-capable packets too, instead of marking them, as
    RFC 3168 section 7 recommends (default true)."""
    queue_in_bytes: bool
    """Measure the queue, and arrivals where they count, in bytes divided by `mean_packet`
    instead of in packets (default false)."""
    scale_by_size: bool
    """Multiply the probability by the packet's size over `mean_packet` (default false)."""
    mean_packet: int
    """Mean packet in bytes, 40 to 65535; default: the link's."""
    limit: int
    """Most packets in the queue: 1 to 67108864 (default 1000000)."""


class FengRedQueueDiscipline(TypedDict, total=False):
    """Self-configuring RED, Feng, Kandlur, Saha and Shin (1999): RED that moves its `max_p`
    when the average crosses a threshold."""

    kind: Required[Literal['feng_red']]
    min_th: float
    """Average queue in packets (of mean size if `queue_in_bytes`) at which marking starts:
    0 to below `max_th` (default 5, RED's)."""
    max_th: float
    """Average queue in packets at which p reaches `max_p`: up to 33554432 (default 15,
    RED's)."""
    max_p: float
    """Probability at `max_th` at the start: `bottom` to `top` (default 0.1, RED's)."""
    alpha: float
    """What `max_p` is divided by when the average falls below `min_th`: 1 to 1000 (default
    3, the paper's)."""
    beta: float
    """What `max_p` is multiplied by when the average rises above `max_th`: 1 to 1000
    (default 2, the paper's)."""
    bottom: float
    """Least `max_p`: 1e-9 to `top` (default 0.0001; none in the paper)."""
    top: float
    """Largest `max_p`: up to 1 (default 1; none in the paper)."""
    wq: float
    """Weight of a new sample in the average: 1e-9 to 1; default: 1 − exp(−1/C) with C the
    link's rate in mean packets per second."""
    gentle: bool
    """From `max_th` let p rise to 1 at twice `max_th`, instead of jumping to 1 (default
    false, the paper's)."""
    spacing: Spacing
    """How far apart hits lie at a probability p: "uniform", 1 to 1/p packets; "wait", 1/p
    to 2/p, as ns-2; "altq", 1 to 2/p, as ALTQ (default "uniform", that of RED's paper)."""
    min_queue: int
    """Let every packet pass that finds fewer packets than this in the queue, and start the
    spacing anew. RED's paper knows nothing of it; ns-2 and ALTQ have 2 (default 0)."""
    ecn: EcnMarking
    """Mark ECN-capable packets instead of dropping them, with "ect0" only those of ECT(0)
    (default false)."""
    ecn_drop_above_max: bool
    """With `ecn`: above `max_th` drop ECN-capable packets too, instead of marking them, as
    RFC 3168 section 7 recommends (default true)."""
    queue_in_bytes: bool
    """Measure the queue, and arrivals where they count, in bytes divided by `mean_packet`
    instead of in packets (default false)."""
    scale_by_size: bool
    """Multiply the probability by the packet's size over `mean_packet` (default false)."""
    mean_packet: int
    """Mean packet in bytes, 40 to 65535; default: the link's."""
    limit: int
    """Most packets in the queue: 1 to 67108864 (default 1000000)."""


class ChokeQueueDiscipline(TypedDict, total=False):
    """CHOKe, Pan, Prabhakar and Psounis (2000): RED that drops what is of the same flow as
    a packet drawn from the queue."""

    kind: Required[Literal['choke']]
    min_th: float
    """Average queue in packets (of mean size if `queue_in_bytes`) at which comparing and
    marking start: 0 to below `max_th` (default 5, RED's)."""
    max_th: float
    """Average queue in packets above which all are dropped: up to 33554432 (default 15,
    RED's)."""
    max_p: float
    """Probability at `max_th`: above 0, at most 1 (default 0.1, RED's)."""
    wq: float
    """Weight of a new sample in the average: 1e-9 to 1; default: 1 − exp(−1/C) with C the
    link's rate in mean packets per second."""
    spacing: Spacing
    """How far apart hits lie at a probability p: "uniform", 1 to 1/p packets; "wait", 1/p
    to 2/p, as ns-2; "altq", 1 to 2/p, as ALTQ (default "uniform", that of RED's paper)."""
    min_queue: int
    """Let every packet pass that finds fewer packets than this in the queue, and start the
    spacing anew. RED's paper knows nothing of it; ns-2 and ALTQ have 2 (default 0)."""
    ecn: EcnMarking
    """Mark ECN-capable packets instead of dropping them, with "ect0" only those of ECT(0)
    (default false)."""
    ecn_drop_above_max: bool
    """With `ecn`: above `max_th` drop ECN-capable packets too, instead of marking them, as
    RFC 3168 section 7 recommends (default true)."""
    queue_in_bytes: bool
    """Measure the queue, and arrivals where they count, in bytes divided by `mean_packet`
    instead of in packets (default false)."""
    scale_by_size: bool
    """Multiply the probability by the packet's size over `mean_packet` (default false)."""
    mean_packet: int
    """Mean packet in bytes, 40 to 65535; default: the link's."""
    limit: int
    """Most packets in the queue: 1 to 33554432 (default 1000000)."""


class ProportionalQueueDiscipline(TypedDict, total=False):
    """The proportional controller of Hollot, Misra, Towsley and Gong (INFOCOM 2001): RED
    without its average."""

    kind: Required[Literal['proportional']]
    slope: float
    """Gain K, probability per packet: above 0, at most 2 (default 5.88e-5)."""
    offset: float
    """The queue at which the probability leaves 0, in packets (of mean size if
    `queue_in_bytes`): 0 to 67108864 (default 0)."""
    ecn: EcnMarking
    """Mark ECN-capable packets instead of dropping them, with "ect0" only those of ECT(0)
    (default false)."""
    queue_in_bytes: bool
    """Measure the queue, and arrivals where they count, in bytes divided by `mean_packet`
    instead of in packets (default false)."""
    scale_by_size: bool
    """Multiply the probability by the packet's size over `mean_packet` (default false)."""
    mean_packet: int
    """Mean packet in bytes, 40 to 65535; default: the link's."""
    limit: int
    """Most packets in the queue: 1 to 67108864 (default 1000000)."""


class PiQueueDiscipline(TypedDict, total=False):
    """The proportional-integral controller of Hollot, Misra, Towsley and Gong (INFOCOM
    2001)."""

    kind: Required[Literal['pi']]
    a: float
    """Gain on the present queue, per packet: above 0, at most 2 (default 1.822e-5)."""
    b: float
    """Gain on the queue one sample ago, per packet: 0 to below `a` (default 1.816e-5)."""
    frequency: float
    """Sampling frequency in hertz: 0.001 to 1000000 (default 170)."""
    qref: float
    """The queue to hold, in packets (of mean size if `queue_in_bytes`): 0 to 67108864
    (default 50)."""
    ecn: EcnMarking
    """Mark ECN-capable packets instead of dropping them, with "ect0" only those of ECT(0)
    (default false)."""
    queue_in_bytes: bool
    """Measure the queue, and arrivals where they count, in bytes divided by `mean_packet`
    instead of in packets (default false)."""
    scale_by_size: bool
    """Multiply the probability by the packet's size over `mean_packet` (default false)."""
    mean_packet: int
    """Mean packet in bytes, 40 to 65535; default: the link's."""
    limit: int
    """Most packets in the queue: 1 to 67108864 (default 1000000)."""


class PiTableQueueDiscipline(TypedDict, total=False):
    """PI whose probability comes from a table of at most 16 entries, as in hardware."""

    kind: Required[Literal['pi_table']]
    a: float
    """Gain on the present queue, per packet: above 0, at most 2 (default 1.822e-5)."""
    b: float
    """Gain on the queue one sample ago, per packet: 0 to below `a` (default 1.816e-5)."""
    frequency: float
    """Sampling frequency in hertz: 0.001 to 1000000 (default 170)."""
    qref: float
    """The queue to hold, in packets (of mean size if `queue_in_bytes`): 0 to 67108864
    (default 50)."""
    ecn: EcnMarking
    """Mark ECN-capable packets instead of dropping them, with "ect0" only those of ECT(0)
    (default false)."""
    queue_in_bytes: bool
    """Measure the queue, and arrivals where they count, in bytes divided by `mean_packet`
    instead of in packets (default false)."""
    scale_by_size: bool
    """Multiply the probability by the packet's size over `mean_packet` (default false)."""
    mean_packet: int
    """Mean packet in bytes, 40 to 65535; default: the link's."""
    limit: int
    """Most packets in the queue: 1 to 67108864 (default 1000000)."""
    table: Grid
    """How the entries lie: "linear", "sqrt", "log", "geometric" (default, ours) or
    "optimal"."""
    entries: int
    """How many entries, 0 among them: 2 to 16 (default 16, what such hardware has)."""
    least: float
    """The least entry above 0 of a geometric table, and the least p of an optimal one:
    0.0001 to below `top` (default 0.001, ours)."""
    top: float
    """The largest entry: up to 1; for "log" up to 0.9999 (default 0.5, ours)."""
    optimal_for: list[float]
    """For "optimal": the probabilities that occur, for example those of a run of `pi`; at
    least as many different ones as entries (default: none)."""


class PieQueueDiscipline(TypedDict, total=False):
    """PIE: PI on the queueing delay, RFC 8033."""

    kind: Required[Literal['pie']]
    target: Time
    """The delay to hold: "1us" to "1000s" (default "15ms", RFC 8033)."""
    tupdate: Time
    """Time between two updates: "1us" to "1000s" (default "15ms", RFC 8033)."""
    first_update: Time
    """When the first update is, from when the queue is made; default: `tupdate` (Linux:
    "500ms")."""
    decay: float
    """What an update leaves of p once two in a row found no delay: 0.5 to 1 (default 0.98,
    RFC 8033 section 4.2; Linux: 63/64)."""
    alpha: float
    """Gain on the delay's distance from the target, in hertz: 0 to 32 (default 0.125, RFC
    8033)."""
    beta: float
    """Gain on the delay's change since the last update, in hertz: 0 to 32 (default 1.25,
    RFC 8033)."""
    max_burst: Time
    """For how long after a quiet time everything passes: up to "1000s" (default "150ms",
    RFC 8033)."""
    linux_guards: bool
    """The guards of Linux (default false, RFC 8033): the burst allowance is spent at
    departures and renewed at updates, the delay that spares early drops is that of the
    packet that left last and not that of the last update, and p does not decay while
    anything stands in the queue."""
    delay: Delay
    """How the delay is known: "timestamps" (default, as Linux) or "rate" (RFC 8033 section
    5.2)."""
    derandomize: bool
    """Space drops by accumulating p (default true, RFC 8033 section 5.4)."""
    high_delay: Time
    """Delay above which every update adds another 0.02 to p, at least `target`; default:
    none (Linux: "250ms")."""
    max_probability: float
    """Largest p: 1 to 4 (default 1, RFC 8033 section 4.2). One above 1 has to come down to
    1 before anything passes again, as in Linux."""
    ecn: EcnMarking
    """Mark ECN-capable packets instead of dropping them, with "ect0" only those of ECT(0)
    (default false)."""
    mark_ecn_th: float
    """With `ecn`: the p above which ECN-capable packets are dropped too: 0 to 1 (default
    0.1, RFC 8033 section 5.1)."""
    scale_by_size: bool
    """Multiply the probability by the packet's size over `mean_packet` (default false)."""
    mean_packet: int
    """Mean packet in bytes, 40 to 65535; two of them always pass. Default: the link's."""
    limit: int
    """Most packets in the queue: 1 to 67108864 (default 1000000)."""


class Pi2QueueDiscipline(TypedDict, total=False):
    """PI2, De Schepper et al. (CoNEXT 2016): a linear PI controller, its output squared."""

    kind: Required[Literal['pi2']]
    target: Time
    """The delay to hold: "1us" to "1000s" (default "20ms", the paper's)."""
    tupdate: Time
    """Time between two updates: "1us" to "1000s" (default "32ms", the paper's)."""
    alpha: float
    """Gain on the delay's distance from the target, in hertz: 0 to 32 (default 0.3125, the
    paper's)."""
    beta: float
    """Gain on the delay's change since the last update, in hertz: 0 to 32 (default 3.125,
    the paper's)."""
    scalable: bool
    """Mark packets of ECT(1) with `coupling`·p' instead of p'²; needs `ecn` (default
    false)."""
    coupling: float
    """The paper's k, by how much scalable traffic is marked more: 1 to 16 (default 2, the
    paper's)."""
    ecn: EcnMarking
    """Mark ECN-capable packets instead of dropping them, with "ect0" only those of ECT(0)
    (default false)."""
    mean_packet: int
    """Mean packet in bytes, 40 to 65535; less than two of them always pass. Default: the
    link's."""
    limit: int
    """Most packets in the queue: 1 to 67108864 (default 1000000)."""


class Dualpi2QueueDiscipline(TypedDict, total=False):
    """DualPI2, the coupled dual-queue AQM of RFC 9332 (L4S)."""

    kind: Required[Literal['dualpi2']]
    target: Time
    """The delay to hold in C: "1us" to "1000s" (default "15ms", RFC 9332)."""
    tupdate: Time
    """Time between two updates: "1us" to "1000s" (default "16ms", Linux; RFC 9332: 15 ms)."""
    alpha: float
    """Gain on the delay's distance from the target, in hertz: 0 to 32 (default 0.16, Linux;
    RFC 9332: 0.15)."""
    beta: float
    """Gain on the delay's change since the last update, in hertz: 0 to 32 (default 3.2,
    Linux; RFC 9332: 3)."""
    coupling: float
    """By how much L is marked more, k: 1 to 16 (default 2, RFC 9332)."""
    marking: Marking
    """How L marks on its own: "ramp" (default, RFC 9332) or "step" (Linux)."""
    min_th: Time
    """Sojourn time in L where the ramp begins (default "800us", RFC 9332)."""
    max_th: Time
    """Sojourn time in L from which all packets are marked, above `min_th`, at most "1000s"
    (default "1.2ms", RFC 9332)."""
    step_th: Time
    """Sojourn time in L above which all packets are marked if `marking` is "step": at most
    "1000s" (default "1ms", Linux)."""
    min_packets: int
    """L only marks on its own if more than so many packets stand in it, the one that leaves
    counted (default 1, RFC 9332's Th_len)."""
    scheduler: Scheduler
    """Which queue is served: "wrr" (default, Linux) or "time_shifted" (RFC 9332)."""
    classic_weight: float
    """C's share of the link if both queues stand: 0 to 1 (default 0.1, Linux)."""
    time_shift: Time
    """How much older L's head is taken for, up to "1000s"; default: twice the target (RFC
    9332, appendix A.2: "50ms" on the public Internet)."""
    decision: Decision
    """How a probability becomes a decision: "recur" (default, RFC 9332) or "random"
    (Linux)."""
    drop_on_overload: bool
    """Once `coupling`·p' reaches 1, drop ECN-capable packets too, with p'², in both queues;
    otherwise p' ends at 1/`coupling` and the limit alone holds the queue (default true, RFC
    9332)."""
    mean_packet: int
    """Mean packet in bytes, 40 to 65535, for the credit at the start. Default: the link's."""
    limit: int
    """Most packets in both queues together: 1 to 67108864 (default 10000, Linux)."""


class BlueQueueDiscipline(TypedDict, total=False):
    """BLUE, Feng, Shin, Kandlur and Saha (2002): a probability moved by overflow and
    idleness."""

    kind: Required[Literal['blue']]
    increment: float
    """By how much p grows when the queue overflows: above 0, at most 1 (default 0.02, the
    paper's d1)."""
    decrement: float
    """By how much p shrinks when the link falls idle: above 0, at most 1 (default 0.002,
    the paper's d2)."""
    freeze_time: Time
    """Least time between two changes: "1us" to "1000s" (default "100ms", the paper's)."""
    high_water: int
    """Let p grow also when a packet finds more than so many in the queue: 1 to `limit`;
    default: when the queue overflows only."""
    ecn: EcnMarking
    """Mark ECN-capable packets instead of dropping them, with "ect0" only those of ECT(0)
    (default false)."""
    limit: int
    """Most packets in the queue, which is what BLUE steers by: 1 to 67108864 (default 1000,
    as drop-tail's)."""


class AvqQueueDiscipline(TypedDict, total=False):
    """Adaptive virtual queue, Kunniyur and Srikant (2001)."""

    kind: Required[Literal['avq']]
    gamma: float
    """The share of the link to be used: 0.01 to 1 (default 0.98, the paper's)."""
    alpha: float
    """How fast the virtual capacity follows, per second: above 0, at most 1000 (default
    0.15, the paper's; its theorem 3 bounds it by flows, round trip and rate)."""
    virtual_buffer: int
    """The virtual buffer in mean packets: 1 to 67108864 (default 100, the paper's)."""
    ecn: EcnMarking
    """Mark ECN-capable packets instead of dropping them, with "ect0" only those of ECT(0)
    (default false)."""
    mean_packet: int
    """Mean packet in bytes, 40 to 65535; default: the link's."""
    limit: int
    """Most packets in the queue: 1 to 67108864 (default 1000000)."""


class RemQueueDiscipline(TypedDict, total=False):
    """Random exponential marking, Athuraliya, Li, Low and Yin (2001)."""

    kind: Required[Literal['rem']]
    gamma: float
    """Step size of the price per packet of excess: 1e-6 to 1 (default 0.001)."""
    alpha: float
    """Weight of the queue's excess against that of the arrivals: 0 to 1 (default 0.1)."""
    phi: float
    """Base of the exponential: 1.000001 to 2 (default 1.001)."""
    qref: float
    """The queue to hold, in packets (of mean size if `queue_in_bytes`): 0 to 67108864
    (default 20)."""
    period: Time
    """Time between two moves of the price: "1us" to "1000s" (default "2ms")."""
    ecn: EcnMarking
    """Mark ECN-capable packets instead of dropping them, with "ect0" only those of ECT(0)
    (default false)."""
    queue_in_bytes: bool
    """Measure the queue, and arrivals where they count, in bytes divided by `mean_packet`
    instead of in packets (default false)."""
    scale_by_size: bool
    """Multiply the probability by the packet's size over `mean_packet` (default false)."""
    mean_packet: int
    """Mean packet in bytes, 40 to 65535; default: the link's."""
    limit: int
    """Most packets in the queue: 1 to 67108864 (default 1000000)."""


class RateQueueDiscipline(TypedDict, total=False):
    """Feedback on the arrival rate alone, Kelly (2000): p is a power of the load."""

    kind: Required[Literal['rate']]
    exponent: int
    """The exponent B: 1 to 64 (default 16)."""
    start: float
    """The load at which marking starts: 0 to 0.99 (default 0)."""
    period: Time
    """Time over which arrivals are counted: "1us" to "1000s" (default "10ms")."""
    averaging: Time
    """Time constant of the smoothing, "0s" (none) to "1000s" (default "0s")."""
    ecn: EcnMarking
    """Mark ECN-capable packets instead of dropping them, with "ect0" only those of ECT(0)
    (default false)."""
    queue_in_bytes: bool
    """Measure the queue, and arrivals where they count, in bytes divided by `mean_packet`
    instead of in packets (default false)."""
    scale_by_size: bool
    """Multiply the probability by the packet's size over `mean_packet` (default false)."""
    mean_packet: int
    """Mean packet in bytes, 40 to 65535; default: the link's."""
    limit: int
    """Most packets in the queue: 1 to 67108864 (default 1000000)."""


PythonQueueDiscipline = TypedDict(
    'PythonQueueDiscipline',
    {
        'kind': "Required[Literal['python']]",
        'class': 'str',
        'with': 'object',
        'ecn': 'EcnMarking',
        'limit': 'int',
    },
    total=False,
)
"""A discipline written in Python: a class that decides, in a queue that is kept here."""


class CodelQueueDiscipline(TypedDict, total=False):
    """Controlled delay, Nichols and Jacobson (RFC 8289): drops by the time spent in the
    queue."""

    kind: Required[Literal['codel']]
    target: Time
    """Sojourn time that may stand: "1us" to "100s" (default "5ms": RFC 8289 section 4.3, 5
    to 10 % of `interval`)."""
    interval: Time
    """For how long it may be above `target`, and the time to the second drop; about the
    longest round trip: "1us" to "100s" (default "100ms": RFC 8289 section 4.2)."""
    ecn: EcnMarking
    """Mark ECN-capable packets instead of dropping them, with "ect0" only those of ECT(0)
    (default false, as in Linux)."""
    ce_threshold: Time
    """Mark every ECN-capable packet whose sojourn time is above this, with `ecn = false`
    too and beside what `target` does: "1us" to "100s"; default: never. As in Linux, for
    data centres."""
    mtu: int
    """Drop nothing if this many bytes or fewer would be left: 40 to 65535; default: 1500,
    or the link's mean packet if that is larger (RFC 8289 section 4.1: an MTU)."""
    limit: int
    """Most packets in the queue: 1 to 67108864 (default 1000, as in Linux)."""


class FqCodelQueueDiscipline(TypedDict, total=False):
    """Flow queueing with controlled delay (RFC 8290): CoDel in each of many queues, served
    in turn."""

    kind: Required[Literal['fq_codel']]
    target: Time
    """Sojourn time that may stand in a queue: "1us" to "100s" (default "5ms": RFC 8290
    section 5.2.2)."""
    interval: Time
    """For how long it may be above `target`, about the longest round trip: "1us" to "100s"
    (default "100ms": RFC 8290 section 5.2.1)."""
    ecn: EcnMarking
    """Mark ECN-capable packets instead of dropping them, with "ect0" only those of ECT(0)
    (default true: RFC 8290 section 5.2.6)."""
    ce_threshold: Time
    """Mark every ECN-capable packet whose sojourn time is above this, with `ecn = false`
    too: "1us" to "100s"; default: never (RFC 8290 section 5.2.7)."""
    ce_threshold_selector: CeThresholdSelector
    """Which packets that is for: all that are ECN-capable ("any"), or those that say ECT(1)
    ("ect1"; default "any": RFC 8290 section 5.2.7; the other is of Linux 5.16, for L4S)."""
    mtu: int
    """CoDel drops nothing if this many bytes or fewer would be left: 40 to 65535; default:
    1500, or the link's mean packet if that is larger."""
    whole_backlog: bool
    """Whether `mtu` is compared with what all queues hold or with the packet's own queue
    (default true, as in Linux)."""
    flows: int
    """Number of queues: 1 to 65536 (default 1024: RFC 8290 section 5.2.5)."""
    quantum: int
    """Bytes a queue may send in a round: 256 to 1048576; default: 1500, or the link's mean
    packet if that is larger (RFC 8290 section 5.2.4: an MTU)."""
    limit: int
    """Most packets in all queues: 1 to 67108864 (default 10240: RFC 8290 section 5.2.3)."""
    memory_limit: Size
    """Most bytes in all queues; at least one packet (default "32MiB", as in Linux)."""


class CobaltQueueDiscipline(TypedDict, total=False):
    """CoDel and BLUE in one, as in CAKE (Palmei and others, 2019)."""

    kind: Required[Literal['cobalt']]
    target: Time
    """Sojourn time that may stand, and the least time between two changes of BLUE's
    probability: "1us" to "100s" (default "5ms", as CAKE and RFC 8289)."""
    interval: Time
    """Time from the first packet above `target` to the first signal, and to the second:
    "1us" to "100s" (default "100ms", as CAKE and RFC 8289)."""
    first_interval: bool
    """Whether the first signal of all waits for an `interval` too, as every later one does
    (default true). CAKE's comes with the second packet that waited too long: before its
    `count` has ever changed, what it keeps of the root is zero."""
    blue_threshold: Time
    """Sojourn time above which BLUE's probability rises though the queue is not full: "1us"
    to "100s" (default "400ms": the paper's, as in ns-3)."""
    increment: float
    """By how much BLUE's probability rises: 0 to 1 (default 0.00390625, 1/256, as CAKE)."""
    decrement: float
    """By how much it falls: 0 to 1 (default 0.000244140625, 1/4096, as CAKE)."""
    ecn: EcnMarking
    """Mark ECN-capable packets instead of dropping them, with "ect0" only those of ECT(0),
    but for BLUE's (default true, as CAKE)."""
    mtu: int
    """The guard for slow links: a packet is above the target only if it waited for longer
    than the link takes for four times this many bytes, 40 to 65535; default: 1500, or the
    link's mean packet if that is larger (CAKE: the device's MTU)."""
    limit: int
    """Most packets in the queue: 1 to 67108864 (default 1000, as in ns-3)."""


class CakeQueueDiscipline(TypedDict, total=False):
    """Shaper, tins, host and flow isolation and COBALT in one (Høiland-Jørgensen, Täht and
    Morton, 2018)."""

    kind: Required[Literal['cake']]
    bandwidth: Rate
    """The shaper's rate, of bytes on the line: "1kbit" to "1tbit"; default: none, the link
    sets the pace."""
    rtt: Time
    """The round trip that the traffic is taken to have: COBALT's interval, and twenty times
    its target: "20us" to "100s" (default "100ms", as in Linux)."""
    tins: CakeTins
    """How codepoints are put into tins: "besteffort", "diffserv3", "diffserv4", "diffserv8"
    or "precedence" (default "diffserv3", as in Linux)."""
    isolation: CakeIsolation
    """Between whom the line is shared evenly: "flowblind", "srchost", "dsthost", "hosts",
    "flows", "dual_srchost", "dual_dsthost" or "triple_isolate" (default "triple_isolate",
    as in Linux)."""
    link_layer: CakeLinkLayer
    """What the line adds to an IP packet, by the name that tc has for it: "raw" is nothing
    (default "raw")."""
    overhead: int
    """Bytes that the line adds beside those of `link_layer`: together -64 to 256 (default
    0)."""
    mpu: int
    """The shortest packet on the line, in bytes: 0 to 256; default: that of `link_layer`."""
    framing: CakeFraming
    """What the line cuts packets into: "none", "atm" (cells of 53 bytes with 48 of payload)
    or "ptm" (a byte more for every 64); default: that of `link_layer`."""
    ingress: bool
    """Count what is dropped as sent, for a shaper behind the bottleneck (default false)."""
    autorate_ingress: bool
    """Follow the rate at which packets come instead of keeping to `bandwidth`, for a shaper
    behind a bottleneck whose rate changes (default false)."""
    ack_filter: CakeAckFilter
    """Drop acknowledgements that a later one in the same queue makes superfluous: "off",
    "normal", which leaves one of them, or "aggressive" (default "off")."""
    ecn: EcnMarking
    """Mark ECN-capable packets instead of dropping them, with "ect0" only those of ECT(0),
    but for BLUE's (default true: Linux knows nothing else)."""
    memory_limit: Size
    """Most bytes in all queues: at least one packet, at most "1GB"; default: four times
    what the line carries in `rtt`, at least "4MiB" and at most 10240 packets, as in Linux."""


class SfqQueueDiscipline(TypedDict, total=False):
    """Stochastic fairness queueing, McKenney (1990): a queue for each hash of a flow, in
    turn."""

    kind: Required[Literal['sfq']]
    divisor: int
    """Number of values of the hash: 1 to 65536 (default 1024, as in Linux)."""
    flows: int
    """Most queues in use at once: 1 to 65536 (default 128, as in Linux)."""
    depth: int
    """Most packets in one queue: 1 to 65536 (default 127, as in Linux)."""
    quantum: int
    """Bytes a queue may send in a round: 256 to 1048576; default: 1500, or the link's mean
    packet if that is larger (Linux: an MTU)."""
    perturb: Time
    """How often the hash changes: "1ms" to "1000000s", in Linux customarily "10s"; default:
    never."""
    head_drop: bool
    """Drop at the head of a queue instead of at its tail (default false, as in Linux)."""
    limit: int
    """Most packets in all queues: 1 to 67108864 (default 127, as in Linux)."""


class FqPieQueueDiscipline(TypedDict, total=False):
    """Flow queueing with PIE in each of many queues, as in Linux."""

    kind: Required[Literal['fq_pie']]
    target: Time
    """The delay to hold: "1us" to "1000s" (default "15ms", RFC 8033)."""
    tupdate: Time
    """Time between two updates: "1us" to "1000s" (default "15ms", RFC 8033)."""
    first_update: Time
    """When the first update is, from when the queue is made; default: `tupdate` (Linux:
    "500ms")."""
    decay: float
    """What an update leaves of p once two in a row found no delay: 0.5 to 1 (default 0.98,
    RFC 8033 section 4.2; Linux: 63/64)."""
    alpha: float
    """Gain on the delay's distance from the target, in hertz: 0 to 32 (default 0.125, RFC
    8033)."""
    beta: float
    """Gain on the delay's change since the last update, in hertz: 0 to 32 (default 1.25,
    RFC 8033)."""
    max_burst: Time
    """For how long after a quiet time everything passes: up to "1000s" (default "150ms",
    RFC 8033)."""
    linux_guards: bool
    """The guards of Linux (default false, RFC 8033): the burst allowance is spent at
    departures and renewed at updates, the delay that spares early drops is that of the
    packet that left last and not that of the last update, and p does not decay while
    anything stands in the queue."""
    delay: Delay
    """How the delay is known: "timestamps" (default, as Linux) or "rate" (RFC 8033 section
    5.2)."""
    derandomize: bool
    """Space drops by accumulating p (default true, RFC 8033 section 5.4)."""
    high_delay: Time
    """Delay above which every update adds another 0.02 to p, at least `target`; default:
    none (Linux: "250ms")."""
    max_probability: float
    """Largest p: 1 to 4 (default 1, RFC 8033 section 4.2). One above 1 has to come down to
    1 before anything passes again, as in Linux."""
    ecn: EcnMarking
    """Mark ECN-capable packets instead of dropping them, with "ect0" only those of ECT(0)
    (default false)."""
    mark_ecn_th: float
    """With `ecn`: the p above which ECN-capable packets are dropped too: 0 to 1 (default
    0.1, RFC 8033 section 5.1)."""
    scale_by_size: bool
    """Multiply the probability by the packet's size over `mean_packet` (default false)."""
    mean_packet: int
    """Mean packet in bytes, 40 to 65535; two of them always pass. Default: the link's."""
    flows: int
    """Number of queues: 1 to 65536 (default 1024, as in Linux)."""
    quantum: int
    """Bytes a queue may send in a round: 256 to 1048576; default: 1500, or the link's mean
    packet if that is larger (Linux: an MTU)."""
    limit: int
    """Most packets in all queues: 1 to 67108864 (default 10240, as in Linux)."""
    memory_limit: Size
    """Most bytes in all queues; at least one packet (default "32MiB", as in Linux)."""


class PrioQueueDiscipline(TypedDict, total=False):
    """Strict priority over classes: a class sends when no earlier one has packets."""

    kind: Required[Literal['prio']]
    classes: list[PrioClass]
    """The classes, the most urgent first: 1 to 64 (default: `high`, `middle` and `low`, by
    codepoint)."""
    default: str
    """Name of the class for packets that no class names (default: the last; with the
    default classes `middle`)."""


class DrrQueueDiscipline(TypedDict, total=False):
    """Deficit round robin over classes, Shreedhar and Varghese (1996)."""

    kind: Required[Literal['drr']]
    classes: list[DrrClass]
    """The classes: 1 to 64 (default: one for everything)."""
    quantum: Size
    """Bytes that a class of weight 1 may send in a turn: "1B" to "1GB" (default: the link's
    mean packet). The paper wants at least the largest packet, for turns that cost the same
    work."""
    default: str
    """Name of the class for packets that no class names (default: the last)."""


class TbfQueueDiscipline(TypedDict, total=False):
    """A token bucket over another discipline: holds packets back to a rate and a burst."""

    kind: Required[Literal['tbf']]
    rate: Rate
    """The rate in the long run, of IP bytes: "1kbit" to "10tbit" (default: nine tenths of
    the link's, so that packets wait here and not behind)."""
    burst: Size
    """Depth of the bucket: at least the largest packet, at most "1GB" (default "15kB", ten
    packets of Ethernet)."""
    peak_rate: Rate
    """A second limit, for the packets of a burst: above `rate`, at most "10tbit" (default:
    none, a burst leaves as fast as the link sends)."""
    peak_burst: Size
    """Depth of the bucket for `peak_rate`: at least the largest packet, at most "1GB"
    (default "1500B"). Larger packets are dropped."""
    qdisc: QueueDiscipline
    """The discipline whose packets these are (default: droptail)."""


class CbqQueueDiscipline(TypedDict, total=False):
    """Class-based queueing, Floyd and Van Jacobson (1995): link-sharing over a tree of
    classes."""

    kind: Required[Literal['cbq']]
    classes: list[CbqClass]
    """The classes below the link: with those inside them at most 64 with queues (default:
    one for everything)."""
    default: str
    """Name of the class for packets that no class names; it must have a queue (default: the
    last that has)."""
    borrowing: Borrowing
    """When a class that is over its limit may send: "none", "ancestor", "top_level" or
    "formal" (default "ancestor")."""
    rounds: Rounds
    """How classes of one priority take turns: "weighted" by their shares, or "packet" by
    packet (default "weighted")."""
    max_burst: int
    """How many packets of mean size a class may send at once after a pause, above its
    share: 1 to 1000 (default 16); each class's `maxidle` follows from it."""


QueueDiscipline: TypeAlias = "Literal['droptail', 'red', 'ared', 'feng_red', 'choke', 'proportional', 'pi', 'pi_table', 'pie', 'pi2', 'dualpi2', 'blue', 'avq', 'rem', 'rate', 'python', 'codel', 'fq_codel', 'cobalt', 'cake', 'sfq', 'fq_pie', 'prio', 'drr', 'tbf', 'cbq'] | DroptailQueueDiscipline | RedQueueDiscipline | AredQueueDiscipline | FengRedQueueDiscipline | ChokeQueueDiscipline | ProportionalQueueDiscipline | PiQueueDiscipline | PiTableQueueDiscipline | PieQueueDiscipline | Pi2QueueDiscipline | Dualpi2QueueDiscipline | BlueQueueDiscipline | AvqQueueDiscipline | RemQueueDiscipline | RateQueueDiscipline | PythonQueueDiscipline | CodelQueueDiscipline | FqCodelQueueDiscipline | CobaltQueueDiscipline | CakeQueueDiscipline | SfqQueueDiscipline | FqPieQueueDiscipline | PrioQueueDiscipline | DrrQueueDiscipline | TbfQueueDiscipline | CbqQueueDiscipline"
"""A queue discipline: its name, or a table with `kind` and parameters."""


Preset: TypeAlias = "Literal['floyd'] | Literal['ns2'] | Literal['altq'] | Literal['linux']"
"""Whose RED: where those parameters come from that are not given."""


Spacing: TypeAlias = "Literal['uniform'] | Literal['wait'] | Literal['altq']"
"""How far apart hits lie while p_b stays what it is."""


EcnMarking: TypeAlias = "Literal[False, True, 'ect0']"
"""Which packets are marked instead of dropped: none (false), those that are ECN-capable
(true), or of these only ECT(0), so that ECT(1) is dropped as what is not ECN-capable
("ect0")."""


Grid: TypeAlias = "Literal['linear'] | Literal['sqrt'] | Literal['log'] | Literal['geometric'] | Literal['optimal']"
"""How the entries of a table lie."""


Delay: TypeAlias = "Literal['timestamps'] | Literal['rate']"
"""How the delay is known."""


Marking: TypeAlias = "Literal['ramp'] | Literal['step']"
"""How L marks on its own."""


Scheduler: TypeAlias = "Literal['wrr'] | Literal['time_shifted']"
"""Which queue is served."""


Decision: TypeAlias = "Literal['recur'] | Literal['random']"
"""How a probability becomes a decision."""


CeThresholdSelector: TypeAlias = "Literal['any'] | Literal['ect1']"
"""Which ECN-capable packets `ce_threshold` marks."""


CakeTins: TypeAlias = "Literal['besteffort'] | Literal['diffserv3'] | Literal['diffserv4'] | Literal['diffserv8'] | Literal['precedence']"
"""How codepoints are put into tins."""


CakeIsolation: TypeAlias = "Literal['flowblind'] | Literal['srchost'] | Literal['dsthost'] | Literal['hosts'] | Literal['flows'] | Literal['dual_srchost'] | Literal['dual_dsthost'] | Literal['triple_isolate']"
"""What a queue is for, and between whom the line is shared evenly."""


CakeLinkLayer: TypeAlias = "Literal['raw'] | Literal['conservative'] | Literal['ethernet'] | Literal['docsis'] | Literal['ipoa_vcmux'] | Literal['ipoa_llcsnap'] | Literal['bridged_vcmux'] | Literal['bridged_llcsnap'] | Literal['pppoa_vcmux'] | Literal['pppoa_llc'] | Literal['pppoe_vcmux'] | Literal['pppoe_llcsnap'] | Literal['pppoe_ptm'] | Literal['bridged_ptm']"
"""A kind of line, by the names that `tc` has: bytes added, shortest packet, framing."""


CakeFraming: TypeAlias = "Literal['none'] | Literal['atm'] | Literal['ptm']"
"""What the line cuts packets into."""


CakeAckFilter: TypeAlias = "Literal['off'] | Literal['normal'] | Literal['aggressive']"
"""Which acknowledgements go when a later one says the same."""


class PrioClass(TypedDict, total=False):
    """A class of strict priority."""

    name: Required[str]
    """Its name, for tables and variations."""
    labels: list[str]
    """Labels of the traffic that it takes (default: none)."""
    dscp: list[Dscp]
    """Codepoints that it takes, where a packet's label is no class's: 0 to 63 or names
    (default: none)."""
    qdisc: QueueDiscipline
    """Its queue (default: droptail)."""


Dscp: TypeAlias = "int | Literal['default', 'le', 'cs1', 'af11', 'af12', 'af13', 'cs2', 'af21', 'af22', 'af23', 'cs3', 'af31', 'af32', 'af33', 'cs4', 'af41', 'af42', 'af43', 'cs5', 'voice-admit', 'ef', 'cs6', 'cs7', 'cs0']"
"""A differentiated services codepoint: a number or a name like "ef"."""


class DrrClass(TypedDict, total=False):
    """A class of deficit round robin."""

    name: Required[str]
    """Its name, for tables and variations."""
    weight: float
    """Its part of the link is its weight among those of all that have packets: 0.001 to
    1000 (default 1)."""
    labels: list[str]
    """Labels of the traffic that it takes (default: none)."""
    dscp: list[Dscp]
    """Codepoints that it takes, where a packet's label is no class's: 0 to 63 or names
    (default: none)."""
    qdisc: QueueDiscipline
    """Its queue (default: droptail)."""


class CbqClass(TypedDict, total=False):
    """A class of CBQ: with a queue, or with further classes inside."""

    name: Required[str]
    """Its name, for tables and variations."""
    share: Required[float]
    """Its part of the class around it, or of the link: above 0, those of all together at
    most 1."""
    priority: int
    """Classes of a lower number send first: 1 to 8 (default 1). Only of those with queues."""
    borrow: bool
    """Whether it may borrow from the class around it, or from the link (default true)."""
    maxidle: Time
    """Most that the average of its idle time is credited (default: what `max_burst` needs)."""
    minidle: Time
    """How far that average may fall below zero: how long the class pays for what it
    borrowed (default: no bound)."""
    extradelay: Time
    """How much longer it waits when it is held back, to send a burst then (default "0ns")."""
    labels: list[str]
    """Labels of the traffic that it takes (default: none)."""
    dscp: list[Dscp]
    """Codepoints that it takes, where a packet's label is no class's: 0 to 63 or names
    (default: none)."""
    qdisc: QueueDiscipline
    """Its queue (default: droptail); a class with classes inside has none."""
    classes: list[CbqClass]
    """Classes inside it (default: none)."""


Borrowing: TypeAlias = "Literal['none'] | Literal['ancestor'] | Literal['top_level'] | Literal['formal']"
"""When a class that is over its limit may send nevertheless."""


Rounds: TypeAlias = "Literal['weighted'] | Literal['packet']"
"""How classes of one priority take turns."""


DistributionOfTime: TypeAlias = "str | DistributionTableOfTime"
"""A distribution of a time: a constant such as "60ms", a uniform range "a..b", or a table
whose `dist` names the distribution."""


class DistributionTableOfTime(TypedDict, total=False):
    """The table form of a distribution. `dist` names it and decides which other fields
    there are: constant (value), uniform (min, max, step), even (min, max), exponential
    (mean), pareto (shape, min, max), bounded_pareto (shape, min, max), lomax (shape, scale,
    max), lognormal (mean, sd, min, max), weibull (shape, scale, max), inverse_weibull
    (shape, scale, max), packmime (location, location_variance, shape, variance), quantiles
    (points or file, interpolate), mixture (parts)."""

    dist: DistributionName
    """The distribution's name."""
    even: str
    """Short for `dist = "even"`: a range "a..b" over which the members of a group are
    spread evenly, the first at a, the last at b."""
    value: Time
    """The value of a constant."""
    min: Time
    """Least value."""
    max: Time
    """Greatest value. A pareto, lomax, weibull or inverse_weibull is capped there; a
    lognormal and a bounded_pareto are conditioned on staying below."""
    step: Time
    """Distance between the values of a discrete uniform distribution."""
    mean: Time
    """Mean; of a lognormal: before min and max cut it."""
    sd: Time
    """Standard deviation of a lognormal before min and max cut it."""
    shape: float
    """Shape: the tail index of a pareto, bounded_pareto, lomax or inverse_weibull, the
    exponent of a weibull, the shape of the gamma distribution of a packmime."""
    scale: Time
    """Scale of a lomax, weibull or inverse_weibull."""
    location: float
    """Mean of the base-2 logarithm (of seconds or bytes) of a packmime."""
    location_variance: float
    """Variance of the location between members of a packmime."""
    variance: float
    """Variance within a member of a packmime."""
    points: list[list[float | Time]]
    """Points [probability, value] of an empirical distribution."""
    file: str
    """CSV file of lines "probability, value"; values without a unit are seconds or bytes."""
    interpolate: Interpolate
    """How an empirical distribution goes from point to point."""
    parts: list[PartOfTime]
    """Parts {weight, value} of a mixture."""


DistributionName: TypeAlias = "Literal['constant', 'uniform', 'even', 'exponential', 'pareto', 'bounded_pareto', 'lomax', 'lognormal', 'weibull', 'inverse_weibull', 'packmime', 'quantiles', 'mixture']"


Interpolate: TypeAlias = "Literal['log'] | Literal['linear']"
"""How values between two points of a quantile table are found."""


class PartOfTime(TypedDict, total=False):
    """One part of a mixture."""

    weight: Required[float]
    """Weight; the weights need not add up to 1."""
    value: Required[DistributionOfTime]
    """What is drawn when this part is chosen."""


class Device(TypedDict, total=False):
    """The queue of a network device (its ring), between the discipline and the transmitter.
    The discipline hands packets down as long as there is room, so what they wait here it
    does not see."""

    packets: int
    """Packets that it holds, the one in transmission not counted; 0: there is no such
    queue."""
    bytes: Size
    """Packets are handed down as long as it holds fewer bytes than this."""
    bql: bool
    """Whether Linux's byte queue limits (BQL) hold what is handed down as short as keeps
    the device busy."""
    interrupts: Time
    """With `bql`: time from the end of a transmission to the interrupt that reports it,
    with all others that have ended since; the bytes count until then. "0ns": each is
    reported at once."""


class Docsis(TypedDict, total=False):
    """The upstream of a cable modem (DOCSIS): the modem asks, the head-end grants, and
    packets leave in bursts."""

    map_interval: Time
    """How long the grants of a MAP reach, from "100us" to "100ms"."""
    request_delay: Time
    """From the sending of a request to the start of the first MAP interval that can grant
    it, at least: up to "100ms"."""
    channel: Rate
    """Rate of a burst, at least the link's `rate`, which is what the head-end grants on
    average. As `rate` if left out."""
    burst: Size
    """Bytes that the head-end grants beyond `rate` after a pause (the Maximum Traffic
    Burst), from "1522B" to "1GB"."""


class Autorate(TypedDict, total=False):
    """The control loop of cake-autorate: a shaper whose rate follows the delay of pings and
    its load. The link's `rate` is where it begins and to what it returns."""

    pings: Required[str]
    """The group of kind `ping` whose answers it hears; each member is a pinger with a
    baseline of its own."""
    min: Rate
    """Never below this rate; a quarter of the link's if left out."""
    max: Rate
    """Never above this rate; four times the link's if left out."""
    late: Time
    """An answer is late if half of its round trip is more than this above its baseline;
    three of six late ones lower the rate. From "1ms" to "10s"."""
    calm: Time
    """Up to this mean of six delays above the baseline the rate is raised at full speed, by
    4 %; between it and `late` by less. Below `late`."""
    bloated: Time
    """From this mean on the rate is lowered at full speed, by 25 %; between `late` and this
    by less. Above `late`, at most "10s"."""


class ReverseTable(TypedDict, total=False):
    """Single fields of a link that differ from those of the forward direction."""

    rate: Rate
    """Rate in bits per second; it is constant unless a `schedule` is given beside it."""
    schedule: Schedule
    """How the rate changes."""
    delay: Time
    """One-way propagation delay."""
    qdisc: QueueDiscipline
    """Queue discipline."""
    frame_overhead: int
    """Bytes that each packet costs on the wire beyond the IP packet."""
    min_frame: int
    """Least bytes that a packet takes on the wire."""
    mean_packet: int
    """Mean packet size in bytes that disciplines assume."""
    loss: float
    """Probability that a packet is lost on the wire; independent losses unless a
    `loss_burst` is given beside it."""
    loss_burst: float
    """Mean number of packets lost in a row."""
    jitter: DistributionOfTime
    """Delay of each packet on the wire beyond `delay`; in order unless `reorder` is given
    beside it."""
    reorder: bool
    """Let `jitter` change the order of packets."""
    device: Device
    """A queue of the device below the discipline; `{ packets = 0 }`: none."""
    docsis: Docsis
    """The upstream of a cable modem; none, if a `rate` is given and not this beside it."""
    wifi: str
    """The name of a `[[wifi]]`."""
    autorate: Autorate
    """Let the rate follow the delay of pings; not, if a `rate` is given and not this beside
    it."""


Reverse: TypeAlias = "Literal['ideal'] | ReverseTable"
"""The direction back. Left out, it is like the direction forward."""


class ParkingLot(TypedDict, total=False):
    """A parking lot: the nodes `n0`, `n1`, …, the links `hop1` from n0 to n1, `hop2` from
    n1 to n2, …, and `back1` from n1 to n0, …."""

    hops: Required[int]
    """How many links there are in a row."""
    rate: Required[Rate]
    """Rate in bits per second, such as "100mbit". Only a link of the free form `[[links]]`
    may leave it out; it is then ideal: pure delay, no queue."""
    schedule: Schedule
    """How the rate changes, if it does: a table with `kind`, one of `steps`, `trace`,
    `lognormal`, `markov` and `radio`, and its parameters. Disciplines, and a `load`, are
    told `rate`."""
    delay: Time
    """One-way propagation delay."""
    qdisc: QueueDiscipline
    """Queue discipline: its name, for its defaults, or a table with `kind` and its
    parameters."""
    frame_overhead: int
    """Bytes that each packet costs on the wire beyond the IP packet (Ethernet: 38)."""
    min_frame: int
    """Least bytes that a packet takes on the wire, overhead included (Ethernet: 84)."""
    mean_packet: int
    """Mean packet size in bytes that disciplines assume where they must know the rate in
    packets."""
    loss: float
    """Probability that a packet is lost on the wire after its transmission, from 0 to below
    1."""
    loss_burst: float
    """Mean number of packets lost in a row (Gilbert's model: all are lost in the bad state,
    none in the good one), with the same `loss`. Left out, each is lost on its own."""
    jitter: DistributionOfTime
    """Delay of each packet on the wire beyond `delay`, a distribution. Packets keep their
    order: one that would overtake arrives together with the one before it."""
    reorder: bool
    """Let `jitter` change the order of packets."""
    device: Device
    """A queue of the device below the discipline, which does not see it."""
    docsis: Docsis
    """The upstream of a cable modem: requests, grants and bursts; `{}` for its defaults."""
    wifi: str
    """The name of a `[[wifi]]`: its medium, on which `rate` is that of the PHY for this
    link."""
    autorate: Autorate
    """Let the rate follow the delay of pings, as cake-autorate does."""
    reverse: Reverse
    """Each hop back, as in `[bottleneck]`."""


NamedLink = TypedDict(
    'NamedLink',
    {
        'name': 'Required[str]',
        'from': 'Required[str]',
        'to': 'Required[str]',
        'count': 'int',
        'rate': 'Rate',
        'schedule': 'Schedule',
        'delay': 'Time',
        'qdisc': 'QueueDiscipline',
        'frame_overhead': 'int',
        'min_frame': 'int',
        'mean_packet': 'int',
        'loss': 'float',
        'loss_burst': 'float',
        'jitter': 'DistributionOfTime',
        'reorder': 'bool',
        'device': 'Device',
        'docsis': 'Docsis',
        'wifi': 'str',
        'autorate': 'Autorate',
    },
    total=False,
)
"""One direction of one link in a graph of any shape. The nodes are those that links name."""


class Wifi(TypedDict, total=False):
    """A medium of Wi-Fi: one transmission at a time, of whatever node wins the contention.
    Links name it in `wifi`; those that come from the same node contend as one."""

    name: str
    """What links call it."""
    slot: Time
    """A slot of the backoff, "1us" to "1ms"."""
    sifs: Time
    """From the end of a frame to its acknowledgement, at most "1ms"."""
    aifs: Time
    """How long the medium must be idle before the backoff goes on, at most "1ms": AIFS, or
    DIFS. "43us" is that of best effort."""
    cw_min: int
    """The backoff is drawn from 0 to this many slots, 1 to 32767."""
    cw_max: int
    """With every collision the window doubles, up to this: `cw_min` to 32767."""
    preamble: Time
    """What comes before the bytes of every frame: preamble and header of the PHY, at most
    "1ms"."""
    ack: Time
    """An acknowledgement, or a block acknowledgement, with its preamble, at most "1ms"."""
    ack_timeout: Time
    """From the end of a collision until the medium counts as idle, at most "10ms"; `sifs`
    and `ack` (EIFS) if left out."""
    mpdu_overhead: int
    """Bytes of each frame beyond the packet and the link's `frame_overhead`: MAC header,
    LLC and FCS (38), and the delimiter in an aggregate (4). At most 1000."""
    aggregate_packets: int
    """Packets in an aggregate (A-MPDU) at most, 1 to 256; 1: none is made."""
    aggregate_bytes: Size
    """Bytes in an aggregate at most, "1500B" to "4MiB". A packet is sent however large it
    is."""
    aggregate_time: Time
    """Time of an aggregate's bytes on air at most, "10us" to "100ms". A packet is sent
    however long it takes."""
    hardware: int
    """Aggregates that are below the disciplines, the one on air counted: 1 to 64. Linux has
    two."""
    turns: Turns
    """Whose turn it is at a node that sends to several others: "airtime" or "round_robin"."""
    quantum: Time
    """With `turns = "airtime"`: the airtime that each gets in its turn, "10us" to "100ms"."""


Turns: TypeAlias = "Literal['airtime'] | Literal['round_robin']"
"""Whose turn it is at a node that sends to several others."""


class Access(TypedDict, total=False):
    """The interfaces of hosts: each flow has its own at each of its ends, where packets of
    different flows never meet, unless `hosts` says otherwise."""

    rate: Rate
    """Rate of each private link; unlimited if left out."""
    queue: int
    """Packets of full size that may wait at the interface of a sending host, its
    `txqueuelen`; unlimited if left out. When it is full no more is sent, and TCP takes it
    for congestion, as Linux did in 2003. Needs `rate`."""
    hosts: int
    """Machines at either end of a group, over which its flows or users are dealt in turn:
    those on one machine share its interface and its queue. 1 to 1000000; each flow has a
    machine of its own if left out. Needs `rate`."""
    processing: Time
    """The longest time that a sending host takes over a segment or datagram: each takes a
    random time between nothing and this, uniformly, and they stay in order. A little of it
    (the time of a packet on the bottleneck) breaks the marching in step of flows with the
    same round trip, which drop-tail queues turn into unfairness (Floyd and Jacobson, 1992)."""


BulkGroup = TypedDict(
    'BulkGroup',
    {
        'name': 'str',
        'from': 'str',
        'to': 'str',
        'label': 'str',
        'dscp': 'Dscp',
        'host': 'str',
        'direction': 'Direction',
        'path': 'list[str]',
        'rtt': 'DistributionOfTime',
        'start': 'DistributionOfTime',
        'stop': 'Time',
        'transport': 'Transport',
        'tcp': 'Tcp',
        'quic': 'Quic',
        'kind': "Required[Literal['bulk']]",
        'flows': 'int',
        'size': 'DistributionOfSize',
        'repeat': 'bool',
        'gap': 'DistributionOfTime',
        'rate': 'Rate',
        'chunk': 'Size',
    },
    total=False,
)
"""Bulk transfers over TCP."""


WebGroup = TypedDict(
    'WebGroup',
    {
        'name': 'str',
        'from': 'str',
        'to': 'str',
        'label': 'str',
        'dscp': 'Dscp',
        'host': 'str',
        'direction': 'Direction',
        'path': 'list[str]',
        'rtt': 'DistributionOfTime',
        'start': 'DistributionOfTime',
        'stop': 'Time',
        'transport': 'Transport',
        'tcp': 'Tcp',
        'quic': 'Quic',
        'kind': "Required[Literal['web']]",
        'users': 'int',
        'load': 'float',
        'model': 'Model',
        'think': 'DistributionOfTime',
        'har': 'Recording',
        'embedded': 'DistributionOfCount',
        'level': 'DistributionOfCount',
        'request': 'DistributionOfSize',
        'response': 'DistributionOfSize',
        'embedded_response': 'DistributionOfSize',
        'persistent_response': 'DistributionOfSize',
        'response_scale': 'float',
        'server_delay': 'DistributionOfTime',
        'parse': 'DistributionOfTime',
        'gap': 'DistributionOfTime',
        'persistent': 'float',
        'pages_per_connection': 'DistributionOfCount',
        'http': 'Http',
        'tls': 'bool',
        'parallel': 'int',
        'priorities': 'Priorities',
        'servers': 'DistributionOfCount',
        'first_share': 'float',
        'server_rtt': 'DistributionOfTime',
        'rtt_per': 'RttPer',
    },
    total=False,
)
"""Web users."""


TransfersGroup = TypedDict(
    'TransfersGroup',
    {
        'name': 'str',
        'from': 'str',
        'to': 'str',
        'label': 'str',
        'dscp': 'Dscp',
        'host': 'str',
        'direction': 'Direction',
        'path': 'list[str]',
        'rtt': 'DistributionOfTime',
        'start': 'DistributionOfTime',
        'stop': 'Time',
        'transport': 'Transport',
        'tcp': 'Tcp',
        'quic': 'Quic',
        'kind': "Required[Literal['transfers']]",
        'rate': 'float',
        'load': 'float',
        'size': 'Required[DistributionOfSize]',
    },
    total=False,
)
"""Transfers that arrive at random."""


UdpGroup = TypedDict(
    'UdpGroup',
    {
        'name': 'str',
        'from': 'str',
        'to': 'str',
        'label': 'str',
        'dscp': 'Dscp',
        'host': 'str',
        'direction': 'Direction',
        'path': 'list[str]',
        'rtt': 'DistributionOfTime',
        'start': 'DistributionOfTime',
        'stop': 'Time',
        'transport': 'Transport',
        'tcp': 'Tcp',
        'quic': 'Quic',
        'kind': "Required[Literal['udp']]",
        'flows': 'int',
        'rate': 'Required[Rate]',
        'packet': 'Size',
        'poisson': 'bool',
        'ecn': 'Codepoint',
    },
    total=False,
)
"""UDP at a constant rate, or Poisson."""


OnoffGroup = TypedDict(
    'OnoffGroup',
    {
        'name': 'str',
        'from': 'str',
        'to': 'str',
        'label': 'str',
        'dscp': 'Dscp',
        'host': 'str',
        'direction': 'Direction',
        'path': 'list[str]',
        'rtt': 'DistributionOfTime',
        'start': 'DistributionOfTime',
        'stop': 'Time',
        'transport': 'Transport',
        'tcp': 'Tcp',
        'quic': 'Quic',
        'kind': "Required[Literal['onoff']]",
        'flows': 'int',
        'rate': 'Required[Rate]',
        'packet': 'Size',
        'on': 'Required[DistributionOfTime]',
        'off': 'Required[DistributionOfTime]',
        'ecn': 'Codepoint',
    },
    total=False,
)
"""UDP that is on and off at random."""


ReplayGroup = TypedDict(
    'ReplayGroup',
    {
        'name': 'str',
        'from': 'str',
        'to': 'str',
        'label': 'str',
        'dscp': 'Dscp',
        'host': 'str',
        'direction': 'Direction',
        'path': 'list[str]',
        'rtt': 'DistributionOfTime',
        'start': 'DistributionOfTime',
        'stop': 'Time',
        'transport': 'Transport',
        'tcp': 'Tcp',
        'quic': 'Quic',
        'kind': "Required[Literal['replay']]",
        'file': 'Required[str]',
    },
    total=False,
)
"""Transfers from a file."""


PingGroup = TypedDict(
    'PingGroup',
    {
        'name': 'str',
        'from': 'str',
        'to': 'str',
        'label': 'str',
        'dscp': 'Dscp',
        'host': 'str',
        'direction': 'Direction',
        'path': 'list[str]',
        'rtt': 'DistributionOfTime',
        'start': 'DistributionOfTime',
        'stop': 'Time',
        'transport': 'Transport',
        'tcp': 'Tcp',
        'quic': 'Quic',
        'kind': "Required[Literal['ping']]",
        'flows': 'int',
        'interval': 'Time',
        'size': 'Size',
        'ecn': 'Codepoint',
    },
    total=False,
)
"""Probes of delay."""


VideoGroup = TypedDict(
    'VideoGroup',
    {
        'name': 'str',
        'from': 'str',
        'to': 'str',
        'label': 'str',
        'dscp': 'Dscp',
        'host': 'str',
        'direction': 'Direction',
        'path': 'list[str]',
        'rtt': 'DistributionOfTime',
        'start': 'DistributionOfTime',
        'stop': 'Time',
        'transport': 'Transport',
        'tcp': 'Tcp',
        'quic': 'Quic',
        'kind': "Required[Literal['video']]",
        'users': 'int',
        'ladder': 'list[Rate]',
        'segment': 'Time',
        'buffer': 'Time',
        'startup': 'Time',
        'adaptation': 'Adaptation',
        'request': 'Size',
    },
    total=False,
)
"""Adaptive video."""


CallGroup = TypedDict(
    'CallGroup',
    {
        'name': 'str',
        'from': 'str',
        'to': 'str',
        'label': 'str',
        'dscp': 'Dscp',
        'host': 'str',
        'direction': 'Direction',
        'path': 'list[str]',
        'rtt': 'DistributionOfTime',
        'start': 'DistributionOfTime',
        'stop': 'Time',
        'transport': 'Transport',
        'tcp': 'Tcp',
        'quic': 'Quic',
        'kind': "Required[Literal['call']]",
        'flows': 'int',
        'control': 'RateControl',
        'filter': 'DelayFilter',
        'initial_rate': 'Rate',
        'min_rate': 'Rate',
        'max_rate': 'Rate',
        'frame_rate': 'int',
        'packet': 'Size',
        'deadline': 'Time',
        'feedback': 'Time',
        'ecn': 'Codepoint',
    },
    total=False,
)
"""Video calls."""


Group: TypeAlias = "BulkGroup | WebGroup | TransfersGroup | UdpGroup | OnoffGroup | ReplayGroup | PingGroup | VideoGroup | CallGroup"
"""A group of like members: where they are, how far apart, when they start, and what they
do."""


DistributionOfSize: TypeAlias = "str | DistributionTableOfSize"
"""A distribution of a size: a constant such as "16kB", a uniform range "a..b", or a table
whose `dist` names the distribution."""


class DistributionTableOfSize(TypedDict, total=False):
    """The table form of a distribution. `dist` names it and decides which other fields
    there are: constant (value), uniform (min, max, step), even (min, max), exponential
    (mean), pareto (shape, min, max), bounded_pareto (shape, min, max), lomax (shape, scale,
    max), lognormal (mean, sd, min, max), weibull (shape, scale, max), inverse_weibull
    (shape, scale, max), packmime (location, location_variance, shape, variance), quantiles
    (points or file, interpolate), mixture (parts)."""

    dist: DistributionName
    """The distribution's name."""
    even: str
    """Short for `dist = "even"`: a range "a..b" over which the members of a group are
    spread evenly, the first at a, the last at b."""
    value: Size
    """The value of a constant."""
    min: Size
    """Least value."""
    max: Size
    """Greatest value. A pareto, lomax, weibull or inverse_weibull is capped there; a
    lognormal and a bounded_pareto are conditioned on staying below."""
    step: Size
    """Distance between the values of a discrete uniform distribution."""
    mean: Size
    """Mean; of a lognormal: before min and max cut it."""
    sd: Size
    """Standard deviation of a lognormal before min and max cut it."""
    shape: float
    """Shape: the tail index of a pareto, bounded_pareto, lomax or inverse_weibull, the
    exponent of a weibull, the shape of the gamma distribution of a packmime."""
    scale: Size
    """Scale of a lomax, weibull or inverse_weibull."""
    location: float
    """Mean of the base-2 logarithm (of seconds or bytes) of a packmime."""
    location_variance: float
    """Variance of the location between members of a packmime."""
    variance: float
    """Variance within a member of a packmime."""
    points: list[list[float | Size]]
    """Points [probability, value] of an empirical distribution."""
    file: str
    """CSV file of lines "probability, value"; values without a unit are seconds or bytes."""
    interpolate: Interpolate
    """How an empirical distribution goes from point to point."""
    parts: list[PartOfSize]
    """Parts {weight, value} of a mixture."""


class PartOfSize(TypedDict, total=False):
    """One part of a mixture."""

    weight: Required[float]
    """Weight; the weights need not add up to 1."""
    value: Required[DistributionOfSize]
    """What is drawn when this part is chosen."""


Model: TypeAlias = "Literal['packmime'] | Literal['3gpp'] | Literal['httparchive'] | Literal['custom']"
"""A built-in model of web pages."""


Recording: TypeAlias = "str"
"""A recorded page; a scenario has the name of its file."""


DistributionOfCount: TypeAlias = "float | str | DistributionTableOfCount"
"""A distribution of a number: a constant such as 3, a uniform range "a..b", or a table
whose `dist` names the distribution."""


class DistributionTableOfCount(TypedDict, total=False):
    """The table form of a distribution. `dist` names it and decides which other fields
    there are: constant (value), uniform (min, max, step), even (min, max), exponential
    (mean), pareto (shape, min, max), bounded_pareto (shape, min, max), lomax (shape, scale,
    max), lognormal (mean, sd, min, max), weibull (shape, scale, max), inverse_weibull
    (shape, scale, max), packmime (location, location_variance, shape, variance), quantiles
    (points or file, interpolate), mixture (parts)."""

    dist: DistributionName
    """The distribution's name."""
    even: str
    """Short for `dist = "even"`: a range "a..b" over which the members of a group are
    spread evenly, the first at a, the last at b."""
    value: Count
    """The value of a constant."""
    min: Count
    """Least value."""
    max: Count
    """Greatest value. A pareto, lomax, weibull or inverse_weibull is capped there; a
    lognormal and a bounded_pareto are conditioned on staying below."""
    step: Count
    """Distance between the values of a discrete uniform distribution."""
    mean: Count
    """Mean; of a lognormal: before min and max cut it."""
    sd: Count
    """Standard deviation of a lognormal before min and max cut it."""
    shape: float
    """Shape: the tail index of a pareto, bounded_pareto, lomax or inverse_weibull, the
    exponent of a weibull, the shape of the gamma distribution of a packmime."""
    scale: Count
    """Scale of a lomax, weibull or inverse_weibull."""
    location: float
    """Mean of the base-2 logarithm (of seconds or bytes) of a packmime."""
    location_variance: float
    """Variance of the location between members of a packmime."""
    variance: float
    """Variance within a member of a packmime."""
    points: list[list[float | Count]]
    """Points [probability, value] of an empirical distribution."""
    file: str
    """CSV file of lines "probability, value"; values without a unit are seconds or bytes."""
    interpolate: Interpolate
    """How an empirical distribution goes from point to point."""
    parts: list[PartOfCount]
    """Parts {weight, value} of a mixture."""


Count: TypeAlias = "float"
"""A plain number, such as a count of objects. What is drawn is rounded to a whole number;
the parameters (a mean of 1.578 objects) need not be whole."""


class PartOfCount(TypedDict, total=False):
    """One part of a mixture."""

    weight: Required[float]
    """Weight; the weights need not add up to 1."""
    value: Required[DistributionOfCount]
    """What is drawn when this part is chosen."""


Http: TypeAlias = "Literal['1.1'] | Literal['2'] | Literal['3']"
"""The version of HTTP."""


Priorities: TypeAlias = "Literal['none'] | Literal['rfc9218']"
"""How a server orders the responses of a connection."""


RttPer: TypeAlias = "Literal['user'] | Literal['connection']"
"""For whom the minimum round trips of web users are drawn."""


Codepoint: TypeAlias = "Literal['not-ect'] | Literal['ect1'] | Literal['ect0']"
"""The ECN field of a UDP packet (RFC 3168 §5)."""


Adaptation: TypeAlias = "Literal['throughput'] | Literal['bola']"
"""How a player chooses the bit rate of the next segment."""


RateControl: TypeAlias = "Literal['gcc'] | Literal['scream'] | Literal['fixed']"
"""How a call chooses its rate."""


DelayFilter: TypeAlias = "Literal['kalman'] | Literal['trendline']"
"""How Google Congestion Control tells from delays that a queue grows."""


Direction: TypeAlias = "Literal['forward'] | Literal['reverse'] | Literal['both']"
"""Which way a group's data go."""


Transport: TypeAlias = "Literal['tcp'] | Literal['quic']"
"""What a group's connections run over."""


class Change(TypedDict, total=False):
    """Values that are set while the scenario runs."""

    at: Required[Time]
    """When: after everything else of that instant."""
    set: Required[object]
    """What: values by dotted path. A parameter of a link's queue discipline
    (`"bottleneck.qdisc.qref" = 20`), a link's rate (`"bottleneck.rate" = "20mbit"`), or a
    setting of a congestion control (`"traffic.0.tcp.congestion.cwnd" = "30kB"`)."""


class Probes(TypedDict, total=False):
    """What is recorded besides the summary, which comes with every run."""

    interval: Time
    """Time between two samples of the queues."""
    queues: bool
    """Each link's queue once per interval: packets, bytes, the discipline's probability,
    and how many packets entered, were dropped, marked and sent since the last sample."""
    standing_window: Time
    """Window over which the least length and the least sojourn time of each queue are
    taken: what stands there however the traffic comes and goes. At least the longest round
    trip."""
    packet_counts: Time
    """Packets that arrive at each link per span of this length, such as "1ms"."""
    flows: bool
    """One row per flow of bulk and UDP groups: goodput, delay, jitter, loss,
    retransmissions, quantiles of the round-trip time."""
    traces: list[str]
    """Bulk flows whose congestion window and smoothed round-trip time are recorded as they
    change, each a group's name and a number from 0: "elephants.0"."""
    exchanges: bool
    """One row per exchange, per page and per transfer: times, bytes, timeouts,
    retransmissions, and how it ended."""
    pcap: list[str]
    """Links whose packets are written to a pcapng file, each as its transmission begins:
    when it leaves the queue, or that of the device below."""
    qlog: list[str]
    """Bulk flows, web users, viewers of video and calls whose ends each write a log in the
    format of qlog, named as in `traces`: packets sent and received on all their
    connections, losses, and what recovery and congestion control make of them. In the
    packet engine."""


class Packets(TypedDict, total=False):
    """Settings of the packet engine. They change how it works, never what comes out."""

    unfused: bool
    """Simulate every hop as events of its own, where hops on which packets cannot contend
    would be taken together. Slower, with the same results: for tests of the engine."""


class Scenario(TypedDict, total=False):
    """A scenario for a laboratory of queues: links with their queue disciplines, TCPs,
    traffic, and what to record. The links are one of `[bottleneck]` (a dumbbell),
    `[parking_lot]` and `[[links]]` (any graph). Quantities are strings with a unit: "10ms",
    "100mbit", "16kB"."""

    name: str
    """What to call it in tables and figures."""
    duration: Required[Time]
    """Simulated time."""
    warmup: Time
    """Simulated time before measuring begins: measures cover what lies between it and the
    end."""
    seed: int
    """Names the random numbers: same scenario, same seed, same results."""
    load: float
    """Offered load of each web group that names neither `users` nor its own `load`, as a
    fraction of the rate of the link that its data cross (0.98 is 98 %), of the bottleneck's
    where they go both ways. It must be turned into users by calibration."""
    tcp: Tcp
    """TCP settings of all groups; a group's own override them field by field."""
    quic: Quic
    """QUIC settings of all groups with `transport = "quic"`; a group's own override them
    field by field."""
    bottleneck: Bottleneck
    """A dumbbell: one link that all share."""
    parking_lot: ParkingLot
    """A parking lot: several such links in a row."""
    links: list[NamedLink]
    """Any graph, link by link."""
    wifi: list[Wifi]
    """Media of Wi-Fi that links share."""
    access: Access
    """Each flow's private links."""
    traffic: list[Group]
    """Who sends what, when."""
    changes: list[Change]
    """What changes while the scenario runs. Packet engine only."""
    probes: Probes
    """What to record besides the summary."""
    packets: Packets
    """Settings of the packet engine."""
