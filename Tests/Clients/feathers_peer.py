"""A server that behaves as one of Feathers does, on python-socketio and aiohttp.

Arguments: the port, `fast` for pings each second, and `rest` for no Socket.IO. It prints the port and runs until its
standard input ends. Services: `messages` (pages, several records at once, the method
`archive`), `plain` (no pages), `shop/orders`, `secret` (only for who is signed in), `authentication`, and `control`,
whose method `expire` ends the session of the caller's socket.
"""
import asyncio
import base64
import json
import re
import sys
import time
from urllib.parse import unquote_plus

import socketio
from aiohttp import web

port = int(sys.argv[1])
wait = asyncio.wait


def wait_for_all(work, **rest):
    """Old versions of python-socketio wait for coroutines, which Python 3.11 does not allow."""
    return wait([asyncio.ensure_future(w) for w in work], **rest)


asyncio.wait = wait_for_all
sio = socketio.AsyncServer(
    async_mode="aiohttp", ping_interval=1 if "fast" in sys.argv else 25, ping_timeout=5,
    cors_allowed_origins="*")
signed_in = {}
revoked = set()
last_token = 0

KINDS = {
    400: "BadRequest", 401: "NotAuthenticated", 404: "NotFound", 405: "MethodNotAllowed",
    409: "Conflict",
}


class Refusal(Exception):
    def __init__(self, code, message, **rest):
        name = KINDS[code]
        css = re.sub(r"(?<!^)([A-Z])", r"-\1", name).lower()
        self.code = code
        self.json = {"name": name, "message": message, "code": code, "className": css, **rest}


def same(a, b):
    return type(a) is type(b) and a == b or (
        isinstance(a, (int, float)) and isinstance(b, (int, float))
        and not isinstance(a, bool) and not isinstance(b, bool) and a == b)


def compares(value, sign, other):
    kinds = [(int, float), str]
    if not any(isinstance(value, k) and isinstance(other, k) for k in kinds):
        return False
    return {"$lt": value < other, "$lte": value <= other, "$gt": value > other,
            "$gte": value >= other}[sign]


def matches(query, record):
    for name, test in query.items():
        if name == "$or":
            if not any(matches(q, record) for q in test):
                return False
        elif name == "$and":
            if not all(matches(q, record) for q in test):
                return False
        else:
            value = record.get(name)
            if not isinstance(test, dict):
                test = {"$in": [test]}
            for sign, other in test.items():
                if sign == "$in":
                    good = any(same(value, o) for o in (other if isinstance(other, list) else [other]))
                elif sign == "$nin":
                    good = not any(same(value, o) for o in other)
                elif sign == "$ne":
                    good = not same(value, other)
                elif sign in ("$lt", "$lte", "$gt", "$gte"):
                    good = compares(value, sign, other)
                else:
                    raise Refusal(400, "Invalid query parameter " + sign)
                if not good:
                    return False
    return True


def integer(value):
    found = re.match(r"-?\d+", str(value))
    return int(found.group()) if found else None


