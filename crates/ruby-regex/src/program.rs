//! [`Node`] to instructions for the backtracking matcher.

use regex_syntax::hir::ClassUnicode;

use super::RegexProblem;
use super::ast::{Assertion, Backreference, Look, Node, Repeat};
use super::check::{self, Groups};

/// The maximum number of instructions. Repetitions are unrolled, so `(a{1000}){1000}` is too large.
const MAX_INSTRUCTIONS: usize = 50_000;

/// The index of an instruction.
pub(super) type Address = usize;

/// A compiled pattern.
#[derive(Debug)]
pub(super) struct Program {
    pub(super) instructions: Vec<Instruction>,
    /// The number of capture groups, including group 0.
    pub(super) groups: usize,
}

/// An instruction of the matcher. "Push" and "pop" are about a stack that follows the nesting of the pattern.
#[derive(Clone, Debug)]
pub(super) enum Instruction {
    /// The whole pattern matches, or the part of an [`Instruction::Absent`].
    Match,
    /// One character of the set.
    Set(Box<ClassUnicode>),
    Assert(Assertion),
    /// Continue at the first address and, if that fails, at the second.
    Split(Address, Address),
    Jump(Address),
    /// Push the start of a group.
    GroupStart(usize),
    /// Pop the start of a group and set its match.
    GroupEnd(usize),
    /// Push the position where an iteration of a loop starts.
    IterationStart,
    /// Pop that position. If the iteration matched the empty string, leave the loop and continue at the address.
    IterationEnd(Address),
    /// Push the position and the current alternatives.
    AtomicStart,
    /// Pop them and drop the alternatives since.
    AtomicEnd,
    /// Like `AtomicEnd`, and go back to the position.
    LookEnd,
    /// Push the current alternatives. If the part fails, continue at the address.
    NegativeStart(Address),
    /// The part has matched, so fail.
    NegativeEnd,
    /// Go back a number of characters, for a look-behind.
    Back(usize),
    Backreference(Backreference),
    /// Push the next address and continue at this one.
    Call(Address),
    /// Pop an address and continue there.
    Return,
    /// If the group is not set, continue at the address.
    Condition(usize, Address),
    /// A string without a match of the part that follows, which ends before the address.
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
    /// The addresses of groups that are compiled again as subroutines, since they are called.
    subroutines: Vec<Option<Address>>,
    /// Calls without a target address yet, with the group that they call.
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

    /// Replaces a placeholder.
    fn patch(&mut self, address: Address, instruction: Instruction) {
        if let Some(slot) = self.instructions.get_mut(address) {
            *slot = instruction;
        }
    }

    /// Adds a placeholder for an instruction with a target that is not known yet.
    fn placeholder(&mut self) -> Result<Address, RegexProblem> {
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
                self.push(Instruction::AtomicStart)?;
                self.node(inner)?;
                self.push(Instruction::AtomicEnd)?;
            }
            Node::Look(look, inner) => self.look(*look, inner)?,
            Node::Backreference(reference) => {
                self.push(Instruction::Backreference(reference.clone()))?;
            }
            Node::Call(group) => {
                let address = self.placeholder()?;
                self.calls.push((address, *group));
            }
            Node::Condition(group, yes, no) => {
                let condition = self.placeholder()?;
                self.node(yes)?;
                let jump = self.placeholder()?;
                self.patch(condition, Instruction::Condition(*group, self.next()));
                self.node(no)?;
                self.patch(jump, Instruction::Jump(self.next()));
            }
            Node::Absent(inner) => {
                let absent = self.placeholder()?;
                self.node(inner)?;
                self.push(Instruction::Match)?;
                self.patch(absent, Instruction::Absent(self.next()));
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
            let split = self.placeholder()?;
            self.node(branch)?;
            jumps.push(self.placeholder()?);
            self.patch(split, Instruction::Split(split + 1, self.next()));
        }
        self.node(last)?;
        for jump in jumps {
            self.patch(jump, Instruction::Jump(self.next()));
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
                // An empty part, so repetitions make no difference.
                return Ok(());
            }
        }
        match repeat.max {
            Some(max) => {
                let mut splits = Vec::new();
                for _ in repeat.min..max {
                    splits.push(self.placeholder()?);
                    self.node(&repeat.node)?;
                }
                for address in splits {
                    let instruction = split(repeat.is_greedy, address + 1, self.next());
                    self.patch(address, instruction);
                }
            }
            None => {
                let start = self.placeholder()?;
                let can_be_empty = check::can_be_empty(&repeat.node, self.groups, 0);
                if can_be_empty {
                    self.push(Instruction::IterationStart)?;
                }
                self.node(&repeat.node)?;
                if can_be_empty {
                    let end = self.placeholder()?;
                    self.patch(end, Instruction::IterationEnd(end + 2));
                }
                self.push(Instruction::Jump(start))?;
                let instruction = split(repeat.is_greedy, start + 1, self.next());
                self.patch(start, instruction);
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
            // The branches of a look-behind can differ in length, so each goes back on its own.
            Node::Alternate(branches) if look.is_behind => branches.as_slice(),
            other => std::slice::from_ref(other),
        };
        if look.is_negated {
            for branch in branches {
                let start = self.placeholder()?;
                self.look_inside(look, branch)?;
                self.push(Instruction::NegativeEnd)?;
                self.patch(start, Instruction::NegativeStart(self.next()));
            }
            return Ok(());
        }
        self.push(Instruction::AtomicStart)?;
        let mut splits = Vec::new();
        let mut jumps = Vec::new();
        for (index, branch) in branches.iter().enumerate() {
            let is_last = index + 1 == branches.len();
            if !is_last {
                splits.push(self.placeholder()?);
            }
            self.look_inside(look, branch)?;
            if !is_last {
                jumps.push(self.placeholder()?);
                if let Some(split) = splits.pop() {
                    self.patch(split, Instruction::Split(split + 1, self.next()));
                }
            }
        }
        for jump in jumps {
            self.patch(jump, Instruction::Jump(self.next()));
        }
        self.push(Instruction::LookEnd)?;
        Ok(())
    }

    fn look_inside(&mut self, look: Look, branch: &Node) -> Result<(), RegexProblem> {
        if look.is_behind {
            let length = check::length(branch, self.groups, 0).unwrap_or(0);
            self.push(Instruction::Back(length))?;
        }
        self.node(branch)
    }

    /// Compiles each group that is called as a subroutine.
    fn link_calls(&mut self) -> Result<(), RegexProblem> {
        while let Some((address, group)) = self.calls.pop() {
            let compiled = self.subroutines.get(group).copied().flatten();
            let target = match compiled {
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
            self.patch(address, Instruction::Call(target));
        }
        Ok(())
    }
}
