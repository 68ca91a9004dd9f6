//! Optimisers: from gradients to new parameters.
//!
//! A new optimiser is one file with an [`Entry`], and one line in [`OPTIMIZERS`].

mod adam;
mod deferred_adam;
mod gathered;
mod lazy_adam;
mod rows;
mod schedule;

use std::borrow::Cow;
use std::collections::BTreeMap;

pub(crate) use self::adam::DEFERRED;
pub(crate) use self::schedule::Schedule;

use crate::backbone::{Embeddings, Unit};
use crate::params::{self, Choice, Param, Params, Range, Search, Value};

/// All optimisers, in the order they are listed to the user.
pub static OPTIMIZERS: &[Entry] = &[adam::ADAM, lazy_adam::LAZY_ADAM];

/// An optimiser on the list.
pub type Entry = params::Entry<Build>;

/// Builds an optimiser for tables of a size.
pub type Build = fn(&Params, Size) -> Box<dyn Optimizer>;

/// A chosen optimiser with its parameters: `[optim]` of a config.
pub type OptimConfig = Choice<Build>;

/// The learning rate, which every optimiser has.
pub(crate) const LR: Param = Param {
    name: "lr",
    doc: "learning rate; each loss has its own default",
    default: Value::Number(0.1),
    range: Range::Positive,
    search: Search::NONE.paper(&[0.001, 0.01, 0.1]),
};

/// L2 regularisation, for the optimisers that have it.
pub(crate) const WEIGHT_DECAY: Param = Param {
    name: "weight_decay",
    doc: "L2 regularisation: this times the parameter is added to its gradient",
    default: Value::Number(0.0),
    range: Range::AtLeast(0.0),
    search: Search::NONE.paper(&[0.0, 1e-6, 1e-5, 1e-4]),
};

/// The size of both tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// Rows of the user table.
    pub users: usize,
    /// Rows of the item table.
    pub items: usize,
    /// The embedding dimension.
    pub dim: usize,
}

impl Size {
    /// The size of these tables.
    pub fn of(tables: &Embeddings) -> Self {
        Self { users: tables.users.rows(), items: tables.items.rows(), dim: tables.dim() }
    }

    /// Tables of zeros.
    pub fn zeros(self) -> Embeddings {
        Embeddings::zeros(self.users, self.items, self.dim)
    }
}

impl std::fmt::Display for Size {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} users, {} items, {} dimensions", self.users, self.items, self.dim)
    }
}

/// Moves parameters along their gradients.
pub trait Optimizer: Send {
    /// Takes one step. The gradients are zero afterwards. Rows with a gradient must be up to date.
    fn step(&mut self, tables: Trainable<'_>);

    /// Brings the listed rows up to date, for an optimiser that defers the updates of rows without a gradient.
    fn catch_up(&mut self, _tables: Trainable<'_>) {}

    /// Whether a step needs no rows but those with a gradient: then [`gather`](Self::gather) and
    /// [`step_gathered`](Self::step_gathered) can be called.
    fn is_sparse(&self) -> bool {
        false
    }

    /// Brings the listed rows up to date and copies them into the scored tables. Their gradients are zero afterwards.
    fn gather(&mut self, _tables: Gathered<'_>) {
        unreachable!("only of an optimiser that is sparse");
    }

    /// Takes one step of the rows that were gathered.
    fn step_gathered(&mut self, _tables: Gathered<'_>) {
        unreachable!("only of an optimiser that is sparse");
    }

    /// The learning rate of the next step.
    fn lr(&self) -> f64;

    /// Sets the learning rate of the next step to this fraction of the configured one.
    fn scale_lr(&mut self, factor: f64);

    /// What it keeps from step to step, for a checkpoint.
    fn state(&self) -> StateRef<'_>;

    /// Takes up a saved state. `false` if it is not a state of this optimiser and size.
    fn restore(&mut self, state: OptimizerState) -> bool;
}

/// Parameters with their gradients, as an optimiser gets them.
pub struct Trainable<'a> {
    /// The learned tables.
    pub params: &'a mut Embeddings,
    /// Gradients: of the unit rows where there are any, otherwise of the learned ones.
    pub grads: &'a mut Embeddings,
    /// The learned rows scaled to length one, where these are scored; kept up to date by the optimiser, which has each
    /// row in cache anyway.
    pub unit: Option<&'a mut Unit>,
    /// The rows that have a gradient.
    pub touched: Touched<'a>,
}

/// Parameters with the scored rows and gradients of some of them, which have tables of their own.
pub struct Gathered<'a> {
    /// The learned tables.
    pub params: &'a mut Embeddings,
    /// The users of the other tables, ascending and each once.
    pub users: &'a [u32],
    /// The items of the other tables, ascending and each once.
    pub items: &'a [u32],
    /// The scored rows; without lengths where the learned rows are scored as they are.
    pub scored: &'a mut Unit,
    /// Gradients of the scored rows.
    pub grads: &'a mut Embeddings,
}

/// Rows of both tables, ascending and each once; `None` for any row of a table.
#[derive(Clone, Copy, Debug, Default)]
pub struct Touched<'a> {
    /// Users.
    pub users: Option<&'a [u32]>,
    /// Items.
    pub items: Option<&'a [u32]>,
}

/// The state of an optimiser, borrowed.
#[derive(Clone, Debug)]
pub struct StateRef<'a> {
    /// Steps taken.
    pub steps: u64,
    /// Tables with a row for each row of the parameters, by name.
    pub tables: Vec<(&'static str, Cow<'a, Embeddings>)>,
}

/// The state of an optimiser.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OptimizerState {
    /// Steps taken.
    pub steps: u64,
    /// Tables with a row for each row of the parameters, by name.
    pub tables: BTreeMap<String, Embeddings>,
}

impl StateRef<'_> {
    /// A copy that outlives the optimiser.
    pub fn to_owned(&self) -> OptimizerState {
        let tables = self
            .tables
            .iter()
            .map(|(name, table)| ((*name).to_owned(), table.clone().into_owned()))
            .collect();
        OptimizerState { steps: self.steps, tables }
    }
}

impl OptimConfig {
    /// The optimiser for tables of that size.
    pub fn build(&self, size: Size) -> Box<dyn Optimizer> {
        (self.entry().build)(self.params(), size)
    }

    /// The learning rate.
    pub fn lr(&self) -> f64 {
        self.params().number(LR.name)
    }

    /// Whether the learning rate depends on the number of epochs.
    pub fn has_schedule(&self) -> bool {
        !Schedule::new(self.params(), 1, 1).is_constant()
    }

    /// The weight decay; 0 for an optimiser without.
    pub fn weight_decay(&self) -> f64 {
        match self.params().get(WEIGHT_DECAY.name) {
            Some(Value::Number(x)) => x,
            _ => 0.0,
        }
    }
}
