//! [`Node`] → instructions for the backtracking matcher.

use regex_syntax::hir::ClassUnicode;

use super::RegexProblem;
use super::ast::{Assertion, Backreference, Look, Node, Repeat};
use super::check::{self, Groups};

/// Instructions that a pattern may come to. Repetitions are written out, so `(a{1000}){1000}` is too large.
const MAX_INSTRUCTIONS: usize = 50_000;

/// A place in a program.
pub(super) type Address = usize;

/// A compiled pattern.
#[derive(Debug)]
pub(super) struct Program {
    pub(super) instructions: Vec<Instruction>,
    /// Capture groups, group 0 included.
    pub(super) groups: usize,
}

/// A step of the matcher. "Remember" and "recall" are about a stack that follows the nesting of the pattern.
#[derive(Clone, Debug)]
pub(super) enum Instruction {
    /// The whole pattern matches, or the part of an [`Instruction::Absent`].
    Match,
    /// One character of the set.
    Set(Box<ClassUnicode>),
    Assert(Assertion),
    /// Go on at the first address, and later, if that fails, at the second.
    Split(Address, Address),
    Jump(Address),
    /// Remember the start of a group.
    GroupStart(usize),
    GroupEnd(usize),
    /// Remember the position at which a round of a loop starts.
    RoundStart,
    /// If the round matched nothing, go on after the loop, at the address.
    RoundEnd(Address),
    /// Remember what there is to try, and the position.
    Commit,
    /// Forget what came up to be tried since.
    Committed,
    /// The same, and back to the position.
    LookedAhead,
    /// Remember what there is to try; if the part fails, go on at the address.
    MustFail(Address),
    /// The part did not fail, so this fails.
    HasMatched,
    /// So many characters back, to look behind.
    Back(usize),
    Backreference(Backreference),
    /// Remember the next address and go on at this one.
    Call(Address),
    Return,
    /// If the group is not set, go on at the address.
    Condition(usize, Address),
    /// Text without a match of the part that follows, which ends before the address.
    Absent(Address),
}

/// Compiles a checked pattern.
pub(super) fn compile(
    root: &Node,
    groups: &Groups<'_>,
    count: usize,
) -> Result<Program, RegexProblem> {
    let mut compiler = Compiler {
        instructions: Vec::new(),
        groups,
        subroutines: vec![None; count + 1],
        calls: Vec::new(),
    };
    compiler.node(root)?;
    compiler.push(Instruction::Match)?;
    compiler.link_calls()?;
    Ok(Program {
        instructions: compiler.instructions,
        groups: count + 1,
    })
}

struct Compiler<'a> {
    instructions: Vec<Instruction>,
    groups: &'a Groups<'a>,
    /// Where a group that is called was compiled once more, to return from.
    subroutines: Vec<Option<Address>>,
    /// Calls whose address is not known yet, with the group they go to.
    calls: Vec<(Address, usize)>,
}

