use super::*;
use crate::reload::requests::WaitingCaller;

const QUIET: Duration = Duration::from_millis(40);

fn schedule(quiet: Duration) -> Schedule {
    Schedule::new(quiet, ReloadRequests::default())
}

fn request(schedule: &Schedule, environment: &str) -> WaitingCaller {
    schedule.requests.join(environment, || {})
}

fn take(schedule: &mut Schedule) -> (String, PendingReload) {
    match schedule.take_due() {
        Some(Due::Environment(name, pending)) => (name, pending),
        other => panic!("{other:?} is due"),
    }
}

fn next_environment_at(schedule: &mut Schedule, now: Instant) -> Option<String> {
    match schedule.take_due_at(now)? {
        Due::Environment(name, _) => Some(name),
        Due::Everything => None,
    }
}

fn next_environment(schedule: &mut Schedule) -> Option<String> {
    next_environment_at(schedule, Instant::now())
}

#[test]
fn an_environment_that_keeps_changing_does_not_delay_others() {
    let mut schedule = schedule(QUIET);
    let start = Instant::now();
    schedule.add_event_at(start, "quiet", Path::new("/a"));
    let step = QUIET / 4;
    let mut due = Vec::new();
    for steps in 0..=4 * MAX_QUIET_TIMES {
        let now = start + step * steps;
        let next = next_environment_at(&mut schedule, now);
        due.extend(next.map(|name| (name, steps)));
        schedule.add_event_at(now, "noisy", Path::new("/b"));
    }
    let expected = [("quiet", 4), ("noisy", 4 * MAX_QUIET_TIMES)];
    assert_eq!(due, expected.map(|(name, steps)| (name.to_owned(), steps)));
}

#[test]
fn an_environment_that_a_caller_waits_for_comes_first() {
    let mut schedule = schedule(Duration::ZERO);
    schedule.add_full("a");
    let _caller = request(&schedule, "b");
    let (name, pending) = take(&mut schedule);
    assert_eq!((name.as_str(), pending.is_partial()), ("b", false));
    assert!(schedule.requests.take("b").is_some());
    assert_eq!(next_environment(&mut schedule).as_deref(), Some("a"));
    assert!(schedule.next_due().is_none());
}

#[test]
fn any_number_of_callers_delays_a_change_by_one_load() {
    let mut schedule = schedule(Duration::ZERO);
    let mut callers = Vec::new();
    let mut taken = Vec::new();
    for round in 0..10 {
        // New callers for many environments come before each load.
        callers.extend((0..200).map(|number| request(&schedule, &format!("e{number}"))));
        if round % 2 == 1 {
            schedule.add_event("changed", Path::new("/a"));
        }
        let (name, _) = take(&mut schedule);
        schedule.requests.take(&name);
        taken.push(name);
    }
    for (round, name) in taken.iter().enumerate() {
        assert_eq!(name == "changed", round % 2 == 1, "{taken:?}");
    }
    // Nor do changes keep callers waiting: each of these loads was for another environment.
    let requested: BTreeSet<_> = taken.iter().filter(|name| *name != "changed").collect();
    assert_eq!(requested.len(), 5, "{taken:?}");
}

#[test]
fn an_environment_whose_callers_hung_up_is_not_loaded() {
    let mut schedule = schedule(Duration::ZERO);
    drop(request(&schedule, "a"));
    assert!(schedule.take_due().is_none());
    // The same if it was postponed, before and after a load was started.
    for is_started in [false, true] {
        let caller = request(&schedule, "a");
        let (name, mut pending) = take(&mut schedule);
        if is_started {
            pending.start(schedule.requests.take("a"));
        }
        schedule.postpone(name, pending, Duration::ZERO);
        drop(caller);
        assert!(schedule.take_due().is_none());
        assert!(schedule.next_due().is_none());
    }
    // What has changed is loaded anyway.
    let caller = request(&schedule, "a");
    let (name, pending) = take(&mut schedule);
    schedule.add_event("a", Path::new("/a"));
    schedule.postpone(name, pending, Duration::ZERO);
    drop(caller);
    assert!(take(&mut schedule).1.is_partial());
}

#[test]
fn a_caller_does_not_shorten_the_wait_of_a_postponed_reload() {
    let mut schedule = schedule(Duration::ZERO);
    let first = request(&schedule, "a");
    let (name, pending) = take(&mut schedule);
    schedule.postpone(name, pending, QUIET);
    let second = request(&schedule, "a");
    let now = Instant::now();
    assert_eq!(next_environment_at(&mut schedule, now), None);
    let next = next_environment_at(&mut schedule, now + QUIET);
    assert_eq!(next.as_deref(), Some("a"));
    drop((first, second));
}

#[test]
fn a_caller_does_not_shorten_the_quiet_time_if_it_hangs_up() {
    let mut schedule = schedule(QUIET);
    let start = Instant::now();
    schedule.add_event_at(start, "a", Path::new("/a"));
    drop(request(&schedule, "a"));
    assert_eq!(next_environment_at(&mut schedule, start), None);
    let _caller = request(&schedule, "a");
    let next = next_environment_at(&mut schedule, start);
    assert_eq!(next.as_deref(), Some("a"));
}

#[test]
fn an_event_is_not_delayed_by_a_later_retry() {
    let mut schedule = schedule(Duration::ZERO);
    schedule.add_full_in("a", Duration::from_secs(3600));
    assert!(schedule.take_due().is_none());
    schedule.add_event("a", Path::new("/a"));
    assert!(take(&mut schedule).1.is_full);
}
