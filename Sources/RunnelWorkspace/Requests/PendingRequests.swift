package import RunnelTree

/// What a request was made for, so that its answer finds its place.
package enum Pending: Hashable, Sendable {
  /// A write, with what was typed for it.
  case write(WritePurpose)
  /// Giving up a write that waits for the origin of a replica.
  case dropPending
  /// Reading the value at a place.
  case read(Path, ReadPurpose)
  /// Reading the records that a reference may name.
  case choices(Path)
  /// Reading entries for an open history.
  case history(HistoryScreen.Reading)
  /// Reading the newest changes of the record beside the list.
  case detailHistory(Path)
  /// Reading what a write did that could not be taken back.
  case comparedWrite
  /// Reading which orders of a list have an index.
  case orders(view: Int)
  /// Reading the value beside the tree, or the size of what a question is about.
  case preview(Path)
  /// Saving the whole database to a new file.
  case saveCopy
  /// Asking the server of the database who is connected.
  case clients
  /// Ending a connection to the server.
  case disconnect
}

/// The one table of the requests that are not answered.
///
/// Invariant: a request is in the table from when it is made until its answer is taken, or it is given up.
/// The answer to a request that is not in the table is dropped.
package struct PendingRequests: Hashable, Sendable {
  /// What the writes are for that are under way.
  ///
  /// They stand apart because an import has thousands of them, and each frame asks for them.
  package private(set) var writes: [AppRequestID: WritePurpose] = [:]
  /// The writes of composed records by their views, oldest first: a burst of them is looked through at
  /// each one.
  private var sends: [Int: [AppRequestID]] = [:]
  private var reads: [AppRequestID: Pending] = [:]
  /// The id that was given out last.
  private(set) var lastID = AppRequestID(0)

  /// True if nothing is under way.
  package var isEmpty: Bool { writes.isEmpty && reads.isEmpty }

  /// What values are being read for.
  var readPurposes: [ReadPurpose] {
    reads.values.compactMap { if case .read(_, let purpose) = $0 { purpose } else { nil } }
  }

  /// True if a value is being read for something that may write.
  var hasReads: Bool { !readPurposes.isEmpty }

  /// The newest composed records of a view that are being written, at most so many, oldest first.
  ///
  /// O(count).
  func newestSent(_ count: Int, inView view: Int) -> [(id: AppRequestID, text: String)] {
    (sends[view] ?? []).suffix(count).compactMap { id in
      if case .send(_, let text, _)? = writes[id] { (id, text) } else { nil }
    }
  }

  /// True while records that were composed in a view are being written.
  func isSending(inView view: Int) -> Bool { sends[view]?.isEmpty == false }

  /// What a request was made for; nil if it is not in the table.
  subscript(id: AppRequestID) -> Pending? { writes[id].map { .write($0) } ?? reads[id] }

  /// Makes an id that no request has.
  mutating func newID() -> AppRequestID {
    lastID = AppRequestID(lastID.number + 1)
    return lastID
  }

  /// Adds a request; returns its id.
  package mutating func add(_ purpose: Pending) -> AppRequestID {
    let id = newID()
    if case .write(let write) = purpose { writes[id] = write } else { reads[id] = purpose }
    if case .write(.send(let view, _, _)) = purpose { sends[view, default: []].append(id) }
    return id
  }

  /// Gives up reading values for some purposes; false if none is read.
  mutating func giveUpReads(where isGivenUp: (ReadPurpose) -> Bool) -> Bool {
    let before = reads.count
    reads = reads.filter { _, pending in
      if case .read(_, let purpose) = pending { !isGivenUp(purpose) } else { true }
    }
    return reads.count < before
  }

  /// Takes a request out that was answered, or is given up; nil if it is not there.
  @discardableResult
  package mutating func remove(_ id: AppRequestID) -> Pending? {
    if let write = writes.removeValue(forKey: id) {
      if case .send(let view, _, _) = write { sends[view]?.removeAll { $0 == id } }
      return .write(write)
    }
    return reads.removeValue(forKey: id)
  }
}
