import RunnelSync

/// The connections that wait for reads that are too large for the tree's thread, or for which their clients have
/// no room.
///
/// One large read is carried out at a time. Meanwhile the jobs of its connection wait, and so do the messages
/// for it, because the answer is older than they are: a connection sees all in the order in which it
/// happened. Other connections wait for nothing.
///
/// Invariants:
/// - I1. A connection has waiting jobs as long as its first one is a read that is not answered.
/// - I2. The waiting jobs of a connection are in the order in which they were submitted.
///
/// Isolation: a value of the tree's thread.
struct SlowReads {
  /// The most messages that wait for one answer.
  static let heldMax = 10_000

  /// The jobs of waiting connections, the read first.
  private var jobs: [Int64: [TreeJob]] = [:]
  /// The connections whose read has not begun, the oldest first.
  private var queue: [Int64] = []
  private(set) var current: SlowRead?
  private var held: TreeTold = []

  /// The number of connections that wait.
  var count: Int { jobs.count }

  /// Takes the jobs of connections that wait, and returns the others.
  mutating func admit(_ batch: [TreeJob]) -> [TreeJob] {
    if jobs.isEmpty { return batch }
    return batch.filter { job in
      guard jobs[job.connection] != nil else { return true }
      jobs[job.connection]?.append(job)
      return false
    }
  }

  /// Takes reads that wait, and the jobs that follow them on the same connections.
  mutating func add(_ later: [TreeJob]) {
    for job in later {
      if jobs[job.connection] == nil { queue.append(job.connection) }
      jobs[job.connection, default: []].append(job)
    }
  }

  /// The oldest connection that has room and waits for its read to begin; nil while a read is carried out.
  mutating func next() -> Int64? {
    if current != nil { return nil }
    let index = queue.firstIndex { hasEnded($0) || first(of: $0)?.isWithoutRoom != true }
    return index.map { queue.remove(at: $0) }
  }

  /// The connections without room whose listens are to be checked behind a read that waits.
  var urgentConnections: [Int64] {
    queue.filter { connection in
      guard let jobs = jobs[connection], jobs.contains(where: \.isReview) else { return false }
      return jobs.first?.isWithoutRoom == true && !hasEnded(connection)
    }
  }

  /// The first job of a connection that waits.
  func first(of connection: Int64) -> TreeJob? { jobs[connection]?.first }

  /// True if a connection has ended, so that nobody waits for its reads any more.
  func hasEnded(_ connection: Int64) -> Bool {
    guard let jobs = jobs[connection] else { return false }
    return jobs.first?.room?.hasEnded == true || jobs.contains(where: \.isLast)
  }

  /// Begins a read.
  mutating func begin(_ read: SlowRead) { (current, held) = (read, []) }

  /// Holds the messages to the connection whose read is carried out, and returns the others.
  mutating func hold(_ told: TreeTold) -> TreeTold {
    guard let connection = current?.wish.connection else { return told }
    return told.compactMap { message in
      if case .pushed(let members, let push) = message.news {
        return without(connection, members, push)
      }
      if message.connection != connection { return message }
      held.append(message)
      return nil
    }
  }

  /// Holds what a shared message is to a connection; returns the message to the other members.
  private mutating func without(
    _ connection: Int64, _ members: [Audiences.Member], _ push: EncodedPush
  ) -> TreeTold.Element? {
    let own = members.filter { $0.connection == connection }
    if own.isEmpty { return (0, .pushed(members, push)) }
    for member in own { held.append((connection, push.news(for: member))) }
    return (0, .pushed(members.filter { $0.connection != connection }, push))
  }

  /// True if too many messages wait.
  var isFull: Bool { held.count > SlowReads.heldMax }

  /// Ends the current read; returns the messages that waited for it.
  mutating func end() -> TreeTold {
    current = nil
    defer { held = [] }
    return held
  }

  /// Ends the waiting of a connection; returns its jobs.
  mutating func release(_ connection: Int64) -> [TreeJob] {
    queue.removeAll { $0 == connection }
    return jobs.removeValue(forKey: connection) ?? []
  }

  /// Ends all waiting; returns the jobs.
  mutating func releaseAll() -> [TreeJob] {
    jobs.keys.sorted().flatMap { release($0) }
  }
}

extension TreeJob {
  /// True if the connection has ended.
  fileprivate var isLast: Bool {
    switch wish {
    case .request(let request): if case .leave = request.operation { true } else { false }
    case .endStream: true
    default: false
    }
  }

  /// True if the job checks the listens of a session.
  fileprivate var isReview: Bool {
    if case .request(let request) = wish { request.operation == .review } else { false }
  }

  /// The request of a session to listen or to read, which may be too large for the tree's thread.
  var readRequest: ServedRequest? {
    guard case .request(let request) = wish else { return nil }
    switch request.operation {
    case .listen, .get: return request
    case .unlisten, .write, .compareAndSet, .keepForDisconnect, .review, .doDisconnects, .leave:
      return nil
    }
  }
}
