import RunnelBase

/// The names and texts of the demo's people, as in `Resources/demo/demo.texts.json`.
///
/// The file has:
/// - `people`, in the order of their keys: `id` (lower-case letters), `name`, `short` (the name
///   that others use), `plot`, and optionally `organizer`, `away`, `joinedOnDay`;
/// - `words`: for each slot that depends on nothing else, the words that fill it;
/// - `groups`, in the order of their keys; see `DemoGroup`.
///
/// A conversation is an array with a turn in each string: the speaker, a colon, the text. The
/// speaker is a capital letter for anybody (the same letter is the same person; `O` and `P` are
/// organizers), or the key of a person for texts that only this person would write. A turn that
/// begins with `?` is left out half of the time; the first turn never is. Single messages
/// (`remarks`) are by anybody unless they name the speaker; if a remark has several turns, ` // `
/// stands between them. In the text:
/// - `[a|b|c]` is one of them, by chance;
/// - `{a/b}` is `a` in the morning and `b` later;
/// - `{veg}` is a word for the slot `veg`, the same one each time in a conversation;
/// - `{A}` is the name of person A, and `{plotA}` the number of their plot.
///
/// `DemoSlots` knows the slots. A file with mistakes is refused when it is read, so that making a
/// demo from texts that were read does not fail.
package struct DemoTexts: Sendable {
  /// The community, in the order of the keys; not empty.
  let people: [DemoPerson]
  /// The words for the slots that depend on nothing.
  let words: [String: [String]]
  /// The groups in the order of their keys, the main one among them.
  let groups: [DemoGroup]

  /// Reads the texts from JSON.
  ///
  /// - Throws: `DemoTextsError` with the place of the first mistake.
  package init(parsing bytes: [UInt8]) throws(DemoTextsError) {
    let json: JSONValue
    do {
      json = try JSONValue(parsing: bytes)
    } catch {
      throw DemoTextsError("The demo's texts", error.description)
    }
    try self.init(DemoTextsReader(json))
  }

  private init(_ reader: DemoTextsReader) throws(DemoTextsError) {
    try reader.expect(only: ["about", "people", "words", "groups"])
    people = try Self.people(reader.elements("people"))
    words = try Self.words(reader.member("words"))
    let slots = DemoSlotCheck(words: words, people: people)
    groups = try reader.elements("groups").mapped { (group) throws(DemoTextsError) in
      try DemoGroup(group, slots)
    }
    try Self.expectAscending(groups.map(\.id), "groups")
    guard groups.contains(where: { $0.id == DemoData.mainGroupID }) else {
      throw DemoTextsError("groups", "there is no group with the id \(DemoData.mainGroupID)")
    }
  }

  private static func people(
    _ readers: [DemoTextsReader]
  ) throws(DemoTextsError) -> [DemoPerson] {
    let people = try readers.mapped { (person) throws(DemoTextsError) in try DemoPerson(person) }
    try expectAscending(people.map(\.id), "people")
    if people.allSatisfy({ $0.isAway || $0.joinedOnDay != nil }) {
      throw DemoTextsError("people", "somebody has to be there all the time")
    }
    return people
  }

  private static func words(
    _ reader: DemoTextsReader
  ) throws(DemoTextsError) -> [String: [String]] {
    var words: [String: [String]] = [:]
    for (name, list) in try reader.members() {
      words[name] = try list.strings()
      if words[name] == [] { throw DemoTextsError("words.\(name)", "there are no words") }
    }
    return words
  }

  /// Throws if the keys do not ascend, because the output is in their order.
  private static func expectAscending(
    _ keys: [String], _ place: String
  ) throws(DemoTextsError) {
    for (left, right) in zip(keys, keys.dropFirst())
    where !left.utf8.lexicographicallyPrecedes(right.utf8) {
      throw DemoTextsError(place, "\(right) comes after \(left): ids have to ascend")
    }
  }
}

/// A mistake in the demo's texts.
package struct DemoTextsError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The place of the mistake, such as `groups[0].scripts[3][1]`.
  package let place: String
  /// The mistake.
  package let message: String

  init(_ place: String, _ message: String) {
    self.place = place
    self.message = message
  }

  /// The place and the mistake, in a line.
  package var description: String { "\(place): \(message)" }
}
