package import RunnelBase

/// An operation of the API.
package enum IdentityOperation: Hashable, Sendable {
  case signUp
  case signInWithPassword
  case signInWithCustomToken
  case signInWithEmailLink
  case lookup
  case update
  case delete
  case sendOobCode
  case resetPassword
  case createAuthUri
  case refresh
  /// The project's settings that clients may see.
  case project
  // For administrators:
  case create
  case batchGet
  case batchCreate
  case batchDelete
  case query
  case createSessionCookie
  case getConfig
  case updateConfig
  // For emulators:
  case ready
  case wipe
  case emulatorConfig
  case updateEmulatorConfig
  case mailedCodes
  case verificationCodes
  /// A click on a mailed link.
  case action
  /// The public keys of tokens.
  case publicKeys
}

/// The credential of a request.
package enum CallCredential: Hashable, Sendable {
  case none
  /// `Authorization: Bearer …`.
  case bearer(String)
}

/// A request to the API.
package struct IdentityCall: Hashable, Sendable {
  package var operation: IdentityOperation
  package var fields: CallFields
  /// True if the path is one for administrators.
  package var isAdministrative: Bool
  package var credential: CallCredential
  package var hasKey: Bool

  package init(
    _ operation: IdentityOperation, _ fields: CallFields = CallFields(),
    isAdministrative: Bool = false, credential: CallCredential = .none, hasKey: Bool = true
  ) {
    (self.operation, self.fields) = (operation, fields)
    (self.isAdministrative, self.credential) = (isAdministrative, credential)
    self.hasKey = hasKey
  }
}

/// A request as it arrived, without its body.
package struct IdentityRequestHead: Hashable, Sendable {
  package var method: String
  /// The path and the query.
  package var target: String
  /// The value of `Authorization`.
  package var authorization: String?
  /// The value of `x-goog-api-key`.
  package var key: String?
  package var contentType: String?

  package init(
    _ method: String, _ target: String, authorization: String? = nil, key: String? = nil,
    contentType: String? = nil
  ) {
    (self.method, self.target, self.authorization) = (method, target, authorization)
    (self.key, self.contentType) = (key, contentType)
  }

  /// The path without the query.
  package var path: Substring { target.prefix { $0 != "?" } }

  /// The parameters of the query.
  package var parameters: [JSONMember] {
    guard let start = target.firstIndex(of: "?") else { return [] }
    return IdentityRequestHead.members(ofForm: Array(target[target.index(after: start)...].utf8))
      ?? []
  }

  /// The members of a form; nil if the text is none.
  package static func members(ofForm bytes: [UInt8]) -> [JSONMember]? {
    var members: [JSONMember] = []
    for pair in bytes.split(separator: UInt8(ascii: "&")) {
      let halves = pair.split(
        separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
      guard let name = PercentEncoding.decoded(halves[0], isPlusSpace: true),
        let value = PercentEncoding.decoded(halves.dropFirst().first ?? [], isPlusSpace: true)
      else { return nil }
      if !members.contains(where: { $0.name == name }) {
        members.append(JSONMember(name, .string(value)))
      }
    }
    return members
  }
}
