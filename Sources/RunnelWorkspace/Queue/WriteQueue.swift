import RunnelBase
package import RunnelTree

/// The writes that are under way, and those that were refused: what was typed for them is kept until
/// they are written, or dropped.
///
/// On a replica also the writes that its origin has not answered, whoever made them.
package struct WriteQueue: Hashable, Sendable {
  /// The most refused writes that are kept.
  static let refusedMax = 500
  /// How long a write is under way before it is mentioned, in milliseconds.
  package static let silentMilliseconds: Int64 = 300

  /// A write that is not answered.
  package struct Waiting: Hashable, Sendable {
    package var request: WriteRequest
    /// Since when, in milliseconds since 1970.
    var since: Int64
    /// How much the user had done by then; see `InputState.count`.
    var inputCount = 0
  }

  /// A write that was refused.
  package struct Refused: Hashable, Sendable, Identifiable {
    /// The request that was refused.
    package var id: AppRequestID
    /// Nil for what could not be read as a record.
    package var request: WriteRequest?
    package var refusal: Refusal
    /// When, in milliseconds since 1970.
    package var at: Int64
    /// How often it was tried.
    var tries: Int
    var purpose: WritePurpose
    /// What is to be compared; nil if others did not write there.
    var draft: CompareDraft?
  }

  /// The writes that are under way.
  package private(set) var waiting: [AppRequestID: Waiting] = [:]
  /// Oldest first.
  package private(set) var refused: [Refused] = []
  /// Oldest first; those of transactions among them.
  package var pending: [PendingWrite] = []

  /// When its writes began or were refused.
  var times: [Int64] {
    refused.map(\.at) + waiting.values.map(\.since) + pending.compactMap(\.madeAt)
  }

  /// A write begins.
  package mutating func begin(
    _ id: AppRequestID, _ request: WriteRequest, at now: Int64, inputCount: Int = 0
  ) {
    waiting[id] = Waiting(request: request, since: now, inputCount: inputCount)
  }

  /// A write was done, and so were those of the same that were refused before.
  package mutating func finish(_ id: AppRequestID, _ purpose: WritePurpose) {
    waiting[id] = nil
    refused.removeAll { $0.purpose.place == purpose.place }
  }

  /// A write was refused; one of the same that was refused before gives way to it.
  mutating func refuse(
    _ id: AppRequestID, _ purpose: WritePurpose, _ refusal: Refusal, _ draft: CompareDraft?,
    at now: Int64
  ) {
    guard let request = waiting.removeValue(forKey: id)?.request else { return }
    let before = refused.filter { $0.purpose.place == purpose.place }
    refused.removeAll { $0.purpose.place == purpose.place }
    var draft = draft
    draft?.queued = id
    refused.append(
      Refused(
        id: id, request: request, refusal: refusal, at: now,
        tries: (before.map(\.tries).max() ?? 0) + 1, purpose: purpose, draft: draft))
    if refused.count > WriteQueue.refusedMax { refused.removeFirst() }
  }

  /// How many more refused writes can be kept without another one giving way.
  var room: Int { WriteQueue.refusedMax - refused.count }

  /// Keeps a record of a paste that was refused.
  package mutating func keep(_ pasted: PastedRecord, _ request: WriteRequest?, at now: Int64) {
    refused.append(
      Refused(
        id: pasted.id, request: request, refusal: RunnelWorkspace.Refusal(pasted.refused.reason),
        at: now, tries: 1, purpose: .pasted(pasted)))
  }

  /// A refused write is kept no longer.
  package mutating func drop(_ id: AppRequestID) { refused.removeAll { $0.id == id } }

  /// Forgets that a write was under way.
  package mutating func end(_ id: AppRequestID) { waiting[id] = nil }

  /// The refused write that is about a place, or something in it.
  func conflict(at path: Path) -> Refused? {
    refused.last { $0.draft.map { path.contains($0.path) } ?? false }
  }

  /// True if a write is under way at a place, above it or below it.
  ///
  /// O(writes under way).
  func isWriting(at path: Path) -> Bool {
    waiting.values.contains { waiting in
      guard let place = waiting.request.place else { return false }
      return place.contains(path) || path.contains(place)
    }
  }

  /// How many writes are under way for so long that it is worth a word.
  package func waitingCount(now: Int64) -> Int {
    waiting.values.count { now - $0.since >= WriteQueue.silentMilliseconds }
  }
}

extension WriteQueue {
  /// When the next write is under way for so long that it is worth a word, in milliseconds since 1970;
  /// nil if none will be.
  func nextLate(now: Int64) -> Int64? {
    waiting.values.lazy.map { $0.since + WriteQueue.silentMilliseconds }.filter { $0 > now }.min()
  }

  /// True if a refused write is being tried again: its like is among those under way.
  func isTriedAgain(_ item: Refused, _ writes: [AppRequestID: WritePurpose]) -> Bool {
    writes.contains { waiting[$0.key] != nil && $0.value.place == item.purpose.place }
  }
}

extension WriteQueue.Refused {
  /// What was to be done, in words.
  package var title: String {
    if case .pasted(let pasted) = purpose { return pasted.title }
    return request?.deed ?? ""
  }
}

extension WritePurpose {
  /// True for a write of one record among many that a key writes.
  var isOneOfMany: Bool {
    switch self {
    case .deleteMarked, .importRow, .pasted, .reversal: true
    case .edit, .form, .send, .delete, .editOutside, .toggle, .duplicate, .undo, .merge: false
    }
  }

  /// What it is about, so that it is known again when it is tried again.
  fileprivate var place: String {
    switch self {
    case .edit(let record, let edit): "\(record)/\(edit.field.text)"
    case .form(let form): form.place
    case .send(_, _, let attempt): "send \(attempt)"
    case .delete(let path), .deleteMarked(let path): "delete \(path)"
    case .editOutside(let edit, _): "outside \(edit.path)"
    case .duplicate(let path): "duplicate \(path)"
    case .importRow(let index): "import \(index)"
    case .pasted(let pasted): "pasted \(pasted.id)"
    case .toggle: "toggle"
    case .undo: "undo"
    case .reversal: "reversal"
    case .merge(let draft, _): "merge \(draft.path)"
    }
  }
}

extension FormScreen {
  /// What it is about: the record that it changes, or for something new the form itself, of which
  /// there may be several with one title.
  fileprivate var place: String {
    switch purpose {
    case .addRecord, .addChild, .addField, .addResource: "\(title) \(attempt?.number ?? 0)"
    case .setLeaf, .choose, .editResource, .export, .importFile: title
    }
  }
}
