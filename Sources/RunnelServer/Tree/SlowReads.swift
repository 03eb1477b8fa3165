import RunnelSync

/// The connections that wait for reads that are too large for the tree's thread, or for which their clients have
/// no room.
///
/// One large read is carried out at a time. Meanwhile the jobs of its connection wait, and so do the messages
/// for it: a connection sees all in the order in which it happened. The answer is older than the messages; one
/// from a store, whose state may be newer than some, stands between them, and what it has is not told again.
/// Other connections wait for nothing.
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
  /// The messages that wait, with the numbers of the newest changes before them.
  private var held: [(head: Int64?, message: TreeTold.Element)] = []
  /// The number of the newest change.
  private var newest: Int64?
  /// True if the database lost changes since the read began, so that their numbers say nothing.
  private var hasGoneBack = false

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

  /// Begins a read after the change with a number; nil if changes have no numbers.
  mutating func begin(_ read: SlowRead, after head: Int64?) {
    (current, held, newest, hasGoneBack) = (read, [], head, false)
  }

  /// Holds the messages to the connection whose read is carried out, and returns the others; `head` is the
  /// number of the newest change before them.
  mutating func hold(_ told: TreeTold, at head: Int64?) -> TreeTold {
    guard let connection = current?.wish.connection else { return told }
    if let head, let newest, head < newest { hasGoneBack = true }
    newest = head
    return told.compactMap { message in
      if case .pushed(let members, let push) = message.news {
        return without(connection, members, push)
      }
      if message.connection != connection { return message }
      held.append((head, message))
      return nil
    }
  }

  /// Holds what a shared message is to a connection; returns the message to the other members.
  private mutating func without(
    _ connection: Int64, _ members: [Audiences.Member], _ push: EncodedPush
  ) -> TreeTold.Element? {
    let own = members.filter { $0.connection == connection }
    if own.isEmpty { return (0, .pushed(members, push)) }
    for member in own { held.append((newest, (connection, push.news(for: member)))) }
    return (0, .pushed(members.filter { $0.connection != connection }, push))
  }

  /// True if too many messages wait.
  var isFull: Bool { held.count > SlowReads.heldMax }

  /// Ends the current read, whose answer has all changes up to one; nil if all messages came after it.
  ///
  /// - Returns: the messages that waited for it, without those about what the answer has already.
  mutating func end(at head: Int64?) -> (before: TreeTold, after: TreeTold) {
    guard let head, !hasGoneBack, let wish = current?.wish else {
      defer { (current, held) = (nil, []) }
      return ([], held.map(\.message))
    }
    var (before, after): (TreeTold, TreeTold) = ([], [])
    for (told, message) in held {
      if let told, told <= head {
        if !wish.isTold(by: message.news) { before.append(message) }
      } else {
        after.append(message)
      }
    }
    (current, held) = (nil, [])
    return (before, after)
  }

  /// Ends the current read, which was refused or is done anew; returns the messages that are not about what is
  /// read.
  mutating func abandon() -> TreeTold {
    defer { (current, held) = (nil, []) }
    return held.map(\.message).filter { current?.wish.isTold(by: $0.news) != true }
  }

  /// The jobs of a batch that are done first, so that no read is done in a transaction that writes; nil if there
  /// is no such read.
  ///
  /// The jobs of each connection stay in their order.
  static func parts(of batch: [TreeJob]) -> (first: [TreeJob], rest: [TreeJob])? {
    guard batch.contains(where: \.isRead), batch.contains(where: \.isWriting) else { return nil }
    let writes = parts(of: batch, endingBefore: \.isRead)
    // If each connection begins with a read, those are first.
    return writes.first.isEmpty ? parts(of: batch, endingBefore: \.isWriting) : writes
  }

  private static func parts(
    of batch: [TreeJob], endingBefore isEnd: (TreeJob) -> Bool
  ) -> (first: [TreeJob], rest: [TreeJob]) {
    var waiting: Set<Int64> = []
    var parts: (first: [TreeJob], rest: [TreeJob]) = ([], [])
    for job in batch {
      if isEnd(job) { waiting.insert(job.connection) }
      if waiting.contains(job.connection) {
        parts.rest.append(job)
      } else {
        parts.first.append(job)
      }
    }
    return parts
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
    case .unlisten, .write, .writeIf, .compareAndSet, .keepForDisconnect, .review, .doDisconnects,
      .leave:
      return nil
    }
  }
}
