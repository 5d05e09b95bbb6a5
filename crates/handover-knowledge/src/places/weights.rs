//! What counts how much when files are ranked.

/// Nearly every task of a repository has more in common with its best file or commit, most tasks of others less.
const FLOOR: f32 = 0.4;

/// What counts how much. The defaults were found on repositories other than those that results are published for.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "the names say it")]
pub struct Weights {
    /// BM25: how soon more occurrences stop counting, and how much long files are held back.
    pub saturation: f32,
    pub length: f32,
    /// An occurrence in a name that the file defines, in its folders, in its own name; in the text it counts 1.
    pub symbol: f32,
    pub folder: f32,
    pub name: f32,
    /// A term of the task's first line; others count 1.
    pub title: f32,
    /// How much a word that is in many messages ("fix") is held back.
    pub common: f32,
    /// What a synonym and a forgiven mistake count.
    pub synonym: f32,
    pub forgiven: f32,
    /// The signals.
    pub content: f32,
    pub history: f32,
    pub together: f32,
    pub popular: f32,
    /// How much closer the best matching commits count than others, and how much a commit of many files says less.
    pub sharpness: f32,
    pub spread: f32,
    /// The age, in days, at which a commit counts half.
    pub half_life: f32,
    /// How many of the best files pull others along.
    pub seeds: usize,
    /// Kinds of files; code counts 1.
    pub test: f32,
    pub prose: f32,
    pub data: f32,
    /// What the task names.
    pub named: f32,
    /// What the best file or the best commit must have of the task's words, by their rarity; else nothing is named.
    pub floor: f32,
}

impl Default for Weights {
    fn default() -> Self {
        Self {
            saturation: 3.0,
            length: 0.5,
            symbol: 2.0,
            folder: 2.0,
            name: 5.0,
            title: 2.0,
            common: 0.8,
            synonym: 0.4,
            forgiven: 0.5,
            content: 1.0,
            history: 0.8,
            together: 0.8,
            popular: 0.15,
            sharpness: 3.0,
            spread: 0.35,
            half_life: 500.0,
            seeds: 4,
            test: 0.9,
            prose: 0.45,
            data: 0.6,
            named: 2.0,
            floor: FLOOR,
        }
    }
}
