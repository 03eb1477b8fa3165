import Crypto
import CryptoExtras
import RunnelBase
@testable import RunnelServer

/// A caller in the matrix of identities and operations.
struct MatrixIdentity: Sendable {
  let name: String
  /// The parameters of HTTP requests.
  var parameters: String
  /// The first request of a WebSocket; nil for none.
  var request: (action: String, body: String)?
  /// True if the credential is valid.
  var isValid = true
  /// True if no rule applies.
  var isAdministrator = false
  /// The user's id for the rules; nil if unauthenticated.
  var user: String?
  /// Which of the operations at a place this one of several identities does that are alike.
  var share = Share(number: 0, of: 1)

  /// Every so many operations, from one on.
  struct Share: Sendable {
    var number: Int
    var of: Int

    func has(_ operation: Int) -> Bool { operation % of == number }
  }

  private init(_ name: String, _ parameters: String) {
    (self.name, self.parameters) = (name, parameters)
  }

  /// Returns a token that a secret signed.
  static func signed(by secret: String, _ claims: JSONValue) -> String {
    let text =
      Base64URL.text(Array(#"{"alg":"HS256"}"#.utf8)) + "." + Base64URL.text(claims.jsonBytes())
    let signature = HMAC<SHA256>.authenticationCode(
      for: Array(text.utf8), using: SymmetricKey(data: Array(secret.utf8)))
    return text + "." + Base64URL.text(signature)
  }

  private static func user(_ name: String, _ token: String, isValid: Bool = true) -> MatrixIdentity
  {
    var identity = MatrixIdentity(name, "auth=\(token)")
    identity.request = ("auth", "{\"cred\":\"\(token)\"}")
    identity.isValid = isValid
    return identity
  }

  private static func administrator(
    _ name: String, _ token: String, parameter: String, member: String = ""
  ) -> MatrixIdentity {
    var identity = MatrixIdentity(name, "access_token=\(token)\(parameter)")
    identity.request = ("gauth", "{\"cred\":\"\(token)\"\(member)}")
    identity.isAdministrator = parameter.isEmpty
    return identity
  }

  /// Returns all identities.
  ///
  /// - Parameters:
  ///   - secret: a secret of the database.
  ///   - old: a secret that was removed.
  ///   - token: the access token of a service account.
  ///   - now: seconds since 1970.
  /// - Returns: the identities to which the rules apply, and the administrators.
  static func all(secret: String, old: String, token: String, now: Int64) -> [MatrixIdentity] {
    func claims(_ user: String, role: String = "none", age: Int64 = 10) -> JSONValue {
      [
        "iat": .number(JSONNumber(now - age)), "exp": .number(JSONNumber(now - age + 3600)),
        "d": ["uid": .string(user), "role": .string(role)],
      ]
    }
    func speaking(_ name: String, role: String = "none") -> MatrixIdentity {
      var identity = user(name, signed(by: secret, claims(name, role: role)))
      identity.user = name
      return identity
    }
    var asAna = administrator(
      "an administrator as ana", secret,
      parameter: "&auth_variable_override=%7B%22uid%22%3A%22ana%22%7D",
      member: ",\"authvar\":{\"uid\":\"ana\"}")
    asAna.user = "ana"
    return sharing([
      MatrixIdentity("nobody", ""), user("a wrong token", "garbage", isValid: false),
      user("a token that ended", signed(by: secret, claims("bo", age: 9000)), isValid: false),
      user("a token of a stranger", signed(by: old, claims("bo")), isValid: false),
      user("a secret that was taken back", old, isValid: false),
      speaking("ana"), speaking("bo"), speaking("mod", role: "mod"),
      administrator("a secret", secret, parameter: ""),
      administrator("a service account", token, parameter: ""), asAna,
      administrator(
        "an administrator as nobody", secret, parameter: "&auth_variable_override=null",
        member: ",\"noauth\":true"),
    ])
  }

  /// Has those who are no user for the rules share the operations by threes, and administrators by twos.
  private static func sharing(_ identities: [MatrixIdentity]) -> [MatrixIdentity] {
    var counts = (nobodies: 0, administrators: 0)
    return identities.map { identity in
      var identity = identity
      if identity.isAdministrator {
        identity.share = Share(number: counts.administrators % 2, of: 2)
        counts.administrators += 1
      } else if identity.user == nil {
        identity.share = Share(number: counts.nobodies % 3, of: 3)
        counts.nobodies += 1
      }
      return identity
    }
  }

  // MARK: Expected decisions

  static let rules = """
    {"rules":{"public":{".read":true,".write":true},
    "box":{".write":"auth != null",".read":"auth.role === 'mod'",".indexOn":["n",".value"]},
    "users":{".indexOn":["n",".value"],"$user":{".read":"auth.uid === $user",
    ".write":"auth.uid === $user",".indexOn":["n",".value"]}}}}
    """

  func canRead(_ place: String) -> Bool {
    if isAdministrator { return true }
    switch place {
    case "/box": return user == "mod"
    case "/users/bo": return user == "bo"
    default: return false
    }
  }

  func canWrite(_ place: String) -> Bool {
    if isAdministrator { return true }
    switch place {
    case "/box": return user != nil
    case "/users/bo": return user == "bo"
    default: return false
    }
  }
}
