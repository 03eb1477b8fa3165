import RunnelBase
import RunnelIdentity

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
}
