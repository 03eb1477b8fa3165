import RunnelBase
public import RunnelNetwork
import RunnelStore

/// An account service with the interface of the Identity Toolkit: Runnel's own server, the official
/// emulator, or the official service.
///
/// The three differ in their addresses, and in the key that names the project.
public struct IdentityToolkit: AccountProvider {
  /// The function that sends a request and reads the whole answer.
  public typealias Transport =
    @Sendable (WebRequest) async throws(NetworkError) -> (status: Int, body: [UInt8])

  private static let answerBytesMax = 1 << 20
  private static let accountsHost = "identitytoolkit.googleapis.com"
  private static let tokensHost = "securetoken.googleapis.com"
  private static let emulatorMark = "emulator:"

  /// The name of the service.
  public let name: String
  private let accounts: String
  private let tokens: String
  private let key: String
  private let needsSafety: Bool
  private let transport: Transport

  private init(
    name: String, accounts: String, tokens: String, key: String, needsSafety: Bool,
    _ transport: @escaping Transport
  ) {
    (self.name, self.accounts, self.tokens) = (name, accounts, tokens)
    (self.key, self.needsSafety, self.transport) = (key, needsSafety, transport)
  }

  /// A server of Runnel, such as `https://chat.example.com`.
  ///
  /// - Parameters:
  ///   - address: scheme, host and port. Passwords are sent only with TLS, or on this machine.
  ///   - key: the API key, if the server wants a certain one.
  ///   - transport: sends the requests; see `transport(_:)`.
  /// - Returns: the service.
  public static func server(
    _ address: String, key: String = "runnel", _ transport: @escaping Transport
  ) -> IdentityToolkit {
    let base = IdentityToolkit.base(address)
    return IdentityToolkit(
      name: base, accounts: "\(base)/\(accountsHost)/v1/accounts",
      tokens: "\(base)/\(tokensHost)/v1/token", key: key, needsSafety: true, transport)
  }

  /// The official emulator, such as `http://localhost:9099`; its passwords are no secrets.
  ///
  /// - Parameters:
  ///   - address: scheme, host and port.
  ///   - transport: sends the requests; see `transport(_:)`.
  /// - Returns: the service.
  public static func emulator(
    _ address: String, _ transport: @escaping Transport
  ) -> IdentityToolkit {
    let base = IdentityToolkit.base(address)
    return IdentityToolkit(
      name: emulatorMark + base, accounts: "\(base)/\(accountsHost)/v1/accounts",
      tokens: "\(base)/\(tokensHost)/v1/token", key: "fake-api-key", needsSafety: false, transport)
  }

  /// The official service, for the project that an API key belongs to.
  public static func production(
    key: String, _ transport: @escaping Transport
  ) -> IdentityToolkit {
    IdentityToolkit(
      name: "https://\(accountsHost)/\(key)", accounts: "https://\(accountsHost)/v1/accounts",
      tokens: "https://\(tokensHost)/v1/token", key: key, needsSafety: true, transport)
  }

  /// The service with a name that `name` has returned; nil if it is none.
  ///
  /// - Parameters:
  ///   - name: the name.
  ///   - transport: sends the requests; see `transport(_:)`.
  /// - Returns: the service.
  public static func named(
    _ name: String, _ transport: @escaping Transport
  ) -> IdentityToolkit? {
    let official = "https://\(accountsHost)/"
    if name.hasPrefix(official) {
      return production(key: String(name.dropFirst(official.count)), transport)
    }
    if name.hasPrefix(emulatorMark) {
      return emulator(String(name.dropFirst(emulatorMark.count)), transport)
    }
    return WebAddress(name) == nil ? nil : server(name, transport)
  }

  /// Returns the function that sends requests by a client.
  public static func transport(_ client: WebClient) -> Transport {
    { (request: WebRequest) async throws(NetworkError) in
      try await client.fetch(request, bytesMax: answerBytesMax)
    }
  }

  private static func base(_ address: String) -> String {
    var base = address[...]
    while base.hasSuffix("/") { base = base.dropLast() }
    return String(base)
  }

  /// Asks the service, once.
  ///
  /// - Throws: `AccountFailure`; `offline` if the service cannot be reached.
  public func perform(_ call: AccountCall) async throws(AccountFailure) -> AccountReply {
    var call = call
    // The official service answers a code with no tokens.
    if case .applyCode(let code, _) = call,
      name.hasPrefix("https://\(IdentityToolkit.accountsHost)/")
    {
      call = .applyCode(code)
    }
    let question = AccountWire.question(call)
    let place = question.operation.map { "\(accounts):\($0)" } ?? tokens
    guard let address = WebAddress("\(place)?key=\(PercentEncoding.encoded(key))") else {
      throw AccountFailure(.offline, "This is not the address of an account service.")
    }
    if needsSafety, !address.isSafe {
      throw AccountFailure(
        .insecure, "\(address.bare) uses no TLS, so others could read passwords: use https.")
    }
    let request = WebRequest(
      "POST", address, headers: [("Content-Type", question.contentType)],
      body: question.body.reveal())
    let answer: (status: Int, body: [UInt8])
    do throws(NetworkError) {
      answer = try await transport(request)
    } catch {
      var failure = AccountFailure(.offline, error.message)
      failure.isSent = error.isSent
      throw failure
    }
    return try AccountWire.reply(
      to: call, status: answer.status, body: answer.body, service: address.bare
    ).get()
  }
}
