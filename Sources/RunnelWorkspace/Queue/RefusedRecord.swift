import RunnelBase
import RunnelStreams
import RunnelTerminal
import RunnelTree

/// A refused write of several records of a service: the first record that is left was refused, and the others
/// were not tried.
struct RefusedRecord {
  /// What the write does to the refused record.
  let first: PendingWrite
  /// The place of that record.
  private let record: Path
  /// What the write does to the others.
  private let rest: Write

  /// Reads a refused write; nil if it is one of a single record, or of a tree, which does all of a write or nothing.
  init?(_ write: PendingWrite?, _ state: AppState) {
    guard state.database.coding == .services, let parts = write?.firstRecord,
      state.database.resources.registry.place(of: parts.record) == .free
    else { return nil }
    (record, first, rest) = parts
  }

  /// The number of places that the others are, mostly one for each record.
  var restCount: Int { if case .update(_, let members) = rest { members.count } else { 0 } }

  /// True if a place is the refused record, or in it.
  func contains(_ path: Path) -> Bool { record.contains(path) }

  /// The record in words: its first text, or its place.
  func title(_ coding: ValueCoding) -> String {
    let values = first.parts.compactMap { part in
      if case .node(let node) = part.target { coding.shown(node.exportJSON) } else { nil }
    }
    return values.lazy.compactMap(\.firstText).first ?? record.description
  }

  /// The request for the others.
  var requestForRest: WriteRequest? { WriteRequest(again: rest) }

  /// Returns the request for the record as it was typed now, and for the others; nil if it is for another place.
  func request(mended request: WriteRequest) -> WriteRequest? {
    guard case .update(let path, let others) = rest else { return nil }
    func joined(_ places: [(path: Path, value: JSONValue)]) -> WriteRequest? {
      var members: [JSONMember] = []
      for place in places {
        guard let below = place.path.relative(to: path), !below.isRoot, record.contains(place.path)
        else { return nil }
        members.append(JSONMember(below.text, place.value))
      }
      return .update(path, members + others)
    }
    switch request {
    // A new record keeps its key: it is the same one.
    case .push(record.parent, let value): return joined([(record, value)])
    case .set(let place, let value):
      let isNew = place.parent == record.parent && first.bases.allSatisfy { $0?.isEmpty ?? true }
      if isNew, place != record { return requestUnder(place, value) }
      return joined([(place, value)])
    case .update(let place, let members):
      let places = members.compactMap { member in
        (try? Path(member.name)).map { (Path(unchecked: place.keys + $0.keys), member.value) }
      }
      return places.count == members.count ? joined(places) : nil
    case .guarded(let request, let conditions):
      return self.request(mended: request).map { .guarded($0, conditions) }
    default: return nil
    }
  }

  /// Returns the request for a new record under a key that was typed now, and for the others.
  private func requestUnder(_ place: Path, _ value: JSONValue) -> WriteRequest? {
    guard case .update(let path, let others) = rest, let below = place.relative(to: path),
      !others.contains(where: { $0.name == below.text })
    else { return nil }
    return .update(path, [JSONMember(below.text, value)] + others)
  }
}

extension QueueScreen {
  /// Returns the request for what was typed again; if it is a refused record among several, with the others.
  static func withRest(
    _ state: AppState, _ request: WriteRequest, for purpose: WritePurpose
  ) -> WriteRequest {
    if state.database.coding != .services { return request }
    if case .taking = request { return request }
    let kind = purpose.kind
    let item = state.writes.queue.refused.last {
      $0.write != nil && ($0.purpose.kind.place == kind.place || $0.id == kind.replaced)
    }
    guard let refused = RefusedRecord(item?.write, state) else { return request }
    return refused.request(mended: request) ?? request
  }

  /// The reason why no refused record can be left out of the write under the cursor, or nil if it can.
  static func reasonNotLeftOut(_ state: AppState) -> String? {
    guard case .queue(let screen)? = state.layers.last,
      let item = screen.cursorWrite(in: state.writes.queue)
    else { return "move to a refused write to leave its record out" }
    if RefusedRecord(item.write, state) != nil { return nil }
    return state.phrase("it has no other records", .syncDrop, "drops it")
  }

  /// Asks whether to leave out the refused record of the write under the cursor.
  static func confirmLeavingOut(_ state: inout AppState) {
    guard case .queue(let screen)? = state.layers.last,
      let item = screen.cursorWrite(in: state.writes.queue),
      let refused = RefusedRecord(item.write, state)
    else { return }
    let others =
      refused.restCount == 1 ? "the one after it is" : "the \(refused.restCount) after it are"
    let question = Question(
      .leaveOut(item.id), title: "Leave the record out",
      message: [
        StyledLine(refused.title(state.database.coding)),
        StyledLine("it is not written, and what it was to be is lost", .warn),
        StyledLine("\(others) sent", .muted),
      ],
      explanation: [StyledLine(item.refusal.message, .muted)],
      openedAt: state.input.eventTime)
    Question.open(&state, question, yes: "leave it out", no: "keep it")
  }

  /// Goes on with a refused write without the record that was refused.
  static func leaveOut(_ state: inout AppState, _ id: AppRequestID) {
    guard let item = state.writes.queue.refused.first(where: { $0.id == id }),
      let write = item.write, let request = RefusedRecord(write, state)?.requestForRest
    else { return state.say(.info, dealtWith) }
    if state.refusesWriting() { return }
    send(&state, item, write, request)
    state.say(.info, "the others are sent")
  }

  /// Sends the other records of a refused write.
  private static func send(
    _ state: inout AppState, _ item: WriteQueue.Refused, _ write: PendingWrite,
    _ others: WriteRequest
  ) {
    // What was typed for the record goes with it.
    state.writes.queue.endEdit(item.purpose)
    state.writes.queue.reword(item.id, as: .earlier(write))
    state.submit(.earlier(write), .taking([write.id], isRequired: true, others))
    refreshQueue(&state)
  }

  /// Leaves a record of a refused write as others wrote it, and sends the other records.
  ///
  /// - Returns: False if there are none.
  static func leave(_ state: inout AppState, toOthers draft: CompareDraft) -> Bool {
    guard let item = state.writes.queue.refused.first(where: { $0.id == draft.queued }),
      let write = item.write
    else { return false }
    guard let refused = RefusedRecord(write, state), refused.contains(draft.path),
      let request = refused.requestForRest
    else { return false }
    send(&state, item, write, request)
    return true
  }

  /// True if a comparison is of one record of a refused write that has others.
  static func hasOthers(_ state: AppState, _ draft: CompareDraft) -> Bool {
    let item = state.writes.queue.refused.first { $0.id == draft.queued }
    return RefusedRecord(item?.write, state)?.contains(draft.path) == true
  }
}
