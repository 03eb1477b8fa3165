import ArgumentParser
import Foundation
import Glibc
import RunnelBase
import RunnelClient
import RunnelNetwork
import RunnelSync
import RunnelTree

/// How a server's database is reached, where `--database` names one.
struct OriginArguments: ParsableArguments {
  /// The variable with the token.
  static let tokenVariable = "RUNNEL_TOKEN"
  private static let tokenBytesMax = 65_536

  @Option(
    help: ArgumentHelp(
      "Of a server's database: the file with the token or secret, or the key file of a service account; - "
        + "asks for it (default: $\(OriginArguments.tokenVariable)).",
      valueName: "file"), completion: .file())
  var tokenFile: String?
  @Option(
    name: .customLong("ca"),
    help: ArgumentHelp(
      "Of a server's database: the file with the certificates to trust, in PEM.",
      valueName: "file"), completion: .file())
  var trustedFile: String?

  /// By what one proves who one is.
  enum Proof {
    /// A token, or a secret of the database.
    case token(String)
    case account(ServiceAccountKey)
  }

  /// By what one proves who one is; nil for nobody.
  ///
  /// It never stands in an argument, which others can see.
  ///
  /// - Throws: `Failure` if its file cannot be read.
  func proof() throws -> Proof? {
    guard let tokenFile else {
      return ProcessInfo.processInfo.environment[OriginArguments.tokenVariable]
        .flatMap(OriginArguments.trimmed).map { .token($0) }
    }
    let bytes = try OriginArguments.bytes(of: tokenFile)
    // What is no JSON is a token.
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
    else { throw Failure("\(tokenFile) holds no token: it is a line of letters and signs.") }
    return .token(token)
  }

  private static func bytes(of file: String) throws -> [UInt8] {
    if file == InputDocument.standardInputName {
      return Array(try StandardInput.secret("Token: ").utf8)
    }
    return try read(file)
  }

  private static func trimmed(_ text: String) -> String? {
    let token = text.trimmingCharacters(in: .whitespacesAndNewlines)
    return token.isEmpty ? nil : token
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

  /// As whom the server is talked to.
  func access() throws -> OriginAccess {
    switch try proof() {
    case .token(let token)?: .token(token)
    case .account(let key)?: .serviceAccount(key, by: client)
    case nil: .nobody
    }
  }

  /// What sends requests over HTTP.
  var client: WebClient {
    WebClient(
      trustedFile: trustedFile, proxies: options.proxies, userAgent: OriginArguments.userAgent)
  }

  /// How it is talked to.
  var options: OriginOptions {
    var options = OriginOptions()
    options.trustedFile = trustedFile
    options.userAgent = OriginArguments.userAgent
    return options
  }

  static var userAgent: String { "runnel/\(MainCommand.version)" }
}
