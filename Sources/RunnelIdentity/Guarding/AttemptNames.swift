/// The counters that a request touches.
package enum AttemptNames {
  /// The names of the counters of a request from an address; none if the operation is not counted.
  package static func of(_ call: IdentityCall, from address: String) -> [AttemptGuard.Name] {
    // A field of a wrong kind is refused elsewhere.
    let email = ((try? call.fields.text("email")) ?? "").lowercased()
    func name(_ subject: AttemptGuard.Subject, _ texts: String...) -> AttemptGuard.Name {
      AttemptGuard.Name(
        subject, hash: SecretHash.of(texts.joined(separator: "\u{0}")))
    }
    switch call.operation {
    case .signInWithPassword:
      return [
        name(.pair, email, address), name(.account, email), name(.address, address),
      ]
    case .signUp, .createAuthUri: return [name(.question, address)]
    case .resetPassword, .signInWithEmailLink: return [name(.address, address)]
    case .sendOobCode:
      // The codes for a signed-in user are counted by its token's account at its address.
      return email.isEmpty
        ? [name(.question, address)] : [name(.mail, email), name(.question, address)]
    default: return []
    }
  }
}
