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
    """The set of defaults: "classic" (the default) or "modern"."""
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
    lost_syn_threshold: bool
    """Take a lost SYN for congestion: the slow-start threshold becomes half the initial
    window, as ns-2, where it is a timeout like any other; if false, slow start merely
    begins with one segment, RFC 5681 section 3.1, as Linux (default false)."""
    delayed_ack: bool
    """Acknowledge every second segment only, or after a while (default true)."""
    delayed_ack_time: Time
    """How long an acknowledgement may wait: up to "500ms" (classic "100ms", modern "40ms")."""
    idle_restart: bool
    """Restart from the initial window after a pause longer than the timeout (default true)."""
    initial_rto: Time
    """Retransmission timeout before a round trip is measured (classic "3s", modern "1s")."""
    min_rto: Time
    """Least retransmission timeout (classic "1s", modern "200ms")."""
    max_rto: Time
    """Greatest retransmission timeout: at most "1h" (classic "64s", modern "120s")."""
    rto_granularity: Time
    """Least that the timeout exceeds the smoothed round trip by (classic "10ms", modern
    "200ms")."""
    syn_retries: int
    """How often a SYN is sent again before the connection fails: 0 to 30 (classic 5, modern
    6)."""
    retries: int
    """How often in a row data may time out before the connection fails: 1 to 30 (classic
    12, modern 15)."""


Profile: TypeAlias = "Literal['classic'] | Literal['modern']"
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
    Kelly 2003 section 3.1)."""
    delayed_ack_correction: bool
    """Count segments acknowledged, not acknowledgements (default true, as Linux)."""
    reference_rtt: Time
    """Round trip at which `a` is what it says; elsewhere it grows in proportion to the
    smoothed round trip: "1us" to "100s" (default none: the same `a` for all, as Kelly
    2003)."""


CongestionControl: TypeAlias = "Literal['reno', 'scalable'] | RenoCongestionControl | ScalableCongestionControl"
"""A congestion control: its name, or a table with `kind` and settings."""


Size: TypeAlias = "str"
"""A size, for example "16kB"."""


class Bottleneck(TypedDict, total=False):
    """A dumbbell: the nodes `left` and `right`, the links `bottleneck` from left to right
    and `reverse` from right to left."""

    reverse: Reverse
    """The direction from right to left: "ideal", or a table of what differs from the
    direction forward. Left out, both are alike."""
    rate: Required[Rate]
    """Rate in bits per second, such as "100mbit". Only a link of the free form `[[links]]`
    may leave it out; it is then ideal: pure delay, no queue."""
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


Rate: TypeAlias = "str"
"""A rate, for example "100mbit"."""


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
    min_queue: int
    """Let every packet pass that finds fewer packets than this in the queue, and start the
    spacing anew. The paper knows nothing of it; ns-2 has 2 (default 0)."""
    ecn: bool
    """Mark ECN-capable packets instead of dropping them (default false)."""
    ecn_drop_above_max: bool
    """With `ecn`: above `max_th` drop ECN-capable packets too, instead of marking them, as
    RFC 3168 section 7 recommends (default true)."""
    queue_in_bytes: bool
    """Measure the queue in bytes divided by `mean_packet` instead of in packets (default
    false)."""
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
    ecn: bool
    """Mark ECN-capable packets instead of dropping them (default false)."""
    ecn_drop_above_max: bool
    """With `ecn`: above `max_th` drop ECN-capable packets too, instead of marking them, as
    RFC 3168 section 7 recommends (default true)."""
    queue_in_bytes: bool
    """Measure the queue in bytes divided by `mean_packet` instead of in packets (default
    false)."""
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
    ecn: bool
    """Mark ECN-capable packets instead of dropping them (default false)."""
    queue_in_bytes: bool
    """Measure the queue in bytes divided by `mean_packet` instead of in packets (default
    false)."""
    scale_by_size: bool
    """Multiply the probability by the packet's size over `mean_packet` (default false)."""
    mean_packet: int
    """Mean packet in bytes, 40 to 65535; default: the link's."""
    limit: int
    """Most packets in the queue: 1 to 67108864 (default 1000000)."""


