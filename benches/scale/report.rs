//! [`Report`]: measured values, as a table and as JSON.

use std::fs;
use std::path::Path;

use serde_json::json;

/// Everything that was measured.
#[derive(Default)]
pub(crate) struct Report {
    measurements: Vec<Measurement>,
}

struct Measurement {
    name: String,
    unit: &'static str,
    value: f64,
    /// The best possible value.
    floor: Option<f64>,
    goal: Option<Goal>,
}

enum Goal {
    AtMost(f64),
    AtLeast(f64),
}

impl Measurement {
    fn is_met(&self) -> Option<bool> {
        self.goal.as_ref().map(|goal| match *goal {
            Goal::AtMost(limit) => self.value <= limit,
            Goal::AtLeast(limit) => self.value >= limit,
        })
    }
}

impl Report {
    /// Adds a value that should be at most `goal`.
    pub(crate) fn add(
        &mut self,
        name: &str,
        unit: &'static str,
        value: f64,
        floor: Option<f64>,
        goal: Option<f64>,
    ) {
        self.measurements.push(Measurement {
            name: name.to_owned(),
            unit,
            value,
            floor,
            goal: goal.map(Goal::AtMost),
        });
    }

    /// Adds a value that should be at least `goal`.
    pub(crate) fn add_at_least(&mut self, name: &str, unit: &'static str, value: f64, goal: f64) {
        self.measurements.push(Measurement {
            name: name.to_owned(),
            unit,
            value,
            floor: None,
            goal: Some(Goal::AtLeast(goal)),
        });
    }

    /// Prints the table.
    pub(crate) fn print(&self) {
        println!(
            "{:<68} {:>14} {:>10} {:>6} {:>10}  met",
            "what", "measured", "floor", "ratio", "goal"
        );
        for measurement in &self.measurements {
            let number = |number: Option<f64>| {
                number.map_or_else(String::new, |number| format!("{number:.1}"))
            };
            let ratio = measurement.floor.map_or_else(String::new, |floor| {
                format!("{:.2}", measurement.value / floor)
            });
            let (goal, met) = match (&measurement.goal, measurement.is_met()) {
                (Some(Goal::AtMost(limit)), Some(met)) => {
                    (format!("≤ {limit:.1}"), if met { "yes" } else { "no" })
                }
                (Some(Goal::AtLeast(limit)), Some(met)) => {
                    (format!("≥ {limit:.1}"), if met { "yes" } else { "no" })
                }
                _ => (String::new(), ""),
            };
            let measured = format!("{:.1} {}", measurement.value, measurement.unit);
            println!(
                "{:<68} {measured:>14} {:>10} {ratio:>6} {goal:>10}  {met}",
                measurement.name,
                number(measurement.floor)
            );
        }
    }

    /// Writes the same as JSON.
    pub(crate) fn write(&self, path: &Path) -> anyhow::Result<()> {
        let measurements: Vec<_> = self
            .measurements
            .iter()
            .map(|measurement| {
                let goal = measurement.goal.as_ref().map(|goal| match goal {
                    Goal::AtMost(limit) | Goal::AtLeast(limit) => limit,
                });
                json!({ "name": measurement.name, "value": measurement.value, "unit": measurement.unit, "floor": measurement.floor,
                    "goal": goal, "met": measurement.is_met() })
            })
            .collect();
        if let Some(directory) = path.parent() {
            fs::create_dir_all(directory)?;
        }
        fs::write(path, serde_json::to_string_pretty(&measurements)? + "\n")?;
        println!("written to {}", path.display());
        Ok(())
    }
}

/// The median.
pub(crate) fn median(measurements: &mut [f64]) -> f64 {
    measurements.sort_by(f64::total_cmp);
    measurements
        .get(measurements.len() / 2)
        .copied()
        .unwrap_or(f64::NAN)
}
