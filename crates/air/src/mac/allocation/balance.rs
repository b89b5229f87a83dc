//! Of users that share bands evenly, so that no user gets the larger shares of every TTI.

/// Resources beyond even shares, by user.
#[derive(Clone, Debug, Default)]
pub struct Balance(Vec<f32>);

impl Balance {
    #[inline]
    pub fn of(&self, user: usize) -> f32 {
        self.0.get(user).copied().unwrap_or(0.0)
    }

    /// A user whose channel or power never allows its share stays within `limit`.
    pub fn record(&mut self, got: impl Iterator<Item = (usize, f32)> + Clone, limit: f32) {
        let (users, sum) = got.clone().fold((0.0, 0.0), |(users, sum), (_, got)| (users + 1.0, sum + got));
        let mean = sum / users;
        for (user, got) in got {
            if self.0.len() <= user {
                self.0.resize(user + 1, 0.0);
            }
            self.0[user] = (self.0[user] + got - mean).clamp(-limit, limit);
        }
    }
}
