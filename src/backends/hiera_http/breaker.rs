//! [`CircuitBreaker`]: whether a server gets requests at the moment.
//!
//! It opens after a number of failures in a row. After a pause it lets one request pass as a trial: if that succeeds, it
//! closes, otherwise the next pause is twice as long. The time is a parameter.

use std::time::Duration;

use tokio::time::Instant;

use super::error::FetchErrorKind;
use crate::backoff::Backoff;
use crate::config::RemoteSettings;

/// The first pause. As long as a failure is cached.
const FIRST_PAUSE: Duration = Duration::from_secs(1);

/// The circuit breaker of one server.
#[derive(Debug)]
pub(super) struct CircuitBreaker {
    /// Failures in a row after which it opens; 0: never.
    max_failures: u32,
    /// Failures since the last success.
    failures: u32,
    /// The pauses when it has just opened.
    first_pauses: Backoff,
    /// The pauses from here on.
    pauses: Backoff,
    state: State,
    has_failed_trial: bool,
}

#[derive(Clone, Debug)]
enum State {
    /// All requests pass.
    Closed,
    /// No request passes until then; after that, one does.
    Open { until: Instant, reason: String },
    /// One request has passed, and its result decides.
    Trial { reason: String },
}

/// A request that may be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Admitted {
    Normally,
    AsTrial,
}

/// Why a request may not be sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct OpenCircuit {
    /// When the next request may be sent; `None` while the result of a trial decides.
    pub(super) until: Option<Instant>,
    /// Failures since the last success.
    pub(super) failures: u32,
    /// The last of them.
    pub(super) reason: String,
    /// A trial has failed since it first opened.
    pub(super) is_repeated: bool,
}

/// A change of state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Transition {
    Opened(OpenCircuit),
    Closed,
}

impl CircuitBreaker {
    pub(super) fn new(settings: &RemoteSettings) -> Self {
        let pauses = Backoff::new(FIRST_PAUSE, settings.breaker_max_pause());
        CircuitBreaker {
            max_failures: settings.breaker_failures,
            failures: 0,
            first_pauses: pauses,
            pauses,
            state: State::Closed,
            has_failed_trial: false,
        }
    }

    /// Why requests are refused at this time, if they are.
    pub(super) fn refusal(&self, now: Instant) -> Option<OpenCircuit> {
        let is_over = |open: &OpenCircuit| open.until.is_some_and(|until| until <= now);
        self.open_circuit().filter(|open| !is_over(open))
    }

    /// Lets a request pass, or not. One that passes as a trial must be followed by a call of one of the next three.
    pub(super) fn admit(&mut self, now: Instant) -> Result<Admitted, OpenCircuit> {
        if let Some(refusal) = self.refusal(now) {
            return Err(refusal);
        }
        match &self.state {
            State::Open { reason, .. } | State::Trial { reason } => {
                let reason = reason.clone();
                self.state = State::Trial { reason };
                Ok(Admitted::AsTrial)
            }
            State::Closed => Ok(Admitted::Normally),
        }
    }

    /// A server has answered. It does not matter which request it was.
    pub(super) fn succeed(&mut self) -> Option<Transition> {
        self.failures = 0;
        self.pauses = self.first_pauses;
        self.has_failed_trial = false;
        let before = std::mem::replace(&mut self.state, State::Closed);
        (!matches!(before, State::Closed)).then_some(Transition::Closed)
    }

    /// A request has failed. Those that were sent before it opened do not prolong the pause.
    pub(super) fn fail(
        &mut self,
        request: Admitted,
        reason: &FetchErrorKind,
        now: Instant,
    ) -> Option<Transition> {
        self.failures = self.failures.saturating_add(1);
        let opens = match (&self.state, request) {
            (State::Closed, _) => self.max_failures > 0 && self.failures >= self.max_failures,
            (State::Trial { .. }, Admitted::AsTrial) => true,
            (State::Trial { .. } | State::Open { .. }, _) => false,
        };
        if !opens {
            return None;
        }
        self.has_failed_trial = matches!(self.state, State::Trial { .. });
        let (until, reason) = (now + self.pauses.next_delay(), reason.to_string());
        self.state = State::Open { until, reason };
        self.open_circuit().map(Transition::Opened)
    }

    /// A request ended without a result that says anything about the server. If it was a trial, the next one is.
    pub(super) fn abandon(&mut self, request: Admitted, now: Instant) {
        if let (State::Trial { reason }, Admitted::AsTrial) = (&self.state, request) {
            let reason = reason.clone();
            self.state = State::Open { until: now, reason };
        }
    }

    /// Why it is open, if it is, even if the pause is over.
    pub(super) fn open_circuit(&self) -> Option<OpenCircuit> {
        let (until, reason) = match &self.state {
            State::Closed => return None,
            State::Open { until, reason } => (Some(*until), reason),
            State::Trial { reason } => (None, reason),
        };
        Some(OpenCircuit {
            until,
            failures: self.failures,
            reason: reason.clone(),
            is_repeated: self.has_failed_trial,
        })
    }

