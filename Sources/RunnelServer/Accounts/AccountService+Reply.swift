import Logging
import RunnelBase
import RunnelIdentity
import Synchronization

extension AccountService {
  /// The answer to a request.
  struct Reply: Hashable, Sendable {
    var status: Int
    var body: JSONValue
    /// The address to which the client is sent on.
    var redirect: String?
    /// The seconds after which to try again.
    var retrySeconds: Int64?

    init(_ body: JSONValue, status: Int = 200) { (self.body, self.status) = (body, status) }

    init(_ error: IdentityError) {
      self.init(error.json, status: error.status)
      if error.status == 503 { retrySeconds = 1 }
    }
  }

  func context(_ now: Int64) -> IdentityContext {
    IdentityContext(
      policy: policy, now: now, claims: { [tokens] in tokens.claims(of: $0) },
      customClaims: { [administrators] in administrators.customClaims(of: $0, now: now) })
  }

  /// The answer while there is no key to sign tokens with; the accounts are read again.
  func withoutKeys() -> Reply {
    seenHead.store(-1, ordering: .relaxed)
    logger.error("\(name): there is no key to sign tokens with: the store may be being restored.")
    return Reply(.unavailable)
  }
}
