import Synchronization

/// The requests to the accounts that are under way: each is answered once, and a server that ends waits for them.
///
/// Any thread may use it.
final class OwedReplies: Sendable {
  private struct State {
    var last: Int64 = 0
    /// What answers a request that is given up, by its number.
    var owed: [Int64: Receiver<Void>] = [:]
    /// The number of answers that are just handed on.
    var sending = 0
    var hasEnded = false
  }

  private let countMax: Int
  private let state = Mutex(State())

  /// Makes a list for so many requests at once.
  init(countMax: Int) { self.countMax = countMax }

  /// What became of a request that came.
  enum Begun: Hashable {
    /// It was taken, under this number.
    case taken(Int64)
    /// There are too many.
    case isFull
    /// The server ends.
    case hasEnded
  }

  /// The number of requests that are not answered yet.
  var count: Int { state.withLock { $0.owed.count + $0.sending } }

  /// Takes a request; `giveUp` answers it if nothing else does before the end.
  func begin(giveUp: @escaping @Sendable () -> Void) -> Begun {
    state.withLock { state in
      if state.hasEnded { return .hasEnded }
      if state.owed.count >= countMax { return .isFull }
      state.last += 1
      state.owed[state.last] = Receiver { giveUp() }
      return .taken(state.last)
    }
  }

  /// False once a request was answered, or given up: nothing more is done for it.
  func isOwed(_ number: Int64) -> Bool { state.withLock { $0.owed[number] != nil } }

  /// Answers a request, unless it was given up; `send` hands the answer on.
  func answer(_ number: Int64, _ send: () -> Void) {
    let isOwed = state.withLock { state in
      if state.owed.removeValue(forKey: number) == nil { return false }
      state.sending += 1
      return true
    }
    if !isOwed { return }
    send()
    // Who finds none under way finds the last answer handed on, too.
    state.withLock { $0.sending -= 1 }
  }

  /// Gives up all requests, and those that are still to come.
  func end() {
    let rest = state.withLock { state in
      state.hasEnded = true
      defer { state.owed = [:] }
      state.sending += state.owed.count
      return state.owed.sorted { $0.key < $1.key }.map(\.value)
    }
    for receiver in rest { receiver.take(()) }
    state.withLock { $0.sending -= rest.count }
  }
}
