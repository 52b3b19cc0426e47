//! `sch_dualpi2` put on a device by a message of ours: the `tc` of the machine that this runs on
//! may be older than the kernel, and then knows no such discipline.

use super::netlink;
use super::plan::DualPi2;
use crate::net::Namespace;
use libc::{RTM_NEWQDISC, TCA_KIND, TCA_OPTIONS};
use netlink_packet_core::{
    NLA_F_NESTED, NLM_F_ACK, NLM_F_CREATE, NLM_F_EXCL, NLM_F_REQUEST, NLMSG_ERROR,
};
use std::io;

/// Create it, but not if it is there already, and answer.
const CREATE: u16 = NLM_F_REQUEST | NLM_F_ACK | NLM_F_CREATE | NLM_F_EXCL;
/// A discipline's options, which say that they are nested.
const OPTIONS: u16 = TCA_OPTIONS | NLA_F_NESTED;
/// The shaper's class `1:1`.
const PARENT: u32 = 0x0001_0001;

/// The options, of linux/pkt_sched.h.
mod option {
    pub(super) const LIMIT: u16 = 1;
    pub(super) const TARGET: u16 = 3;
    pub(super) const TUPDATE: u16 = 4;
    pub(super) const ALPHA: u16 = 5;
    pub(super) const BETA: u16 = 6;
    pub(super) const STEP_US: u16 = 8;
    pub(super) const MIN_QLEN_STEP: u16 = 9;
    pub(super) const COUPLING: u16 = 10;
    pub(super) const DROP_OVERLOAD: u16 = 11;
    pub(super) const C_PROTECTION: u16 = 13;
}

/// Puts it below the shaper of a device.
///
/// # Errors
/// What the kernel refuses, in one line.
pub(super) fn put(space: &Namespace, device: &str, settings: &DualPi2) -> Result<(), String> {
    ask(space, device, settings).map_err(|error| format!("dualpi2 on {device}: {error}"))
}

fn ask(space: &Namespace, device: &str, settings: &DualPi2) -> io::Result<()> {
    let (socket, index) = netlink::open(space, device)?;
    socket.send(&request(index, settings), 0)?;
    let mut answer = Vec::with_capacity(4096);
    socket.recv(&mut answer, 0)?;
    refusal(&answer)
}

/// The whole message: a header, `struct tcmsg`, and the attributes.
fn request(device: i32, settings: &DualPi2) -> Vec<u8> {
    let mut options = Vec::new();
    for (number, value) in [
        (option::LIMIT, settings.limit),
        (option::TARGET, settings.target_us),
        (option::TUPDATE, settings.tupdate_us),
        (option::ALPHA, settings.alpha),
        (option::BETA, settings.beta),
        (option::STEP_US, settings.step_us),
        (option::MIN_QLEN_STEP, settings.min_packets),
    ] {
        attribute(&mut options, number, &value.to_ne_bytes());
    }
    for (number, value) in [
        (option::COUPLING, settings.coupling),
        (option::DROP_OVERLOAD, u8::from(settings.drop_overload)),
        (option::C_PROTECTION, settings.classic_percent),
    ] {
        attribute(&mut options, number, &[value]);
    }
    let mut message = vec![0; 4];
    message.extend(RTM_NEWQDISC.to_ne_bytes());
    message.extend(CREATE.to_ne_bytes());
    // Its number and who sends it; then the family.
    message.extend([0; 12]);
    message.extend(device.to_ne_bytes());
    for word in [netlink::QUEUE, PARENT, 0] {
        message.extend(word.to_ne_bytes());
    }
    attribute(&mut message, TCA_KIND, b"dualpi2\0");
    attribute(&mut message, OPTIONS, &options);
    let length = message.len() as u32;
    message[..4].copy_from_slice(&length.to_ne_bytes());
    message
}

fn attribute(to: &mut Vec<u8>, number: u16, value: &[u8]) {
    to.extend((value.len() as u16 + 4).to_ne_bytes());
    to.extend(number.to_ne_bytes());
    to.extend(value);
    to.resize(to.len().next_multiple_of(4), 0);
}

/// What the answer says: an error of number 0 is none.
fn refusal(answer: &[u8]) -> io::Result<()> {
    let number = answer.get(16..20).map(|b| i32::from_ne_bytes([b[0], b[1], b[2], b[3]]));
    match (answer.get(4..6), number) {
        (Some(kind), Some(number)) if kind == NLMSG_ERROR.to_ne_bytes() => match number {
            0 => Ok(()),
            number => Err(io::Error::from_raw_os_error(-number)),
        },
        _ => Err(io::Error::other("an answer that is none")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SETTINGS: DualPi2 = DualPi2 {
        limit: 10_000,
        target_us: 15_000,
        tupdate_us: 16_000,
        alpha: 41,
        beta: 819,
        step_us: 1000,
        min_packets: 1,
        coupling: 2,
        drop_overload: true,
        classic_percent: 10,
    };

    #[test]
    fn the_message_has_its_length_and_every_setting() {
        let message = request(7, &SETTINGS);
        assert_eq!(message[..4], (message.len() as u32).to_ne_bytes());
        assert_eq!(message[20..24], 7u32.to_ne_bytes());
        assert_eq!(&message[36..48], &[12, 0, 1, 0, b'd', b'u', b'a', b'l', b'p', b'i', b'2', 0]);
        // Seven numbers of 32 bits and three of 8, each padded to 8 bytes, in one attribute.
        assert_eq!(message[48..52], [84, 0, 2, 0x80]);
        assert_eq!(message.len(), 48 + 84);
        let target = [8, 0, 3, 0, 0x98, 0x3a, 0, 0];
        let fewest = [8, 0, 9, 0, 1, 0, 0, 0];
        for setting in [target, fewest] {
            assert!(message.windows(8).any(|bytes| bytes == setting), "{setting:?}");
        }
        assert_eq!(message[message.len() - 8..], [5, 0, 13, 0, 10, 0, 0, 0]);
    }

    #[test]
    fn the_kernel_s_answer_is_an_error_or_none() {
        let answer = |kind: u16, number: i32| {
            let mut bytes = vec![36, 0, 0, 0];
            bytes.extend(kind.to_ne_bytes());
            bytes.extend([0; 10]);
            bytes.extend(number.to_ne_bytes());
            bytes
        };
        assert!(refusal(&answer(NLMSG_ERROR, 0)).is_ok());
        let error = refusal(&answer(NLMSG_ERROR, -libc::EINVAL)).unwrap_err();
        assert_eq!(error.raw_os_error(), Some(libc::EINVAL));
        assert!(refusal(&answer(3, 0)).is_err());
        assert!(refusal(&[1, 2]).is_err());
    }
}
