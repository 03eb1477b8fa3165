import RunnelBase
import RunnelDatabase
import RunnelTree
import RunnelWorkspace
import Synchronization

/// Shows the others where this workspace is, and keeps where the others are.
///
/// An entry is written only while the server is connected, and after each connection the server is
/// asked to remove it when the connection is lost. So nobody is shown who is gone, and no old places
/// are sent after a time offline. Each entry waits for the confirmation of the one before, so that a
/// held key writes a few times a second at most.
final class PresenceWork: Sendable {
  private struct State {
    /// Where this workspace is.
    var own: Present?
    var isConnected = false
    /// The others, if they have changed since they were taken.
    var others: [Present]?
    /// What the user must know, if it was not taken yet.
    var problem: String?
  }

  /// The least time between two entries.
  private static let pause = Duration.milliseconds(300)

  private let place: Reference
  /// The key of this workspace's entry.
  let id: String
  private let state = Mutex(State())
  private let tasks = Mutex<[Task<Void, Never>]>([])
  private let changes: AsyncStream<Void>
  private let change: AsyncStream<Void>.Continuation
  private let wake: @Sendable () -> Void

  /// Makes the work, and begins it.
  ///
  /// - Parameters:
  ///   - database: the replica of the server's database.
  ///   - path: the collection of entries.
  ///   - id: the key of this workspace's entry.
  ///   - wake: called on any thread when there is something to take.
  init(_ database: Database, at path: Path, id: String, wake: @escaping @Sendable () -> Void) {
    place = database.reference(at: path)
    (self.id, self.wake) = (id, wake)
    (changes, change) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    let works: [@Sendable (PresenceWork) async throws -> Void] = [
      { try await $0.followOthers() }, { try await $0.followConnection() },
      { try await $0.writeEntries() },
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
  static func newID() -> String {
    let digits = String(UInt64.random(in: 0...UInt64.max), radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }

  /// Ends the work; the server removes the entry when the connection ends.
  func end() {
    for task in tasks.withLock({ $0 }) { task.cancel() }
    change.finish()
  }

  /// Has the others told where this workspace is, if that has changed.
  func show(_ own: Present) {
    let isNew = state.withLock { state in
      defer { state.own = own }
      return state.own != own
    }
    if isNew { change.yield() }
  }

  /// Returns and removes what has changed since the last call.
  func news() -> (others: [Present]?, problem: String?) {
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
      state.withLock { $0.others = others }
      wake()
    }
  }

  private func followConnection() async throws {
    let connected = try place.root.child(".info/connected")
    let entry = try place.child(id)
    for try await snapshot in connected.values {
      let isConnected = snapshot.value == true
      if isConnected { try await entry.onDisconnectRemoveValue() }
      state.withLock { $0.isConnected = isConnected }
      if isConnected { change.yield() }
    }
  }

  private func writeEntries() async throws {
    let entry = try place.child(id)
    for await _ in changes {
      let own = state.withLock { $0.isConnected ? $0.own : nil }
      guard let own else { continue }
      try await entry.setValue(own.entry).acknowledgement()
      try await Task.sleep(for: PresenceWork.pause)
    }
  }

  private func fail(_ error: any Error) {
    if error is CancellationError { return }
    if let error = error as? DatabaseError, error.code == .closed { return }
    end()
    state.withLock { state in
      state.others = []
      state.problem = "Who is here is not shown: \(error)"
    }
    wake()
  }
}
