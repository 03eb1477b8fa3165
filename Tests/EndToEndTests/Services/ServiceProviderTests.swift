import Glibc
import RunnelBase
import RunnelNetwork
import RunnelServices
import RunnelServicesNetwork
import Testing

/// The providers against servers that were written by others.
///
/// They are left out only where Python or its packages cannot be had.
@Suite(.enabled("pip reaches the packages of the servers", { ServicePeer.isThere }))
struct ServiceProviderTests {
  @Test func anApplicationInTheSameProgramConforms() async throws {
    let server = try await LocalPeer.application()
    let provider = InProcessProvider(server: server) { server.channel("all").join($0) }
    try await ServiceConformance(Feathers(provider: provider), isTyped: true).checkAll()
  }

  @Test func restConforms() async throws {
    let peer = try ServicePeer(.five)
    try await ServiceConformance(Feathers(provider: peer.rest()), isTyped: false).checkAll()
  }

  @Test(arguments: ServicePeer.Library.allCases, SocketSession.Carrying.allCases)
  func socketsConform(library: ServicePeer.Library, carrying: SocketSession.Carrying) async throws {
    let peer = try ServicePeer(library)
    let provider = try peer.socket(carrying)
    let app = Feathers(provider: provider)
    defer { app.close() }
    try await ServiceConformance(app, isTyped: true).checkAll()
    guard case .connected(let transport, let version) = provider.state else {
      Issue.record("\(provider.state)")
      return
    }
    #expect(version == (library == .four ? .three : .four))
    #expect(transport == (carrying == .pollingOnly ? .polling : .websocket))
  }

  @Test(arguments: ServicePeer.Library.allCases)
  func aServerThatWasStartedAgainIsFoundAgain(library: ServicePeer.Library) async throws {
    let first = try ServicePeer(library)
    let provider = try first.socket()
    let app = Feathers(provider: provider)
    defer { app.close() }
    try await app.authenticate(["strategy": "local", "email": "a@b.c", "password": "pw"])
    let events = app.service("messages").events(.created)
    var states = provider.states.makeAsyncIterator()
    try first.kill()
    while let state = await states.next() {
      if case .waiting = state { break }
    }
    let second = try ServicePeer(library, port: first.port)
    // Whoever calls does not wait for the end of the pause; the token is sent before the call.
    #expect(try await app.service("secret").find().records == [])
    try await app.service("messages").create(["text": "again"])
    var iterator = events.makeAsyncIterator()
    #expect(await iterator.next()?.data["text"] == "again")
    _ = second.port
  }

  /// Case 39: the server ends the session, and the client signs in again by itself.
  @Test(arguments: ServicePeer.Library.allCases)
  func anEndedSessionIsBegunAgain(library: ServicePeer.Library) async throws {
    let peer = try ServicePeer(library)
    let app = Feathers(provider: try peer.socket())
    defer { app.close() }
    app.configure(
      auth: AuthenticationOptions(credentials: {
        ["strategy": "local", "email": "a@b.c", "password": "pw"]
      }))
    let secret = app.service("secret")
    #expect(try await secret.find().records == [])
    let token = app.authentication.token
    let (states, continuation) = AsyncStream.makeStream(of: AuthenticationState.self)
    let listener = app.authentication.onChange { continuation.yield($0) }
    defer { listener.cancel() }
    try await app.service("control").call("expire", ["disconnect": true])
    // First it has expired, then somebody is signed in again.
    for await state in states {
      if case .signedIn = state { break }
    }
    #expect(try await secret.find().records == [])
    #expect(app.authentication.token != token)
  }

  /// A call that is refused with 401 leads to one sign-in, also if several are at once.
  @Test func refusedCallsShareOneSignIn() async throws {
    let peer = try ServicePeer(.five)
    let app = Feathers(provider: try peer.rest())
    app.configure(
      auth: AuthenticationOptions(credentials: {
        ["strategy": "local", "email": "a@b.c", "password": "pw"]
      }))
    let secret = app.service("secret")
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<5 { group.addTask { _ = try await secret.find() } }
      try await group.waitForAll()
    }
    let first = app.authentication.token
    try await app.service("control").call("expire", [:])
    #expect(try await secret.find().records == [])
    #expect(app.authentication.token != first && first != nil)
  }

  /// Another start of the program finds the token, and nobody else can read it.
  @Test func aTokenInAFileOutlivesTheProgram() async throws {
    let peer = try ServicePeer(.five)
    let folder = try TemporaryFolder()
    let file = folder.file("tokens.json")
    func application() throws -> Feathers {
      let app = Feathers(provider: try peer.socket())
      app.configure(
        auth: AuthenticationOptions(storage: FileAuthenticationStorage(file: file)))
      return app
    }
    let first = try application()
    try await first.authenticate(["strategy": "local", "email": "a@b.c", "password": "pw"])
    first.close()
    var status = stat()
    #expect(stat(file, &status) == 0 && status.st_mode & 0o777 == 0o600)
    let second = try application()
    defer { second.close() }
    #expect(try await second.service("secret").find().records == [])
    await second.logout()
    #expect(FileAuthenticationStorage(file: file).token("feathers-jwt") == nil)
  }

  @Test func aCancelledCallEndsAtOnce() async throws {
    let app = Feathers(provider: SocketProvider(try unreachable()))
    defer { app.close() }
    let task = Task { try await app.service("messages").find() }
    task.cancel()
    await #expect { try await task.value } throws: {
      ($0 as? FeathersError)?.kind == .cancelled
    }
  }

  @Test func aHostThatCannotBeReachedIsNamed() async throws {
    var access = ServiceAccess()
    access.socket.isPatient = false
    access.retriesMax = 0
    let address = try unreachable()
    let providers: [any ServiceProvider] = [
      SocketProvider(address, access), RestProvider(address, access),
    ]
    for provider in providers {
      let app = Feathers(provider: provider)
      defer { app.close() }
      await #expect { try await app.service("messages").find() } throws: { error in
        let error = error as? FeathersError
        return error?.kind == .unavailable && error?.message.contains("127.0.0.1") == true
      }
    }
  }

  private func unreachable() throws -> WebAddress {
    try #require(WebAddress("http://127.0.0.1:\(try FreePort.any())"))
  }
}
