"""What a program that uses pyrebase4 does with a database. Arguments: address, secret, key file.

A statement that does not hold ends it with an exception; at the end it prints `ok`.
"""
import os
import queue
import sys

import pyrebase

address, secret, key_file = sys.argv[1:4]
config = {"apiKey": "any", "authDomain": "any", "databaseURL": address, "storageBucket": "any"}
firebase = pyrebase.initialize_app(config)
db = firebase.database()


def refused(work, *texts):
    """True if the work is refused, with one of the texts."""
    try:
        work()
    except Exception as error:
        return any(text in str(error) for text in texts)
    return False


# Nobody, and a wrong token.
assert refused(lambda: db.child("users").get(), "Permission denied")
assert refused(lambda: db.child("users").set(1), "Permission denied")
assert refused(lambda: db.child("users").get("garbage"), "Could not parse auth token")
assert db.child("public").get().val() is None

# Writing.
users = {name: {"name": name.title(), "age": age} for name, age in
         [("ada", 36), ("bob", 12), ("cyd", 70), ("dan", 41)]}
assert db.child("users").set(users, secret) == users
assert db.child("users", "ada").update({"age": 37, "tags/x": True}, secret)["age"] == 37
name = db.child("log").push({"text": "grüße 🙂", "at": {".sv": "timestamp"}}, secret)["name"]
assert len(name) == 20
entry = db.child("log").child(name).get(secret).val()
assert entry["text"] == "grüße 🙂" and entry["at"] > 1_700_000_000_000
assert db.child("log").child(name).remove(secret) is None
assert db.child("log").get(secret).val() is None
assert db.child("list").set(["a", "b", None, "d"], secret) == ["a", "b", None, "d"]
assert db.child("list").get(secret).val() == ["a", "b", None, "d"]
key = db.generate_key()
db.child("keyed").child(key).set(1, secret)
assert db.child("keyed").get(secret).val() == {key: 1}

# Reading.
assert db.child("users/ada/tags/x").get(secret).val() is True
assert list(db.child("users").shallow().get(secret).val()) == list(users)
query = db.child("users").order_by_child("age").start_at(36).end_at(41).get(secret)
assert [user.key() for user in query.each()] == ["ada", "dan"]
query = db.child("users").order_by_child("name").equal_to("Bob").get(secret)
assert [user.val()["age"] for user in query.each()] == [12]
query = db.child("users").order_by_key().limit_to_last(2).get(secret)
assert [user.key() for user in query.each()] == ["cyd", "dan"]
db.child("scores").set({"a": 3, "b": 1, "c": 2}, secret)
query = db.child("scores").order_by_value().limit_to_first(2).get(secret)
assert [score.key() for score in query.each()] == ["b", "c"]
assert refused(lambda: db.child("users").limit_to_first(2).get(secret), "orderBy must be defined")
assert refused(
    lambda: db.child("users").order_by_key().limit_to_first(0).get(secret),
    "limitToFirst must be positive")

# Conditions.
tagged = db.child("users/ada/age").get_etag(secret)
assert tagged["value"] == 37
assert db.child("users/ada/age").conditional_set(38, tagged["ETag"], secret) == 38
stale = db.child("users/ada/age").conditional_set(39, tagged["ETag"], secret)
assert stale["value"] == 38 and stale["ETag"] != tagged["ETag"]
assert db.child("users/ada/age").conditional_remove(tagged["ETag"], secret)["value"] == 38
assert db.child("users/ada/age").conditional_remove(stale["ETag"], secret) is None

# A service account, which needs no token.
admin = pyrebase.initialize_app({**config, "serviceAccount": key_file}).database()
assert admin.child("users/bob/age").get().val() == 12
admin.child("users/bob/age").set(13)

# Streams.
events = queue.Queue()
stream = admin.child("users/bob").stream(events.put)


def next_event():
    event = events.get(timeout=20)
    return event["event"], event["path"], event["data"]


assert next_event() == ("put", "/", {"age": 13, "name": "Bob"})
admin.child("users/bob").update({"age": 14, "town": "Bern"})
assert next_event() == ("patch", "/", {"age": 14, "town": "Bern"})
admin.child("users/bob/town").remove()
assert next_event() == ("put", "/town", None)
admin.child("users/cyd/age").set(71)
admin.child("users/bob").remove()
assert next_event() == ("put", "/", None)
print("ok", flush=True)
# Its thread for the stream does not end by itself.
os._exit(0)
