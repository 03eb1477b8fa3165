"""What a program that uses the admin SDK does with a database. Arguments: https address, key file.

A statement that does not hold ends it with an exception; at the end it prints `ok`.
"""
import os
import queue
import sys

import firebase_admin
from firebase_admin import credentials, db, exceptions

address, key_file = sys.argv[1:3]
certificate = credentials.Certificate(key_file)
firebase_admin.initialize_app(certificate, {"databaseURL": address})


def app(name, override):
    """An application that speaks for somebody else."""
    options = {"databaseURL": address, "databaseAuthVariableOverride": override}
    return firebase_admin.initialize_app(certificate, options, name)


def refused(work):
    """True if the rules refuse the work."""
    try:
        work()
    except exceptions.UnauthenticatedError as error:
        return str(error) == "Permission denied"
    return False


users = db.reference("/users")
users.set({"ana": {"n": 1}, "bo": {"n": 5}})
assert users.get() == {"ana": {"n": 1}, "bo": {"n": 5}}
assert users.get(shallow=True) == {"ana": True, "bo": True}
assert users.child("ana/n").transaction(lambda value: value + 1) == 2
assert list(users.order_by_child("n").limit_to_last(1).get()) == ["bo"]
users.update({"ana/n": 3, "bo/n": None})
assert users.get() == {"ana": {"n": 3}}
pushed = db.reference("/log").push({"text": "hi"})
assert db.reference("/log").get() == {pushed.key: {"text": "hi"}}
value, tag = users.child("ana/n").get(etag=True)
assert value == 3
assert users.child("ana/n").get_if_changed(tag) == (False, None, None)
assert users.child("ana/n").set_if_unchanged("wrong", 9)[0] is False
assert users.child("ana/n").set_if_unchanged(tag, 4) == (True, 4, users.child("ana/n").get(True)[1])

events = queue.Queue()
db.reference("/log").listen(lambda event: events.put((event.event_type, event.path, event.data)))
assert events.get(timeout=20) == ("put", "/", {pushed.key: {"text": "hi"}})
pushed.child("text").set("ho")
assert events.get(timeout=20) == ("put", f"/{pushed.key}/text", "ho")

ana, nobody = app("ana", {"uid": "ana"}), app("nobody", None)
assert db.reference("/users/ana", ana).get() == {"n": 4}
assert refused(lambda: db.reference("/users/bo", ana).get())
assert refused(lambda: db.reference("/users/ana", ana).set(1))
assert refused(lambda: db.reference("/users/ana", nobody).get())
print("ok", flush=True)
# Its thread for the stream does not end by itself.
os._exit(0)