class PieQueueDiscipline(TypedDict, total=False):
    """PIE: PI on the queueing delay, RFC 8033."""

    kind: Required[Literal['pie']]
    target: Time
    """The delay to hold: "1us" to "1000s" (default "15ms", RFC 8033)."""
    tupdate: Time
    """Time between two updates: "1us" to "1000s" (default "15ms", RFC 8033)."""
    alpha: float
    """Gain on the delay's distance from the target, in hertz: 0 to 32 (default 0.125, RFC
    8033)."""
    beta: float
    """Gain on the delay's change since the last update, in hertz: 0 to 32 (default 1.25,
    RFC 8033)."""
    max_burst: Time
    """For how long after a quiet time everything passes: up to "1000s" (default "150ms",
    RFC 8033)."""
    delay: Delay
    """How the delay is known: "timestamps" (default, as Linux) or "rate" (RFC 8033 section
    5.2)."""
    derandomize: bool
    """Space drops by accumulating p (default true, RFC 8033 section 5.4)."""
    high_delay: Time
    """Delay above which every update adds another 0.02 to p, at least `target`; default:
    none (Linux: "250ms")."""
    ecn: bool
    """Mark ECN-capable packets instead of dropping them (default false)."""
    mark_ecn_th: float
    """With `ecn`: the p above which ECN-capable packets are dropped too: 0 to 1 (default
    0.1, RFC 8033 section 5.1)."""
    scale_by_size: bool
    """Multiply the probability by the packet's size over `mean_packet` (default false)."""
    mean_packet: int
    """Mean packet in bytes, 40 to 65535; two of them always pass. Default: the link's."""
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
    ecn: bool
    """Mark ECN-capable packets instead of dropping them (default false)."""
    queue_in_bytes: bool
    """Measure queue and arrivals in bytes divided by `mean_packet` instead of in packets
    (default false)."""
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
        'ecn': 'bool',
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
    """Sojourn time that may stand: "1us" to "100s" (default "5ms": RFC 8289 section 4, 5 to
    10 % of `interval`)."""
    interval: Time
    """For how long it may be above `target`, and the time to the second drop; about the
    longest round trip: "1us" to "100s" (default "100ms": RFC 8289 section 4)."""
    ecn: bool
    """Mark ECN-capable packets instead of dropping them (default false, as in Linux)."""
    ce_threshold: Time
    """Mark every ECN-capable packet whose sojourn time is above this, whatever `ecn` says
    and beside what `target` does: "1us" to "100s"; default: never. As in Linux, for data
    centres."""
    mtu: int
    """Drop nothing if this many bytes or fewer would be left: 40 to 65535; default: 1500,
    or the link's mean packet if that is larger (RFC 8289 section 5.6: an MTU)."""
    limit: int
    """Most packets in the queue: 1 to 67108864 (default 1000, as in Linux)."""


QueueDiscipline: TypeAlias = "Literal['droptail', 'red', 'ared', 'pi', 'pie', 'rem', 'python', 'codel'] | DroptailQueueDiscipline | RedQueueDiscipline | AredQueueDiscipline | PiQueueDiscipline | PieQueueDiscipline | RemQueueDiscipline | PythonQueueDiscipline | CodelQueueDiscipline"
"""A queue discipline: its name, or a table with `kind` and parameters."""


Delay: TypeAlias = "Literal['timestamps'] | Literal['rate']"
"""How the delay is known."""


Value: TypeAlias = "bool | int | float | str"
"""A value given to a class."""


class ReverseTable(TypedDict, total=False):
    """Single fields of a link that differ from those of the forward direction."""

    rate: Rate
    """Rate in bits per second."""
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


Reverse: TypeAlias = "Literal['ideal'] | ReverseTable"
"""The direction back. Left out, it is like the direction forward."""


