//! From a link and its discipline to a queue of the model.

use sojourn_qdisc::Config;
use sojourn_scenario::NetworkLink;

use super::Error;
use crate::Price;
use crate::controllers::{Ared, Codel, Controller, Pi, Pi2, Pie, Red, Rem};
use crate::mgt::Queue;

/// The disciplines that have a law here.
const LAWS: &str = "droptail, red, ared, pi, rem, rate, pie, pi2, codel";

/// The queue of `link`, whose data packets have `ip_bytes` each. `marks`: whether all flows over it
/// are ECN-capable; `fastest`: the greatest rate per second at which an average needs to be followed.
pub fn queue(link: &NetworkLink, ip_bytes: u32, marks: bool, fastest: f64) -> Result<Queue, Error> {
    let Some(rate) = link.rate else {
        return Err(Error(format!("{}.rate: an ideal link has no queue", link.name)));
    };
    let capacity = rate.0 as f64 / (8.0 * f64::from(link.frame(ip_bytes)));
    let mean = |own: Option<u32>| f64::from(own.unwrap_or(link.mean_packet));
    // What a packet of this scenario is in a law that counts bytes, or weighs by size.
    let size = |own: Option<u32>, used: bool| {
        if used { f64::from(ip_bytes) / mean(own) } else { 1.0 }
    };
    let made = |controller, limit: f64, ecn: bool, unit: f64, weight: f64| Queue {
        capacity,
        buffer: limit,
        controller,
        thins: !(ecn && marks),
        unit,
        weight,
    };
    let queue = match &link.qdisc {
        Config::Droptail(p) => {
            let per_packet = f64::from(ip_bytes);
            let limit = match (p.limit, p.limit_bytes, p.limit_time) {
                (Some(packets), _, _) => f64::from(packets),
                (_, Some(bytes), _) => bytes.0 as f64 / per_packet,
                (_, _, Some(time)) => time.as_secs_f64() * rate.0 as f64 / 8.0 / per_packet,
                // The discipline's own default.
                (None, None, None) => 1000.0,
            };
            made(Controller::Droptail, limit, false, 1.0, 1.0)
        }
        Config::Red(p) => {
            let per_second = rate.0 as f64 / 8.0 / mean(p.mean_packet);
            let controller = Controller::Red(Red {
                min_th: p.min_th,
                max_th: p.max_th,
                max_p: p.max_p,
                wq: p.wq.unwrap_or_else(|| -libm::expm1(-1.0 / per_second)),
                gentle: p.gentle,
                spaced: true,
                fastest,
            });
            let unit = size(p.mean_packet, p.queue_in_bytes);
            let weight = size(p.mean_packet, p.scale_by_size);
            made(controller, f64::from(p.limit), p.ecn, unit, weight)
        }
        Config::Ared(p) => {
            let per_second = rate.0 as f64 / 8.0 / mean(p.mean_packet);
            // Section 6.1 of the paper, as the discipline has it.
            let half = p.target_delay.as_secs_f64() * per_second / 2.0;
            let min_th = p.min_th.unwrap_or(half.max(5.0));
            let red = Red {
                min_th,
                max_th: p.max_th.unwrap_or(3.0 * min_th),
                max_p: p.max_p,
                wq: p.wq.unwrap_or_else(|| -libm::expm1(-1.0 / per_second)),
                gentle: p.gentle,
                spaced: true,
                fastest,
            };
            let controller = Controller::Ared(Ared {
                red,
                bottom: p.bottom,
                top: p.top,
                alpha: p.alpha,
                beta: p.beta,
                interval: p.interval.as_secs_f64(),
            });
            let unit = size(p.mean_packet, p.queue_in_bytes);
            let weight = size(p.mean_packet, p.scale_by_size);
            made(controller, f64::from(p.limit), p.ecn, unit, weight)
        }
        Config::Pi(p) => {
            let controller = Controller::Pi(Pi::sampled(p.a, p.b, p.frequency, p.qref));
            let unit = size(p.mean_packet, p.queue_in_bytes);
            let weight = size(p.mean_packet, p.scale_by_size);
            made(controller, f64::from(p.limit), p.ecn, unit, weight)
        }
        Config::Rem(p) => {
            let controller = Controller::Rem(Rem {
                gamma: p.gamma,
                alpha: p.alpha,
                phi: p.phi,
                qref: p.qref,
                period: p.period.as_secs_f64(),
            });
            let unit = size(p.mean_packet, p.queue_in_bytes);
            let weight = size(p.mean_packet, p.scale_by_size);
            made(controller, f64::from(p.limit), p.ecn, unit, weight)
        }
        Config::Rate(p) => {
            let exponent = f64::from(p.exponent);
            let price = if p.start > 0.0 {
                Price::Threshold { start: p.start, exponent, clipped: true }
            } else {
                Price::Power { exponent }
            };
            // Counting over a period and holding the result for one lag by half of it each.
            let averaging = p.averaging.as_secs_f64() + p.period.as_secs_f64();
            let controller = Controller::Rate { price, averaging };
            let unit = size(p.mean_packet, p.queue_in_bytes);
            let weight = size(p.mean_packet, p.scale_by_size);
            made(controller, f64::from(p.limit), p.ecn, unit, weight)
        }
        Config::Pi2(p) => {
            let controller = Controller::Pi2(Pi2 {
                target: p.target.as_secs_f64(),
                alpha: p.alpha,
                beta: p.beta,
                period: p.tupdate.as_secs_f64(),
            });
            made(controller, f64::from(p.limit), p.ecn, 1.0, 1.0)
        }
        Config::Pie(p) => {
            let controller = Controller::Pie(Pie {
                target: p.target.as_secs_f64(),
                alpha: p.alpha,
                beta: p.beta,
                period: p.tupdate.as_secs_f64(),
            });
            made(controller, f64::from(p.limit), p.ecn, 1.0, size(p.mean_packet, p.scale_by_size))
        }
        Config::Codel(p) if p.ce_threshold.is_none() => {
            let controller = Controller::Codel(Codel {
                target: p.target.as_secs_f64(),
                interval: p.interval.as_secs_f64(),
            });
            made(controller, f64::from(p.limit), p.ecn, 1.0, 1.0)
        }
        Config::Codel(_) => {
            return Err(Error(format!(
                "{}.qdisc.ce_threshold: the fluid engine has no law for it; leave it out, or use \
                 --engine packets",
                link.name
            )));
        }
        other => {
            return Err(Error(format!(
                "{}.qdisc.kind = \"{}\": the fluid engine has no law for it; use one of {LAWS}, \
                 or --engine packets",
                link.name,
                other.name()
            )));
        }
    };
    Ok(queue)
}
