//! Linux, `lib/win_minmax.c`: only the best three candidates are kept.

#[derive(Clone, Debug)]
pub struct WindowedMax {
    length: u64,
    /// (time, value), each at least as new as the one before it.
    best: [(u64, f64); 3],
}

impl WindowedMax {
    /// 0 until a value is added.
    pub fn new(length: u64) -> Self {
        Self { length, best: [(0, 0.0); 3] }
    }

    /// Older values expire at the next update.
    pub fn set_length(&mut self, length: u64) {
        self.length = length;
    }

    /// 0 if no value was added.
    pub fn max(&self) -> f64 {
        self.best[0].1
    }

    /// Values older than the window expire.
    pub fn update(&mut self, at: u64, value: f64) {
        let new = (at, value);
        if value >= self.best[0].1 || at - self.best[2].0 > self.length {
            self.best = [new; 3];
            return;
        }
        if value >= self.best[1].1 {
            self.best = [self.best[0], new, new];
        } else if value >= self.best[2].1 {
            self.best[2] = new;
        }
        self.expire(new);
    }

    /// The second and third candidates come from later parts of the window.
    fn expire(&mut self, new: (u64, f64)) {
        let age = new.0 - self.best[0].0;
        if age > self.length {
            self.best = [self.best[1], self.best[2], new];
            if new.0 - self.best[0].0 > self.length {
                self.best = [self.best[1], self.best[2], new];
            }
        } else if self.best[1].0 == self.best[0].0 && age > self.length / 4 {
            self.best = [self.best[0], new, new];
        } else if self.best[2].0 == self.best[1].0 && age > self.length / 2 {
            self.best[2] = new;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn maximum_expires_with_window() {
        let mut filter = WindowedMax::new(10);
        let seen: Vec<f64> = [5.0, 9.0, 7.0, 6.0]
            .into_iter()
            .chain(std::iter::repeat_n(4.0, 20))
            .zip(0..)
            .map(|(value, at)| {
                filter.update(at, value);
                filter.max()
            })
            .collect();
        let seen: Vec<i64> = seen.into_iter().map(|value| value as i64).collect();
        assert_eq!(seen[..2], [5, 9]);
        assert!(seen[2..=11].iter().all(|&max| max == 9), "{seen:?}");
        assert!(seen[12] < 9 && seen[23] == 4, "{seen:?}");
    }
}
