import RunnelBase
import RunnelDatabase
import RunnelNetwork
import RunnelTree
import RunnelWorkspace
import Synchronization

/// Shows the others where this workspace is, and keeps where the others are.
///
/// An entry is written only while the server is connected, and after each connection the server is
/// asked to remove it when the connection is lost. So nobody is shown who is gone, and no old places
/// are sent after a time offline. Each entry waits for the confirmation of the one before, so that a
/// held key writes a few times a second at most. No entry waits in the replica: one that was not confirmed ends with
/// the connection, so that no later connection shows who is not here any more.
///
/// Several processes may have one replica, and one of them holds the connection, for all: it sends the
/// entries of the others too, and asks the server to remove these as well. When a process ends, the one
/// with the connection removes its entry; see `PresenceRoom`.
final class PresenceWork: Sendable {
  /// What the user must know.
  struct Problem {
    var text: String
    /// Whether the rules of the server forbid it.
    var isDenied: Bool
  }

  private struct State {
    /// Where this workspace is.
    var own: Present?
    var isConnected = false
    /// Whether another process is connected.
    var isShared = false
    /// The keys of the entries of this replica's processes.
    var neighbors: [String] = []
    /// The keys of the entries that the server removes when this connection is lost.
    var promised: Set<String> = []
    /// The others, if they have changed since they were taken.
    var others: [Present]?
    /// The problem, if it was not taken yet.
    var problem: Problem?
  }

  /// The least time between two entries, in milliseconds.
  private static let pause: Int64 = 300

  private let place: Reference
  /// The key of this workspace's entry.
  let id: String
  /// The seats of the processes on this replica; nil if there is none for this one.
  private let room: PresenceRoom?
  private let seatWatch = Mutex<TreeExecutor.Subscription?>(nil)
  private let state = Mutex(State())
  private let tasks = Mutex<[Task<Void, Never>]>([])
  private let changes: AsyncStream<Void>
  private let change: AsyncStream<Void>.Continuation
  /// Reasons to look at the entries of this replica's other processes.
  private let tidyings: AsyncStream<Void>
  private let tidying: AsyncStream<Void>.Continuation
  private let wake: @Sendable () -> Void

  /// Makes the work, and begins it.
  ///
  /// - Parameters:
  ///   - database: the replica of the server's database.
  ///   - path: the collection of entries.
  ///   - wake: called on any thread when there is something to take.
  init(_ database: Database, at path: Path, wake: @escaping @Sendable () -> Void) {
    place = database.reference(at: path)
    room = PresenceRoom(database: database.file)
    id = room.map { PresenceWork.key($0.tag, $0.seat) } ?? PresenceWork.newID()
    self.wake = wake
    (changes, change) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    (tidyings, tidying) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    let watch = room?.watch(on: database.executor) { [tidying] in tidying.yield() }
    seatWatch.withLock { $0 = watch }
    let works: [@Sendable (PresenceWork) async throws -> Void] = [
      { try await $0.followOthers() }, { try await $0.followConnection() },
      { try await $0.writeEntries() }, { try await $0.tidy() },
    ]
    let tasks = works.map { work in
      Task { [weak self] in
        do {
          if let self { try await work(self) }
        } catch {
          self?.fail(error)
        }
      }
    }
    self.tasks.withLock { $0 = tasks }
  }

