import RunnelBase
import RunnelNetwork
import RunnelServices
import RunnelServicesNetwork

/// A server that behaves as one of Feathers does, on a real Socket.IO of version 4 or 5.
final class ServicePeer {
  /// The versions of the library, which speak different versions of the protocol.
  enum Library: String, Sendable, CaseIterable {
    /// Socket.IO 2, Engine.IO 3.
    case four = "python-socketio 4.6.1"
    /// Socket.IO 4, Engine.IO 4.
    case five = "python-socketio 5.18.1"

    var environment: PythonEnvironment {
      self == .four ? ServicePeer.environment4 : ServicePeer.environment5
    }
  }

  private static let environment4 = PythonEnvironment(
    "python-socketio4", ["python-socketio==4.6.1", "python-engineio==3.14.2", "aiohttp==3.14.5"])
  private static let environment5 = PythonEnvironment(
    "python-socketio5", ["python-socketio==5.18.1", "aiohttp==3.14.5"])

  /// True unless there is no Python, or pip cannot reach anything.
  static var isThere: Bool { environment4.isThere && environment5.isThere }

  private let program: RunningProgram
  let port: Int

  /// Starts a server; one without Socket.IO if it is asked over REST only.
  init(_ library: Library, port: Int = 0, isRESTOnly: Bool = false) throws {
    let (python, file) = try library.environment.command("feathers_peer.py")
    program = try RunningProgram(
      [file, String(port)] + (isRESTOnly ? ["rest"] : []), program: python)
    guard let line = try program.readLine(), let port = Int(line) else {
      throw SystemError(call: "feathers_peer.py", reason: try program.errors())
    }
    self.port = port
  }

  /// Kills the server.
  func kill() throws {
    try program.send(9)
    _ = try program.wait()
  }

  /// What the server wrote to standard error so far.
  func errors() throws -> String { try program.errors() }

  func address() throws -> WebAddress {
    guard let address = WebAddress("http://127.0.0.1:\(port)") else {
      throw SystemError(call: "WebAddress", reason: "\(port)")
    }
    return address
  }

  func socket(
    _ carrying: SocketSession.Carrying = .socketFirst
  ) throws -> SocketProvider {
    var access = ServiceAccess()
    access.socket.carrying = carrying
    return SocketProvider(try address(), access)
  }

  func rest() throws -> RestProvider { RestProvider(try address()) }
}

/// The services of the peer, in this program.
enum LocalPeer {
  private struct Messages: FeathersService {
    let memory: MemoryService

    func perform(_ request: ServiceRequest, _ params: ServiceParams) async throws -> JSONValue {
      if request.method == .create, request.data?["text"] == "bad" {
        throw FeathersError(
          .badRequest, "bad thing", data: ["hint": 1], errors: ["text": "bad"])
      }
      guard case .custom("archive") = request.method else {
        return try await memory.perform(request, params)
      }
      guard let data = request.data, data != .object([]) else { return .null }
      return ["archived": data, "query": params.query.json]
    }
  }

  private struct Authentication: FeathersService {
    func create(_ data: JSONValue, _ params: ServiceParams) async throws -> JSONValue {
      let token: String
      if data["strategy"] == "local" {
        guard data["email"] == "a@b.c", data["password"] == "pw" else {
          throw FeathersError(.notAuthenticated, "Invalid login")
        }
        token = "e30.e30.1"
      } else {
        token = data["accessToken"]?.string ?? ""
        guard token == "e30.e30.1" else { throw FeathersError(.notAuthenticated, "jwt expired") }
      }
      params.connection?.user = ["id": 7]
      return ["accessToken": .string(token), "user": ["id": 7, "email": "a@b.c"]]
    }

    func remove(_ id: ServiceID?, _ params: ServiceParams) async throws -> JSONValue {
      params.connection?.user = .null
      return ["accessToken": "e30.e30.1"]
    }
  }

  /// Makes the application, whose events reach all connections.
  static func application() async throws -> Feathers {
    let app = Feathers()
    let rules = QueryRules(pages: PageRules(standard: 10, max: 50))
    try await app.use(
      "messages", Messages(memory: MemoryService(multi: .all, rules: rules)),
      options: ServiceOptions(methods: ServiceMethod.standard + [.custom("archive")]))
    try await app.use("plain", MemoryService())
    try await app.use("secret", MemoryService(multi: .all))
    app.service("secret").before(HookSet(all: [.authenticate]))
    try await app.use("authentication", Authentication())
    app.publish { [unowned app] _, _ in [app.channel("all")] }
    return app
  }
}
