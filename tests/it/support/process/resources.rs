//! What a server under test uses: processor time, memory, file descriptors.

use std::time::Duration;

use rustix::param::clock_ticks_per_second;
use rustix::process::{Pid, Resource, Rlimit, getrlimit, prlimit};

use super::Process;

impl Process {
    /// The processor time that it has used so far.
    pub(crate) fn cpu_time(&self) -> Duration {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id())).unwrap();
        // After the name, which is in parentheses, user and system time are the 12th and 13th field.
        let (_, fields) = stat.rsplit_once(") ").unwrap();
        let fields = fields.split(' ').skip(11).take(2);
        let ticks: u64 = fields.map(|field| field.parse::<u64>().unwrap()).sum();
        Duration::from_secs_f64(ticks as f64 / clock_ticks_per_second() as f64)
    }

    /// The memory that it uses now, in megabytes.
    pub(crate) fn memory(&self) -> u64 {
        self.status("VmRSS:") / 1024
    }

    /// The most memory that it has used at a time, in megabytes.
    pub(crate) fn peak_memory(&self) -> u64 {
        self.status("VmHWM:") / 1024
    }

    /// How many file descriptors it has open.
    pub(crate) fn open_files(&self) -> usize {
        let files = std::fs::read_dir(format!("/proc/{}/fd", self.child.id()));
        files.unwrap().count()
    }

    /// Sets how many file descriptors it may have open.
    pub(crate) fn limit_open_files(&self, count: usize) {
        // It has inherited the maximum, and may not exceed it.
        let maximum = getrlimit(Resource::Nofile).maximum;
        let old = prlimit(
            Some(Pid::from_child(&self.child)),
            Resource::Nofile,
            Rlimit {
                current: Some(count as u64),
                maximum,
            },
        );
        old.unwrap();
    }

    /// A line of `/proc/PID/status`, in kilobytes.
    fn status(&self, name: &str) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        let number = line.unwrap().trim().strip_suffix(" kB").unwrap();
        number.parse().unwrap()
    }
}
