// The examples of the page for those who come from FeathersSwift.

import Testing

// example begin
import RunnelBase
import RunnelServices

/// Asks a server for its users: nothing is sent before `await`, and the call ends once.
func usersNamedBob(_ app: Feathers) async throws -> [JSONValue] {
  let users = app.service("users")
  let response = try await users.request(.find(query: ["name": "Bob"]))
  if let page = response.page { print("\(page.total ?? 0) in all, \(page.records.count) here") }
  return response.records
}
// example end

// example begin
/// The six methods, as requests or as functions; nil in place of an id concerns all that match.
func sixMethods(_ users: ServiceHandle) async throws {
  let made = try await users.request(.create(data: ["name": "Bob"])).record
  _ = try await users.get(7)
  try await users.update(7, ["name": "Ann"])
  try await users.patch(7, ["admin": true])
  try await users.patch(nil, ["seen": true], ["room": 2])
  try await users.remove(7)
  print(made?["id"] ?? .null)
}
// example end

// example begin
/// Each condition adds to the query, and the order of the sort fields is kept.
let adults = ServiceQuery()
  .gte("age", 18).lt("age", 65).ne("name", "Bob").in("team", ["blue", "red"])
  .or(["admin": true], ["room": ["$nin": [1, 2]]])
  .sort("team").sort("age", .descending)
  .select("name", "age").limit(25).skip(50)
// example end

// example begin
/// A hook is a function that changes the call in place; to end the call it throws.
let logCreate = Hook { context in
  if context.method == .create { print("create happened at \(context.path)") }
}

/// A result that is set before the call takes its place, as in a test.
let stub = Hook { context in context.result = ["id": 1, "name": "nobody"] }

func register(_ users: ServiceHandle) {
  users.hooks(
    before: HookSet(all: [logCreate], get: [stub]),
    after: HookSet(find: [Hook { context in print(context.records.count) }]),
    error: HookSet(all: [Hook { context in print(context.error?.message ?? "") }]))
}
// example end

// example begin
/// Events are told to each listener until that one is ended; the others go on.
func follow(_ users: ServiceHandle) async {
  let listener = users.on(.created) { event in print(event.data) }
  users.once(.removed) { event in print("gone: \(event.data)") }
  users.off(listener)
  for await event in users.events(.patched) { print(event.data) }
}
// example end

// example begin
/// The token is kept in the storage, and is sent again after each reconnection.
func signInAndOut(_ app: Feathers) async throws {
  app.configure(
    auth: AuthenticationOptions(path: "authentication", storage: MemoryAuthenticationStorage()))
  try await app.authenticate(["strategy": "local", "email": "a@b.c", "password": "pw"])
  if case .signedIn(let user, _) = app.authentication.state { print(user) }
  await app.logout()
}
// example end

// example begin
/// A service of one's own: only the methods that it has are written.
struct Clock: FeathersService {
  let time: @Sendable () -> Int64

  func find(_ params: ServiceParams) async throws -> JSONValue {
    ["now": .number(JSONNumber(time()))]
  }
}

func addClock(to app: Feathers) async throws {
  try await app.use("clock", Clock { 42 })
  let answer = try await app.service("clock").find()
  print(answer.record?["now"] ?? .null)
  try await app.unuse("clock")
}
// example end

// example begin
/// An error keeps all that the server sent.
func explain(_ users: ServiceHandle) async {
  do {
    try await users.create(["email": "taken@example.com"])
  } catch {
    print(error.code, error.message, error.errors?["email"]?.string ?? "")
  }
}
// example end

/// What the FeathersSwift's forms promise, each run against a server in this program.
@Suite struct FeathersSwiftFormTests {
  private func client(_ server: Feathers) -> Feathers {
    Feathers(provider: InProcessProvider(server: server) { server.channel("all").join($0) })
  }

  private func server() async throws -> Feathers {
    let server = Feathers()
    let users: [JSONValue] = [
      ["id": 1, "name": "Bob", "age": 20, "room": 2], ["id": 7, "name": "Eve", "age": 30],
    ]
    try await server.use(
      "users", MemoryService(users, multi: .all, rules: QueryRules(pages: PageRules(standard: 10))))
    server.publish { [unowned server] _, _ in [server.channel("all")] }
    return server
  }

  @Test func requestsAreMadeAndPagesCanBeRead() async throws {
    let app = client(try await server())
    #expect(try await usersNamedBob(app).map { $0["id"] } == [1])
    let page = try await app.service("users").find().page
    #expect(page?.total == 2 && page?.limit == 10 && page?.skip == 0)
  }

  @Test func theSixMethodsChangeAndFindRecords() async throws {
    let app = client(try await server())
    let users = app.service("users")
    try await sixMethods(users)
    let left = try await users.find(ServiceQuery().sort("name"))
    #expect(left.records.map { $0["name"] } == ["Bob", "Bob"])
    #expect(left.records.contains { $0["seen"] == true })
  }

  @Test func theQueryHasTheFormOfTheWire() throws {
    let text = """
      {"age":{"$gte":18,"$lt":65},"name":{"$ne":"Bob"},"team":{"$in":["blue","red"]},\
      "$or":[{"admin":true},{"room":{"$nin":[1,2]}}],"$sort":{"team":1,"age":-1},\
      "$select":["name","age"],"$limit":25,"$skip":50}
      """
    #expect(try adults == ServiceQuery(text: text))
  }

