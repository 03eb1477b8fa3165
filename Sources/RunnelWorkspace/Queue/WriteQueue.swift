import RunnelBase
package import RunnelTree

/// The queue of writes: those under way, and those refused.
///
/// The text typed for them is kept until they are written or dropped.
///
/// On a replica, the queue also holds the writes of all processes that the origin has not answered.
package struct WriteQueue: Hashable, Sendable {
  /// The greatest number of refused writes that are kept.
  static let refusedMax = 500
  /// The time in milliseconds after which a write under way is mentioned.
  package static let silentMilliseconds: Int64 = 300

  /// A write without an answer yet.
  package struct Waiting: Hashable, Sendable {
    package var request: WriteRequest
    /// The time when the write began, in milliseconds since 1970.
    var since: Int64
    /// The value of `InputState.count` when the write began.
    var inputCount = 0
    /// Whether the record got another key since the write was requested.
    var hasMoved = false
  }

  /// A write that was refused.
  package struct Refused: Hashable, Sendable, Identifiable {
    /// The id of the refused request.
    package var id: AppRequestID
    /// The request, or nil for text that could not be read as a record.
    package var request: WriteRequest?
    package var refusal: Refusal
    /// The time of the refusal, in milliseconds since 1970.
    package var at: Int64
    /// The number of tries.
    var tries: Int
    var purpose: WritePurpose
    /// The draft to compare, or nil if others did not write there.
    var draft: CompareDraft?
    /// The write that was on disk when the origin refused it; nil if it was refused before.
    ///
    /// By its id the replica's file keeps it, which all programs share, until it is sent again or dropped.
    package var write: PendingWrite?
    /// The other requests that were refused in the same try, such as those for other records.
    var others: [WriteRequest] = []
    /// The value of `InputState.count` when the try began; nil if that was not in this window.
    fileprivate(set) var inputCount: Int?
  }

  /// The writes under way, by request.
  package private(set) var waiting: [AppRequestID: Waiting] = [:]
  /// The refused writes, oldest first.
  package internal(set) var refused: [Refused] = [] { didSet { refusedRevision += 1 } }
  /// The refused writes of the replica's file that are edited again.
  private(set) var edited: [EditedRefusal] = []
  /// Counts the changes of the refused writes.
  package private(set) var refusedRevision = 0
  /// The writes that wait for the origin, oldest first, including those of transactions.
  package var pending: [PendingWrite] = [] { didSet { places = WaitingPlaces(pending) } }
  /// The places of these writes.
  private(set) var places = WaitingPlaces([])
  /// The ids of the pending writes of unknown outcome, which are sent again only on request.
  package var unknown: Set<Int64> = []

  /// The writes of unknown outcome, oldest first.
  package var unknownPending: [PendingWrite] {
    unknown.isEmpty ? [] : pending.filter { unknown.contains($0.id) }
  }

  /// The times when writes of the queue began or were refused.
  var times: [Int64] {
    refused.map(\.at) + waiting.values.map(\.since) + pending.compactMap(\.madeAt)
  }

  /// Adds a write that begins.
  package mutating func begin(
    _ id: AppRequestID, _ request: WriteRequest, at now: Int64, inputCount: Int = 0
  ) {
    waiting[id] = Waiting(request: request, since: now, inputCount: inputCount)
  }

  /// Notes that a write was done; writes of the same kind at its place that were refused in earlier tries are
  /// dropped.
  package mutating func finish(_ id: AppRequestID, _ purpose: WritePurpose) {
    let done = waiting.removeValue(forKey: id)
    refused.removeAll { $0.purpose.kind.place == purpose.kind.place && !$0.isOfTry(done) }
    endEdit(purpose)
  }

  /// Notes that a write was refused; it replaces an earlier refused write of the same kind at its
  /// place.
  mutating func refuse(
    _ id: AppRequestID, _ purpose: WritePurpose, _ refusal: Refusal, _ draft: CompareDraft?,
    at now: Int64
  ) {
    guard let item = waiting.removeValue(forKey: id) else { return }
    let (place, replaced) = (purpose.kind.place, purpose.kind.replaced)
    let before = refused.filter { $0.purpose.kind.place == place || $0.id == replaced }
    refused.removeAll { $0.purpose.kind.place == place || $0.id == replaced }
    var draft = draft
    draft?.queued = id
    let kept = before.last { $0.write != nil }
    let sameTry = before.filter { $0.id != replaced && $0.isOfTry(item) }
    // One that a file keeps was not sent again: it has its tries there, for all windows.
    let tries =
      kept?.tries ?? sameTry.map(\.tries).max()
      ?? (before.filter { $0.id != replaced }.map(\.tries).max() ?? 0) + 1
    refused.append(
      Refused(
        id: id, request: item.request, refusal: refusal, at: now, tries: tries, purpose: purpose,
        draft: draft, write: kept?.write,
        others: sameTry.flatMap { $0.others + [$0.request].compactMap(\.self) },
        inputCount: item.inputCount))
    trim()
  }

  /// The number of refused writes that can be added before older ones are dropped.
  var room: Int { max(WriteQueue.refusedMax - refused.count, 0) }

  /// Drops the oldest of too many refused writes; the file that keeps some has a limit of its own.
  private mutating func trim() {
    guard refused.count > WriteQueue.refusedMax,
      let index = refused.firstIndex(where: { $0.write == nil })
    else { return }
    refused.remove(at: index)
  }

  /// Keeps a write that was not done in an earlier run.
  mutating func keep(_ item: Refused) {
    refused.append(item)
    trim()
  }

  /// Keeps a refused record of a paste.
  package mutating func keep(_ pasted: PastedRecord, _ request: WriteRequest?, at now: Int64) {
    refused.append(
      Refused(
        id: pasted.id, request: request, refusal: RunnelWorkspace.Refusal(pasted.refused.reason),
        at: now, tries: 1, purpose: .pasted(pasted)))
  }

  /// Keeps a pending write that the origin refused.
  mutating func keep(_ write: PendingWrite, as id: AppRequestID, _ reason: String, at now: Int64) {
    if refused.contains(where: { $0.write?.id == write.id }) { return }
    refused.append(Refused(KeptRefusal(write: write, reason: reason, at: now), as: id))
    trim()
  }

  /// Notes how a refused write is edited again.
  mutating func reword(_ id: AppRequestID, as purpose: WritePurpose) {
    guard let index = refused.firstIndex(where: { $0.id == id }) else { return }
    refused[index].purpose = purpose
    endEdit(purpose)
    if let write = refused[index].write { edited.append(EditedRefusal(write.id, purpose)) }
  }

  /// Forgets that the write with a purpose stands for a refused one that is edited again.
  mutating func endEdit(_ purpose: WritePurpose) {
    let place = purpose.kind.place
    edited.removeAll { $0.purpose.kind.place == place }
  }

  /// Names records by the places to which they have moved.
  mutating func follow(_ moves: RecordMoves) {
    for (id, item) in waiting {
      let moved = item.request.following(moves)
      if moved == item.request { continue }
      waiting[id]?.request = moved
      waiting[id]?.hasMoved = true
    }
    let moved = refused.map { item in
      var item = item
      item.request?.follow(moves)
      for index in item.others.indices { item.others[index].follow(moves) }
      item.purpose.follow(moves)
      item.draft?.follow(moves)
      return item
    }
    if moved != refused { refused = moved }
    for index in edited.indices { edited[index].purpose.follow(moves) }
  }

  /// Removes a write from those under way if its record got another key meanwhile, and returns what is to be
  /// requested instead.
  mutating func takeMoved(_ id: AppRequestID) -> WriteRequest? {
    guard let item = waiting[id], item.hasMoved else { return nil }
    waiting[id] = nil
    return item.request
  }

  /// Drops a refused write.
  package mutating func drop(_ id: AppRequestID) {
    for item in refused where item.id == id { endEdit(item.purpose) }
    refused.removeAll { $0.id == id }
  }

  /// Removes a write from those under way.
  package mutating func end(_ id: AppRequestID) { waiting[id] = nil }

  /// Returns the last refused write with a conflict at a place or below it, or nil.
  func conflict(at path: Path) -> Refused? {
    refused.last { $0.draft.map { path.contains($0.path) } ?? false }
  }

  /// Returns whether the origin refused a pending write at a place, above it or below it.
  ///
  /// O(refused writes).
  func wasRejected(at path: Path) -> Bool {
    refused.contains { item in
      item.write?.parts.contains { $0.path.contains(path) || path.contains($0.path) } ?? false
    }
  }

  /// Returns whether a write removes a place that the origin has not answered, or has refused: what comes back
  /// there is no news.
  ///
  /// O(writes) if one that waits concerns the place, else O(refused writes).
  func removes(_ path: Path) -> Bool {
    func isRemoval(_ write: PendingWrite) -> Bool {
      write.parts.contains { $0.path == path && $0.target == .node(.empty) }
    }
    return refused.contains { $0.write.map(isRemoval) ?? false }
      || places.touch(path) && pending.contains(where: isRemoval)
  }

  /// Returns whether a write is under way at a place, above it or below it.
  ///
  /// O(writes under way).
  func isWriting(at path: Path) -> Bool {
    waiting.values.contains { $0.request.writes(at: path) }
  }

  /// Returns the number of writes under way that have taken long enough to be mentioned.
  package func waitingCount(now: Int64) -> Int {
    waiting.values.count { now - $0.since >= WriteQueue.silentMilliseconds }
  }
}

