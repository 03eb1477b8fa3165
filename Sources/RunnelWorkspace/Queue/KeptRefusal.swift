package import RunnelBase
package import RunnelTree

/// A write that the origin refused, as it is kept in a file until the user has dealt with it.
package struct KeptRefusal: Hashable, Sendable {
  /// The write, with its places and values.
  package var write: PendingWrite
  var refusal: Refusal
  /// The time of the refusal, in milliseconds since 1970.
  var at: Int64
  var tries: Int
}

extension KeptRefusal {
  private enum Name {
    static let id = "id"
    static let write = "write"
    static let reason = "reason"
    static let fields = "fields"
    static let at = "at"
    static let tries = "tries"
  }

  /// The refusal in the format of its file.
  package var json: JSONValue {
    .object([
      JSONMember(Name.id, .number(JSONNumber(write.id))),
      JSONMember(Name.write, write.json),
      JSONMember(Name.reason, .string(refusal.message)),
      JSONMember(
        Name.fields,
        .object(refusal.fields.map { JSONMember($0.name, .string($0.message)) })),
      JSONMember(Name.at, .number(JSONNumber(at))),
      JSONMember(Name.tries, .int(tries)),
    ])
  }

  /// Reads what `json` wrote; nil if the value is anything else.
  package init?(_ json: JSONValue) {
    guard let id = json[Name.id]?.int, let written = json[Name.write],
      let write = PendingWrite(id: Int64(id), json: written), let reason = json[Name.reason]?.string
    else { return nil }
    let fields = (json[Name.fields]?.object ?? []).compactMap { member in
      member.value.string.map { Refusal.Field(name: member.name, message: $0) }
    }
    self.init(
      write: write, refusal: Refusal(reason, fields: fields),
      at: json[Name.at]?.int.map { Int64($0) } ?? 0, tries: json[Name.tries]?.int ?? 1)
  }
}

extension WriteQueue {
  /// The refused writes that are kept in a file, oldest first: those that the origin refused.
  ///
  /// The texts of others are drafts.
  package var kept: [KeptRefusal] {
    refused.compactMap { item in
      item.write.map {
        KeptRefusal(write: $0, refusal: item.refusal, at: item.at, tries: item.tries)
      }
    }
  }

  /// Takes back refused writes that were kept, before those of this session.
  mutating func restore(_ kept: [KeptRefusal], newID: () -> AppRequestID) {
    let known = Set(refused.compactMap(\.write))
    let items = kept.filter { !known.contains($0.write) }.map { item in
      Refused(
        id: newID(), request: WriteRequest(again: item.write.write), refusal: item.refusal,
        at: item.at, tries: item.tries, purpose: .earlier(item.write), write: item.write)
    }
    refused = Array((items + refused).suffix(WriteQueue.refusedMax))
  }
}

extension QueueScreen {
  /// Takes back the writes that were refused before the program was started.
  static func take(_ state: inout AppState, kept: [KeptRefusal]) {
    var requests = state.requests
    state.writes.queue.restore(kept) { requests.newID() }
    state.requests = requests
    refreshQueue(&state)
  }
}
