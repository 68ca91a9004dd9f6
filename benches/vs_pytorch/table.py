"""The figures of a run as Markdown."""

# Multiply-adds for one pair-negative, per dimension: score, user gradient, item gradient; DSL also a similarity.
PRODUCTS = {"sl": 3, "dsl": 4}

COLUMNS = [
    "data", "backbone", "loss", "Rivalry s/epoch", "PyTorch s/epoch", "ratio", "as usually written s/epoch", "ratio",
    "Rivalry pair-neg/s", "PyTorch pair-neg/s", "Rivalry of GEMM", "PyTorch of GEMM", "Rivalry MB", "PyTorch MB",
    "as usually written MB",
]


def markdown(report, busy):
    gemm = report["gemm"]
    best = max(gemm["pytorch"], gemm["ours"])
    lines = [line(COLUMNS), line(["---"] * 3 + ["---:"] * (len(COLUMNS) - 3))]
    lines += [line(row(cell, report, best)) for cell in report["cells"]]
    about = f"""
{report["threads"]} threads, batch {report["batch-size"]}, {report["negatives"]} negatives a pair, \
{report["dim"]} dimensions; {report["cells"][0]["ours"]["simd"]}; PyTorch {gemm["torch"]}.

- Rivalry: the mean over whole epochs. PyTorch: batches, the median of {report["batches"]} timed after warm-up,
  **scaled to the epoch**. Both include drawing negatives and Adam; neither includes reading, shuffling and evaluation.
- *PyTorch*: item table normalised once a step, scores by `bmm`, fused Adam, CSR product, freed memory kept for the next
  step. *As usually written*: `F.cosine_similarity` on the gathered rows, Adam, sparse product and memory as they come.
- *of GEMM*: 2·3·d operations a pair-negative for SL and 2·4·d for DSL, whoever computes it and however (the graph's
  products are not counted), over the rate of a large f32 matrix product on the same threads: the better of \
`torch.mm`
  ({gemm["pytorch"] / 1e9:.1f} GFLOP/s) and the `gemm` crate ({gemm["ours"] / 1e9:.1f} GFLOP/s).
- *MB*: the most memory the whole process had at once, reading and (for Rivalry) evaluation included.
"""
    if busy:
        others = report["cores_of_others"]
        about += f"- **Measured on a busy machine** (others kept up to {others:.1f} cores busy): not to be cited.\n"
    return "\n".join(lines) + "\n" + about


def row(cell, report, best):
    ours, plain, usual = cell["ours"], cell["plain"], cell["usual"]
    times = [side["epoch_seconds"] for side in (ours, plain, usual)]
    rates = [cell["pairs"] * report["negatives"] / time for time in times[:2]]
    operations = 2 * PRODUCTS[cell["loss"]] * report["dim"]
    return [
        cell["data"], cell["backbone"], cell["loss"].upper(),
        seconds(times[0]),
        seconds(times[1]), f"{times[1] / times[0]:.0f}×",
        seconds(times[2]), f"{times[2] / times[0]:.0f}×",
        *(f"{rate / 1e6:.1f} M" for rate in rates),
        *(f"{rate * operations / best:.1%}" for rate in rates),
        *(f"{side['peak_bytes'] / 1e6:,.0f}" for side in (ours, plain, usual)),
    ]


def seconds(time):
    return f"{time:,.0f}" if time >= 100 else f"{time:.3g}"


def line(cells):
    return "| " + " | ".join(cells) + " |"
