//! Figures → a table and JSON.

use std::fs;
use std::path::Path;

use serde_json::json;

/// What was measured.
#[derive(Default)]
pub(crate) struct Report {
    figures: Vec<Figure>,
}

struct Figure {
    name: String,
    unit: &'static str,
    value: f64,
    /// What it cannot be better than.
    floor: Option<f64>,
    goal: Option<Goal>,
}

enum Goal {
    AtMost(f64),
    AtLeast(f64),
}

impl Figure {
    fn is_met(&self) -> Option<bool> {
        self.goal.as_ref().map(|goal| match *goal {
            Goal::AtMost(limit) => self.value <= limit,
            Goal::AtLeast(limit) => self.value >= limit,
        })
    }
}

impl Report {
    /// A figure that should be at most `goal`.
    pub(crate) fn add(
        &mut self,
        name: &str,
        unit: &'static str,
        value: f64,
        floor: Option<f64>,
        goal: Option<f64>,
    ) {
        self.figures.push(Figure {
            name: name.to_owned(),
            unit,
            value,
            floor,
            goal: goal.map(Goal::AtMost),
        });
    }

    /// A figure that should be at least `goal`.
    pub(crate) fn add_at_least(&mut self, name: &str, unit: &'static str, value: f64, goal: f64) {
        self.figures.push(Figure {
            name: name.to_owned(),
            unit,
            value,
            floor: None,
            goal: Some(Goal::AtLeast(goal)),
        });
    }

    /// The table.
    pub(crate) fn print(&self) {
        println!(
            "{:<68} {:>14} {:>10} {:>6} {:>10}  met",
            "what", "measured", "floor", "ratio", "goal"
        );
        for figure in &self.figures {
            let number = |number: Option<f64>| {
                number.map_or_else(String::new, |number| format!("{number:.1}"))
            };
            let ratio = figure
                .floor
                .map_or_else(String::new, |floor| format!("{:.2}", figure.value / floor));
            let (goal, met) = match (&figure.goal, figure.is_met()) {
                (Some(Goal::AtMost(limit)), Some(met)) => {
                    (format!("≤ {limit:.1}"), if met { "yes" } else { "no" })
                }
                (Some(Goal::AtLeast(limit)), Some(met)) => {
                    (format!("≥ {limit:.1}"), if met { "yes" } else { "no" })
                }
                _ => (String::new(), ""),
            };
            let measured = format!("{:.1} {}", figure.value, figure.unit);
            println!(
                "{:<68} {measured:>14} {:>10} {ratio:>6} {goal:>10}  {met}",
                figure.name,
                number(figure.floor)
            );
        }
    }

    /// The same as JSON.
    pub(crate) fn write(&self, path: &Path) -> anyhow::Result<()> {
        let figures: Vec<_> = self
            .figures
            .iter()
            .map(|figure| {
                let goal = figure.goal.as_ref().map(|goal| match goal {
                    Goal::AtMost(limit) | Goal::AtLeast(limit) => limit,
                });
                json!({ "name": figure.name, "value": figure.value, "unit": figure.unit, "floor": figure.floor,
                    "goal": goal, "met": figure.is_met() })
            })
            .collect();
        if let Some(directory) = path.parent() {
            fs::create_dir_all(directory)?;
        }
        fs::write(path, serde_json::to_string_pretty(&figures)? + "\n")?;
        println!("written to {}", path.display());
        Ok(())
    }
}

/// The middle one.
pub(crate) fn median(figures: &mut [f64]) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures.get(figures.len() / 2).copied().unwrap_or(f64::NAN)
}
