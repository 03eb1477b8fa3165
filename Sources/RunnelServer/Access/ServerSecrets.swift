import Crypto
import RunnelBase

/// The secrets of a database: the owner of a secret is an administrator, and can sign tokens for
/// others.
///
/// They are in a file beside the database that only its owner reads.
public struct ServerSecrets: Hashable, Sendable, AdministratorTable {
  /// A secret.
  public struct Secret: Hashable, Sendable {
    /// The name of the secret.
    public var name: String
    /// The secret itself: 40 characters.
    public var text: String
    /// When the secret was made, in milliseconds since 1970.
    public var time: Int64
  }

  /// The length of a secret.
  public static let length = 40
  private static let fileBytesMax = 1 << 20
  private static let characters = Array(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")

  private enum Field {
    static let secrets = "secrets"
    static let name = "name"
    static let text = "secret"
    static let time = "made"
  }

  /// The secrets, in the order in which they were made.
  public private(set) var all: [Secret] = []

  /// The file of the secrets of a database file.
  public static func file(beside database: String) -> String {
    DatabaseNames.stem(of: database) + ".secrets.json"
  }

  package init() {}

  /// Makes one that is stored nowhere.
  init(unstored text: String) { all = [Secret(name: "own", text: text, time: 0)] }

  /// Reads a file; the file need not exist.
  ///
  /// - Throws: `ServerError` if it cannot be read.
  public init(file: String) throws(ServerError) {
    guard let bytes = try ServerFile.bytes(of: file, max: ServerSecrets.fileBytesMax) else {
      self.init()
      return
    }
    try self.init(parsing: bytes, from: file)
  }

  package init(parsing bytes: [UInt8], from file: String) throws(ServerError) {
    // Text that is no JSON has no secrets either.
    guard case .array(let elements)? = (try? JSONValue(parsing: bytes))?[Field.secrets] else {
      throw ServerError("\(file) has no secrets: restore it, or remove it and make new ones.")
    }
    all = elements.compactMap { element in
      guard case .string(let name)? = element[Field.name],
        case .string(let text)? = element[Field.text], text.utf8.count >= ServerSecrets.length
      else { return nil }
      var time: Int64 = 0
      if case .number(let number)? = element[Field.time] { time = number.integer ?? 0 }
      return Secret(name: name, text: text, time: time)
    }
  }

  /// Makes a secret; nil if the name is taken.
  public mutating func add(_ name: String, now: Int64) -> Secret? {
    if all.contains(where: { $0.name == name }) { return nil }
    let secret = Secret(name: name, text: ServerSecrets.newText(), time: now)
    all.append(secret)
    return secret
  }

  /// A random text that cannot be guessed.
  package static func newText() -> String {
    var random = SystemRandomNumberGenerator()
    return String(
      (0..<length).compactMap { _ in characters.randomElement(using: &random) })
  }

  /// Removes a secret; false if there is none with this name.
  public mutating func remove(_ name: String) -> Bool {
    let count = all.count
    all.removeAll { $0.name == name }
    return all.count < count
  }

  /// Writes the file, readable by its owner only.
  ///
  /// - Throws: `ServerError` if it cannot be written.
  public func write(to file: String) throws(ServerError) {
    try ServerFile.replace(file, with: bytes, mode: 0o600)
  }

  package static let keptName = "secrets"

  package var bytes: [UInt8] {
    let elements: [JSONValue] = all.map { secret in
      [
        Field.name: .string(secret.name), Field.text: .string(secret.text),
        Field.time: .number(JSONNumber(secret.time)),
      ]
    }
    let json: JSONValue = [Field.secrets: .array(elements)]
    return json.jsonBytes(pretty: true) + [10]
  }

  /// True if a text is one of the secrets; the time that this takes reveals nothing about them.
  func contain(_ text: String) -> Bool {
    let hash = SHA256.hash(data: Array(text.utf8))
    var isFound = false
    for secret in all where SHA256.hash(data: Array(secret.text.utf8)) == hash { isFound = true }
    return isFound
  }

  /// True if a token was signed with one of the secrets.
  func haveSigned(_ token: JSONWebToken) -> Bool {
    guard token.algorithm == "HS256" else { return false }
    return all.contains { secret in
      HMAC<SHA256>.isValidAuthenticationCode(
        token.signature, authenticating: token.signedBytes,
        using: SymmetricKey(data: Array(secret.text.utf8)))
    }
  }
}
