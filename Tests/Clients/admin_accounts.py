"""What a program that uses the admin SDK does with accounts. Arguments: address of an emulator, HOST:PORT.

A statement that does not hold ends it with an exception; at the end it prints `ok`.
"""
import os
import sys

place = sys.argv[1]
os.environ["FIREBASE_AUTH_EMULATOR_HOST"] = place

import firebase_admin
import requests
from firebase_admin import auth

firebase_admin.initialize_app(options={"projectId": "demo"})


def client(operation, body):
    """A request of a client, which has an API key only."""
    url = f"http://{place}/identitytoolkit.googleapis.com/v1/accounts:{operation}?key=any"
    return requests.post(url, json=body, timeout=20).json()


user = auth.create_user(uid="ada", email="Ada@x.org", password="secret1", display_name="Ada")
assert (user.uid, user.email, user.display_name) == ("ada", "ada@x.org", "Ada")
try:
    auth.create_user(uid="ada")
    raise AssertionError("It was made twice.")
except auth.UidAlreadyExistsError:
    pass
try:
    auth.create_user(email="ada@x.org")
    raise AssertionError("It was made twice.")
except auth.EmailAlreadyExistsError:
    pass
assert auth.get_user_by_email("ada@x.org").uid == "ada"
auth.set_custom_user_claims("ada", {"role": "admin"})
user = auth.update_user("ada", email_verified=True, phone_number="+15550100", photo_url="http://p")
assert user.email_verified and user.custom_claims == {"role": "admin"}
assert auth.get_user_by_phone_number("+15550100").uid == "ada"

signed = client("signInWithPassword", {"email": "ada@x.org", "password": "secret1"})
claims = auth.verify_id_token(signed["idToken"])
assert claims["uid"] == "ada" and claims["role"] == "admin" and claims["email_verified"]
assert claims["firebase"]["sign_in_provider"] == "password"
cookie = auth.create_session_cookie(signed["idToken"], expires_in=600)
assert auth.verify_session_cookie(cookie)["uid"] == "ada"

custom = auth.create_custom_token("bo", {"level": 3}).decode()
signed = client("signInWithCustomToken", {"token": custom})
assert signed["isNewUser"] is True
assert auth.verify_id_token(signed["idToken"])["level"] == 3

link = auth.generate_password_reset_link("ada@x.org")
assert "mode=resetPassword" in link
code = link.split("oobCode=")[1].split("&")[0]
assert client("resetPassword", {"oobCode": code, "newPassword": "again3"})["email"] == "ada@x.org"
assert "mode=verifyEmail" in auth.generate_email_verification_link("ada@x.org")
assert "localId" in client("signInWithPassword", {"email": "ada@x.org", "password": "again3"})

result = auth.import_users(
    [auth.ImportUserRecord(uid="im", email="im@x.org", password_hash=b"0123456789abcdef",
                           password_salt=b"salt")],
    hash_alg=auth.UserImportHash.hmac_sha256(b"key"))
assert result.success_count == 1, result.errors
assert [user.uid for user in auth.list_users().iterate_all()] == ["ada", "bo", "im"]
found = auth.get_users([auth.UidIdentifier("ada"), auth.UidIdentifier("no")])
assert [user.uid for user in found.users] == ["ada"] and len(found.not_found) == 1

auth.revoke_refresh_tokens("bo")
auth.update_user("bo", disabled=True)
assert auth.get_user("bo").disabled
assert auth.delete_users(["bo", "im", "no"]).success_count == 3
auth.delete_user("ada")
try:
    auth.get_user("ada")
    raise AssertionError("It is still there.")
except auth.UserNotFoundError:
    pass
print("ok", flush=True)
os._exit(0)
