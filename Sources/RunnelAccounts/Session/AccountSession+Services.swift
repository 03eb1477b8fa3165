import RunnelBase
package import RunnelClient
import RunnelNetwork
public import RunnelServices
import RunnelSync
import Synchronization

// The connections of a user to services.

extension AccountSession {
  /// Returns how an application of services signs in as a user, for `Feathers.configure(auth:)`.
  ///
  /// Each connection signs in with a valid token before anything else is sent. A token that the server
  /// refuses is shown to it once more; if it is refused again, the session ends. No call is sent as
  /// nobody. The options keep the session alive.
  ///
  /// - Parameter user: the id of the user.
  /// - Returns: the options.
  public nonisolated func authentication(of user: String) -> AuthenticationOptions {
    access(of: user).provider.map { AuthenticationOptions(offering: $0) } ?? AuthenticationOptions()
  }
}

extension AuthenticationOptions {
  /// Makes options that sign in with the tokens of an access, and send nothing as nobody.
  package init(offering provider: @escaping OriginAccess.Provider) {
    let offer = TokenOffer(provider)
    self.init(credentials: { await offer.credentials() })
    isRequired = true
  }
}

/// Offers the tokens of an access to a server of services.
private final class TokenOffer: Sendable {
  /// The pauses after failures that may pass, in seconds; calls wait meanwhile.
  private static let pauses: [Int64] = [1, 2, 4, 8, 15, 30, 60]

  private let provider: OriginAccess.Provider
  private let wasOffered = Mutex(false)

  init(_ provider: @escaping OriginAccess.Provider) { self.provider = provider }

  /// What is sent to sign in; nil if the session has ended, or no token can be had.
  ///
  /// The first token is the kept one. Whoever asks again was refused or has lost the connection, so the
  /// service is asked whether the token is still good.
  func credentials() async -> JSONValue? {
    for pause in TokenOffer.pauses {
      do {
        guard let credential = try await provider(wasOffered.withLock(\.self)) else { return nil }
        wasOffered.withLock { $0 = true }
        return ["strategy": "jwt", "accessToken": .string(credential.text)]
      } catch let error as AccountFailure where error.isTemporary {
        do { try await NetworkTasks.sleep(milliseconds: pause * 1000) } catch { return nil }
      } catch {
        return nil
      }
    }
    return nil
  }
}
