import RunnelBase

/// The counters that a request touches.
package enum AttemptNames {
  /// The names of the counters of a request from an address; none if the operation is not counted.
  ///
  /// - Parameters:
  ///   - call: the request.
  ///   - address: the address of the client, or its network.
  ///   - user: the id in the ID token of the request; nil if it has none.
  /// - Returns: the names.
  package static func of(
    _ call: IdentityCall, from address: String, user: String?
  ) -> [AttemptGuard.Name] {
    // An address of a client has none of the words before an address or an id.
    func name(_ subject: AttemptGuard.Subject, _ texts: String...) -> AttemptGuard.Name {
      AttemptGuard.Name(subject, hash: SecretHash.of(texts.joined(separator: "\u{0}")))
    }
    // A field of a wrong kind is refused elsewhere; another spelling is no new account.
    func recipient(in field: String) -> String {
      EmailAddress((try? call.fields.text(field)) ?? "").text
    }
    let email = recipient(in: "email")
    switch call.operation {
    case .signInWithPassword:
      return [
        name(.pair, email, address), name(.account, email), name(.address, address),
      ]
    case .createAuthUri: return [name(.question, address)]
    // A new address that is taken is refused, which tells that somebody has it: to whoever asks, from
    // wherever.
    case .signUp, .update:
      if email.isEmpty { return call.operation == .update ? [] : [name(.question, address)] }
      var names = [name(.question, address), name(.question, "email", email)]
      if let user { names.append(name(.question, "user", user)) }
      return names
    case .resetPassword, .signInWithEmailLink: return [name(.address, address)]
    case .sendOobCode:
      var names = [name(.question, address)]
      // Nobody is flooded by mails, whoever asks for them.
      for text in [email, recipient(in: "newEmail")] where !text.isEmpty {
        names.append(name(.mail, text))
      }
      if let user { names.append(name(.mail, "user", user)) }
      return names
    default: return []
    }
  }
}
