import CryptoExtras
import Glibc
public import RunnelBase
public import RunnelNetwork
import RunnelSync

/// The key file of a service account, which gives a program administrator access to a database.
///
/// The private key signs an assertion, and the token address in the file exchanges the assertion
/// for an access token that is valid for an hour.
///
/// Source: RFC 7523; Google, "Using OAuth 2.0 for Server to Server Applications".
public struct ServiceAccountKey: Sendable {
  private enum Field {
    static let kind = "type"
    static let account = "service_account"
    static let email = "client_email"
    static let keyID = "private_key_id"
    static let key = "private_key"
    static let tokenAddress = "token_uri"
    static let accessToken = "access_token"
    static let description = "error_description"
  }

  private static let grant = "urn:ietf:params:oauth:grant-type:jwt-bearer"
  private static let scopes =
    "https://www.googleapis.com/auth/userinfo.email "
    + "https://www.googleapis.com/auth/firebase.database"
  private static let seconds: Int64 = 3600
  private static let answerBytesMax = 65_536

  /// The email address that identifies the account; it has no mailbox.
  public let email: String
  private let keyID: String
  private let key: _RSA.Signing.PrivateKey
  private let tokenAddress: WebAddress

  /// Returns whether a document is meant as a key file.
  public static func isMeant(by json: JSONValue) -> Bool {
    json[Field.kind]?.string == Field.account
  }

  /// Reads a key file.
  ///
  /// - Throws: `NetworkError` that says what is wrong with it.
  public init(_ json: JSONValue) throws(NetworkError) {
    guard ServiceAccountKey.isMeant(by: json), let email = json[Field.email]?.string,
      let keyID = json[Field.keyID]?.string, let pem = json[Field.key]?.string,
      let place = json[Field.tokenAddress]?.string.flatMap(WebAddress.init)
    else { throw NetworkError("This is not the key file of a service account.") }
    guard place.isSafe else {
      throw NetworkError("The key file names \(place.bare), which uses no TLS: use https.")
    }
    do {
      key = try _RSA.Signing.PrivateKey(pemRepresentation: pem)
    } catch {
      throw NetworkError("The private key of the key file cannot be read: \(error).")
    }
    (self.email, self.keyID, tokenAddress) = (email, keyID, place)
  }

  /// Returns the request for an access token; it contains the present time.
  ///
  /// - Throws: `NetworkError` if the key cannot sign.
  public func request() throws(NetworkError) -> WebRequest {
    let now = Int64(time(nil))
    let head: JSONValue = ["alg": "RS256", "typ": "JWT", "kid": .string(keyID)]
    let claims: JSONValue = [
      "iss": .string(email), "scope": .string(ServiceAccountKey.scopes),
      "aud": .string(tokenAddress.description), "iat": .number(JSONNumber(now)),
      "exp": .number(JSONNumber(now + ServiceAccountKey.seconds)),
    ]
    let text = Base64URL.text(head.jsonBytes()) + "." + Base64URL.text(claims.jsonBytes())
    do {
      let signature = try key.signature(for: Array(text.utf8), padding: .insecurePKCS1v1_5)
      let assertion = text + "." + Base64URL.text(signature.rawRepresentation)
      let grant = PercentEncoding.encoded(ServiceAccountKey.grant)
      return WebRequest(
        "POST", tokenAddress,
        headers: [("Content-Type", "application/x-www-form-urlencoded")],
        body: Array("grant_type=\(grant)&assertion=\(assertion)".utf8))
    } catch {
      throw NetworkError("The key of \(email) cannot sign: \(error).")
    }
  }

  /// Returns the access token in a response.
  ///
  /// - Throws: `NetworkError` that says why there is none.
  public func token(in answer: [UInt8], status: Int) throws(NetworkError) -> String {
    // A body that is not JSON has no token.
    let json = try? JSONValue(parsing: answer)
    if status == 200, let token = json?[Field.accessToken]?.string { return token }
    let reason = json?[Field.description]?.string.map { ": \($0)" } ?? "."
    throw NetworkError(
      "\(tokenAddress.bare) gave no token to \(email): status \(status)\(reason)")
  }

  /// Requests an access token.
  ///
  /// - Throws: `NetworkError` that says why there is none.
  public func token(by client: WebClient) async throws(NetworkError) -> String {
    let (status, body) = try await client.fetch(
      request(), bytesMax: ServiceAccountKey.answerBytesMax)
    return try token(in: body, status: status)
  }

  /// Requests the credential for a connection.
  ///
  /// - Throws: `NoCredential` if the server refuses the key, as that of an account that was removed; `NetworkError` if
  ///   it may give a token later.
  fileprivate func credential(by client: WebClient) async throws -> Credential {
    let (status, body) = try await client.fetch(
      request(), bytesMax: ServiceAccountKey.answerBytesMax)
    do {
      return Credential(try token(in: body, status: status), isAdministrator: true)
    } catch {
      // Too slow, or too often.
      let isPassing = [408, 425, 429].contains(status)
      if (400..<500).contains(status), !isPassing { throw NoCredential(error.message) }
      throw error
    }
  }

  /// The name of the account, before the @.
  fileprivate var name: String { String(email.prefix { $0 != "@" }) }
}

extension OriginAccess {
  /// Returns the access with the key file of a service account.
  ///
  /// - Parameters:
  ///   - key: the key file.
  ///   - client: the client that sends the token requests.
  /// - Returns: the access, which requests a token for each connection that needs one.
  public static func serviceAccount(
    _ key: ServiceAccountKey, by client: WebClient
  ) -> OriginAccess {
    var access = OriginAccess(user: key.email) { _ in try await key.credential(by: client) }
    access.title = "service account \(key.name)"
    return access
  }
}
