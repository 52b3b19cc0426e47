"""Reno (RFC 5681, RFC 3465) as a class, byte for byte the built-in one."""

from dataclasses import dataclass

from sojourn.tcp import CongestionControl, Occasion, Window, register


@register("reno-in-python")
@dataclass
class Reno(CongestionControl):
    """Slow start and congestion avoidance, counting bytes."""

    acked: int = 0  # since the window last grew in congestion avoidance

    def on_ack(self, window: Window, at: Occasion) -> None:
        """RFC 3465: what was acknowledged in slow start, then a segment per window."""
        if window.cwnd < window.ssthresh:
            window.cwnd += min(at.acked, at.mss if at.after_timeout else 2 * at.mss)
            return
        self.acked += at.acked
        if self.acked >= window.cwnd:
            self.acked -= window.cwnd
            window.cwnd += at.mss

    def on_loss(self, window: Window, at: Occasion) -> None:
        """RFC 5681 equation 4."""
        window.ssthresh = window.cwnd = max(at.flight // 2, 2 * at.mss)
        self.acked = 0

    def on_timeout(self, window: Window, at: Occasion) -> None:
        """RFC 5681 section 3.1: the threshold stays when the same data time out again."""
        if at.first:
            window.ssthresh = max(at.flight // 2, 2 * at.mss)
        window.cwnd = at.mss
        self.acked = 0

    def on_restart(self, window: Window, at: Occasion) -> None:
        """Sending begins again after a pause."""
        self.acked = 0
