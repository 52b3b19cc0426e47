//! Which connection is whose: a table for each user that has any.

/// No such thing.
pub(super) const NONE: u32 = u32::MAX;

/// The tables of the users of a group, in places that are used again.
#[derive(Clone)]
pub(super) struct Tables {
    /// Each user's table, or [`NONE`] while it has no connection.
    of_user: Vec<u32>,
    tables: Vec<Vec<u32>>,
    free: Vec<u32>,
}

impl Tables {
    /// Empty ones for so many users.
    pub(super) fn of(users: usize) -> Self {
        Self { of_user: vec![NONE; users], tables: Vec::new(), free: Vec::new() }
    }

    /// All connections of a user, by slot.
    pub(super) fn of_user(&self, user: u32) -> impl Iterator<Item = u32> {
        let table = self.tables.get(self.of_user[user as usize] as usize);
        table.into_iter().flatten().copied().filter(|&place| place != NONE)
    }

    /// All connections, by user and slot.
    pub(super) fn all(&self) -> impl Iterator<Item = u32> {
        (0..self.of_user.len() as u32).flat_map(|user| self.of_user(user))
    }

    /// What lies in a slot of a user.
    pub(super) fn get(&self, user: u32, slot: u16) -> Option<u32> {
        let table = self.of_user[user as usize];
        let table = self.tables.get(table as usize)?;
        table.get(usize::from(slot)).copied().filter(|&place| place != NONE)
    }

    /// Puts a connection into a slot.
    pub(super) fn set(&mut self, user: u32, slot: u16, place: u32) {
        let of_user = &mut self.of_user[user as usize];
        if *of_user == NONE {
            *of_user = self.free.pop().unwrap_or_else(|| {
                self.tables.push(Vec::new());
                (self.tables.len() - 1) as u32
            });
        }
        let table = &mut self.tables[*of_user as usize];
        if table.len() <= usize::from(slot) {
            table.resize(usize::from(slot) + 1, NONE);
        }
        table[usize::from(slot)] = place;
    }

    /// Nothing lies there any more.
    pub(super) fn clear(&mut self, user: u32, slot: u16) {
        let of_user = &mut self.of_user[user as usize];
        if let Some(table) = self.tables.get_mut(*of_user as usize) {
            table[usize::from(slot)] = NONE;
            if table.iter().all(|&place| place == NONE) {
                table.clear();
                self.free.push(std::mem::replace(of_user, NONE));
            }
        }
    }
}
