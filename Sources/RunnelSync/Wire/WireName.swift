// The words of the protocol, in their spelling on the wire. Source: wire protocol, sections A3 to A5.

/// The members of messages and bodies.
enum WireName {
  // Envelopes.
  static let type = "t"
  static let data = "d"
  static let number = "r"
  static let action = "a"
  static let body = "b"
  static let status = "s"
  static let error = "error"

  // The handshake.
  static let timestamp = "ts"
  static let version = "v"
  static let host = "h"
  static let session = "s"
  static let extensions = "x"
  /// The extension by which writes have names (section A9).
  static let writeNames = "w"
  /// The extension by which writes have the hashes of the nodes that they replace.
  static let writeHashes = "hs"

  // Bodies.
  static let path = "p"
  static let query = "q"
  static let tag = "t"
  static let hash = "h"
  static let compoundHash = "ch"
  static let placeHashes = "hs"
  static let writeName = "w"
  static let credential = "cred"
  static let isUnauthenticated = "noauth"
  static let authVariable = "authvar"
  static let token = "token"
  static let counters = "c"
  static let warnings = "w"
  static let rangeStart = "s"
  static let rangeEnd = "e"
  static let rangeNode = "m"
  static let message = "msg"
  static let auth = "auth"
  static let expires = "expires"

  /// The last piece of a path that names a priority.
  static let priority = ".priority"
  /// The version of the protocol.
  static let protocolVersion = "5"
  /// The warning that a query was answered without an index.
  static let noIndex = "no_index"
}

/// The kinds of envelope.
enum EnvelopeKind {
  static let control = "c"
  static let data = "d"
}

/// The kinds of control message.
enum ControlKind {
  static let handshake = "h"
  static let redirect = "r"
  static let shutdown = "s"
  static let error = "e"
  static let ping = "p"
  static let pong = "o"
}

/// The actions of requests.
enum RequestAction: String {
  case listen = "q"
  case unlisten = "n"
  case legacyListen = "l"
  case legacyUnlisten = "u"
  case put = "p"
  case merge = "m"
  case get = "g"
  case onDisconnectPut = "o"
  case onDisconnectMerge = "om"
  case onDisconnectCancel = "oc"
  case authenticate = "auth"
  case authenticateAdministrator = "gauth"
  case unauthenticate = "unauth"
  case appCheck = "appcheck"
  case endAppCheck = "unappeck"
  case statistics = "s"
}

/// The actions of pushes.
enum PushAction {
  static let data = "d"
  static let merge = "m"
  static let ranges = "rm"
  static let revokedListen = "c"
  static let revokedAuthentication = "ac"
  static let revokedAppCheck = "apc"
  static let debug = "sd"
}