impl Compiler<'_> {
    fn push(&mut self, instruction: Instruction) -> Result<Address, RegexProblem> {
        if self.instructions.len() >= MAX_INSTRUCTIONS {
            return Err(RegexProblem::TooLarge);
        }
        self.instructions.push(instruction);
        Ok(self.instructions.len() - 1)
    }

    fn next(&self) -> Address {
        self.instructions.len()
    }

    /// Puts the real instruction where a place was kept for it.
    fn fix(&mut self, address: Address, instruction: Instruction) {
        if let Some(slot) = self.instructions.get_mut(address) {
            *slot = instruction;
        }
    }

    /// Keeps a place for an instruction whose target is still to come.
    fn keep_place(&mut self) -> Result<Address, RegexProblem> {
        self.push(Instruction::Match)
    }

    fn node(&mut self, node: &Node) -> Result<(), RegexProblem> {
        match node {
            Node::Empty => {}
            Node::Set(set) => {
                self.push(Instruction::Set(Box::new(set.clone())))?;
            }
            Node::Assertion(assertion) => {
                self.push(Instruction::Assert(*assertion))?;
            }
            Node::Concat(nodes) => nodes.iter().try_for_each(|node| self.node(node))?,
            Node::Alternate(branches) => self.alternate(branches)?,
            Node::Repeat(repeat) => self.repeat(repeat)?,
            Node::Group(number, inner) => self.group(*number, inner)?,
            Node::Options(inner) => self.node(inner)?,
            Node::Atomic(inner) => {
                self.push(Instruction::Commit)?;
                self.node(inner)?;
                self.push(Instruction::Committed)?;
            }
            Node::Look(look, inner) => self.look(*look, inner)?,
            Node::Backreference(reference) => {
                self.push(Instruction::Backreference(reference.clone()))?;
            }
            Node::Call(group) => {
                let address = self.keep_place()?;
                self.calls.push((address, *group));
            }
            Node::Condition(group, yes, no) => {
                let condition = self.keep_place()?;
                self.node(yes)?;
                let jump = self.keep_place()?;
                self.fix(condition, Instruction::Condition(*group, self.next()));
                self.node(no)?;
                self.fix(jump, Instruction::Jump(self.next()));
            }
            Node::Absent(inner) => {
                let absent = self.keep_place()?;
                self.node(inner)?;
                self.push(Instruction::Match)?;
                self.fix(absent, Instruction::Absent(self.next()));
            }
        }
        Ok(())
    }

    fn alternate(&mut self, branches: &[Node]) -> Result<(), RegexProblem> {
        let Some((last, others)) = branches.split_last() else {
            return Ok(());
        };
        let mut jumps = Vec::new();
        for branch in others {
            let split = self.keep_place()?;
            self.node(branch)?;
            jumps.push(self.keep_place()?);
            self.fix(split, Instruction::Split(split + 1, self.next()));
        }
        self.node(last)?;
        for jump in jumps {
            self.fix(jump, Instruction::Jump(self.next()));
        }
        Ok(())
    }

    fn repeat(&mut self, repeat: &Repeat) -> Result<(), RegexProblem> {
        let split = |is_greedy, into, past| match is_greedy {
            true => Instruction::Split(into, past),
            false => Instruction::Split(past, into),
        };
        for _ in 0..repeat.min {
            let before = self.next();
            self.node(&repeat.node)?;
            if self.next() == before {
                // Nothing to do, however often.
                return Ok(());
            }
        }
        match repeat.max {
            Some(max) => {
                let mut splits = Vec::new();
                for _ in repeat.min..max {
                    splits.push(self.keep_place()?);
                    self.node(&repeat.node)?;
                }
                for address in splits {
                    let instruction = split(repeat.is_greedy, address + 1, self.next());
                    self.fix(address, instruction);
                }
            }
            None => {
                let start = self.keep_place()?;
                let can_be_empty = check::can_be_empty(&repeat.node, self.groups, 0);
                if can_be_empty {
                    self.push(Instruction::RoundStart)?;
                }
                self.node(&repeat.node)?;
                if can_be_empty {
                    let end = self.keep_place()?;
                    self.fix(end, Instruction::RoundEnd(end + 2));
                }
                self.push(Instruction::Jump(start))?;
                let instruction = split(repeat.is_greedy, start + 1, self.next());
                self.fix(start, instruction);
            }
        }
        Ok(())
    }

    fn group(&mut self, number: usize, inner: &Node) -> Result<(), RegexProblem> {
        self.push(Instruction::GroupStart(number))?;
        self.node(inner)?;
        self.push(Instruction::GroupEnd(number))?;
        Ok(())
    }

    fn look(&mut self, look: Look, inner: &Node) -> Result<(), RegexProblem> {
        let branches = match inner {
            // Branches of a look-behind may differ in length, so each looks behind on its own.
            Node::Alternate(branches) if look.is_behind => branches.as_slice(),
            other => std::slice::from_ref(other),
        };
        if look.is_negated {
            for branch in branches {
                let start = self.keep_place()?;
                self.look_inside(look, branch)?;
                self.push(Instruction::HasMatched)?;
                self.fix(start, Instruction::MustFail(self.next()));
            }
            return Ok(());
        }
        self.push(Instruction::Commit)?;
        let mut splits = Vec::new();
        let mut jumps = Vec::new();
        for (index, branch) in branches.iter().enumerate() {
            let is_last = index + 1 == branches.len();
            if !is_last {
                splits.push(self.keep_place()?);
            }
            self.look_inside(look, branch)?;
            if !is_last {
                jumps.push(self.keep_place()?);
                if let Some(split) = splits.pop() {
                    self.fix(split, Instruction::Split(split + 1, self.next()));
                }
            }
        }
        for jump in jumps {
            self.fix(jump, Instruction::Jump(self.next()));
        }
        self.push(Instruction::LookedAhead)?;
        Ok(())
    }

    fn look_inside(&mut self, look: Look, branch: &Node) -> Result<(), RegexProblem> {
        if look.is_behind {
            let length = check::length(branch, self.groups, 0).unwrap_or(0);
            self.push(Instruction::Back(length))?;
        }
        self.node(branch)
    }

    /// Compiles each group that is called once more, as a part that returns.
    fn link_calls(&mut self) -> Result<(), RegexProblem> {
        while let Some((address, group)) = self.calls.pop() {
            let known = self.subroutines.get(group).copied().flatten();
            let target = match known {
                Some(target) => target,
                None => {
                    let target = self.next();
                    if let Some(slot) = self.subroutines.get_mut(group) {
                        *slot = Some(target);
                    }
                    if let Some(body) = self.groups.body(group) {
                        match group {
                            0 => self.node(body)?,
                            _ => self.group(group, body)?,
                        }
                    }
                    self.push(Instruction::Return)?;
                    target
                }
            };
            self.fix(address, Instruction::Call(target));
        }
        Ok(())
    }
}
