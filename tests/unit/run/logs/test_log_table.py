"""What is known of session logs is compared by folder, and only what differs is looked at."""

from __future__ import annotations

from routing_action.run.logs.log_table import LogTable, Look, split_path

OLD = (1, 10, 7)
NEW = (2, 20, 7)


def table(**folders: dict[str, tuple[int, int, int]]) -> LogTable:
    made = LogTable()
    for folder, files in folders.items():
        made.add(f"/{folder}/", files)
    return made


def test_a_path_is_split_behind_its_last_slash() -> None:
    """Folder and name add up to the path, at the top too."""
    assert split_path("/a/b.jsonl") == ("/a/", "b.jsonl")
    assert split_path("/b.jsonl") == ("/", "b.jsonl")


def test_what_is_known_of_other_files_stays() -> None:
    """A later look at a folder takes nothing back: a log that is gone may come again."""
    known = table(a={"one": OLD, "two": OLD})
    known.add("/a/", {"two": NEW})
    known.update(table(b={"three": NEW}))
    assert dict(known.items()) == {"/a/one": OLD, "/a/two": NEW, "/b/three": NEW}
    assert (known.get("/a/one"), known.get("/a/no"), known.get("/c/one")) == (OLD, None, None)


def test_a_look_tells_what_changed_and_what_is_gone() -> None:
    """In folders that are as they were, in those that are not, and in those that are gone."""
    known = table(same={"one": OLD}, other={"one": OLD, "two": OLD, "three": OLD}, gone={"x": OLD})
    look = Look(known)
    look.take("/same/", {"one": OLD})
    look.take("/other/", {"one": OLD, "two": NEW})
    look.take("/new/", {"one": NEW})
    assert look.changed() == {"/other/two": NEW, "/new/one": NEW}
    assert look.get("/same/one") == look.get("/other/one") == OLD
    assert look.get("/other/three") is look.get("/gone/x") is look.get("/same/two") is None


def test_targets_may_share_a_folder() -> None:
    """Each hands on its own files of it; together they are what is there."""
    known = table(a={"one.log": OLD, "two.json": OLD})
    look = Look(known)
    look.take("/a/", {"one.log": OLD})
    look.take("/a/", {"two.json": NEW})
    assert look.changed() == {"/a/two.json": NEW}
    assert look.get("/a/one.log") == OLD
    look.take("/a/", {"one.log": OLD, "two.json": OLD})
    assert look.get("/a/one.log") == OLD
