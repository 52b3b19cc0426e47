//! Both sides of a router: two namespaces, a device in each.

use super::address::Side;
use super::{Device, Error, Namespace, Tun, configure, set};

/// The two namespaces. They live as long as this, the programs in them, or the process.
#[derive(Clone, Debug)]
pub struct Lab {
    sides: [Namespace; 2],
}

impl Lab {
    /// Makes both namespaces with a device in each, and sets `variables` of the kernel in both.
    ///
    /// # Errors
    /// What the kernel refuses; without the right to make namespaces see
    /// [`acquire`](super::acquire).
    pub fn new(device: &Device, variables: &[(&str, &str)]) -> Result<(Self, [Tun; 2]), Error> {
        let side = |side| {
            let namespace = Namespace::new()?;
            let tun = Tun::new(&namespace, &device.name)?;
            configure(&namespace, side, device)?;
            set(&namespace, variables)?;
            Ok((namespace, tun))
        };
        let (left, left_tun) = side(Side::Left)?;
        let (right, right_tun) = side(Side::Right)?;
        Ok((Self { sides: [left, right] }, [left_tun, right_tun]))
    }

    /// The namespace of a side.
    #[must_use]
    pub fn side(&self, side: Side) -> &Namespace {
        &self.sides[side as usize]
    }
}
