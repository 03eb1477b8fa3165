import Crypto
import CryptoExtras
import RunnelBase

/// The service accounts of a database: programs that are administrators, as with admin SDKs.
///
/// An account's private key is in a key file that only its program has. With it the program signs an
/// assertion, for which it gets an access token of an hour. The public keys are in a file beside the
/// database, with the secret that signs those tokens; only its owner reads it.
///
/// Source: RFC 7523; Google, "Using OAuth 2.0 for Server to Server Applications".
public struct ServiceAccounts: Sendable, AdministratorTable {
  /// A service account.
  public struct Account: Hashable, Sendable {
    /// The name of the account.
    public var name: String
    /// The account's identifier in the form of an email address.
    public var email: String
    /// The name of its key.
    public var keyID: String
    /// When the account was made, in milliseconds since 1970.
    public var time: Int64
    /// Its public key, in PEM.
    var publicKey: String
    /// The address for assertions in its key file; nil if it was made when none was kept.
    var tokenAddress: String?
  }

  /// The lifetime of an access token, in seconds.
  static let tokenSeconds: Int64 = 3600
  /// The path for assertions on each server.
  static let tokenPath = "/oauth2/token"
  /// The tolerated difference of other machines' clocks, in seconds.
  private static let skewSeconds: Double = 300
  private static let fileBytesMax = 1 << 20
  /// The audiences for which SDKs sign assertions, whatever their key file says.
  private static let audiences: Set<String> = [
    "https://oauth2.googleapis.com/token", "https://www.googleapis.com/oauth2/v4/token",
    "https://accounts.google.com/o/oauth2/token",
  ]

  private enum Field {
    static let tokenSecret = "token_secret"
    static let accounts = "accounts"
    static let name = "name"
    static let email = "client_email"
    static let keyID = "private_key_id"
    static let publicKey = "public_key"
    static let time = "made"
    static let tokenAddress = "token_uri"
  }

  /// The accounts, in the order in which they were made.
  public private(set) var all: [Account] = []
  /// The secret that signs access tokens; empty if there has never been an account.
  private var tokenSecret = ""

  /// The file of the service accounts of a database file.
  public static func file(beside database: String) -> String {
    DatabaseNames.stem(of: database) + ".service-accounts.json"
  }

  package init() {}

  /// Reads a file; the file need not exist.
  ///
  /// - Throws: `ServerError` if it cannot be read.
  public init(file: String) throws(ServerError) {
    guard let bytes = try ServerFile.bytes(of: file, max: ServiceAccounts.fileBytesMax) else {
      self.init()
      return
    }
    try self.init(parsing: bytes, from: file)
  }

  package init(parsing bytes: [UInt8], from file: String) throws(ServerError) {
    // Text that is no JSON has no accounts either.
    let json = try? JSONValue(parsing: bytes)
    guard case .array(let elements)? = json?[Field.accounts],
      let secret = json?[Field.tokenSecret]?.string, secret.utf8.count >= ServerSecrets.length
    else {
      throw ServerError(
        "\(file) has no service accounts: restore it, or remove it and make new ones.")
    }
    tokenSecret = secret
    all = elements.compactMap { element in
      guard let name = element[Field.name]?.string, let email = element[Field.email]?.string,
        let keyID = element[Field.keyID]?.string, let key = element[Field.publicKey]?.string
      else { return nil }
      return Account(
        name: name, email: email, keyID: keyID, time: Int64(element[Field.time]?.int ?? 0),
        publicKey: key, tokenAddress: element[Field.tokenAddress]?.string)
    }
  }

  /// Writes the file, readable by its owner only.
  ///
  /// - Throws: `ServerError` if it cannot be written.
  public func write(to file: String) throws(ServerError) {
    try ServerFile.replace(file, with: bytes, mode: 0o600)
  }

  package static let keptName = "service-accounts"

  package var bytes: [UInt8] {
    let elements: [JSONValue] = all.map { account in
      [
        Field.name: .string(account.name), Field.email: .string(account.email),
        Field.keyID: .string(account.keyID), Field.publicKey: .string(account.publicKey),
        Field.time: .number(JSONNumber(account.time)),
        Field.tokenAddress: account.tokenAddress.map(JSONValue.string) ?? .null,
      ]
    }
    let json: JSONValue = [
      Field.tokenSecret: .string(tokenSecret), Field.accounts: .array(elements),
    ]
    return json.jsonBytes(pretty: true) + [10]
  }

  // MARK: Making and taking back

  /// Makes an account.
  ///
  /// - Parameters:
  ///   - name: 1 to 63 small letters, digits and hyphens.
  ///   - database: the file of the database.
  ///   - server: the address of the server, without a path.
  ///   - now: milliseconds since 1970.
  /// - Returns: the text of the account's key file, which is not kept here; nil if the name is
  ///   taken.
  /// - Throws: `ServerError` if the name is invalid.
  public mutating func add(
    _ name: String, for database: String, server: String, now: Int64
  ) throws(ServerError) -> [UInt8]? {
    guard DatabaseNames.isValid(name) else {
      throw ServerError(
        "\(name) cannot be the name of a service account: use 1 to 63 small letters, digits and "
          + "hyphens.", isUsage: true)
    }
    if all.contains(where: { $0.name == name }) { return nil }
    guard let key = try? _RSA.Signing.PrivateKey(keySize: .bits2048) else {
      throw ServerError("A key cannot be made.")
    }
    if tokenSecret.isEmpty { tokenSecret = ServerSecrets.newText() }
    let project = DatabaseNames.name(of: database)
    let account = Account(
      name: name, email: "\(name)@\(project).iam.runnel.internal",
      keyID: ServiceAccounts.random(40, of: "0123456789abcdef"), time: now,
      publicKey: key.publicKey.pemRepresentation,
      tokenAddress: server + ServiceAccounts.tokenPath)
    all.append(account)
    let file: JSONValue = [
      "type": "service_account", "project_id": .string(project),
      "private_key_id": .string(account.keyID),
      "private_key": .string(key.pkcs8PEMRepresentation + "\n"),
      "client_email": .string(account.email),
      "client_id": .string("1" + ServiceAccounts.random(20, of: "0123456789")),
      "auth_uri": .string(server + "/oauth2/auth"),
      Field.tokenAddress: .string(server + ServiceAccounts.tokenPath),
    ]
    return file.jsonBytes(pretty: true) + [10]
  }

