// A server that is silent although it owes something.
//
// A connection is given up only when the server has missed its whole time for a ping, which it chooses and
// may be most of a minute. Before that it is said that nothing comes.

extension SocketSession {
  /// How long a call may wait while nothing comes, in milliseconds: as long as at the server of a tree.
  static let answerMilliseconds: Int64 = 8_000
  /// How late a ping, or the answer to ours, may be while nothing comes, in milliseconds.
  static let pingMilliseconds: Int64 = 3_000

  /// When the server counts as silent; nil if it does already, owes nothing, or there is no connection.
  var silenceTime: Int64? {
    guard phase == .ready || phase == .signingIn, let link, case .connected = state else {
      return nil
    }
    let call = oldestSent.map {
      max(lastHeard, $0.deadline - options.callMilliseconds) + SocketSession.answerMilliseconds
    }
    let ping = link.pingTime.map { max(lastHeard, $0) + SocketSession.pingMilliseconds }
    return [call, ping].compactMap(\.self).min()
  }

  /// Notes that something came from the server.
  mutating func noteHeard(_ now: Int64) -> [Effect] {
    lastHeard = now
    guard case .silent(let transport, let version) = state else { return [] }
    return set(.connected(link?.transport ?? transport, version))
  }

  /// Notes that the server is silent, if it is time.
  mutating func noteSilence(_ now: Int64) -> [Effect] {
    guard let silenceTime, silenceTime <= now, case .connected(let transport, let version) = state
    else { return [] }
    return set(.silent(transport, version))
  }
}