    /// Is it open, or half open?
    pub(super) fn is_open(&self) -> bool {
        !matches!(self.state, State::Closed)
    }

    /// Is it as if no request had failed?
    pub(super) fn is_untouched(&self) -> bool {
        self.failures == 0 && !self.is_open()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FAILURE: FetchErrorKind = FetchErrorKind::Status { status: 503 };

    fn breaker() -> CircuitBreaker {
        CircuitBreaker::new(&RemoteSettings {
            breaker_failures: 3,
            breaker_max_pause_s: 5,
            ..RemoteSettings::default()
        })
    }

    /// A breaker that has just opened, and the time.
    fn open_breaker() -> (CircuitBreaker, Instant) {
        let (mut breaker, now) = (breaker(), Instant::now());
        for _ in 0..3 {
            breaker.fail(Admitted::Normally, &FAILURE, now);
        }
        assert!(breaker.is_open());
        (breaker, now)
    }

    fn seconds(count: u64) -> Duration {
        Duration::from_secs(count)
    }

    #[test]
    fn it_opens_after_failures_in_a_row() {
        let (mut breaker, now) = (breaker(), Instant::now());
        let fail = |breaker: &mut CircuitBreaker| {
            assert_eq!(breaker.admit(now), Ok(Admitted::Normally));
            breaker.fail(Admitted::Normally, &FAILURE, now)
        };
        assert_eq!((fail(&mut breaker), fail(&mut breaker)), (None, None));
        assert_eq!(breaker.succeed(), None);
        assert_eq!((fail(&mut breaker), fail(&mut breaker)), (None, None));
        let open = OpenCircuit {
            until: Some(now + seconds(1)),
            failures: 3,
            reason: "returned status 503".to_owned(),
            is_repeated: false,
        };
        assert_eq!(fail(&mut breaker), Some(Transition::Opened(open.clone())));
        assert_eq!(breaker.admit(now), Err(open));
    }

    #[test]
    fn one_trial_passes_after_a_pause_that_grows() {
        let (mut breaker, mut now) = open_breaker();
        for pause in [1, 2, 4, 5, 5] {
            let early = now + seconds(pause) - Duration::from_millis(1);
            let refused = breaker.admit(early).unwrap_err();
            assert_eq!(refused.until, Some(now + seconds(pause)));
            now += seconds(pause);
            assert_eq!(breaker.admit(now), Ok(Admitted::AsTrial));
            let meanwhile = breaker.admit(now + seconds(100)).unwrap_err();
            assert_eq!(meanwhile.until, None);
            let opened = breaker.fail(Admitted::AsTrial, &FAILURE, now);
            let Some(Transition::Opened(opened)) = opened else {
                panic!("{opened:?}");
            };
            assert!(opened.is_repeated);
        }
    }

    #[test]
    fn it_closes_when_a_trial_succeeds() {
        let (mut breaker, now) = open_breaker();
        assert_eq!(breaker.admit(now + seconds(1)), Ok(Admitted::AsTrial));
        assert_eq!(breaker.succeed(), Some(Transition::Closed));
        assert!(breaker.is_untouched());
        assert_eq!(breaker.admit(now), Ok(Admitted::Normally));
        // Everything starts again, with the first pause.
        for _ in 0..2 {
            assert_eq!(breaker.fail(Admitted::Normally, &FAILURE, now), None);
        }
        breaker.fail(Admitted::Normally, &FAILURE, now);
        let refused = breaker.admit(now).unwrap_err();
        assert_eq!(refused.until, Some(now + seconds(1)));
    }

    #[test]
    fn requests_from_before_it_opened_do_not_prolong_the_pause() {
        let (mut breaker, now) = open_breaker();
        let later = now + seconds(1);
        assert_eq!(breaker.fail(Admitted::Normally, &FAILURE, later), None);
        assert_eq!(breaker.admit(later), Ok(Admitted::AsTrial));
        assert_eq!(breaker.fail(Admitted::Normally, &FAILURE, later), None);
        assert_eq!(breaker.admit(later).unwrap_err().until, None);
        // A success shows that the server works, whenever the request was sent.
        assert_eq!(breaker.succeed(), Some(Transition::Closed));
    }

    #[test]
    fn a_trial_without_a_result_is_repeated() {
        let (mut breaker, now) = open_breaker();
        let later = now + seconds(1);
        assert_eq!(breaker.admit(later), Ok(Admitted::AsTrial));
        breaker.abandon(Admitted::Normally, later);
        assert!(breaker.admit(later).is_err());
        breaker.abandon(Admitted::AsTrial, later);
        assert_eq!(breaker.admit(later), Ok(Admitted::AsTrial));
    }

    #[test]
    fn it_never_opens_without_a_limit() {
        let mut breaker = CircuitBreaker::new(&RemoteSettings {
            breaker_failures: 0,
            ..RemoteSettings::default()
        });
        let now = Instant::now();
        for _ in 0..100 {
            assert_eq!(breaker.fail(Admitted::Normally, &FAILURE, now), None);
        }
        assert_eq!(breaker.admit(now), Ok(Admitted::Normally));
    }
}
