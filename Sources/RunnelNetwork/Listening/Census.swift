import Synchronization

/// How many connections there are, and of whom.
final class Census: Sendable {
  private struct State {
    var count = 0
    var byHousehold: [String: Int] = [:]
    var last: Int64 = 0
  }

  private let limits: NetworkLimits
  private let state = Mutex(State())

  init(_ limits: NetworkLimits) { self.limits = limits }

  /// The number of connections.
  var count: Int { state.withLock { $0.count } }

  /// A number that no other connection has or had.
  func nextNumber() -> Int64 {
    state.withLock { state in
      state.last += 1
      return state.last
    }
  }

  /// Counts a connection of a household, which is nil if each of its clients is counted alone.
  ///
  /// - Returns: the limit that keeps it out; nil if it was counted.
  func enter(_ household: String?) -> NetworkLimit? {
    state.withLock { state in
      if state.count >= limits.connectionsMax { return .connections }
      if let household, let limit = add(household, &state) { return limit }
      state.count += 1
      return nil
    }
  }

  /// A connection that was counted ended.
  func leave(_ household: String?) {
    state.withLock { state in
      state.count -= 1
      if let household { Census.remove(household, &state) }
    }
  }

  /// Counts what a client does on the connection of a proxy as a connection of his.
  ///
  /// - Returns: the limit that keeps it out; nil if it was counted.
  func enterBehindProxy(_ household: String) -> NetworkLimit? {
    state.withLock { add(household, &$0) }
  }

  /// What a client did on the connection of a proxy ended.
  func leaveBehindProxy(_ household: String) {
    state.withLock { Census.remove(household, &$0) }
  }

  private func add(_ household: String, _ state: inout State) -> NetworkLimit? {
    let number = state.byHousehold[household, default: 0]
    if number >= limits.connectionsPerAddressMax { return .connectionsPerAddress }
    state.byHousehold[household] = number + 1
    return nil
  }

  private static func remove(_ household: String, _ state: inout State) {
    let number = state.byHousehold[household, default: 0]
    state.byHousehold[household] = number > 1 ? number - 1 : nil
  }
}
