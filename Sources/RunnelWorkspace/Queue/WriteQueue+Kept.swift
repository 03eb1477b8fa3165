import RunnelBase
import RunnelTerminal
package import RunnelTree

// The refused writes that the replica's file keeps: one queue for all programs that have it open.

extension WriteQueue {
  /// Takes over the refused writes that the replica's file keeps: another program may have added some, and may have
  /// sent others again or dropped them.
  ///
  /// Those of this program that are in no file stay.
  ///
  /// - Returns: the number of those that are gone.
  @discardableResult
  package mutating func take(_ kept: [KeptRefusal], newID: () -> AppRequestID) -> Int {
    let entries = Dictionary(kept.map { ($0.write.id, $0) }) { $1 }
    var items = refused.filter { item in item.write.map { entries[$0.id] != nil } ?? true }
    let goneCount = refused.count - items.count
    for index in items.indices {
      guard let id = items[index].write?.id, let entry = entries[id] else { continue }
      items[index].tries = entry.tries
      if let old = items[index].write?.write, old != entry.write.write,
        items[index].request == WriteRequest(again: old)
      {
        // Its record has got another key.
        items[index].request = WriteRequest(again: entry.write.write)
      }
      items[index].write = entry.write
      if case .earlier = items[index].purpose { items[index].purpose = .earlier(entry.write) }
    }
    let known = Set(items.compactMap(\.write?.id))
    items += kept.filter { !known.contains($0.write.id) }.map { Refused($0, as: newID()) }
    if items != refused { refused = items }
    return goneCount
  }

  /// Returns the request for a write with a purpose; with it, the refused writes for which it stands leave the
  /// replica's file.
  ///
  /// O(refused writes).
  func taking(_ request: WriteRequest, for purpose: WritePurpose) -> WriteRequest {
    if case .taking = request { return request }
    let (place, replaced) = (purpose.kind.place, purpose.kind.replaced)
    // The text of one that another window has sent is not written besides.
    let edited = edited.filter { $0.purpose.kind.place == place }.map(\.id)
    if !edited.isEmpty { return .taking(edited, isRequired: true, request) }
    let kept = refused.filter { $0.write != nil }
    if kept.isEmpty { return request }
    let ids = kept.filter { $0.purpose.kind.place == place || $0.id == replaced }
      .compactMap(\.write?.id)
    return ids.isEmpty ? request : .taking(ids, isRequired: false, request)
  }

  /// Drops the refused writes that were tried again by a request, since somebody else has dealt with them.
  mutating func dropTried(_ id: AppRequestID, _ purpose: WritePurpose) {
    end(id)
    forgetTried(purpose)
  }

  /// Drops the refused writes for which the write with a purpose would stand.
  mutating func forgetTried(_ purpose: WritePurpose) {
    let place = purpose.kind.place
    refused.removeAll { $0.write != nil && $0.purpose.kind.place == place }
  }
}

/// A refused write of the replica's file that is edited again.
struct EditedRefusal: Hashable, Sendable {
  /// The id of the refused write.
  let id: Int64
  /// What is written of it.
  var purpose: WritePurpose

  init(_ id: Int64, _ purpose: WritePurpose) { (self.id, self.purpose) = (id, purpose) }
}

extension WriteQueue.Refused {
  /// Makes the entry of a refused write that a file keeps.
  init(_ kept: KeptRefusal, as id: AppRequestID) {
    self.init(
      id: id, request: WriteRequest(again: kept.write.write), refusal: Refusal(kept.reason),
      at: kept.at, tries: kept.tries, purpose: .earlier(kept.write), write: kept.write)
  }
}

extension QueueScreen {
  /// Words for what another window did with a refused write.
  static let dealtWith = "another window sent or dropped it"

  /// Takes over the refused writes that the replica's file keeps.
  static func take(_ state: inout AppState, kept: [KeptRefusal]) {
    var requests = state.requests
    let goneCount = state.writes.queue.take(kept) { requests.newID() }
    state.requests = requests
    refreshQueue(&state)
    // Whoever looks at the list sees a line go that the cursor may have been on.
    guard goneCount > 0, case .queue? = state.layers.last else { return }
    let writes = goneCount == 1 ? "a refused write" : "\(goneCount) refused writes"
    state.say(.info, "another window sent or dropped \(writes)")
  }

  /// Ends the attempt to send a refused write again with which another window has dealt.
  static func noteDealtWith(_ state: inout AppState, _ id: AppRequestID, _ purpose: WritePurpose) {
    state.writes.undoing.drop(id)
    let place = purpose.kind.place
    if state.writes.queue.edited.contains(where: { $0.purpose.kind.place == place }) {
      return askToWriteToo(&state, id, purpose)
    }
    state.writes.queue.dropTried(id, purpose)
    refreshQueue(&state)
    state.say(.info, dealtWith)
  }

  /// Asks whether to write the edited text of a refused write with which another window has dealt.
  ///
  /// Whoever does something else by then finds the text in the queue.
  private static func askToWriteToo(
    _ state: inout AppState, _ id: AppRequestID, _ purpose: WritePurpose
  ) {
    let isUntouched = TypeAhead.isUntouched(state, sinceWrite: id)
    guard let request = state.writes.queue.waiting[id]?.request, isUntouched else {
      let refusal = Refusal("\(dealtWith): this was not written")
      state.writes.queue.forgetTried(purpose)
      state.writes.queue.endEdit(purpose)
      state.writes.queue.refuse(id, purpose, refusal, nil, at: state.now)
      refreshQueue(&state)
      return Writing.sayKept(&state, refusal)
    }
    state.writes.queue.dropTried(id, purpose)
    refreshQueue(&state)
    let held = HeldWrite(purpose: purpose, requests: [request])
    let question = Question(
      .writeToo(held), title: "Another window sent or dropped it: write this too?",
      message: held.lines,
      explanation: [
        StyledLine("If it was sent, it stands there already, and this is written besides.", .muted)
      ], openedAt: state.input.eventTime)
    Question.open(&state, question, yes: "write it, too", no: "leave it")
  }

  /// Drops a refused write; one that a file keeps is dropped there first.
  static func drop(_ state: inout AppState, _ id: AppRequestID) {
    guard let item = state.writes.queue.refused.first(where: { $0.id == id }) else {
      return state.say(.info, dealtWith)
    }
    guard let write = item.write else { return finishDrop(&state, id) }
    if state.refusesWriting() { return }
    state.ask(.dropRefused(write.id), for: .dropRefused(id))
  }

  /// Drops a refused write that no file keeps any more; the reason is why this window did not drop it there.
  static func finishDrop(_ state: inout AppState, _ id: AppRequestID, _ refusal: Refusal? = nil) {
    if let refusal, refusal.cause != .dealtWith { return state.say(.error, refusal.message) }
    let item = state.writes.queue.refused.first { $0.id == id }
    if let item { ComposeScreen.forgetDraft(&state, of: item.purpose) }
    state.writes.queue.drop(id)
    refreshQueue(&state)
    if refusal != nil { return state.say(.info, dealtWith) }
    state.say(
      .info, (["dropped"] + [item?.write?.doneWords].compactMap(\.self)).joined(separator: "; "))
  }
}