class ParkingLot(TypedDict, total=False):
    """A parking lot: the nodes `n0`, `n1`, …, the links `hop1` from n0 to n1, `hop2` from
    n1 to n2, …, and `back1` from n1 to n0, …."""

    hops: Required[int]
    """How many links there are in a row."""
    reverse: Reverse
    """Each hop back, as in `[bottleneck]`."""
    rate: Required[Rate]
    """Rate in bits per second, such as "100mbit". Only a link of the free form `[[links]]`
    may leave it out; it is then ideal: pure delay, no queue."""
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


NamedLink = TypedDict(
    'NamedLink',
    {
        'name': 'Required[str]',
        'from': 'Required[str]',
        'to': 'Required[str]',
        'rate': 'Rate',
        'delay': 'Time',
        'qdisc': 'QueueDiscipline',
        'frame_overhead': 'int',
        'min_frame': 'int',
        'mean_packet': 'int',
    },
    total=False,
)
"""One direction of one link in a graph of any shape. The nodes are those that links name."""


class Access(TypedDict, total=False):
    """Each flow has a private link at each of its ends; packets of different flows never
    meet there."""

    rate: Rate
    """Rate of each private link; unlimited if left out."""
    processing: Time
    """The longest time that a sending host takes over a TCP segment: each takes a random
    time between nothing and this, uniformly, and segments stay in order. A little of it
    (the time of a packet on the bottleneck) breaks the marching in step of flows with the
    same round trip, which drop-tail queues turn into unfairness (Floyd and Jacobson, 1992)."""


BulkGroup = TypedDict(
    'BulkGroup',
    {
        'tcp': 'Tcp',
        'name': 'str',
        'from': 'str',
        'to': 'str',
        'direction': 'Direction',
        'path': 'list[str]',
        'rtt': 'DistributionOfTime',
        'start': 'DistributionOfTime',
        'stop': 'Time',
        'kind': "Required[Literal['bulk']]",
        'flows': 'int',
        'size': 'DistributionOfSize',
        'repeat': 'bool',
        'gap': 'DistributionOfTime',
    },
    total=False,
)
"""Bulk transfers over TCP."""


WebGroup = TypedDict(
    'WebGroup',
    {
        'tcp': 'Tcp',
        'name': 'str',
        'from': 'str',
        'to': 'str',
        'direction': 'Direction',
        'path': 'list[str]',
        'rtt': 'DistributionOfTime',
        'start': 'DistributionOfTime',
        'stop': 'Time',
        'kind': "Required[Literal['web']]",
        'users': 'int',
        'load': 'float',
        'model': 'Model',
        'think': 'DistributionOfTime',
        'embedded': 'DistributionOfCount',
        'request': 'DistributionOfSize',
        'response': 'DistributionOfSize',
        'embedded_response': 'DistributionOfSize',
        'persistent_response': 'DistributionOfSize',
        'server_delay': 'DistributionOfTime',
        'parse': 'DistributionOfTime',
        'gap': 'DistributionOfTime',
        'persistent': 'float',
        'pages_per_connection': 'DistributionOfCount',
        'parallel': 'int',
    },
    total=False,
)
"""Web users."""


TransfersGroup = TypedDict(
    'TransfersGroup',
    {
        'tcp': 'Tcp',
        'name': 'str',
        'from': 'str',
        'to': 'str',
        'direction': 'Direction',
        'path': 'list[str]',
        'rtt': 'DistributionOfTime',
        'start': 'DistributionOfTime',
        'stop': 'Time',
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
        'tcp': 'Tcp',
        'name': 'str',
        'from': 'str',
        'to': 'str',
        'direction': 'Direction',
        'path': 'list[str]',
        'rtt': 'DistributionOfTime',
        'start': 'DistributionOfTime',
        'stop': 'Time',
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
        'tcp': 'Tcp',
        'name': 'str',
        'from': 'str',
        'to': 'str',
        'direction': 'Direction',
        'path': 'list[str]',
        'rtt': 'DistributionOfTime',
        'start': 'DistributionOfTime',
        'stop': 'Time',
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
        'tcp': 'Tcp',
        'name': 'str',
        'from': 'str',
        'to': 'str',
        'direction': 'Direction',
        'path': 'list[str]',
        'rtt': 'DistributionOfTime',
        'start': 'DistributionOfTime',
        'stop': 'Time',
        'kind': "Required[Literal['replay']]",
        'file': 'Required[str]',
    },
    total=False,
)
"""Transfers from a file."""


