package import RunnelAccounts
import RunnelBase
import RunnelNetwork
import RunnelStore

/// Finds out by a request whether the user took this device away, for programs that do not watch the
/// list; the session ends then.
package struct DeviceRevocation: Sendable {
  /// Why a session ends.
  package static let failure = AccountFailure(
    .revoked, "This device was revoked.")

  private let listed: ListedDevice

  /// Makes a check.
  package init(_ listed: ListedDevice) { self.listed = listed }

  /// Ends the session if the device was taken away after the user had signed in.
  ///
  /// A device that stands in no list is not asked about. Without an answer it throws, and the session stays: what
  /// waits must not be sent before it is known.
  ///
  /// - Parameter session: the session of the user.
  /// - Throws: `AccountFailure`: `revoked` if it was; `offline`, `unavailable` or `notAllowed` if that is not known.
  package func check(_ session: AccountSession) async throws(AccountFailure) {
    let service = session.provider.name
    guard let user = await session.user?.id, let device = listed.id(inListOf: user, at: service)
    else { return }
    let (mark, token) = try await mark(device, of: user, in: session)
    guard let mark, TokenClaims(token)?.isSignIn(after: mark) != true else { return }
    listed.forget(user, at: service)
    await session.end(DeviceRevocation.failure)
    throw DeviceRevocation.failure
  }

  /// Asks the server when the device was taken away; a token that is refused is exchanged once.
  ///
  /// - Returns: the time, nil if it was not, and the token with which it was asked.
  private func mark(
    _ device: String, of user: String, in session: AccountSession
  ) async throws(AccountFailure) -> (time: Int64?, token: Secret<String>) {
    var token = try await session.idToken()
    var answer = try await answer(device, user, token)
    if answer.refusesCredential {
      token = try await session.idToken(refused: token)
      answer = try await self.answer(device, user, token)
    }
    return (try answer.mark(), token)
  }

  private func answer(
    _ device: String, _ user: String, _ token: Secret<String>
  ) async throws(AccountFailure) -> RevocationAnswer {
    guard let request = request(device, user, token) else {
      throw RevocationAnswer.unknown(
        .notAllowed,
        "the server cannot be asked without TLS. Write https in its address. \(RevocationAnswer.wayOut)"
      )
    }
    do throws(NetworkError) {
      let (status, body) = try await listed.transport(request)
      return RevocationAnswer(status: status, body: body)
    } catch {
      throw RevocationAnswer.unknown(.offline, "\(error.message)")
    }
  }

  /// The request for the mark; nil if others could read the token.
  private func request(
    _ device: String, _ user: String, _ token: Secret<String>
  ) -> WebRequest? {
    let mark = "/\(DeviceField.states)/\(device)/\(DeviceField.revoked)"
    guard let address = listed.address(mark, of: user, token) else { return nil }
    var request = WebRequest("GET", address)
    request.headSeconds = DeviceRevocation.answerSeconds
    return request
  }

  /// How long an answer is waited for.
  private static let answerSeconds: Int64 = 10
}

/// What a server answers to the question for the mark.
private struct RevocationAnswer {
  static let wayOut = "Without `devices` in the profile it is not asked."

  let status: Int
  let body: [UInt8]

  /// True if the server does not accept the token; false if its rules forbid the place.
  var refusesCredential: Bool { [401, 403].contains(status) && !isForbidden }

  /// Source: REST interface, "Permission denied", with either status.
  private var isForbidden: Bool { reason.lowercased().contains("permission") }

  private var reason: String { (try? JSONValue(parsing: body))?["error"]?.string ?? "" }

  /// Returns the time at which the device was taken away; nil if it was not.
  ///
  /// - Throws: `AccountFailure` if that is not known.
  func mark() throws(AccountFailure) -> Int64? {
    switch status {
    case 200:
      guard let json = try? JSONValue(parsing: body) else {
        throw RevocationAnswer.unknown(.unavailable, "the server's answer is not JSON.")
      }
      if json.isNull { return nil }
      guard let time = json.int else {
        throw RevocationAnswer.unknown(
          .unavailable, "the mark in the list of devices is not a time.")
      }
      return Int64(time)
    case 401 where isForbidden, 403 where isForbidden:
      throw RevocationAnswer.unknown(
        .notAllowed,
        "the server's rules do not let you read your devices. \(RevocationAnswer.wayOut)")
    case 401, 403:
      throw RevocationAnswer.unknown(.unavailable, "the server does not accept your credential.")
    case 404, 405, 426, 501:
      throw RevocationAnswer.unknown(
        .notAllowed,
        "the server does not answer such requests (status \(status)). \(RevocationAnswer.wayOut)"
      )
    default:
      throw RevocationAnswer.unknown(.unavailable, "the server cannot answer (status \(status)).")
    }
  }

  /// The failure that it is not known whether the device was taken away.
  static func unknown(_ code: AccountFailure.Code, _ reason: String) -> AccountFailure {
    AccountFailure(code, "It is not known whether this device was revoked: \(reason)")
  }
}