class Memory:
    def __init__(self, pages, multi, methods=()):
        self.pages, self.multi, self.methods = pages, multi, methods
        self.records, self.next = {}, 0

    def read(self, query):
        filters = {k: v for k, v in query.items() if k in ("$limit", "$skip", "$sort", "$select")}
        rest = {k: v for k, v in query.items() if k not in filters}
        for name in rest:
            if name.startswith("$") and name not in ("$or", "$and"):
                raise Refusal(400, "Invalid filter value " + name)
        return rest, filters

    def cut(self, record, filters):
        select = filters.get("$select")
        return {k: v for k, v in record.items() if k == "id" or k in select} if select else record

    def find(self, query):
        rest, filters = self.read(query)
        found = [r for r in self.records.values() if matches(rest, r)]
        for name, way in reversed(list(filters.get("$sort", {}).items())):
            found.sort(key=lambda r: (name in r, r.get(name)), reverse=integer(way) < 0)
        total, limit, skip = len(found), integer(filters.get("$limit")), integer(filters.get("$skip")) or 0
        if self.pages:
            limit = min(self.pages[0] if limit is None or limit < 0 else limit, self.pages[1])
        found = found[skip:] if limit is None else found[skip:skip + limit]
        found = [self.cut(r, filters) for r in found]
        return {"total": total, "limit": limit, "skip": skip, "data": found} if self.pages else found

    def one(self, id, query):
        rest, filters = self.read(query)
        record = self.records.get(str(id))
        if record is None or not matches(rest, record):
            raise Refusal(404, "No record found for id '%s'" % id)
        return record, filters

    def get(self, id, query):
        record, filters = self.one(id, query)
        return self.cut(record, filters)

    def several(self, method):
        if not self.multi:
            raise Refusal(405, "Can not %s multiple entries" % method)

    def create(self, data, query):
        if isinstance(data, list):
            self.several("create")
            return [self.create(d, query) for d in data]
        if data.get("text") == "bad":
            raise Refusal(400, "bad thing", data={"hint": 1}, errors={"text": "bad"})
        record = dict(data)
        if "id" not in record:
            record["id"] = self.next
            self.next += 1
        self.records[str(record["id"])] = record
        return self.cut(record, self.read(query)[1])

    def update(self, id, data, query):
        if id is None:
            raise Refusal(400, "You can not replace multiple instances. Did you mean 'patch'?")
        old, filters = self.one(id, query)
        record = {**data, "id": old["id"]}
        self.records[str(id)] = record
        return self.cut(record, filters)

    def change(self, record, data):
        record.update({k: v for k, v in data.items() if k != "id"})
        return dict(record)

    def patch(self, id, data, query):
        if id is not None:
            record, filters = self.one(id, query)
            return self.cut(self.change(record, data), filters)
        self.several("patch")
        rest, _ = self.read(query)
        return [self.change(r, data) for r in list(self.records.values()) if matches(rest, r)]

    def remove(self, id, query):
        if id is not None:
            record, filters = self.one(id, query)
            del self.records[str(id)]
            return self.cut(record, filters)
        self.several("remove")
        rest, _ = self.read(query)
        gone = [r for r in self.records.values() if matches(rest, r)]
        for record in gone:
            del self.records[str(record["id"])]
        return gone

    def archive(self, data, query):
        if "archive" not in self.methods:
            raise Refusal(405, "Method 'archive' not allowed on service 'plain'")
        return {"archived": data, "query": query} if data else None


services = {
    "messages": Memory((10, 50), True, ("archive",)), "plain": Memory(None, False),
    "secret": Memory(None, True), "shop/orders": Memory((10, 50), True),
}
EVENTS = {"create": "created", "update": "updated", "patch": "patched", "remove": "removed"}
# Argument counts before the query.
SHAPES = {"find": 0, "get": 1, "create": 1, "update": 2, "patch": 2, "remove": 1, "archive": 1,
          "expire": 1}


def token_part(value):
    text = json.dumps(value).encode()
    return base64.urlsafe_b64encode(text).decode().rstrip("=")


def authenticate(method, arguments, caller):
    global last_token
    if method == "create":
        data = arguments[0]
        if data.get("strategy") == "local":
            if (data.get("email"), data.get("password")) != ("a@b.c", "pw"):
                raise Refusal(401, "Invalid login")
            last_token += 1
            payload = {"exp": int(time.time()) + 3600, "sub": "7", "jti": str(last_token)}
            token = "%s.%s.%d" % (token_part({"alg": "HS256"}), token_part(payload), last_token)
        elif data.get("strategy") == "jwt":
            token = data.get("accessToken")
            check(token)
        else:
            raise Refusal(401, "Invalid authentication information (no `strategy` set)")
        if caller.get("sid"):
            signed_in[caller["sid"]] = token
        return {"accessToken": token, "authentication": {"strategy": data["strategy"]},
                "user": {"id": 7, "email": "a@b.c"}}
    if method == "remove":
        if not caller.get("token"):
            raise Refusal(401, "Invalid authentication information (no `strategy` set)")
        signed_in.pop(caller.get("sid"), None)
        return {"accessToken": caller["token"], "user": {"id": 7}}
    raise Refusal(405, "Method '%s' not allowed on service 'authentication'" % method)


def check(token):
    if not token or token in revoked or token.count(".") != 2:
        raise Refusal(401, "jwt expired", data={"name": "TokenExpiredError"})


