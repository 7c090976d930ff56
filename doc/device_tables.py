"""Tables and numbers of the page about scale, from what a GPU measured."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

PARTS = {
    "preparation": "centring, rounding, sorting",
    "products": "products and minima",
    "groups": "nearest groups",
    "differences": "differences",
    "ranking": "ranking in float64",
    "second search": "second screen",
    "last search": "all points",
}


def searches(document):
    """Time, certificates and checks of every search."""
    rows = [
        [
            line["data"],
            f"{line['rows']:,} x {line['features']}",
            f"{line['seconds']:.2f}",
            share(line["certified_at_once"]),
            f"{line['equal_rows']:,} of {line['checked_rows']:,}",
            f"{line['peak_gib']:.1f}",
        ]
        for line in document["searches"]
    ]
    head = ["data", "size", "seconds", "certified at once"]
    head += ["equal to float64 brute force", "GiB"]
    title = f"Exact {document['n_neighbors']} neighbours, float32, {source(document)}"
    return head, rows, title


def parts(document):
    """Seconds of the parts of every search."""
    rows = [
        [
            f"{line['data']}, {line['rows']:,} x {line['features']}",
            *(f"{line['parts'].get(part, 0.0):.2f}" for part in PARTS),
        ]
        for line in document["searches"]
    ]
    title = "Seconds of the parts of a search, each waited for"
    return ["data", *PARTS.values()], rows, title


def fit(document):
    """Parts of a whole fit."""
    line = document["fit"]
    rows = [[name, f"{value:.2f}"] for name, value in line["parts"].items()]
    rows.append(["all", f"{line['seconds']:.2f}"])
    title = (
        f"Seconds of NMLSDR, {line['rows']:,} x {line['features']}, {line['labels']} "
        f"labels, {line['steps']} steps of the solver"
    )
    return ["part", "seconds"], rows, title


def growth(document):
    """Seconds and memory of fits as rows grow."""
    lines = document["growth"]
    sizes = sorted({line["rows"] for line in lines})
    found = {(line["estimator"], line["rows"]): line for line in lines}
    names = list(dict.fromkeys(line["estimator"] for line in lines))
    rows = [
        [
            name,
            *(f"{found[name, n]['seconds']:.2f}" for n in sizes),
            f"{found[name, sizes[-1]]['peak_gib']:.1f}",
            f"{found[name, sizes[0]]['seconds_memory']:.1f}",
        ]
        for name in names
    ]
    head = ["fit", *(f"{n:,} rows" for n in sizes)]
    head += ["GiB", f"{sizes[0]:,} rows in memory, {document['cores']} cores"]
    title = f"Seconds of fits, {lines[0]['features']} features"
    return head, rows, title


def agreement(document):
    """How close estimators come to their results in memory."""
    best = {}
    for line in document["agreement"]:
        name = line["estimator"].partition("(")[0]
        known = best.setdefault(name, {})
        for key, worst in (("angle", max), ("equal_predictions", min)):
            if key in line:
                known[key] = worst(known.get(key, line[key]), line[key])
    rows = [
        [
            name,
            f"{values['angle']:.0e}" if "angle" in values else "",
            share(values["equal_predictions"]) if "equal_predictions" in values else "",
        ]
        for name, values in best.items()
    ]
    head = ["estimator", "largest angle", "equal predictions"]
    n = document["agreement"][0]["rows"]
    title = f"On the device and in memory, {n:,} rows, float32 and float64"
    return head, rows, title


def share(value):
    """A share in per cent, all of them only where it is all."""
    if value in (0, 1):
        return f"{100 * value:.0f} %"
    return f"{min(100 * value, 99.9999):.4f} %"


def source(document):
    """Where the figures come from."""
    return f"one {document['device']} (``{document['command']}``)"


def device_tables(document, list_table):
    """All tables of the page by name."""
    makers = (searches, parts, fit, growth, agreement)
    return {f"device_{make.__name__}": list_table(*make(document)) for make in makers}
