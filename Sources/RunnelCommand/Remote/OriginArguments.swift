import ArgumentParser
import Foundation
import Glibc
import RunnelBase
import RunnelClient
import RunnelNetwork
import RunnelSync
import RunnelTree

/// The options for access to a server's database: its credentials and the certificates to trust.
struct OriginArguments: ParsableArguments {
  /// The environment variable that holds the token.
  static let tokenVariable = "RUNNEL_TOKEN"
  private static let tokenBytesMax = 65_536

  @Option(
    help: ArgumentHelp(
      "The file with the token for a server, a database's secret or a service account's key; - "
        + "asks for the token (default: $\(OriginArguments.tokenVariable)).",
      valueName: "file"), completion: .file())
  var tokenFile: String?
  @Option(
    name: .customLong("ca"),
    help: ArgumentHelp(
      "The PEM file with the certificates to trust when connecting to a server.",
      valueName: "file"), completion: .file())
  var trustedFile: String?

  init() {}

  func validate() throws { try TrustArguments.check(trustedFile) }

  /// The options if none of them is given.
  static var none: OriginArguments {
    var arguments = OriginArguments()
    arguments.tokenFile = nil
    arguments.trustedFile = nil
    return arguments
  }

  /// The credentials that identify the user to the server.
  enum Credentials {
    /// A token, or the database's secret.
    case token(String)
    /// The key file of a service account.
    case account(ServiceAccountKey)
  }

  /// Reads the credentials from `--token-file` or the environment; returns nil if there are none.
  ///
  /// They are never given in an argument, because other users of the machine can see arguments.
  ///
  /// - Throws: `Failure` if the file cannot be read, or holds neither a token nor a usable key.
  func credentials() throws -> Credentials? {
    guard let tokenFile else {
      return ProcessInfo.processInfo.environment[OriginArguments.tokenVariable]
        .flatMap(OriginArguments.trimmed).map { .token($0) }
    }
    return try OriginArguments.credentials(of: tokenFile)
  }

  /// Reads the credentials in a file; - asks for a token.
  static func credentials(of tokenFile: String) throws -> Credentials {
    let bytes = try OriginArguments.bytes(of: tokenFile)
    if bytes.isEmpty { throw Failure("\(tokenFile) is empty: it holds no token.") }
    // A file that is not JSON holds a token.
    if let json = try? JSONValue(parsing: bytes), ServiceAccountKey.isMeant(by: json) {
      do throws(NetworkError) {
        return .account(try ServiceAccountKey(json))
      } catch {
        throw Failure("\(tokenFile): \(error.message)")
      }
    }
    guard let text = String(validating: bytes, as: UTF8.self),
      let token = OriginArguments.trimmed(text),
      token.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f })
    else {
      throw Failure(
        "\(tokenFile) holds no token: a token is one line of printable ASCII without spaces.")
    }
    return .token(token)
  }

  static func bytes(of file: String) throws -> [UInt8] {
    if file == InputDocument.standardInputName {
      return Array(try StandardInput.secret("Token: ").utf8)
    }
    return try read(file)
  }

  private static func trimmed(_ text: String) -> String? {
    let token = text.trimmingCharacters(in: .whitespacesAndNewlines)
    return token.isEmpty ? nil : token
  }

  private static func isRegularFile(_ file: String) -> Bool {
    var status = stat()
    return file != InputDocument.standardInputName && stat(file, &status) == 0
      && status.st_mode & S_IFMT == S_IFREG
  }

  private static func read(_ file: String) throws -> [UInt8] {
    let descriptor = open(file, O_RDONLY | O_CLOEXEC)
    if descriptor < 0 { throw Failure.system("\(file) cannot be read") }
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: tokenBytesMax)
    let count = Glibc.read(descriptor, &bytes, bytes.count)
    if count < 0 { throw Failure.system("\(file) cannot be read") }
    return Array(bytes.prefix(count))
  }

  /// Returns the access to the server that the credentials give.
  func access() throws -> OriginAccess { access(by: try credentials()) }

  /// Returns the access to the server that these credentials give; nil for none.
  func access(by credentials: Credentials?) -> OriginAccess {
    switch credentials {
    case .token(let token)?: access(token)
    case .account(let key)?: .serviceAccount(key, by: client)
    case nil: .nobody
    }
  }

  /// Returns the access with a token, whose file is read again for each credential that the link needs.
  ///
  /// So a token can be renewed before it expires. A token of another user is not used: what waits in
  /// the replica is the first one's.
  private func access(_ token: String) -> OriginAccess {
    let first = OriginAccess.token(token)
    // A pipe is read once.
    guard let tokenFile, OriginArguments.isRegularFile(tokenFile) else { return first }
    let file = TokenFile(tokenFile, token)
    var renewed = first
    renewed.isAskedEachTime = true
    renewed.provider = { try await file.credential(isRefresh: $0) }
    renewed.remark = { file.remark() }
    return renewed
  }

  /// The client that sends HTTP requests.
  var client: WebClient {
    WebClient(
      trustedFile: trustedFile, proxies: options.proxies, userAgent: OriginArguments.userAgent)
  }

  /// The options for the connection to the server.
  var options: OriginOptions {
    var options = OriginOptions()
    options.trustedFile = trustedFile
    options.userAgent = OriginArguments.userAgent
    return options
  }

  static var userAgent: String { "runnel/\(MainCommand.version)" }
}
