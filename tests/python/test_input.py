"""Accepted and refused inputs."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import rivalry
import scipy.sparse as sp
from conftest import QUICK


def quick(**settings: Any) -> rivalry.Recommender:
    return rivalry.Recommender(**{**QUICK, "epochs": 2, "negatives": 5, **settings})


def fitted(user_items: Any, **settings: Any) -> bytes:
    return quick(**settings).fit(user_items, show_progress=False).user_factors.tobytes()


def test_the_type_of_values_and_indices_does_not_matter(blocks: sp.csr_matrix) -> None:
    reference = fitted(blocks)
    for dtype in (np.float32, np.float64, np.bool_, np.int8, np.int64, np.uint16):
        assert fitted(blocks.astype(dtype)) == reference, dtype
    for index in (np.int32, np.int64):
        typed = blocks.copy()
        typed.indices, typed.indptr = typed.indices.astype(index), typed.indptr.astype(index)
        assert fitted(typed) == reference, index
    assert fitted(sp.csr_array(blocks)) == reference
    assert fitted(blocks * 7.5) == reference


def test_order_repeats_zeros_and_strides_do_not_matter(blocks: sp.csr_matrix) -> None:
    reference = fitted(blocks)
    backwards = blocks.copy()
    for row in range(20):
        start, end = backwards.indptr[row : row + 2]
        backwards.indices[start:end] = backwards.indices[start:end][::-1].copy()
    backwards.has_sorted_indices = False
    assert fitted(backwards) == reference
    pairs = blocks.tocoo()
    twice = sp.csr_matrix(blocks.shape)
    twice.indptr = (2 * blocks.indptr).astype(np.int32)
    twice.indices = np.repeat(blocks.indices, 2)
    twice.data = np.ones(2 * blocks.nnz)
    assert fitted(twice) == reference
    rows = np.append(pairs.row, 0)
    columns = np.append(pairs.col, 0)
    with_zero = sp.csr_matrix((np.append(pairs.data, 0.0), (rows, columns)), shape=blocks.shape)
    assert with_zero.nnz == blocks.nnz + 1 and fitted(with_zero) == reference
    strided = blocks.copy()
    strided.indices = np.repeat(blocks.indices, 3)[::3]
    strided.data = np.repeat(blocks.data, 2)[::2]
    assert fitted(strided) == reference


def test_inputs_are_not_modified(blocks: sp.csr_matrix) -> None:
    mine = blocks.copy()
    mine.data[0] = 0
    indices = mine.indices[::-1].copy()
    mine.indices = np.concatenate([np.sort(indices[a:b])[::-1] for a, b in zip(mine.indptr, mine.indptr[1:])])
    before = (mine.indptr.copy(), mine.indices.copy(), mine.data.copy())
    fitted(mine)
    for now, then in zip((mine.indptr, mine.indices, mine.data), before):
        assert (now == then).all()


@pytest.mark.parametrize("kind", ["coo", "csc", "lil", "dok"])
def test_other_sparse_matrices_are_converted_with_a_warning(blocks: sp.csr_matrix, kind: str) -> None:
    with pytest.warns(rivalry.ConversionWarning, match=f"{kind.upper()} matrix"):
        assert fitted(blocks.asformat(kind)) == fitted(blocks)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fitted(blocks)


def broken(matrix: sp.csr_matrix, **parts: Any) -> sp.csr_matrix:
    copy = matrix.copy()
    for name, part in parts.items():
        setattr(copy, name, part)
    return copy


def test_matrices_that_are_invalid(blocks: sp.csr_matrix) -> None:
    model = quick()
    cases: list[tuple[Any, type[Exception], str]] = [
        (blocks.toarray(), TypeError, "dense array.*\n.*csr_matrix"),
        ([[1, 0], [0, 1]], TypeError, "found list"),
        (None, TypeError, "found NoneType"),
        (blocks * -1, ValueError, "negative values"),
        (broken(blocks, data=np.full(blocks.nnz, np.nan)), ValueError, "NaN"),
        (broken(blocks, data=np.full(blocks.nnz, np.inf)), ValueError, "infinite"),
        (blocks.astype(np.complex64), ValueError, "complex"),
        (broken(blocks, indices=blocks.indices + 1), ValueError, "column index"),
        (broken(blocks, indptr=blocks.indptr[::-1].copy()), ValueError, "row pointers"),
        (sp.csr_matrix((3, 4)), ValueError, "no interactions"),
        (sp.csr_matrix((0, 4)), ValueError, "no interactions"),
    ]
    for matrix, error, text in cases:
        with pytest.raises(error, match=text):
            model.fit(matrix, show_progress=False)
    with pytest.raises(rivalry.NotFittedError):
        model.recommend(0)


def test_settings_that_are_invalid(blocks: sp.csr_matrix) -> None:
    cases: list[tuple[dict[str, Any], str]] = [
        ({"loss": "dls"}, "did you mean 'dsl'"),
        ({"model": "lightgnc"}, "did you mean 'lightgcn'"),
        ({"backbone": "lightgnc"}, "did you mean 'lightgcn'"),
        ({"loss_params": {"taus": 1}}, "did you mean 'tau'"),
        ({"loss_params": {"tau": -1}}, r'^loss_params\["tau"\] must be a number > 0, not -1'),
        ({"factors": 0}, r"^factors must be a whole number in \[1, 16384\], not 0"),
        ({"epochs": 0}, "^epochs must be a whole number ≥ 1 .*, not 0"),
        ({"learning_rate": -1.0}, "^learning_rate must be a number > 0, not -1"),
        ({"learning_rate": float("nan")}, "^learning_rate must be a finite number, not nan"),
        ({"score": "cosinus"}, "did you mean 'cosine'"),
        ({"loss": "dsl", "score": "dot"}, "cosines"),
        ({"random_state": -1}, "random_state"),
        ({"random_state": "0"}, "random_state"),
        ({"num_threads": 1.5}, "num_threads must be a whole number"),
        ({"patience": 2}, "^patience: "),
    ]
    for settings, text in cases:
        with pytest.raises(ValueError, match=text):
            quick(**settings).fit(blocks, show_progress=False)
    with pytest.raises(ValueError, match="unknown parameter 'epoch'"):
        quick().set_params(epoch=3)
    with pytest.raises(TypeError, match=r'^loss_params\["tau"\] must be a number, a boolean or text'):
        quick(loss_params={"tau": object()}).fit(blocks, show_progress=False)
    # Lists are measured where something is held out.
    with pytest.raises(ValueError, match="^k: K = 21, but there are only 20 items"):
        rivalry.Recommender(epochs=1, k=21).fit(blocks, validation=0.2, show_progress=False)


def test_validation_is_of_the_same_users_and_items(blocks: sp.csr_matrix) -> None:
    with pytest.raises(ValueError, match=r"validation has the shape \(20, 19\)"):
        quick().fit(blocks, validation=blocks[:, :19], show_progress=False)
    with pytest.raises(TypeError, match="validation is a dense array"):
        quick().fit(blocks, validation=blocks.toarray(), show_progress=False)


def test_questions_that_are_invalid(block_model: Any, blocks: sp.csr_matrix) -> None:
    cases: list[tuple[Any, type[Exception], str]] = [
        (lambda m: m.recommend(20), IndexError, "unknown user 20\n.*numbered from 0"),
        (lambda m: m.recommend(-1), IndexError, "unknown user -1"),
        (lambda m: m.recommend([0, 99]), IndexError, "unknown user 99"),
        (lambda m: m.recommend("0"), TypeError, "by number"),
        (lambda m: m.recommend(0.5), TypeError, "by number"),
        (lambda m: m.recommend([]), ValueError, "empty"),
        (lambda m: m.recommend([[0, 1]]), ValueError, "2 dimensions"),
        (lambda m: m.recommend(0, N=0), ValueError, "N must be"),
        (lambda m: m.recommend(0, N=-3), ValueError, "N must be"),
        (lambda m: m.recommend(0, N=2.5), ValueError, "N must be"),
        (lambda m: m.recommend(0, blocks), ValueError, r"20 rows for 1 users\n.*user_items\[userid\]"),
        (lambda m: m.recommend(0, blocks[0, :19]), ValueError, "19 columns, the model has 20"),
        (lambda m: m.recommend(0, blocks[0].toarray()), TypeError, "dense array"),
        (lambda m: m.recommend(0, filter_items=[20]), IndexError, "unknown item 20"),
        (lambda m: m.recommend(0, items=[-1]), IndexError, "unknown item -1"),
        (lambda m: m.recommend(0, items=[1], filter_items=[2]), ValueError, "not both"),
        (lambda m: m.recommend(0, items=[]), ValueError, "no items left"),
        (lambda m: m.recommend(0, filter_items=range(20)), ValueError, "no items left"),
        (lambda m: m.recommend(0, recalculate_user=True), ValueError, "pass user_items"),
        (lambda m: m.recalculate_user([]), ValueError, "empty"),
        (lambda m: m.recalculate_user(sp.csr_matrix((2, 20))), ValueError, "row 0 has no items"),
        (lambda m: m.recalculate_user([20]), IndexError, "unknown item 20"),
        (lambda m: m.similar_items(20), IndexError, "unknown item 20"),
        (lambda m: m.similar_users(0, N=0), ValueError, "N must be"),
    ]
    for ask, error, text in cases:
        with pytest.raises(error, match=text):
            ask(block_model)


def test_a_model_that_is_not_fitted_says_so() -> None:
    model = rivalry.Recommender()
    for ask in (
        lambda: model.recommend(0),
        lambda: model.similar_items(0),
        lambda: model.similar_users(0),
        lambda: model.recalculate_user([0]),
        lambda: model.user_factors,
        lambda: model.item_ids,
        lambda: model.save("nowhere"),
    ):
        with pytest.raises(rivalry.NotFittedError, match="call fit"):
            ask()
    assert issubclass(rivalry.NotFittedError, ValueError) and issubclass(rivalry.NotFittedError, AttributeError)


def test_a_diverging_training_is_an_error(blocks: sp.csr_matrix) -> None:
    with pytest.raises(FloatingPointError, match="non-finite.*\n.*learning_rate"):
        quick(score="dot", loss="sl", learning_rate=1e30, epochs=20).fit(blocks, show_progress=False)


def test_files_that_are_no_models(tmp_path: Path, block_model: Any) -> None:
    with pytest.raises(FileNotFoundError, match="no such file"):
        rivalry.Recommender.load(tmp_path / "nothing")
    (tmp_path / "text").write_text("hello")
    with pytest.raises(ValueError, match="not a Rivalry file"):
        rivalry.Recommender.load(tmp_path / "text")
    with pytest.raises(ValueError, match="not a run"):
        rivalry.Recommender.load(tmp_path)
    block_model.save(tmp_path / "model")
    written = (tmp_path / "model").read_bytes()
    changed = written[:-1] + bytes([255 - written[-1]])
    (tmp_path / "changed").write_bytes(changed)
    with pytest.raises(ValueError, match="changed or damaged"):
        rivalry.Recommender.load(tmp_path / "changed")
    (tmp_path / "half").write_bytes(changed[: len(changed) // 2])
    with pytest.raises(ValueError, match="not a whole|changed or damaged"):
        rivalry.Recommender.load(tmp_path / "half")
    with pytest.raises((OSError, ValueError)):
        block_model.save(tmp_path / "no folder" / "model")


def test_invalid_evaluations_are_refused(block_model: Any, blocks: sp.csr_matrix) -> None:
    test = sp.csr_matrix(np.eye(20, dtype=np.float32))
    whole = rivalry.Dataset(blocks, test)
    with pytest.raises(TypeError, match=r"test is missing\n.*evaluate\(model, train, test\)"):
        rivalry.evaluate(block_model, blocks)
    cases: list[tuple[rivalry.Dataset, dict[str, Any], str]] = [
        (whole, {"k": 0}, "K = 0"),
        (whole, {"k": 21}, "only 20 items"),
        (whole, {"k": []}, "no K"),
        (whole, {"part": "tset"}, "unknown part"),
        (whole, {"mask": "trian"}, "^mask: unknown choice 'trian'\n.*did you mean 'train'"),
        (whole, {"k": 2.5}, "^k.* must be a whole number ≥ 1, not 2.5"),
        (whole, {"buckets": 1}, "^buckets must be true or false, not 1"),
        (whole, {"part": "valid"}, "no validation set"),
        (rivalry.Dataset(blocks[:10], test[:10]), {}, "model has 20 users"),
    ]
    for data, options, text in cases:
        with pytest.raises(ValueError, match=text):
            rivalry.evaluate(block_model, data, **options)
    with pytest.raises(ValueError, match="a part has"):
        rivalry.Dataset(blocks, test[:, :3])
    with pytest.raises(ValueError, match="occurs twice"):
        rivalry.Dataset(blocks, item_ids=["a"] * 20)
