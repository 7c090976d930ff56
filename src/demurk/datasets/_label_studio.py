"""Tasks of Label Studio: choices in, predictions out."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import json

from demurk.datasets._table_labels import label_lists
from demurk.utils._optional import import_optional

# How a model is called beside its predictions.
VERSION = "demurk"


def is_tasks(records):
    """Whether these are tasks with data and annotations."""
    return all(isinstance(record.get("data"), dict) for record in records)


def tasks_frame(tasks, path):
    """A row per task: id, its data, and a list of choices per question."""
    pd = import_optional("pandas", "tables")
    rows = []
    for number, task in enumerate(tasks, 1):
        row = {"id": task.get("id", number)} | task["data"]
        for result in _results(task, number, path):
            if result.get("type") == "choices":
                row.setdefault(result["from_name"], [])
                row[result["from_name"]] += result["value"]["choices"]
        rows.append(row)
    frame = pd.DataFrame(rows)
    frame.columns = [str(name) for name in frame.columns]
    return _marked(frame, tasks)


def _made(task):
    """Annotations of a task that nobody took back."""
    return [a for a in task.get("annotations") or () if not a.get("was_cancelled")]


def _results(task, number, path):
    """Results of the one annotation of a task."""
    made = _made(task)
    if len(made) > 1:
        raise ValueError(
            f"{path}, row {number}: this task has {len(made)} annotations, and several "
            "annotators cannot be weighed yet; export one annotation per task."
        )
    return made[0]["result"] if made else []


def questions(tasks):
    """What was asked: name, object and type of the choices, as first seen."""
    found = {}
    for task in tasks:
        for key in ("annotations", "predictions"):
            for annotation in task.get(key) or ():
                for result in annotation.get("result") or ():
                    if result.get("type") == "choices":
                        found.setdefault(result["from_name"], result["to_name"])
    return found


def _marked(frame, tasks):
    """An annotation without a choice says that there is none."""
    for name in questions(tasks):
        if name not in frame.columns:
            frame[name] = None
        cells = frame[name].astype(object)
        for row, task in enumerate(tasks):
            if not isinstance(cells.iloc[row], list):
                cells.iloc[row] = [] if _made(task) else None
        frame[name] = cells
    return frame


def write_tasks(table, path, scores=None):
    """Write tasks; labels that differ from the annotations become predictions."""
    source = table.source
    tasks = source.extra if source.format == "label studio" else _new_tasks(table)
    column = table.form.columns[0]
    to_name = questions(tasks).get(column, _object(table))
    written = []
    for row, (task, chosen) in enumerate(zip(tasks, label_lists(table.labels))):
        task = {key: value for key, value in task.items() if key != "predictions"}
        if chosen is not None and set(chosen) != _annotated(task, column):
            prediction = {
                "model_version": VERSION,
                "result": [_choices(column, to_name, chosen)],
            }
            if scores is not None:
                prediction["score"] = float(scores[row])
            task["predictions"] = [prediction]
        written.append(task)
    path.write_text(
        json.dumps(written, ensure_ascii=False, indent=1) + "\n", encoding="utf-8"
    )


def _choices(column, to_name, chosen):
    return {
        "from_name": column,
        "to_name": to_name,
        "type": "choices",
        "value": {"choices": chosen},
    }


def _annotated(task, column):
    """Choices of the annotation, or None."""
    made = _made(task)
    if not made:
        return None
    return {
        choice
        for result in made[0]["result"]
        if result.get("from_name") == column and result.get("type") == "choices"
        for choice in result["value"]["choices"]
    }


def _object(table):
    """What the choices are about: the text, or else the image."""
    return [*table.named("text"), *table.named("image"), "text"][0]


def _new_tasks(table):
    """Tasks for a table that came from elsewhere; its labels are all predictions."""
    columns = [c for c in table.frame.columns if c not in table.form.columns]
    rows = table.frame[columns].astype(object).to_dict("records")
    return [
        {"data": {name: str(value) for name, value in row.items() if value == value}}
        for row in rows
    ]