extension WriteQueue {
  /// Returns the time when the next write is to be mentioned, in milliseconds since 1970, or nil if
  /// there is none.
  func nextLate(now: Int64) -> Int64? {
    waiting.values.lazy.map { $0.since + WriteQueue.silentMilliseconds }.filter { $0 > now }.min()
  }

  /// Returns whether a refused write is being tried again: one of the same kind at its place is
  /// under way.
  func isTriedAgain(_ item: Refused, _ writes: [AppRequestID: WritePurpose]) -> Bool {
    writes.contains { waiting[$0.key] != nil && $0.value.kind.place == item.purpose.kind.place }
  }
}

extension WriteQueue.Refused {
  /// Returns the request with which it is tried again: what it replaces is to be as it was then.
  ///
  /// Of several records of a service that is said of the refused one: the others are compared when it is their turn.
  func requestAgain(_ record: RefusedRecord? = nil) -> WriteRequest? {
    guard let request, let write, WriteRequest(again: write.write) == request else {
      return self.request
    }
    let conditions = (record?.first ?? write).conditions
    return conditions.isEmpty ? request : .guarded(request, conditions)
  }

  /// Whether it sets a field of marked records, for which there may be a request for each of them.
  private var isOfMarkedRecords: Bool {
    if case .form(let form) = purpose, case .editField = form.purpose { true } else { false }
  }

