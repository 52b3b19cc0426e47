"""A new queue discipline in forty lines: it acts on where the queue is going."""

from dataclasses import dataclass

from sojourn.qdisc import DROP, MARK, PASS, Discipline, Packet, Queue, Rate, Time, Verdict, register


@register("horizon")
@dataclass
class Horizon(Discipline):
    """Extrapolates the queueing delay over ``horizon`` and steers that forecast to ``target``."""

    target: Time = Time("5ms")
    horizon: Time = Time("50ms")
    period: Time = Time("10ms")  # of update()
    gain: float = 0.5  # probability for each second of error, in each second
    most: Time = Time("250ms")  # a longer delay is cut off
    delay: float = 0.0
    rate: Rate = Rate(0)

    def start(self, link: object) -> None:
        """The rate turns bytes into delay."""
        self.rate = self.link.rate

    def update(self, now: int, queue: Queue) -> None:
        """Integrates the error of the forecast."""
        delay = queue.bytes * 8 / self.rate
        trend = (delay - self.delay) / (self.period / 1e9)
        forecast = delay + trend * self.horizon / 1e9
        error = forecast - self.target / 1e9
        self.probability += self.gain * error * self.period / 1e9
        self.probability = min(max(self.probability, 0.0), 1.0)
        self.delay = delay

    def enqueue(self, now: int, packet: Packet, queue: Queue) -> Verdict:
        """Signals with the probability that the last update left."""
        if queue.bytes * 8e9 > self.most * self.rate:
            return DROP
        return MARK if self.link.random() < self.probability else PASS