  @Test func hooksAreAppendedStubAndStop() async throws {
    let app = client(try await server())
    let users = app.service(path: "users")
    register(users)
    #expect(try await users.get(99)["name"] == "nobody")
    // An error that is set ends the call like one that is thrown, before and after it.
    users.before(HookSet(remove: [Hook { $0.error = FeathersError(.forbidden, "no") }]))
    await #expect(throws: FeathersError(.forbidden, "no")) { try await users.remove(1) }
    users.after(HookSet(find: [Hook { $0.error = FeathersError(.gone, "late") }]))
    await #expect(throws: FeathersError(.gone, "late")) { try await users.find() }
    #expect(users.hooks(for: .before)?.methods[.remove]?.count == 1)
  }

  @Test func servicesOfOnesOwnAreLiveToo() async throws {
    let server = try await server()
    let app = client(server)
    let trace = Trace()
    let users = app.service("users")
    let first = users.on(.created) { trace.add("1 \($0.data["name"]?.string ?? "")") }
    users.on(.created) { _ in trace.add("2") }
    try await server.service("users").create(["name": "Ann"])
    users.off(first)
    try await users.create(["name": "Joe"])
    #expect(trace.text == "1 Ann 2 2")
    try await addClock(to: app)
    await #expect(throws: FeathersError.self) { try await app.service("clock").find() }
  }

  @Test func theApplicationLivesAsLongAsItsServices() async throws {
    var app: Feathers? = client(try await server())
    let users = try #require(app?.service("users"))
    app = nil
    #expect(try await users.find().records.count == 2)
  }

  @Test func signingOutRemovesTheToken() async throws {
    struct Authentication: FeathersService {
      func create(_ data: JSONValue, _ params: ServiceParams) async throws -> JSONValue {
        if data["password"] != "pw", data["accessToken"] != "t" {
          throw FeathersError(.notAuthenticated, "Invalid login")
        }
        return ["accessToken": "t", "user": ["id": 7]]
      }
      func remove(_ id: ServiceID?, _ params: ServiceParams) async throws -> JSONValue { .null }
    }
    let server = try await server()
    try await server.use("authentication", Authentication())
    let app = client(server)
    try await signInAndOut(app)
    #expect(app.authentication.state == .signedOut)
    try await app.authenticate(["strategy": "local", "password": "pw"])
    #expect(app.authentication.token == "t")
    // A failed sign-in with other credentials leaves the token as it is.
    await #expect(throws: FeathersError.self) { try await app.authenticate(["password": "x"]) }
    #expect(app.authentication.token == "t")
    try await app.reAuthenticate()
    await app.logout()
    #expect(app.authentication.token == nil && app.authentication.state == .signedOut)
    // A token that the server refuses is dropped.
    let storage = MemoryAuthenticationStorage()
    storage.setToken("old", "feathers-jwt")
    app.configure(auth: AuthenticationOptions(storage: storage))
    await #expect(throws: FeathersError.self) { try await app.reAuthenticate() }
    #expect(storage.token("feathers-jwt") == nil && app.authentication.state == .expired)
  }

  @Test func aTokenSurvivesAnUnreachableServer() async throws {
    let app = client(try await server())
    let storage = MemoryAuthenticationStorage()
    storage.setToken("t", "feathers-jwt")
    app.configure(auth: AuthenticationOptions(storage: storage))
    app.close()
    await #expect(throws: FeathersError.self) { try await app.reAuthenticate() }
    #expect(storage.token("feathers-jwt") == "t")
  }

  @Test func aBatchGoesOnAfterAFailure() async throws {
    let app = client(try await server())
    let results = await app.batch([
      ("users", .create(data: ["name": "A"])), ("users", .get(id: 99)), ("users", .remove(id: 1)),
    ])
    #expect(results.count == 3)
    #expect(throws: FeathersError.self) { try results[1].get() }
    #expect(try results[2].get().record?["name"] == "Bob")
  }

  @Test func placeholdersInPathsAreFilled() async throws {
    let server = Feathers()
    struct Echo: FeathersService {
      func find(_ params: ServiceParams) async throws -> JSONValue {
        ["user": .string(params.route["userId"] ?? "")]
      }
    }
    try await server.use("users/:userId/messages", Echo())
    let app = client(server)
    let messages = app.service("users/:userId/messages")
    var params = ServiceParams()
    params.route = ["userId": "7"]
    #expect(try await messages.request(.find(), params).record == ["user": "7"])
    await #expect(throws: FeathersError.self) { try await messages.find() }
    #expect(try await app.service("users/8/messages").find().record == ["user": "8"])
  }

  @Test func addingTwiceAndReservedNamesAreRefused() async throws {
    let app = Feathers()
    try await app.use("/a/", MemoryService())
    await #expect(throws: FeathersError.self) { try await app.use("a", MemoryService()) }
    await #expect(throws: FeathersError.self) {
      try await app.use(
        "b", MemoryService(), options: ServiceOptions(methods: [.custom("publish")]))
    }
    app.useDefault { path in path.hasPrefix("lazy/") ? MemoryService() : nil }
    #expect(try await app.service("lazy/x").find().records == [])
    #expect(app.paths == ["a", "lazy/x"])
    await #expect(throws: FeathersError.self) { try await app.service("none").find() }
  }
}
