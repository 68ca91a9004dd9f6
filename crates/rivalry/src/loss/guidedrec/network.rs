//! The surrogate network, by hand: forward and backward for one row of ten items.
//!
//! On `x = (p, label)` of shape 10 × 2, with tanh after every layer: `m = mlp2(mlp1(flatten x))`; `z = nfm1(x)` item by
//! item, `a = mean_k z_k zᵀ`, `q = nfm2(a)`; `EDCG = out2(out1(m ∘ q))`.

use rand_core::Rng;
use rivalry_kernels::Real;

use crate::rng::seeded;

/// Items in a row: one positive, nine negatives.
pub(super) const SIZE: usize = 10;
const WIDTH: usize = 2 * SIZE;
const HIDDEN: usize = 8;

/// A layer: its weights (row by row) and then its biases, at `start` among the numbers.
#[derive(Clone, Copy)]
struct Layer {
    start: usize,
    inputs: usize,
    outputs: usize,
}

const fn after(previous: Layer, inputs: usize, outputs: usize) -> Layer {
    Layer { start: previous.start + previous.outputs * (previous.inputs + 1), inputs, outputs }
}

const MLP1: Layer = Layer { start: 0, inputs: WIDTH, outputs: WIDTH };
const MLP2: Layer = after(MLP1, WIDTH, WIDTH);
const NFM1: Layer = after(MLP2, 2, WIDTH);
const NFM2: Layer = after(NFM1, SIZE, WIDTH);
const OUT1: Layer = after(NFM2, WIDTH, HIDDEN);
const OUT2: Layer = after(OUT1, HIDDEN, 1);
const NUMBERS: usize = after(OUT2, 0, 0).start;

/// Stands apart from every other use of randomness.
const STREAM: u64 = 0x6775_6964_6564_7265;

