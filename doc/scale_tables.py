"""Tables and a figure of the pages about scale: memory, a cluster, growth."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from demurk.benchmark.report._figure_style import figure_style, new_figure


def out_of_core(document):
    """Memory of fits to rows in a file."""
    lines = [
        [
            f"{int(n_rows):,}",
            f"{sizes['file_mb']:,}",
            name,
            f"{found['fit_peak_mb']:,}",
            f"{found['search_peak_mb']:,}" if "recall" in found else "",
            f"{found['graph_mb_at_most']:,}" if "recall" in found else "",
            f"{found['fit_s']:,.0f}",
        ]
        for n_rows, sizes in document["rows"].items()
        for name, found in sizes.items()
        if name != "file_mb"
    ]
    head = ["rows", "file, MB", "fit", "peak, MB", "peak of the search, MB"]
    head += ["a graph, MB, at most", "seconds"]
    title = (
        f"Memory that is not the file, {document['features']} features, "
        f"{document['labels']} labels, one thread of a machine in use by others; "
        f"LabelAudit has one row in 200 labelled (``{document['command']}``)"
    )
    return head, lines, title


def cluster(document):
    """Equality, a lost worker and memory on a cluster."""
    same, killed, memory = (document[k] for k in ("equality", "killed", "memory"))
    lines = [
        ["angle between directions, NMLSDR", f"{same['NMLSDR_angle']:.0e}"],
        ["difference of transform, relative", f"{same['NMLSDR_transform']:.0e}"],
        *(
            [f"predictions that differ, {name}", str(same[key])]
            for key in same
            if (name := key.removesuffix("_predictions_that_differ")) != key
        ),
        [
            "neighbours that differ, a worker killed in mid-search",
            str(killed["neighbours_that_differ"]),
        ],
        *(
            [
                f"memory of a worker, MB, beyond two blocks of {run['block_mb']} MB",
                f"{run['beyond_two_blocks_mb']}",
            ]
            for run in memory
        ),
    ]
    lines += [
        [f"seconds of NMLSDR, {int(n_rows):,} rows", f"{took['dask']:.1f}"]
        for n_rows, took in document["curve"].items()
    ]
    title = (
        f"{document['workers']} processes, {same['rows']:,} rows; seconds on "
        f"{document['machine']['cores']} cores that others used as well "
        f"(``{document['command']}``)"
    )
    return ["what", "value"], lines, title


def cluster_plan(document):
    """What rows of 128 features need, on paper."""
    run, k, q, width, lists = document["memory"][0], 10, 20, 128, 16
    cores = min(document["machine"]["cores"], document["workers"])
    hourly = 3600 * run["rows"] ** 2 * run["features"] / (run["seconds"] * cores)
    lines = []
    for n_rows, block in ((10**6, 10**5), (10**7, 10**5), (10**8, 10**6)):
        n_blocks = n_rows // block
        approximate = n_rows * n_blocks * lists * block**0.5 * width
        lines.append(
            [
                f"{n_rows:,}",
                f"{n_rows * width * 4 / 1e9:.1f}",
                f"{n_blocks} of {block * width * 4 / 1e6:,.0f}",
                f"{2 * n_rows * k * 12 / 1e9:.1f}",
                f"{6 * n_rows * q * 8 / 1e9:.1f}",
                f"{n_rows**2 * width / hourly:,.1f}",
                f"{approximate / hourly:,.1f}",
            ]
        )
    head = ["rows", "features, GB", "blocks, MB", "graph, GB", "labels, GB"]
    title = (
        "Memory, and hours of one core for the search at the rate that was measured "
        "above, of a machine that others used as well"
    )
    return [*head, "exact, h", "approximate, h"], lines, title


def growth_figure(document):
    """Seconds and memory of each tool by the number of rows."""
    with figure_style():
        figure = new_figure(9, 4.2)
        figure.subplots_adjust(0.07, 0.13, 0.74, 0.95, wspace=0.25)
        axes = figure.subplots(1, 2)
        for name, found in document["tools"].items():
            rows = [int(n_rows) for n_rows in found]
            for axis, key in zip(axes, ("seconds", "peak_mb")):
                values = [line[key] for line in found.values()]
                axis.loglog(rows, values, marker="o", label=name)
        axes[0].set(xlabel="rows", ylabel="seconds")
        axes[1].set(xlabel="rows", ylabel="MB")
        axes[1].legend(loc="center left", bbox_to_anchor=(1.02, 0.5), frameon=False)
    return figure
