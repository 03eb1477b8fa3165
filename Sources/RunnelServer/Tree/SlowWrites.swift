import RunnelBase
import RunnelSync
import RunnelTree

/// The writes that are too large for the tree's thread, and what waits for them.
///
/// One large write is carried out at a time, on another thread. It is one transaction, so all other writes
/// wait meanwhile, in their order; listens and reads of other connections do not.
///
/// Invariants:
/// - I1. The first of the waiting jobs is the large write that is carried out, or is to be.
/// - I2. The waiting jobs are in the order in which they were submitted; each connection with a waiting
///   job has all later ones wait too.
///
/// Isolation: a value of the tree's thread.
struct SlowWrites {
  /// The jobs that wait, the large write first.
  private var waiting: [TreeJob] = []
  private var connections: Set<Int64> = []
  private(set) var current: SlowWrite?
  /// The rules whose indexes are to be declared when the file is free.
  private var rules: RulesEngine?

  /// True while a large write is carried out or waits.
  var isActive: Bool { !waiting.isEmpty }

  /// The number of jobs that wait.
  var count: Int { waiting.count }

  /// Takes large writes and what must wait for them, and returns the other jobs.
  ///
  /// A large write that is told to those who listen at its place or below is left to the tree, which tells
  /// them only what has changed.
  mutating func admit(_ batch: [TreeJob], _ audiences: Audiences) -> [TreeJob] {
    var ready: [TreeJob] = []
    for job in batch {
      let waits =
        isActive
        ? job.isWriting || connections.contains(job.connection) : job.isLargeWrite(audiences)
      if waits {
        waiting.append(job)
        // Connection 0 is nobody's.
        if job.connection != 0 { connections.insert(job.connection) }
      } else {
        ready.append(job)
      }
    }
    return ready
  }

  /// The large write to begin; nil if there is none, or one is carried out.
  var next: TreeJob? { current == nil ? waiting.first : nil }

  /// Begins a large write.
  mutating func begin(_ write: SlowWrite) { current = write }

  /// Ends the large write; returns the jobs that waited for it, without it.
  mutating func end() -> [TreeJob] {
    current = nil
    defer { (waiting, connections) = ([], []) }
    return Array(waiting.dropFirst())
  }

  /// Notes that the indexes of rules are to be declared later.
  mutating func declareLater(_ rules: RulesEngine) { self.rules = rules }

  /// Takes the rules whose indexes are to be declared.
  mutating func takeRules() -> RulesEngine? {
    defer { rules = nil }
    return rules
  }
}

extension TreeJob {
  /// The bytes of JSON from which on a write is too large for the tree's thread.
  static let largeWriteBytes = 1 << 20

  /// The most places of one large write; more are told as one place above them all.
  private static let largeWritePlacesMax = 50

  /// True if the job writes so much that it must not be done on the tree's thread.
  ///
  /// Complexity: O(`largeWriteBytes`).
  fileprivate func isLargeWrite(_ audiences: Audiences) -> Bool {
    let (place, values): (Path, [JSONValue])
    switch wish {
    case .putSpooled: return true
    case .operation(.write(let write, _, _, _), _):
      guard let parts = write.largeParts else { return false }
      (place, values) = parts
    case .operation(.push(let path, let json, _, _), _): (place, values) = (path, [json])
    case .request(let request):
      switch request.operation {
      case .write(let write, _):
        guard let parts = write.largeParts else { return false }
        (place, values) = parts
      case .compareAndSet(let path, let json, _, _): (place, values) = (path, [json])
      case .listen, .unlisten, .get, .keepForDisconnect, .review, .leave: return false
      }
    case .operation, .service, .attend, .endStream, .takeRules, .look, .takeOver, .probe:
      return false
    }
    return values.count <= TreeJob.largeWritePlacesMax && TreeJob.exceeds(values)
      && !audiences.areShown(at: place)
  }

  /// True if values have more bytes than a write may have on the tree's thread.
  fileprivate static func exceeds(_ values: [JSONValue]) -> Bool {
    var bytes = 0
    var stack = values
    while let value = stack.popLast() {
      switch value {
      case .null, .bool, .number: bytes += 8
      case .string(let text): bytes += text.utf8.count + 2
      case .array(let elements):
        bytes += 2
        stack += elements
      case .object(let members):
        bytes += 2
        for member in members {
          bytes += member.name.utf8.count + 4
          stack.append(member.value)
        }
      }
      if bytes > largeWriteBytes { return true }
    }
    return false
  }
}

extension Write {
  /// The place and the values of a write that may be large.
  fileprivate var largeParts: (place: Path, values: [JSONValue])? {
    switch self {
    case .set(let path, let json): (path, [json])
    case .update(let path, let members): (path, members.map(\.value))
    case .copy, .move: nil
    }
  }
}
