import Crypto
import RunnelBase
import RunnelSync
import RunnelTree

/// What the last named writes of a client over HTTP were, so that a name that is used for another write is
/// not taken for a repetition.
///
/// It is kept beside the data; of writes that came before it was, or otherwise, nothing is known.
struct WritePrints {
  private static let countMax = 100
  private static let prefix = "written."
  /// The bytes of a fingerprint that are kept.
  private static let byteCount = 12

  private let name: WriteID
  private var prints: [(number: String, print: String)] = []

  /// Reads the fingerprints of the client of a name, as it is kept.
  init(of name: WriteID, _ transaction: some ServedTransaction) throws(Refused) {
    self.name = name
    let found = try failing { try transaction.keptValue(WritePrints.prefix + name.client) }
    // Unreadable data is treated like writes of which nothing is known.
    guard let found, case .object(let members)? = try? JSONValue(parsing: found) else { return }
    prints = members.compactMap { member in
      if case .string(let print) = member.value { (member.name, print) } else { nil }
    }
  }

  /// Checks that the write that was done under the name was this one.
  ///
  /// - Throws: `Refused` if it was another one.
  func check(_ print: String, _ asked: WriteID) throws(Refused) {
    let known = prints.first { $0.number == String(name.number) }?.print
    if known == nil || known == print { return }
    throw .refusal(
      TreeError(
        .nameUsed,
        "The number \(asked.number) of \(asked.client) was used for another write: this one was not carried "
          + "out. Give each write a number of its own."))
  }

  /// Notes what was done under the name.
  mutating func note(
    _ print: String, _ transaction: some ServedTransaction
  ) throws(Refused) {
    prints.append((String(name.number), print))
    let members = prints.suffix(WritePrints.countMax).map {
      JSONMember($0.number, .string($0.print))
    }
    try failing {
      try transaction.keep(JSONValue.object(members).jsonText(), WritePrints.prefix + name.client)
    }
  }

  /// The fingerprint of a write: of its kind, its place, and its values.
  ///
  /// O(n) in the values.
  static func fingerprint(of write: Write) -> String {
    switch write {
    case .set(let path, let json): fingerprint("set", path, json)
    case .update(let path, let members): fingerprint("update", path, .object(members))
    // Clients do not request these.
    case .copy(_, let path), .move(_, let path): fingerprint("copy", path, .null)
    }
  }

  /// The fingerprint of a value that is put under a new key of a place.
  static func fingerprint(ofPushing json: JSONValue, to path: Path) -> String {
    fingerprint("push", path, json)
  }

  private static func fingerprint(_ kind: String, _ path: Path, _ json: JSONValue) -> String {
    var hash = SHA256()
    hash.update(data: Array("\(kind) \(path)\n".utf8))
    hash.update(data: json.jsonBytes())
    return Base64URL.text(Array(hash.finalize().prefix(byteCount)))
  }
}
