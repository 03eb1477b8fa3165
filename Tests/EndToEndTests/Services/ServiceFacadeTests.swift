import RunnelBase
import RunnelNetwork
import RunnelServices
import RunnelServicesNetwork
import TestSupport
import Testing

/// `runnel serve --services`, used by clients of others and by those of the library.
@Suite struct ServiceFacadeTests {
  private static let rules = """
    {"rules":{"messages":{".read":true,".write":true},"notes":{"$note":{
    ".read":"data.child('owner').val() === auth.uid",
    ".write":"auth != null && newData.child('owner').val() === auth.uid"}}}}
    """

  private static func serve(_ database: TestDatabase) throws -> Served {
    _ = try database.folder.write(rules, to: "test.rules.json")
    return try Served([
      database.file, "--services", "messages,multi", "--services", "notes",
      "--accounts", database.folder.file("accounts.db"), "--project", "demo", "--emulator",
    ])
  }

  private static func address(_ served: Served) throws -> WebAddress {
    try #require(WebAddress("http://127.0.0.1:\(served.port)"))
  }

  @Test func servicesAreNamedAtTheStart() throws {
    let database = try TestDatabase("{\"empty\":1}")
    let served = try Served([
      database.file, "--services", "messages,multi", "--services", "chat/notes=notes",
    ])
    #expect(served.lines.contains("  services: messages, chat/notes (/notes)"), "\(served.lines)")
  }

  @Test func watchingAServiceThatIsNotThereSaysSo() throws {
    let database = try TestDatabase("{\"empty\":1}")
    let served = try ServiceFacadeTests.serve(database)
    let outcome = try Program.run([
      "service", "watch", "http://127.0.0.1:\(served.port)", "nosuch",
    ])
    #expect(outcome.status == 1 && outcome.errors.contains("NotFound"), "\(outcome.errors)")
  }

  @Test(
    .enabled("pip reaches the packages of the clients", { ServicePeer.isThere }),
    arguments: ServicePeer.Library.allCases, ["websocket", "polling", "polling,websocket"])
  func clientsInPythonUseTheServices(library: ServicePeer.Library, transports: String) throws {
    let database = try TestDatabase("{\"empty\":1}")
    let served = try ServiceFacadeTests.serve(database)
    let (python, file) = try library.environment.command("feathers_client.py")
    let outcome = try Program.run(
      [file, "http://127.0.0.1:\(served.port)", transports], program: python)
    #expect(outcome.output == "ok\n")
    let log = try served.program.errors()
    #expect(outcome.status == 0, "\(outcome.errors)\n\(log)")
  }

  @Test(arguments: SocketSession.Carrying.allCases)
  func theLibraryUsesTheServicesOverSockets(carrying: SocketSession.Carrying) async throws {
    let database = try TestDatabase("{\"empty\":1}")
    let served = try ServiceFacadeTests.serve(database)
    var access = ServiceAccess()
    access.socket.carrying = carrying
    let provider = SocketProvider(try ServiceFacadeTests.address(served), access)
    let app = Feathers(provider: provider)
    defer { app.close() }
    let events = app.service("messages").events(.created)
    try await check(app)
    var iterator = events.makeAsyncIterator()
    #expect(await iterator.next()?.data["text"] == "é😀")
    guard case .connected(let transport, let version) = provider.state else {
      Issue.record("\(provider.state)")
      return
    }
    #expect(version == .four)
    #expect(transport == (carrying == .pollingOnly ? .polling : .websocket))
  }

  @Test func theLibraryUsesTheServicesOverREST() async throws {
    let database = try TestDatabase("{\"empty\":1}")
    let served = try ServiceFacadeTests.serve(database)
    let provider = RestProvider(try ServiceFacadeTests.address(served))
    let app = Feathers(provider: provider)
    defer { app.close() }
    try await check(app)
  }

  /// Checks what both transports can do.
  private func check(_ app: Feathers) async throws {
    let messages = app.service("messages")
    let made = try await messages.create(["text": "é😀", "n": 1])
    let id = try #require(made["id"].flatMap { ServiceID(json: $0) })
    #expect(try await messages.get(id)["n"] == 1)
    try await messages.create([["n": 2], ["n": 10]])
    let page = try await messages.find(
      ServiceQuery().condition("n", "$gt", 1).sort("n", .descending).limit(1))
    #expect(page.records.compactMap { $0["n"]?.int } == [10])
    #expect(page.page?.total == 2)
    #expect(try await messages.patch(nil, ["f": 1], ["n": 2]).array?.count == 1)
    let note: JSONValue = ["id": "n", "owner": "ana"]
    do throws(FeathersError) {
      try await app.service("notes").create(note)
      Issue.record("nobody is signed in")
    } catch {
      #expect(error.code == 401)
    }
    try await app.authenticate([
      "strategy": "jwt", "accessToken": .string(ServiceFacadeTests.token("ana")),
    ])
    #expect(try await app.service("notes").create(note)["owner"] == "ana")
    _ = await app.logout()
  }

  /// A token that an emulator accepts.
  private static func token(_ user: String) -> String {
    let head: JSONValue = ["alg": "none", "typ": "JWT"]
    let claims: JSONValue = ["sub": .string(user), "user_id": .string(user)]
    return Base64URL.text(head.jsonBytes()) + "." + Base64URL.text(claims.jsonBytes()) + "."
  }

  @Test(arguments: [
    (["--services", "authentication"], "has a meaning of its own"),
    (["--services", "a=/"], "below the root"), (["--services", "a,many"], "many is not known"),
    (["--services", "a", "--services", "a=b"], "a is given twice"),
    (["--services", "a.json"], "no .json"), (["--services", ",multi"], "has no path"),
  ])
  func whatIsNoCollectionIsRefused(arguments: [String], reason: String) throws {
    let database = try TestDatabase("{\"empty\":1}")
    let outcome = try Program.run(["serve", database.file] + arguments)
    #expect(outcome.status == 2)
    #expect(outcome.errors.contains(reason), "\(outcome.errors)")
  }
}