  /// Removes an account; false if there is none with this name.
  public mutating func remove(_ name: String) -> Bool {
    let count = all.count
    all.removeAll { $0.name == name }
    return all.count < count
  }

  private static func random(_ count: Int, of characters: String) -> String {
    var random = SystemRandomNumberGenerator()
    return String((0..<count).compactMap { _ in characters.randomElement(using: &random) })
  }

  // MARK: Tokens

  /// The reason why an assertion gets no token, in OAuth's words.
  struct Refusal: Error, Hashable {
    var text: String
    /// True if a repetition may succeed.
    var isPassing = false
  }

  /// Exchanges an assertion.
  ///
  /// - Parameters:
  ///   - assertion: the assertion.
  ///   - hosts: the hosts by which the server is known, with a port or without, in lower case.
  ///   - now: milliseconds since 1970.
  /// - Returns: the access token; nil if no account has the named key.
  /// - Throws: `Refusal` if the assertion is not signed by that key, or is not valid here and now.
  func accessToken(
    for assertion: JSONWebToken, at hosts: Set<String>, now: Int64
  ) throws(Refusal) -> String? {
    guard let account = all.first(where: { $0.keyID == assertion.keyID }) else { return nil }
    guard assertion.algorithm == "RS256", account.hasSigned(assertion) else {
      throw Refusal(text: "The assertion is not signed by the key that it names.")
    }
    guard assertion.text("iss") == account.email else {
      throw Refusal(text: "The assertion is of another account.")
    }
    let seconds = Double(now) / 1000
    let skew = ServiceAccounts.skewSeconds
    guard let made = assertion.seconds("iat"), let end = assertion.seconds("exp"),
      made <= seconds + skew, end > seconds - skew,
      end - made <= Double(ServiceAccounts.tokenSeconds) + skew
    else {
      throw Refusal(text: "The assertion is not for now: look at the clock of this machine.")
    }
    guard let audience = assertion.text("aud"),
      ServiceAccounts.audiences.contains(audience) || account.isKnown(audience, at: hosts)
    else { throw Refusal(text: "The assertion is for another audience.") }
    return token(of: account, now: now / 1000)
  }

  private func token(of account: Account, now: Int64) -> String {
    let head: JSONValue = ["alg": "HS256", "typ": "JWT", "kid": .string(account.keyID)]
    let claims: JSONValue = [
      "sub": .string(account.email), "iat": .number(JSONNumber(now)),
      "exp": .number(JSONNumber(now + ServiceAccounts.tokenSeconds)),
    ]
    let text = Base64URL.text(head.jsonBytes()) + "." + Base64URL.text(claims.jsonBytes())
    let signature = HMAC<SHA256>.authenticationCode(
      for: Array(text.utf8), using: SymmetricKey(data: Array(tokenSecret.utf8)))
    return text + "." + Base64URL.text(signature)
  }

  /// True if a service account has signed a token for a user.
  ///
  /// SDKs do not always name the key, but the account.
  func haveSignedForUser(_ token: JSONWebToken) -> Bool {
    guard token.algorithm == "RS256", let email = token.text("iss"),
      let account = all.first(where: { $0.email == email })
    else { return false }
    return account.hasSigned(token)
  }

  /// True if a token was issued here to an account that still exists.
  func haveSigned(_ token: JSONWebToken) -> Bool {
    guard token.algorithm == "HS256", !tokenSecret.isEmpty, token.seconds("exp") != nil,
      all.contains(where: { $0.keyID == token.keyID && $0.email == token.text("sub") })
    else { return false }
    return HMAC<SHA256>.isValidAuthenticationCode(
      token.signature, authenticating: token.signedBytes,
      using: SymmetricKey(data: Array(tokenSecret.utf8)))
  }
}

extension ServiceAccounts.Account {
  /// True if an audience is the address in the account's key file, or this server by another name.
  fileprivate func isKnown(_ audience: String, at hosts: Set<String>) -> Bool {
    let path = ServiceAccounts.tokenPath
    guard audience != tokenAddress else { return true }
    guard audience.hasSuffix(path) else { return false }
    // What the key file says is not known: it may say anything.
    if tokenAddress == nil { return true }
    let parts = audience.dropLast(path.count).lowercased().split(separator: "//", maxSplits: 1)
    guard parts.count == 2, ["http:", "https:"].contains(parts[0]) else { return false }
    let authority = String(parts[1])
    return hosts.contains(authority) || hosts.contains(HostCheck.host(of: authority))
  }

  /// True if the account's key signed a token.
  fileprivate func hasSigned(_ token: JSONWebToken) -> Bool {
    // An unreadable key signs nothing.
    guard let key = try? _RSA.Signing.PublicKey(pemRepresentation: publicKey) else { return false }
    return key.isValidSignature(
      _RSA.Signing.RSASignature(rawRepresentation: token.signature),
      for: SHA256.hash(data: token.signedBytes), padding: .insecurePKCS1v1_5)
  }
}
