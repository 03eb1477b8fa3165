package import RunnelBase

/// A write that the origin of a replica refused, as it is kept until somebody sends it again or drops it.
///
/// The id of the write identifies it.
package struct KeptRefusal: Hashable, Sendable {
  /// The write, with its places and values.
  package var write: PendingWrite
  /// Why the origin refused it, for a person.
  package var reason: String
  /// The time of the refusal, in milliseconds since 1970.
  package var at: Int64
  /// How often it was sent and refused.
  package var tries: Int

  /// Makes a refusal.
  package init(write: PendingWrite, reason: String, at: Int64, tries: Int = 1) {
    self.write = write
    self.reason = reason
    self.at = at
    self.tries = tries
  }
}

extension KeptRefusal {
  private enum Name {
    static let id = "id"
    static let write = "write"
    static let reason = "reason"
    static let at = "at"
    static let tries = "tries"
  }

  /// The refusal as it is stored.
  package var json: JSONValue {
    .object([
      JSONMember(Name.id, .number(JSONNumber(write.id))),
      JSONMember(Name.write, write.json),
      JSONMember(Name.reason, .string(reason)),
      JSONMember(Name.at, .number(JSONNumber(at))),
      JSONMember(Name.tries, .number(JSONNumber(Int64(tries)))),
    ])
  }

  /// Reads what `json` wrote; nil if the value is anything else.
  package init?(_ json: JSONValue) {
    guard let id = json[Name.id]?.int, let written = json[Name.write],
      let write = PendingWrite(id: Int64(id), json: written), let reason = json[Name.reason]?.string
    else { return nil }
    self.init(
      write: write, reason: reason, at: json[Name.at]?.int.map { Int64($0) } ?? 0,
      tries: json[Name.tries]?.int ?? 1)
  }
}