  /// Whether a write is one of several that began with the same key press.
  fileprivate func isOfTry(_ item: WriteQueue.Waiting?) -> Bool {
    isOfMarkedRecords && inputCount != nil && inputCount == item?.inputCount
  }

  /// The write, in words: all that is left of it, also if only its refused record is edited again.
  func title(_ coding: ValueCoding) -> String {
    if let whole = whole(coding) { return PendingText.deed(of: whole, coding) }
    guard let title = purpose.kind.title else { return request?.deed ?? "" }
    if !others.isEmpty { return "\(title): \(others.count + 1) refused" }
    // Of the records that a resource describes, each is a write of its own.
    if isOfMarkedRecords, let request, request.isOperation { return request.deed }
    return title
  }

  /// The write of several records of services of which one is edited again; nil for others.
  private func whole(_ coding: ValueCoding) -> PendingWrite? {
    guard coding == .services, let write, write.firstRecord != nil else { return nil }
    if case .earlier = purpose { return nil }
    return write
  }

  /// What the write does to the records after the one that is edited again; nil if there are none.
  func others(_ coding: ValueCoding) -> PendingWrite? {
    guard var write = whole(coding), let record = write.firstRecord?.record else { return nil }
    let kept = write.parts.indices.filter { !record.contains(write.parts[$0].path) }
    if write.bases.count == write.parts.count { write.bases = kept.map { write.bases[$0] } }
    write.parts = kept.map { write.parts[$0] }
    return write
  }
}
