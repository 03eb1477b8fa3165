"""A client of Feathers services over python-socketio and aiohttp.

Arguments: the address of `runnel serve` with the services `messages` and `notes`, and the transports
with commas. It prints `ok` if all went well.
"""
import asyncio
import sys

import aiohttp
import socketio

url, transports = sys.argv[1], sys.argv[2].split(",")
wait = asyncio.wait


def wait_for_all(work, **rest):
    """Old versions of python-socketio wait for coroutines, which Python 3.11 does not allow."""
    return wait([asyncio.ensure_future(w) for w in work], **rest)


asyncio.wait = wait_for_all


class Client:
    def __init__(self):
        self.socket = socketio.AsyncClient(reconnection=False)
        self.events = asyncio.Queue()
        for service in ("messages", "notes"):
            for event in ("created", "updated", "patched", "removed"):
                self.listen("%s %s" % (service, event))

    def listen(self, name):
        async def take(record):
            await self.events.put((name, record))
        self.socket.on(name, take)

    async def connect(self, **rest):
        await self.socket.connect(url, transports=transports, **rest)
        return self

    async def call(self, method, *arguments):
        """Makes a call; returns its result, or the code of its error."""
        answer = await self.socket.call(method, tuple(arguments), timeout=10)
        if isinstance(answer, (tuple, list)):
            assert answer[0] is None, answer
            return answer[1]
        assert answer["className"] and answer["name"] and answer["message"], answer
        return answer["code"]

    async def event(self):
        return await asyncio.wait_for(self.events.get(), 10)


def expect(found, expected):
    assert found == expected, "%r is not %r" % (found, expected)


async def sign_up(http):
    fields = {"email": "ana@example.com", "password": "secret-123", "returnSecureToken": True}
    path = "/identitytoolkit.googleapis.com/v1/accounts:signUp?key=any"
    async with http.post(url + path, json=fields) as answer:
        account = await answer.json()
        assert answer.status == 200, account
        return account["localId"], account["idToken"]


async def records(ana, other):
    made = await ana.call("create", "messages", {"id": "a", "text": "é€", "n": 1}, {})
    expect(made, {"id": "a", "text": "é€", "n": 1})
    for client in (ana, other):
        expect(await client.event(), ("messages created", {"id": "a", "text": "é€", "n": 1}))
    await ana.call("create", "messages", [{"id": "b", "n": 2}, {"id": "c", "n": 3}])
    page = await other.call("find", "messages", {"$sort": {"n": -1}, "$limit": 2, "n": {"$gt": 1}})
    expect([r["id"] for r in page["data"]], ["c", "b"])
    expect((page["total"], page["limit"], page["skip"]), (2, 2, 0))
    expect(await ana.call("get", "messages", "zz", {}), 404)
    expect(await ana.call("nope", "messages", {}), 405)
    expect(len(await other.call("patch", "messages", None, {"f": True}, {"n": {"$in": [2, 3]}})), 2)
    expect((await other.call("remove", "messages", "a", {}))["n"], 1)
    names = [(await ana.event())[0] for _ in range(5)]
    expect(names, ["messages created"] * 2 + ["messages patched"] * 2 + ["messages removed"])


async def access(ana, other, user, token, http):
    note = {"id": "n", "owner": user}
    expect(await ana.call("create", "notes", note, {}), 401)
    login = {"strategy": "local", "email": "ana@example.com", "password": "wrong-1234"}
    expect(await ana.call("create", "authentication", login, {}), 401)
    login["password"] = "secret-123"
    answer = await ana.call("create", "authentication", login, {})
    expect(answer["user"]["id"], user)
    expect(answer["authentication"]["strategy"], "local")
    expect(await ana.call("create", "notes", note, {}), note)
    expect(await ana.event(), ("notes created", note))
    expect(await other.call("get", "notes", "n", {}), 401)
    login = {"strategy": "jwt", "accessToken": token}
    expect((await other.call("create", "authentication", login, {}))["accessToken"], token)
    expect(await other.call("get", "notes", "n", {}), note)
    expect((await other.call("remove", "authentication", None, {}))["user"]["id"], user)
    expect(await other.call("get", "notes", "n", {}), 401)
    async with http.get(url + "/notes/n", headers={"Authorization": "Bearer " + token}) as found:
        expect((found.status, await found.json()), (200, note))
    async with http.get(url + "/notes/n") as refused:
        expect((refused.status, (await refused.json())["name"]), (401, "NotAuthenticated"))


async def main():
    async with aiohttp.ClientSession() as http:
        user, token = await sign_up(http)
        ana, other = await Client().connect(), await Client().connect()
        expect(ana.socket.transport(), transports[-1])
        await records(ana, other)
        while not other.events.empty():
            other.events.get_nowait()
        await access(ana, other, user, token, http)
        # Who may not read the note was not told of it.
        await ana.call("create", "messages", {"id": "last"}, {})
        expect(await other.event(), ("messages created", {"id": "last"}))
        # A token in the first request signs in at once.
        third = await Client().connect(headers={"Authorization": "Bearer " + token})
        expect((await third.call("get", "notes", "n"))["owner"], user)
        for client in (ana, other, third):
            await client.socket.disconnect()
    print("ok")


asyncio.run(main())