async def perform(method, path, arguments, caller):
    """Makes a call; returns the result, or raises a refusal."""
    if not isinstance(path, str):
        raise Refusal(404, "Invalid service path")
    if path == "authentication":
        return authenticate(method, arguments, caller)
    if path == "control":
        revoked.add(caller.get("token"))
        if arguments[0].get("all"):
            for sid in [s for s, t in signed_in.items() if t in revoked and s != caller.get("sid")]:
                signed_in.pop(sid)
                await end_session(sid)
        if caller.get("sid"):
            signed_in.pop(caller["sid"], None)
            if arguments[0].get("disconnect"):
                asyncio.get_running_loop().call_later(
                    0.05, lambda: asyncio.ensure_future(end_session(caller["sid"])))
        return {"revoked": True}
    service = services.get(path)
    if service is None:
        raise Refusal(404, "Service '%s' not found" % path)
    if path == "secret":
        if not caller.get("token"):
            raise Refusal(401, "Not authenticated")
        check(caller["token"])
    if len(arguments) > SHAPES[method] + 1:
        raise Refusal(400, "Too many arguments for '%s' method" % method)
    arguments = list(arguments) + [{}] * (SHAPES[method] + 1 - len(arguments))
    result = getattr(service, method)(*arguments)
    if method in EVENTS:
        for record in result if isinstance(result, list) else [result]:
            await sio.emit("%s %s" % (path, EVENTS[method]), record)
    return result


async def end_session(sid):
    await sio.disconnect(sid)


def handler(method):
    async def handle(sid, *arguments):
        caller = {"sid": sid, "token": signed_in.get(sid)}
        try:
            path = arguments[0] if arguments else None
            return None, await perform(method, path, arguments[1:], caller)
        except Refusal as refusal:
            # A tuple becomes the arguments of the answer.
            return (refusal.json,)
    return handle


for name in SHAPES:
    sio.on(name, handler(name))


@sio.event
async def disconnect(sid, *reason):
    signed_in.pop(sid, None)


# REST

def parse_query(text):
    """Reads a query string as the library `qs` does, as far as the tests need."""
    root = {}
    for pair in filter(None, text.split("&")):
        name, _, value = pair.partition("=")
        name, value = unquote_plus(name), unquote_plus(value)
        path = [name.split("[")[0]] + re.findall(r"\[([^\]]*)\]", name)
        place = root
        for part in path[:-1]:
            place = place.setdefault(part, {})
        place[path[-1]] = value

    def lists(value):
        if not isinstance(value, dict):
            return value
        if value and all(k.isdigit() for k in value) and len(value) <= 20:
            return [lists(value[k]) for k in sorted(value, key=int)]
        return {k: lists(v) for k, v in value.items()}
    return {k: lists(v) for k, v in root.items()}


async def rest(request):
    parts = request.raw_path.split("?")[0].strip("/").split("/")
    size = 2 if "/".join(parts[:2]) in services else 1
    path, ids = "/".join(parts[:size]), parts[size:]
    query = parse_query(request.query_string and request.raw_path.split("?", 1)[1])
    caller = {}
    header = request.headers.get("Authorization", "")
    if header.startswith("Bearer "):
        caller["token"] = header[7:]
    id = ids[0] if ids else None
    try:
        if len(ids) > 1 or path not in services and path not in ("authentication", "control"):
            raise Refusal(404, "Page not found")
        body = await request.json() if request.can_read_body else {}
        method = request.headers.get("X-Service-Method")
        if request.method == "POST" and method:
            if method not in ("archive", "expire"):
                raise Refusal(405, "Method `%s` is not supported by this endpoint." % method)
            name, arguments = method, [body, query]
        elif request.method == "GET":
            name, arguments = ("get", [id, query]) if ids else ("find", [query])
        else:
            name = {"POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "remove"}[
                request.method]
            arguments = {"create": [body, query], "remove": [id, query]}.get(name, [id, body, query])
        result = await perform(name, path, arguments, caller)
        if result is None:
            return web.Response(status=204)
        return web.json_response(result, status=201 if name == "create" else 200)
    except Refusal as refusal:
        return web.json_response(refusal.json, status=refusal.code)


async def main():
    app = web.Application()
    if "rest" not in sys.argv:
        sio.attach(app)
    app.router.add_route("*", "/{tail:.*}", rest)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", port).start()
    print(runner.addresses[0][1], flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
    await runner.cleanup()


asyncio.run(main())
