//! [`Fault`]: what is wrong with a file of an environment, for people.

use std::fmt;

use crate::data::{FileFault, Notice};
use crate::hierarchy::ConfigFault;

/// A fault of an environment: a file, a position in it, and what is wrong there. Lookups that reach it fail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The file.
    pub path: String,
    /// Line and column, from 1; `None` if the file as a whole is at fault.
    pub position: Option<(u32, u32)>,
    /// What is wrong.
    pub problem: String,
}

impl Fault {
    /// A fault of a file or directory as a whole.
    pub fn at_path(path: &str, problem: &dyn fmt::Display) -> Self {
        Fault {
            path: path.to_owned(),
            position: None,
            problem: problem.to_string(),
        }
    }

    /// A notice of a data file.
    pub fn from_notice(path: &str, notice: &Notice) -> Self {
        let position = (notice.line > 0).then_some((notice.line, notice.column));
        Fault {
            path: path.to_owned(),
            position,
            problem: notice.text.clone(),
        }
    }

    /// Is it the same fault, perhaps on another line of a file that was edited around it?
    pub fn is_same_except_position(&self, other: &Fault) -> bool {
        self.path == other.path && self.problem == other.problem
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (line, column) = self.position.unwrap_or((1, 1));
        write!(out, "{}:{line}:{column}: {}", self.path, self.problem)
    }
}

impl From<&ConfigFault> for Fault {
    fn from(fault: &ConfigFault) -> Self {
        Fault {
            path: fault.path.to_string(),
            position: Some((fault.line, fault.column)),
            problem: fault.problem.clone(),
        }
    }
}

impl From<&FileFault> for Fault {
    fn from(fault: &FileFault) -> Self {
        Fault {
            path: fault.path().to_owned(),
            position: fault.position(),
            problem: fault.problem(),
        }
    }
}
