//! The server with its allocations counted: what is alive, and the most that was.

use std::alloc::{GlobalAlloc, Layout};
use std::io::BufRead as _;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use clap::Parser as _;
use hierad::cli::CommandLine;
use mimalloc::MiMalloc;

/// The server's allocator, which counts if it is told to.
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
    reason = "an allocator is made of unsafe functions; this one hands everything on"
)]
// SAFETY: every call goes unchanged to an allocator that keeps the rules.
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

/// `hierad serve` in this process. For each line of its input it prints the bytes that are alive and the most that
/// were since the last one.
pub(crate) fn serve_counted(arguments: &[&str]) -> anyhow::Result<()> {
    // What is freed later and was not counted is little: nothing but the arguments is there yet.
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
