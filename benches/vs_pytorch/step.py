"""One training step in PyTorch: what Rivalry is compared with.

Two ways to write it, both with autograd and dense Adam:

- `plain`, as someone who minds the time would: the item table is normalised once a step, scores are one batched matrix
  product over the gathered rows, Adam is fused, the graph is in compressed rows and its product its own adjoint.
- `usual`, as it is found in most repositories: `F.cosine_similarity` on the gathered rows, Adam and the sparse product
  as they come.
"""

import warnings

import torch
import torch.nn.functional as F

warnings.filterwarnings("ignore", "Sparse CSR tensor support is in beta")


class Symmetric(torch.autograd.Function):
    """A symmetric sparse matrix times a table: the way back is the same product."""

    @staticmethod
    def forward(ctx, matrix, table):
        ctx.matrix = matrix
        return matrix @ table

    @staticmethod
    def backward(ctx, grad):
        return None, ctx.matrix @ grad


class Model(torch.nn.Module):
    """User and item tables; with edges, LightGCN's two layers over them."""

    LAYERS = 2

    def __init__(self, users, items, form, edges=None):
        super().__init__()
        self.users, self.items = torch.nn.Parameter(users), torch.nn.Parameter(items)
        self.form = form
        self.graph = None if edges is None else self._graph(edges)

    def _graph(self, edges):
        n = len(self.users) + len(self.items)
        user, item = edges[:, 0], edges[:, 1] + len(self.users)
        places = torch.stack([torch.cat([user, item]), torch.cat([item, user])])
        degree = torch.bincount(places[0], minlength=n).to(self.users.dtype)
        weights = 1 / (degree[places[0]] * degree[places[1]]).sqrt()
        graph = torch.sparse_coo_tensor(places, weights, (n, n), check_invariants=False).coalesce()
        return graph.to_sparse_csr() if self.form == "plain" else graph

    def tables(self):
        if self.graph is None:
            return self.users, self.items
        layer = torch.cat([self.users, self.items])
        total = layer
        for _ in range(self.LAYERS):
            layer = Symmetric.apply(self.graph, layer) if self.form == "plain" else torch.sparse.mm(self.graph, layer)
            total = total + layer
        return (total / (self.LAYERS + 1)).split([len(self.users), len(self.items)])

    def scores(self, users, items, negatives, similarities):
        """Cosines of each user with the positive (B) and the negatives (B×N), and if asked for, those of the
        positive with the negatives, through which no gradient flows."""
        user_table, item_table = self.tables()
        if self.form == "plain":
            user = F.normalize(F.embedding(users, user_table), dim=-1)
            item_table = F.normalize(item_table, dim=-1)
            positive, rows = F.embedding(items, item_table), F.embedding(negatives, item_table)
            cosine = lambda one, many: torch.bmm(many, one.unsqueeze(2)).squeeze(2)
            f_positive = (user * positive).sum(-1)
        else:
            user = F.embedding(users, user_table)
            positive, rows = F.embedding(items, item_table), F.embedding(negatives, item_table)
            cosine = lambda one, many: F.cosine_similarity(one.unsqueeze(1), many, dim=-1)
            f_positive = F.cosine_similarity(user, positive, dim=-1)
        f = cosine(user, rows)
        with torch.no_grad():
            s = cosine(positive, rows) if similarities else None
        return f_positive, f, s


def sl(f_positive, f, _, tau):
    return torch.logsumexp((f - f_positive.unsqueeze(1)) / tau, dim=1).mean()


def dsl(f_positive, f, s, tau, alpha, beta, slate, kappa_min):
    with torch.no_grad():
        near = (s + 1) / 2
        kappa = torch.softmax(f + near, dim=1) * f.shape[1]
        kappa = (1 + beta * (kappa - 1)).clamp(min=kappa_min)
        kappa = kappa * (1 / kappa).mean(dim=1, keepdim=True)
        top, places = f.topk(min(slate, f.shape[1]), dim=1)
        top = top / tau
        contest = torch.logsumexp(top + near.gather(1, places), dim=1) - torch.logsumexp(top, dim=1)
        m = torch.exp(alpha * contest)
        scale = kappa * (m / m.mean() / tau).unsqueeze(1)
    return torch.logsumexp(scale * (f - f_positive.unsqueeze(1)), dim=1).mean()


LOSSES = {"sl": sl, "dsl": dsl}


def loss_of(model, loss, params, users, items, negatives):
    return LOSSES[loss](*model.scores(users, items, negatives, loss == "dsl"), **params)


def adam(model, lr, weight_decay=0.0):
    return torch.optim.Adam(model.parameters(), lr=lr, weight_decay=weight_decay, fused=model.form == "plain")


def step(model, optimizer, loss, params, users, items, negatives):
    optimizer.zero_grad()
    value = loss_of(model, loss, params, users, items, negatives)
    value.backward()
    optimizer.step()
    return value.item()


class Negatives:
    """Draws negatives, uniform over the items a user has no training pair with, and throws away what is taken."""

    def __init__(self, pairs, n_users, n_items):
        self.n_items = n_items
        self.items = pairs[torch.argsort(pairs[:, 0], stable=True), 1]
        self.counts = torch.bincount(pairs[:, 0], minlength=n_users)
        self.starts = self.counts.cumsum(0) - self.counts

    def draw(self, users, n):
        counts = self.counts[users]
        row = torch.repeat_interleave(counts)
        within = torch.arange(len(row)) - torch.repeat_interleave(counts.cumsum(0) - counts, counts)
        taken = torch.zeros(len(users), self.n_items, dtype=torch.bool)
        taken[row, self.items[self.starts[users][row] + within]] = True
        drawn = torch.randint(self.n_items, (len(users), n))
        rows, places = taken.gather(1, drawn).nonzero(as_tuple=True)
        while len(rows):
            fresh = torch.randint(self.n_items, rows.shape)
            drawn[rows, places] = fresh
            again = taken[rows, fresh]
            rows, places = rows[again], places[again]
        return drawn
