import RunnelBase
import RunnelServices

/// The two roads to a server, Socket.IO and REST, as far as their answers tell which is there.
///
/// The server is asked over REST if Socket.IO fails and REST answers, after a lost connection as at the start.
/// A server that was just started again answers on both: where there was Socket.IO before, it is tried once more.
///
/// Invariants:
/// - R1. As long as the last attempt has reached Socket.IO, REST is not used.
/// - R2. An address at which anything was found before is looked at again and again.
struct ServiceRoads: Sendable {
  /// What follows from an answer.
  enum Step: Hashable, Sendable {
    /// Nothing: whatever goes on goes on by itself.
    case none
    /// Ask over REST whether the server is there.
    case askREST
    /// Try Socket.IO at once.
    case trySocket
    /// Ask the server over REST from now on.
    case useREST
    /// Try again after a pause, for this reason.
    case later(String)
    /// Try no more, for this reason.
    case refuse(String)
  }

  /// True once the server has answered over Socket.IO.
  private(set) var hadSocket = false
  private var hadREST = false
  /// True if the present attempt, or the last one, has reached Socket.IO.
  private var hasSocket = false
  /// Why there is no Socket.IO; nil as long as it may be there.
  private var absence: String?
  private var isAsking = false
  /// True if REST has answered since Socket.IO was lost.
  private var isRESTThere = false

  /// A new application is used: what was asked by an earlier one does not matter.
  mutating func begin() {
    (hasSocket, absence, isAsking, isRESTThere) = (false, nil, false, false)
  }

  /// An attempt to connect over Socket.IO begins.
  mutating func socketBegins() { hasSocket = false }

  /// The server answers over Socket.IO.
  mutating func socketAnswers() {
    (hadSocket, hasSocket, absence, isRESTThere) = (true, true, nil, false)
  }

  /// The connection over Socket.IO has ended, or there was none; `isAbsent` if there is no Socket.IO, so that no
  /// attempt follows by itself.
  mutating func socketFailed(_ reason: String, isAbsent: Bool = false) -> Step {
    // It was there: the server ends the session again and again.
    if hasSocket { return isAbsent ? .later(reason) : .none }
    absence = isAbsent ? reason : nil
    if isRESTThere { return useREST() }
    if isAsking { return .none }
    isAsking = true
    return .askREST
  }

  /// The question over REST was answered, or has failed.
  mutating func restAnswered(_ failure: FeathersError?) -> Step {
    isAsking = false
    if hasSocket { return .none }
    guard let failure,
      failure.isUnanswered || failure.isOfNobody || [404, 502, 503, 504].contains(failure.code)
    else {
      if absence != nil || !hadSocket { return useREST() }
      isRESTThere = true
      return .trySocket
    }
    guard let absence else { return .none }
    if failure.code == 404, !hadSocket, !hadREST {
      return .refuse("there is no Socket.IO (\(absence)), and over REST: \(failure.message)")
    }
    return .later(failure.message)
  }

  private mutating func useREST() -> Step {
    hadREST = true
    return .useREST
  }
}

extension FeathersError {
  /// True if the answer is no service's, as that of a proxy.
  fileprivate var isOfNobody: Bool { code >= 500 && data?["isSent"]?.bool == true }

  /// True if the call ended here, by its own time or without a connection, and nothing came from the server.
  var isUnanswered: Bool { code == 499 || [408, 503].contains(code) && data?["isSent"] != nil }
}
