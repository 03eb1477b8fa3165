package import RunnelTree

/// The purpose of a request, which tells where its answer goes.
package enum Pending: Hashable, Sendable {
  /// A write, with the text typed for it.
  case write(WritePurpose)
  /// Dropping a write that waits for the origin of a replica.
  case dropPending
  /// Dropping a refused write that a replica keeps.
  case dropRefused(AppRequestID)
  /// Reading the value at a place.
  case read(Path, ReadPurpose)
  /// Reading the records that a reference may name.
  case choices(Path)
  /// Reading entries for an open history.
  case history(HistoryScreen.Reading)
  /// Reading the newest changes of the record in the detail pane.
  case detailHistory(Path)
  /// Reading the newest changes of a place that is compared.
  case comparedHistory(Path)
  /// Reading a write that could not be undone, to compare it.
  case comparedWrite
  /// Reading the record with a key, to go to its place in the order; if there is none, a key that is a number is
  /// that of a row.
  case numberOrKey(Path, Int?, view: Int)
  /// The same, from the origin, since the record is not known here.
  case numberOrKeyThere(Path, Int?, view: Int)
  /// Reading which record was added last to a list, to go there.
  case newest(view: Int)
  /// Finding out whether the history is on, after an import without an entry in it, which is told in
  /// these words; `same` are those for one that changed nothing.
  case importWithoutEntry(String, same: String)
  /// Reading which orders of a list have an index.
  case orders(view: Int)
  /// Reading the value beside the tree, or the size of a place that a question is about.
  case preview(Path)
  /// Counting what belongs to the record at a place.
  case count(Path, Counting)
  /// Asking the server of the database who is connected.
  case clients
  /// Ending a connection to the server.
  case disconnect
  /// Something that is done with the accounts at the server.
  case account(AccountDeed)
  /// Something that is done with the user's devices.
  case device(DeviceRequest)
  /// A call of a service's method.
  case method(MethodCall)
  /// Explaining why a write was refused.
  case why(PendingWrite)
}

extension Pending {
  /// Whether it is being read where the cursor of a list is to go to.
  fileprivate var isCursorRead: Bool {
    switch self {
    case .numberOrKey, .numberOrKeyThere, .newest: true
    default: false
    }
  }
}

/// The table of all requests without an answer yet.
///
/// Invariant: a request is in the table until its answer is taken or it is canceled. The answer to
/// a request that is not in the table is dropped.
package struct PendingRequests: Hashable, Sendable {
  /// The purposes of the writes under way.
  ///
  /// Writes have a table of their own, because an import has thousands of them, and each frame
  /// reads them.
  package private(set) var writes: [AppRequestID: WritePurpose] = [:]
  /// The writes of composed records by view, oldest first, so that a burst of them is quickly
  /// searched.
  private var sends: [Int: [AppRequestID]] = [:]
  private var reads: [AppRequestID: Pending] = [:]
  /// The last id that was given out.
  private(set) var lastID = AppRequestID(0)

  /// Whether no request is under way.
  package var isEmpty: Bool { writes.isEmpty && reads.isEmpty }

  /// The purposes of the values being read.
  var readPurposes: [ReadPurpose] {
    reads.values.compactMap { if case .read(_, let purpose) = $0 { purpose } else { nil } }
  }

  /// Whether a value is being read for something that may write.
  var hasReads: Bool { !readPurposes.isEmpty }

  /// Whether it is being read where the cursor of a list is to go to.
  var hasCursorRead: Bool { reads.values.contains(where: \.isCursorRead) }

  /// Cancels reading where the cursor of a list is to go to.
  mutating func giveUpCursorReads() { reads = reads.filter { !$0.value.isCursorRead } }

  /// Returns the newest `count` composed records of a view that are being written, oldest first.
  ///
  /// O(count).
  func newestSent(_ count: Int, inView view: Int) -> [(id: AppRequestID, text: String)] {
    (sends[view] ?? []).suffix(count).compactMap { id in
      if case .send(_, let text, _)? = writes[id] { (id, text) } else { nil }
    }
  }

  /// Returns whether composed records of a view are being written.
  func isSending(inView view: Int) -> Bool { sends[view]?.isEmpty == false }

  /// The purpose of a request, or nil if it is not in the table.
  subscript(id: AppRequestID) -> Pending? { writes[id].map { .write($0) } ?? reads[id] }

  /// Makes a new id.
  mutating func newID() -> AppRequestID {
    lastID = AppRequestID(lastID.number + 1)
    return lastID
  }

  /// Has the writes under way name records by the places to which they have moved.
  mutating func follow(_ moves: RecordMoves) {
    for (id, purpose) in writes { writes[id] = purpose.following(moves) }
  }

  /// Adds a request, and returns its id.
  package mutating func add(_ purpose: Pending) -> AppRequestID {
    let id = newID()
    if case .write(let write) = purpose { writes[id] = write } else { reads[id] = purpose }
    if case .write(.send(let view, _, _)) = purpose { sends[view, default: []].append(id) }
    return id
  }

  /// Cancels reads of values for some purposes; returns false if there are none.
  mutating func giveUpReads(where isGivenUp: (ReadPurpose) -> Bool) -> Bool {
    let before = reads.count
    reads = reads.filter { _, pending in
      if case .read(_, let purpose) = pending { !isGivenUp(purpose) } else { true }
    }
    return reads.count < before
  }

  /// Removes a request that was answered or is canceled; returns nil if it is not in the table.
  @discardableResult
  package mutating func remove(_ id: AppRequestID) -> Pending? {
    if let write = writes.removeValue(forKey: id) {
      if case .send(let view, _, _) = write { sends[view]?.removeAll { $0 == id } }
      return .write(write)
    }
    return reads.removeValue(forKey: id)
  }
}
