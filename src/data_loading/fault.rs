//! [`Fault`]: what is wrong with a file of an environment.

use hiera_resolver::data::{FileFault, Notice};
use hiera_resolver::hierarchy::ConfigFault;

/// A fault of an environment: a file, a position in it, and what is wrong there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The file.
    pub path: String,
    /// Line and column, from 1; `None` if the file as a whole is at fault.
    pub position: Option<(u32, u32)>,
    /// What is wrong.
    pub problem: String,
}

impl std::fmt::Display for Fault {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (line, column) = self.position.unwrap_or((1, 1));
        write!(out, "{}:{line}:{column}: {}", self.path, self.problem)
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

impl Fault {
    /// A fault of a file or directory as a whole.
    pub(crate) fn at_path(path: &str, problem: &dyn std::fmt::Display) -> Self {
        Fault {
            path: path.to_owned(),
            position: None,
            problem: problem.to_string(),
        }
    }

    /// Is it the same fault, perhaps on another line of a file that was edited around it?
    pub(crate) fn is_same_except_position(&self, other: &Fault) -> bool {
        self.path == other.path && self.problem == other.problem
    }

    /// A notice of a data file.
    pub(crate) fn from_notice(path: &str, notice: &Notice) -> Self {
        let position = (notice.line > 0).then_some((notice.line, notice.column));
        Fault {
            path: path.to_owned(),
            position,
            problem: notice.text.clone(),
        }
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