PingGroup = TypedDict(
    'PingGroup',
    {
        'tcp': 'Tcp',
        'name': 'str',
        'from': 'str',
        'to': 'str',
        'direction': 'Direction',
        'path': 'list[str]',
        'rtt': 'DistributionOfTime',
        'start': 'DistributionOfTime',
        'stop': 'Time',
        'kind': "Required[Literal['ping']]",
        'flows': 'int',
        'interval': 'Time',
        'size': 'Size',
        'ecn': 'Codepoint',
    },
    total=False,
)
"""Probes of delay."""


Group: TypeAlias = "BulkGroup | WebGroup | TransfersGroup | UdpGroup | OnoffGroup | ReplayGroup | PingGroup"
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


DistributionName: TypeAlias = "Literal['constant', 'uniform', 'even', 'exponential', 'pareto', 'bounded_pareto', 'lomax', 'lognormal', 'weibull', 'inverse_weibull', 'packmime', 'quantiles', 'mixture']"


Interpolate: TypeAlias = "Literal['log'] | Literal['linear']"
"""How values between two points of a quantile table are found."""


class PartOfSize(TypedDict, total=False):
    """One part of a mixture."""

    weight: Required[float]
    """Weight; the weights need not add up to 1."""
    value: Required[DistributionOfSize]
    """What is drawn when this part is chosen."""


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


class PartOfTime(TypedDict, total=False):
    """One part of a mixture."""

    weight: Required[float]
    """Weight; the weights need not add up to 1."""
    value: Required[DistributionOfTime]
    """What is drawn when this part is chosen."""


Model: TypeAlias = "Literal['packmime'] | Literal['3gpp'] | Literal['custom']"
"""A built-in model of web pages."""


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


Codepoint: TypeAlias = "Literal['not-ect'] | Literal['ect1'] | Literal['ect0']"
"""The ECN field of a UDP packet (RFC 3168 §5)."""


Direction: TypeAlias = "Literal['forward'] | Literal['reverse'] | Literal['both']"
"""Which way a group's data go."""


class Probes(TypedDict, total=False):
    """What is recorded besides the summary, which comes with every run."""

    interval: Time
    """Time between two samples of the queues."""
    queues: bool
    """Each link's queue once per interval: packets, bytes, the discipline's probability,
    and how many packets entered, were dropped, marked and sent since the last sample."""
    packet_counts: Time
    """Packets that arrive at each link per span of this length, such as "1ms"."""
    flows: bool
    """One row per flow of bulk and UDP groups: goodput, delay, jitter, loss,
    retransmissions, quantiles of the round-trip time."""
    traces: list[str]
    """Bulk flows whose congestion window and smoothed round-trip time are recorded as they
    change, each a group's name and a number from 0: "elephants.0"."""
    exchanges: bool
    """One row per exchange and per transfer: times, bytes, timeouts, retransmissions, and
    how it ended."""
    pcap: list[str]
    """Links whose packets are written to a pcapng file, as they leave the queue."""


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
    fraction of the bottleneck's rate (0.98 is 98 %). It must be turned into users by
    calibration."""
    tcp: Tcp
    """TCP settings of all groups; a group's own override them field by field."""
    bottleneck: Bottleneck
    """A dumbbell: one link that all share."""
    parking_lot: ParkingLot
    """A parking lot: several such links in a row."""
    links: list[NamedLink]
    """Any graph, link by link."""
    access: Access
    """Each flow's private links."""
    traffic: list[Group]
    """Who sends what, when."""
    probes: Probes
    """What to record besides the summary."""
    packets: Packets
    """Settings of the packet engine."""
