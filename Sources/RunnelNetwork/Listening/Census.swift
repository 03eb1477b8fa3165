import Synchronization

/// The number of connections, in total and by household.
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

  /// A number that is unique in the process.
  func nextNumber() -> Int64 {
    state.withLock { state in
      state.last += 1
      return state.last
    }
  }

  /// Counts a connection of a household; nil if the connection's clients are counted one by one.
  ///
  /// - Returns: the limit that refuses it; nil if it was counted.
  func enter(_ household: String?) -> NetworkLimit? {
    state.withLock { state in
      if state.count >= limits.connectionsMax { return .connections }
      if let household, let limit = add(household, &state) { return limit }
      state.count += 1
      return nil
    }
  }

  /// Stops counting a connection that ended.
  func leave(_ household: String?) {
    state.withLock { state in
      state.count -= 1
      if let household { Census.remove(household, &state) }
    }
  }

  /// Counts a client's request on a proxy's connection as a connection of the client's household.
  ///
  /// - Returns: the limit that refuses it; nil if it was counted.
  func enterBehindProxy(_ household: String) -> NetworkLimit? {
    state.withLock { add(household, &$0) }
  }

  /// Stops counting a client's request on a proxy's connection.
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