/// Weights and biases drawn evenly from `±1/√inputs`, always the same.
pub(super) fn initial() -> Vec<f64> {
    let mut rng = seeded(STREAM);
    let mut values = Vec::with_capacity(NUMBERS);
    for layer in [MLP1, MLP2, NFM1, NFM2, OUT1, OUT2] {
        let bound = 1.0 / (layer.inputs as f64).sqrt();
        let mut draw = || (rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
        values.extend((0..layer.outputs * (layer.inputs + 1)).map(|_| bound * (2.0 * draw() - 1.0)));
    }
    values
}

/// The network with all that its forward pass computed.
pub(super) struct Network<T> {
    values: [T; NUMBERS],
    x: [T; WIDTH],
    h: [T; WIDTH],
    m: [T; WIDTH],
    z: [[T; WIDTH]; SIZE],
    z_mean: [T; WIDTH],
    a: [T; SIZE],
    q: [T; WIDTH],
    product: [T; WIDTH],
    o: [T; HIDDEN],
    edcg: [T; 1],
}

impl<T: Real> Network<T> {
    pub fn new(values: &[f64], chances: [T; SIZE]) -> Self {
        let values: [T; NUMBERS] = std::array::from_fn(|n| T::of(values[n]));
        let label = |k: usize| if k == 0 { T::one() } else { T::zero() };
        let x = std::array::from_fn(|n| if n % 2 == 0 { chances[n / 2] } else { label(n / 2) });
        let h = MLP1.forward(&values, &x);
        let m = MLP2.forward(&values, &h);
        let mut z = [[T::zero(); WIDTH]; SIZE];
        for (z, x) in z.iter_mut().zip(x.chunks_exact(2)) {
            *z = NFM1.affine(&values, x);
        }
        tanh(z.as_flattened_mut());
        let size = T::of(SIZE as f64);
        let z_mean = std::array::from_fn(|c| z.iter().fold(T::zero(), |sum, row| sum + row[c]) / size);
        let a = std::array::from_fn(|k| dot(&z[k], &z_mean));
        let q: [T; WIDTH] = NFM2.forward(&values, &a);
        let product = std::array::from_fn(|c| m[c] * q[c]);
        let o = OUT1.forward(&values, &product);
        let edcg = OUT2.forward(&values, &o);
        Self { values, x, h, m, z, z_mean, a, q, product, o, edcg }
    }

    pub fn edcg(&self) -> T {
        self.edcg[0]
    }

    /// The backward pass from `slope`, the gradient of the EDCG. Adds the gradients of the parameters to `params` and
    /// returns those of the probabilities.
    pub fn backward(&self, slope: T, mut params: Option<&mut [T]>) -> [T; SIZE] {
        let values = &self.values;
        let o: [T; HIDDEN] = OUT2.backward(values, &self.o, &self.edcg, &[slope], &mut params);
        let product: [T; WIDTH] = OUT1.backward(values, &self.product, &self.o, &o, &mut params);
        let m: [T; WIDTH] = std::array::from_fn(|c| product[c] * self.q[c]);
        let q: [T; WIDTH] = std::array::from_fn(|c| product[c] * self.m[c]);
        let h: [T; WIDTH] = MLP2.backward(values, &self.h, &self.m, &m, &mut params);
        let mut x: [T; WIDTH] = MLP1.backward(values, &self.x, &self.h, &h, &mut params);
        let a: [T; SIZE] = NFM2.backward(values, &self.a, &self.q, &q, &mut params);
        // a_k = z_k · z̄ depends on z_k directly and on every z through the mean.
        let size = T::of(SIZE as f64);
        let through_mean: [T; WIDTH] = std::array::from_fn(|c| {
            a.iter().zip(&self.z).fold(T::zero(), |sum, (a, z)| sum + *a * z[c]) / size
        });
        for k in 0..SIZE {
            let z: [T; WIDTH] = std::array::from_fn(|c| a[k] * self.z_mean[c] + through_mean[c]);
            let x_k = [self.x[2 * k], self.x[2 * k + 1]];
            let at = NFM1.backward(values, &x_k, &self.z[k], &z, &mut params);
            x[2 * k] = x[2 * k] + at[0];
        }
        std::array::from_fn(|k| x[2 * k])
    }
}

impl Layer {
    /// `tanh(W x + b)`.
    fn forward<T: Real, const OUT: usize>(self, values: &[T], x: &[T]) -> [T; OUT] {
        let mut y = self.affine(values, x);
        tanh(&mut y);
        y
    }

    /// `W x + b`. The outputs take turns, so that no sum waits for its last addition.
    fn affine<T: Real, const OUT: usize>(self, values: &[T], x: &[T]) -> [T; OUT] {
        let (weights, biases) = values[self.start..][..OUT * (self.inputs + 1)].split_at(OUT * self.inputs);
        let mut sums: [T; OUT] = std::array::from_fn(|r| biases[r]);
        for (c, x) in x.iter().enumerate() {
            for (sum, weights) in sums.iter_mut().zip(weights.chunks_exact(self.inputs)) {
                *sum = *sum + weights[c] * *x;
            }
        }
        sums
    }

    /// The backward pass through the layer, which made `y` of `x`: gradients of `y` become gradients of `x`. Gradients of
    /// the layer's parameters are added to `params`.
    fn backward<T: Real, const IN: usize>(
        self,
        values: &[T],
        x: &[T; IN],
        y: &[T],
        grad: &[T],
        params: &mut Option<&mut [T]>,
    ) -> [T; IN] {
        let bias = self.start + self.outputs * IN;
        let mut back = [T::zero(); IN];
        for r in 0..self.outputs {
            let slope = grad[r] * (T::one() - y[r] * y[r]);
            let start = self.start + r * IN;
            for (back, weight) in back.iter_mut().zip(&values[start..][..IN]) {
                *back = *back + slope * *weight;
            }
            if let Some(params) = params {
                for (param, x) in params[start..][..IN].iter_mut().zip(x) {
                    *param = *param + slope * *x;
                }
                params[bias + r] = params[bias + r] + slope;
            }
        }
        back
    }
}

/// `tanh(x) = 1 - 2/(e^2x + 1)`, for many at a time.
fn tanh<T: Real>(numbers: &mut [T]) {
    numbers.iter_mut().for_each(|x| *x = *x + *x);
    T::exponentials(numbers);
    let (one, two) = (T::one(), T::of(2.0));
    numbers.iter_mut().for_each(|x| *x = one - two / (*x + one));
}

fn dot<T: Real>(a: &[T], b: &[T]) -> T {
    a.iter().zip(b).fold(T::zero(), |sum, (a, b)| sum + *a * *b)
}
