"""What a program that uses pyrebase does with accounts. Arguments: address of an emulator.

A statement that does not hold ends it with an exception; at the end it prints `ok`.
"""
import json
import sys

import requests

address = sys.argv[1]
post = requests.post


def redirected(url, *arguments, **options):
    """Sends to the server what is meant for the service."""
    return post(url.replace("https://", address + "/"), *arguments, **options)


requests.post = redirected

import pyrebase

auth = pyrebase.initialize_app({
    "apiKey": "any", "authDomain": "x", "databaseURL": address, "storageBucket": "",
}).auth()


def error(work):
    """The message of the error of some work."""
    try:
        work()
    except requests.exceptions.HTTPError as failure:
        return json.loads(failure.args[1])["error"]["message"]
    return None


made = auth.create_user_with_email_and_password("ada@x.org", "secret123")
assert made["localId"] and made["expiresIn"] == "3600"
assert error(lambda: auth.create_user_with_email_and_password("ada@x.org", "secret123")) == \
    "EMAIL_EXISTS"
signed = auth.sign_in_with_email_and_password("ada@x.org", "secret123")
assert signed["localId"] == made["localId"] and signed["registered"] is True
assert error(lambda: auth.sign_in_with_email_and_password("ada@x.org", "wrong")) == \
    "INVALID_PASSWORD"
info = auth.get_account_info(signed["idToken"])
assert info["users"][0]["email"] == "ada@x.org"
fresh = auth.refresh(signed["refreshToken"])
assert fresh["userId"] == made["localId"] and fresh["idToken"] and fresh["refreshToken"]
auth.update_profile(fresh["idToken"], display_name="Ada")
assert auth.get_account_info(fresh["idToken"])["users"][0]["displayName"] == "Ada"
auth.send_email_verification(fresh["idToken"])
auth.send_password_reset_email("ada@x.org")
anonymous = auth.sign_in_anonymous()
assert anonymous["localId"] != made["localId"]

# The database knows the user by the token.
place = f"{address}/users/{made['localId']}.json"
assert requests.put(place, params={"auth": fresh["idToken"]}, data="1", timeout=20).status_code == 200
assert requests.put(place, data="1", timeout=20).status_code == 401
auth.delete_user_account(fresh["idToken"])
assert error(lambda: auth.get_account_info(fresh["idToken"])) == "USER_NOT_FOUND"
print("ok", flush=True)
