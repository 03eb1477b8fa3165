import RunnelBase

/// What the demo's people are called and say to each other, as `Resources/demo/demo.texts.json` has it.
///
/// The file has:
/// - `people`, in the order of their keys: `id` (lower-case letters), `name`, `short` (what the others
///   call them), `plot`, and where it holds `organizer`, `away`, `joinedOnDay`;
/// - `words`: for each slot that depends on nothing, the words that fill it;
/// - `groups`, in the order of their keys; see `DemoGroup`.
///
/// A conversation is an array with a turn in each string: who, a colon, what. Who is a capital letter
/// for somebody (the same letter is the same person; `O` and `P` are organizers), or the key of a
/// person for texts that only they would write. A turn that begins with `?` is left out half of the
/// time; the first one is not. The single messages (`remarks`) are by somebody unless they say by
/// whom; where there are more turns than one, ` // ` stands between them. In the text:
/// - `[a|b|c]` is one of them, by chance;
/// - `{a/b}` is `a` in the morning and `b` later;
/// - `{veg}` is a word for the slot `veg`, the same one each time in a conversation;
/// - `{A}` is the name of person A, and `{plotA}` the number of their plot.
///
/// `DemoSlots` knows the slots. What a file cannot mean is refused when it is read, so that making a
/// demo of texts that were read does not fail.
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

  /// The output is in the order of the keys.
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
  /// Where it is, such as `groups[0].scripts[3][1]`.
  package let place: String
  /// What is wrong there.
  package let message: String

  init(_ place: String, _ message: String) {
    self.place = place
    self.message = message
  }

  /// The place and what is wrong, in a line.
  package var description: String { "\(place): \(message)" }
}
