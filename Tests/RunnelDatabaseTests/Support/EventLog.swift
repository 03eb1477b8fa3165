import RunnelBase
import RunnelDatabase
import Synchronization

extension TemporaryFolder {
  /// Opens a database on a file of the folder, to be used by references.
  func open(
    _ name: String = "test.db", isReadOnly: Bool = false,
    onTrouble: @escaping @Sendable (DatabaseError) -> Void = { _ in }
  ) async throws -> Database {
    try await Database.open(
      file: file(name), isReadOnly: isReadOnly,
      environment: {
        DatabaseEnvironment(now: { 1_700_000_000_000 }, random: SeededRandom(seed: 1))
      }, onTrouble: onTrouble)
  }
}

/// What handlers were told, in the order in which they were.
final class EventLog: Sendable {
  private let state = Mutex<[String]>([])
  private let lines: AsyncStream<String>
  private let added: AsyncStream<String>.Continuation

  init() { (lines, added) = AsyncStream<String>.makeStream() }

  /// Everything so far.
  var texts: [String] { state.withLock { $0 } }

  /// Everything since the last time.
  func taken() -> [String] {
    state.withLock { texts in
      defer { texts = [] }
      return texts
    }
  }

  func note(_ text: String) {
    state.withLock { $0.append(text) }
    added.yield(text)
  }

  /// Waits until a text was noted, from the first on.
  func wait(for text: String) async throws {
    for await line in lines where line == text { return }
    throw CancellationError()
  }

  /// A handler that notes what it is told, after its name.
  func handler(_ name: String = "") -> @Sendable (DataEvent) -> Void {
    { self.note(name + $0.text) }
  }

  /// A failure handler that notes the code.
  func failure(_ name: String = "") -> @Sendable (DatabaseError) -> Void {
    { self.note(name + "failed " + $0.code.rawValue) }
  }
}

extension DataEvent {
  /// The event in short, as in the tests of the tree.
  var text: String {
    let json = snapshot.exportValue.jsonText()
    let row = "\(snapshot.key ?? "/")(\(previousKey ?? "null"))=\(json)"
    return switch self {
    case .childAdded: "added " + row
    case .childChanged: "changed " + row
    case .childMoved: "moved " + row
    case .childRemoved: "removed \(snapshot.key ?? "/")=\(json)"
    case .value: "value=\(json)"
    }
  }
}
