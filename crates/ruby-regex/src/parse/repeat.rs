//! Quantifiers: `*`, `+`, `?` and `{n,m}`, greedy, reluctant and possessive.

use super::{Parser, Result};
use crate::RegexProblem;
use crate::ast::{Node, Repeat};

/// The maximum number in `{n,m}`.
const MAX_REPEAT: usize = 100_000;

struct Quantifier {
    min: u32,
    max: Option<u32>,
    is_greedy: bool,
    is_possessive: bool,
}

impl Parser {
    /// A node with the quantifiers that follow it.
    pub(super) fn repeated(&mut self, mut node: Node) -> Result<Node> {
        let mut count = 0;
        loop {
            self.skip_blanks()?;
            let Some(quantifier) = self.quantifier()? else {
                return Ok(node);
            };
            count += 1;
            if count + self.depth > super::MAX_DEPTH {
                return Err(RegexProblem::TooDeep);
            }
            node = Node::Repeat(Box::new(Repeat {
                node,
                min: quantifier.min,
                max: quantifier.max,
                is_greedy: quantifier.is_greedy,
            }));
            if quantifier.is_possessive {
                node = Node::Atomic(Box::new(node));
            }
        }
    }

    /// Is a quantifier next?
    pub(super) fn is_at_repeat(&mut self) -> bool {
        match self.peek() {
            Some('*' | '+' | '?') => true,
            Some('{') => {
                let start = self.position;
                let interval = self.interval();
                self.position = start;
                !matches!(interval, Ok(None))
            }
            _ => false,
        }
    }

    fn quantifier(&mut self) -> Result<Option<Quantifier>> {
        let (min, max) = match self.peek() {
            Some('*') => (0, None),
            Some('+') => (1, None),
            Some('?') => (0, Some(1)),
            Some('{') => {
                let start = self.position;
                let Some((min, max)) = self.interval()? else {
                    self.position = start;
                    return Ok(None);
                };
                // `{n}?` means `(?:{n})?`, and `{n,m}+` means `(?:{n,m})+`.
                let is_fixed = Some(min) == max && self.is_fixed_interval(start);
                return Ok(Some(Quantifier {
                    min,
                    max,
                    is_greedy: is_fixed || !self.take('?'),
                    is_possessive: false,
                }));
            }
            _ => return Ok(None),
        };
        self.position += 1;
        let is_greedy = !self.take('?');
        Ok(Some(Quantifier {
            min,
            max,
            is_greedy,
            is_possessive: is_greedy && self.take('+'),
        }))
    }

    /// Does the interval that starts there have no comma?
    fn is_fixed_interval(&self, start: usize) -> bool {
        let written = self.characters.get(start..self.position);
        !written.unwrap_or_default().contains(&',')
    }

    /// `{n}`, `{n,}`, `{,m}` or `{n,m}`; anything else in braces is literal.
    fn interval(&mut self) -> Result<Option<(u32, Option<u32>)>> {
        self.position += 1;
        let min = self.bound()?;
        let has_comma = self.take(',');
        let max = if has_comma { self.bound()? } else { min };
        if (min.is_none() && max.is_none()) || !self.take('}') {
            return Ok(None);
        }
        let min = min.unwrap_or(0);
        if max.is_some_and(|max| max < min) {
            let problem = "upper is smaller than lower in repeat range";
            return Err(RegexProblem::Refused(problem));
        }
        Ok(Some((min, max)))
    }

    fn bound(&mut self) -> Result<Option<u32>> {
        let too_big = RegexProblem::Refused("too big number for repeat range");
        match self.number() {
            Ok(None) => Ok(None),
            Ok(Some(number)) if number <= MAX_REPEAT => Ok(u32::try_from(number).ok()),
            _ => Err(too_big),
        }
    }
}
