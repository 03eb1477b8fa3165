import RunnelClient
import RunnelSync
import Synchronization

/// A file with the token of a user, which is read again for each credential.
///
/// While the file has no other token of that user, the newest one of the user is used, until the server refuses it.
final class TokenFile: Sendable {
  private struct State {
    /// The newest token of the user.
    var token: String
    /// What is wrong with the file, as it was read last; nil for nothing.
    var problem: String?
    /// The problem that was told.
    var toldProblem: String?
  }

  private let file: String
  private let state: Mutex<State>

  /// Makes a file, in which a token was found.
  init(_ file: String, _ token: String) {
    self.file = file
    state = Mutex(State(token: token))
  }

  /// Returns the credential of the newest token.
  ///
  /// - Throws: `NoCredential` if the server refused that token, and the file does not hold another one of the user.
  func credential(isRefresh: Bool) async throws -> Credential? {
    let (token, problem) = state.withLock { state in
      state.problem = read(&state.token)
      return (state.token, state.problem)
    }
    if isRefresh, let problem {
      throw NoCredential("the server takes the token no longer, and \(problem)")
    }
    return try await OriginAccess.token(token).provider?(isRefresh)
  }

  /// Returns what the user is to be told of the file; nil if there is nothing, or it was told.
  func remark() -> String? {
    state.withLock { state in
      guard state.problem != state.toldProblem else { return nil }
      state.toldProblem = state.problem
      return state.problem.map { "\($0); the token from before is used" }
    }
  }

  /// Reads the file, and puts its token in the place of one of the same user; returns what is wrong with it.
  private func read(_ token: inout String) -> String? {
    let found: String
    do {
      guard case .token(let text) = try OriginArguments.credentials(of: file) else {
        return "\(file) holds the key of a service account: \(need(token))"
      }
      found = text
    } catch {
      let reason = (error as? Failure)?.message ?? "\(error)"
      return reason.hasSuffix(".") ? String(reason.dropLast()) : reason
    }
    let other = OriginAccess.token(found)
    if other.user == OriginAccess.token(token).user {
      token = found
      return nil
    }
    let whose = other.userID.map { "a token of \($0)" } ?? "no token of a user"
    return "\(file) holds \(whose): \(need(token))"
  }

  private func need(_ token: String) -> String {
    let user = OriginAccess.token(token).userID.map { "of \($0)" } ?? "as at the start"
    return "this replica needs one \(user)"
  }
}
