//! [`FairQueue`]: clients take turns, whatever the number of items that each has waiting.

use std::collections::VecDeque;

/// Items by client. Those of one client stay in order.
pub(super) struct FairQueue<C, T> {
    /// The client at the front is next. None of the lists is empty.
    clients: VecDeque<(C, VecDeque<T>)>,
    len: usize,
}

impl<C, T> Default for FairQueue<C, T> {
    fn default() -> Self {
        FairQueue {
            clients: VecDeque::new(),
            len: 0,
        }
    }
}

impl<C, T> std::fmt::Debug for FairQueue<C, T> {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("FairQueue")
            .field("len", &self.len)
            .finish()
    }
}

impl<C: PartialEq, T> FairQueue<C, T> {
    pub(super) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn push(&mut self, client: C, item: T) {
        self.len += 1;
        match self.clients.iter_mut().find(|(known, _)| *known == client) {
            Some((_, items)) => items.push_back(item),
            None => self.clients.push_back((client, VecDeque::from([item]))),
        }
    }

    pub(super) fn pop(&mut self) -> Option<T> {
        let (client, mut items) = self.clients.pop_front()?;
        let item = items.pop_front();
        if !items.is_empty() {
            self.clients.push_back((client, items));
        }
        self.len -= usize::from(item.is_some());
        item
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_take_turns_and_keep_their_order() {
        let mut queue = FairQueue::default();
        for (client, item) in [("a", 1), ("a", 2), ("a", 3), ("b", 4), ("c", 5), ("b", 6)] {
            queue.push(client, item);
        }
        assert_eq!(queue.len(), 6);
        let order: Vec<_> = std::iter::from_fn(|| queue.pop()).collect();
        assert_eq!(order, [1, 4, 5, 2, 6, 3]);
        assert_eq!(queue.len(), 0);
    }
}