  /// Returns a new key for an entry: 64 random bits.
  private static func newID() -> String {
    let digits = String(UInt64.random(in: 0...UInt64.max), radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }

  private static func key(_ tag: String, _ seat: Int) -> String { "\(tag)-\(seat)" }

  /// Returns the seat of the process on this replica that has an entry; nil for other entries.
  private func seat(of key: String) -> Int? {
    guard let room, key.hasPrefix(room.tag + "-") else { return nil }
    return Int(key.dropFirst(room.tag.count + 1))
  }

  /// Ends the work; the server removes the entry when the connection ends.
  func end() {
    for task in tasks.withLock({ $0 }) { task.cancel() }
    change.finish()
    tidying.finish()
    let watch = seatWatch.withLock { watch in
      defer { watch = nil }
      return watch
    }
    watch?.cancel()
  }

  /// Has the others told where this workspace is, if that has changed.
  ///
  /// - Parameters:
  ///   - own: where it is.
  ///   - isShared: whether another process is connected, for this one too.
  func show(_ own: Present, isShared: Bool) {
    let isNew = state.withLock { state in
      defer { (state.own, state.isShared) = (own, isShared) }
      return state.own != own || isShared && !state.isShared
    }
    if isNew { change.yield() }
  }

  /// Returns and removes what has changed since the last call.
  func news() -> (others: [Present]?, problem: Problem?) {
    state.withLock { state in
      defer { (state.others, state.problem) = (nil, nil) }
      return (state.others, state.problem)
    }
  }

  // MARK: The work

  private func followOthers() async throws {
    let newest = try place.queryLimited(toLast: Present.countMax + 1)
    for try await snapshot in newest.values {
      let others = Present.list(snapshot.node, besides: id)
      let keys = snapshot.node.children.lazy.map(\.key.text)
      let neighbors = keys.filter { self.seat(of: $0) != nil }
      let isLost = state.withLock { state in
        (state.others, state.neighbors) = (others, Array(neighbors))
        // The server removes all entries of a replica when its connection is lost.
        return state.isShared && !neighbors.contains(id) && others.count < Present.countMax
      }
      if isLost { change.yield() }
      tidying.yield()
      wake()
    }
  }

  private func followConnection() async throws {
    let connected = try place.root.child(".info/connected")
    let entry = try place.child(id)
    for try await snapshot in connected.values {
      let isConnected = snapshot.value == true
      if isConnected { try await entry.onDisconnectRemoveValue() }
      state.withLock { state in
        state.isConnected = isConnected
        state.promised = isConnected ? [id] : []
      }
      if isConnected {
        change.yield()
        tidying.yield()
      }
    }
  }

  private func writeEntries() async throws {
    let entry = try place.child(id)
    for await _ in changes {
      let own = state.withLock { $0.isConnected || $0.isShared ? $0.own : nil }
      guard let own else { continue }
      let isTold = try await PresenceWork.isDoneWhileConnected {
        try await entry.setPassingValue(own.entry).acknowledgement()
      }
      try await NetworkTasks.sleep(milliseconds: PresenceWork.pause)
      // The other process may be connected again without this one having seen that it was not.
      if !isTold, state.withLock({ $0.isShared }) { change.yield() }
    }
  }

  /// Removes the entries of this replica's processes that have ended, and asks the server to remove the
  /// others when the connection is lost; only the process with the connection does that.
  private func tidy() async throws {
    guard let room else { return }
    for await _ in tidyings {
      let (neighbors, promised) = state.withLock { state in
        (state.isConnected ? state.neighbors : [], state.promised)
      }
      for key in neighbors where key != id {
        guard let seat = seat(of: key) else { continue }
        if !room.isTaken(seat) {
          try await place.child(key).setPassingValue(.null)
        } else if !promised.contains(key) {
          try await place.child(key).onDisconnectRemoveValue()
          state.withLock { _ = $0.promised.insert(key) }
        }
      }
    }
  }

  /// Does something that ends with the connection; false if it did: the next connection tells what is true by then.
  private static func isDoneWhileConnected(
    _ body: () async throws -> Void
  ) async throws -> Bool {
    do {
      try await body()
      return true
    } catch let error as DatabaseError where error.code == .disconnected {
      return false
    }
  }

  private func fail(_ error: any Error) {
    if error is CancellationError { return }
    if let error = error as? DatabaseError, error.code == .closed { return }
    let isDenied = (error as? DatabaseError)?.code == .permissionDenied
    end()
    state.withLock { state in
      state.others = []
      state.problem = Problem(text: "Who is here is not shown: \(error)", isDenied: isDenied)
    }
    wake()
  }
}
