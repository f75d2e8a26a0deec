//! Quantiles of the normal distribution and of Student's t-distribution.

/// The value that a standard normal variable exceeds with probability `tail`, which is at most one half. The
/// approximation is 26.2.23 of Abramowitz and Stegun, Handbook of Mathematical Functions; its error is less than
/// 0.00045.
pub(crate) fn normal(tail: f64) -> f64 {
    let t = (-2.0 * tail.ln()).sqrt();
    let above = 2.515_517 + t * (0.802_853 + t * 0.010_328);
    let below = 1.0 + t * (1.432_788 + t * (0.189_269 + t * 0.001_308));
    t - above / below
}

/// From this number of degrees of freedom on, Student's quantiles equal the normal ones to three digits.
const MANY: u32 = 4000;

/// The value that a variable with Student's t-distribution exceeds with probability `tail`, above zero and at most one
/// half. For the mean of n figures, `degrees` is n - 1 and the value is in standard errors of the mean.
///
/// For a whole number of degrees, the probability of lying between -t and t is a finite sum in terms of the angle
/// arctan(t / √degrees): Abramowitz and Stegun, 26.7.3 (odd) and 26.7.4 (even). The angle is found by bisection.
pub(crate) fn student(degrees: u32, tail: f64) -> f64 {
    let degrees = degrees.max(1);
    if degrees >= MANY {
        return normal(tail);
    }
    let (mut low, mut high) = (0.0, std::f64::consts::FRAC_PI_2);
    for _ in 0..64 {
        let angle = f64::midpoint(low, high);
        if 1.0 - within(degrees, angle) > 2.0 * tail { low = angle } else { high = angle }
    }
    f64::from(degrees).sqrt() * low.tan()
}

/// The probability that a variable with Student's t-distribution lies between -t and t, where t = √`degrees` ·
/// tan(`angle`).
fn within(degrees: u32, angle: f64) -> f64 {
    let (sine, cosine) = angle.sin_cos();
    let odd = degrees % 2 == 1;
    // Powers of the cosine from 1 (odd) or 0 (even) up to degrees - 2; each coefficient follows from the one before
    let (mut power, mut term) = if odd { (1, cosine) } else { (0, 1.0) };
    let mut sum = 0.0;
    while power + 2 <= degrees {
        sum += term;
        term *= cosine * cosine * f64::from(power + 1) / f64::from(power + 2);
        power += 2;
    }
    if odd { std::f64::consts::FRAC_2_PI * (angle + sine * sum) } else { sine * sum }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn normal_quantiles_are_the_tables() {
        for (tail, quantile) in
            [(0.5, 0.0), (0.158_655, 1.0), (0.025, 1.959_96), (0.001_25, 3.023_34), (1e-6, 4.753_42)]
        {
            assert!((normal(tail) - quantile).abs() < 5e-4, "{tail}");
        }
    }

    /// Table 26.10 of Abramowitz and Stegun; its A is 1 - 2 · `tail`.
    #[test]
    fn students_quantiles_are_the_tables() {
        for (tail, quantiles) in [
            (0.025, [12.706, 4.303, 3.182, 2.776, 2.571, 2.262, 2.042, 1.980]),
            (0.005, [63.657, 9.925, 5.841, 4.604, 4.032, 3.250, 2.750, 2.617]),
            (0.0005, [636.619, 31.599, 12.924, 8.610, 6.869, 4.781, 3.646, 3.373]),
        ] {
            for (degrees, quantile) in [1, 2, 3, 4, 5, 9, 30, 120].into_iter().zip(quantiles) {
                let found = student(degrees, tail);
                assert!((found / quantile - 1.0).abs() < 2e-4, "{degrees} degrees, {tail}: {found}");
            }
        }
        assert!(student(7, 0.5).abs() < 1e-9, "the middle");
    }

    #[test]
    fn one_and_two_degrees_have_quantiles_in_closed_form() {
        for tail in [0.4, 0.025, 0.025 / 6.0, 0.025 / 200.0, 1e-6] {
            let one = 1.0 / (std::f64::consts::PI * tail).tan();
            let two = (1.0 - 2.0 * tail) / (2.0 * tail * (1.0 - tail)).sqrt();
            assert!((student(1, tail) / one - 1.0).abs() < 1e-6, "{tail}");
            assert!((student(2, tail) / two - 1.0).abs() < 1e-6, "{tail}");
        }
    }

    #[test]
    fn many_degrees_are_normal_and_none_counts_as_one() {
        assert!((student(MANY - 1, 0.025) / student(MANY, 0.025) - 1.0).abs() < 1e-3);
        assert!((student(0, 0.025) - 12.706).abs() < 1e-2);
        // Values that a stored file may contain
        assert!(student(u32::MAX, 1e-18).is_finite() && student(3, 1e-300).is_finite());
    }
}
