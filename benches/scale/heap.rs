//! The server with an allocator that counts live bytes and their peak.

use std::alloc::{GlobalAlloc, Layout};
use std::io::BufRead as _;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use clap::Parser as _;
use hierad::cli::CommandLine;
use mimalloc::MiMalloc;

/// The allocator of the server. It counts after [`serve_counted`] was called.
pub(crate) struct Counting;

static IS_COUNTING: AtomicBool = AtomicBool::new(false);
static LIVE: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

fn grow(size: usize) {
    if IS_COUNTING.load(Ordering::Relaxed) {
        let live = LIVE.fetch_add(size, Ordering::Relaxed) + size;
        PEAK.fetch_max(live, Ordering::Relaxed);
    }
}

fn shrink(size: usize) {
    if IS_COUNTING.load(Ordering::Relaxed) {
        LIVE.fetch_sub(size, Ordering::Relaxed);
    }
}

#[expect(
    unsafe_code,
    reason = "an allocator consists of unsafe functions; this one forwards every call"
)]
// SAFETY: every call is forwarded unchanged to an allocator that meets the requirements.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        grow(layout.size());
        unsafe { MiMalloc.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        grow(layout.size());
        unsafe { MiMalloc.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        shrink(layout.size());
        unsafe { MiMalloc.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        grow(size);
        shrink(layout.size());
        unsafe { MiMalloc.realloc(pointer, layout, size) }
    }
}

/// Runs `hierad serve` in this process. For each line on standard input it prints the live bytes, and their peak since
/// the previous line.
pub(crate) fn serve_counted(arguments: &[&str]) -> anyhow::Result<()> {
    // Few bytes were allocated before and are freed uncounted later: only the arguments exist yet.
    IS_COUNTING.store(true, Ordering::Relaxed);
    std::thread::spawn(|| {
        for _ in std::io::stdin().lock().lines() {
            let live = LIVE.load(Ordering::Relaxed);
            println!("{live} {}", PEAK.swap(live, Ordering::Relaxed));
        }
    });
    hierad::run(CommandLine::parse_from(arguments))?;
    Ok(())
}
