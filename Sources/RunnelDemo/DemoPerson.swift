/// A member of the demo's community.
struct DemoPerson: Sendable {
  /// The key of the record, and the name of the person in the scripts: lower-case letters.
  var id: String
  /// The full name.
  var name: String
  /// The name that the others use.
  var shortName: String
  /// The number of the plot they keep.
  var plot: Int
  /// True for people who look after the gate, the water and the lists.
  var isOrganizer = false
  /// True for people who are away at the end of the two months.
  var isAway = false
  /// The day of the two months on which they joined; nil for those who joined before.
  var joinedOnDay: Int?

  /// Reads a member.
  init(_ reader: DemoTextsReader) throws(DemoTextsError) {
    try reader.expect(only: ["id", "name", "short", "plot", "organizer", "away", "joinedOnDay"])
    id = try reader.member("id").string()
    guard id.utf8.allSatisfy({ UInt8(ascii: "a")...UInt8(ascii: "z") ~= $0 }) else {
      throw reader.error("the id '\(id)' has something else than letters from a to z")
    }
    name = try reader.member("name").string()
    shortName = try reader.member("short").string()
    plot = try reader.member("plot").integer(1...9_999)
    isOrganizer = try reader.optional("organizer")?.bool() ?? false
    isAway = try reader.optional("away")?.bool() ?? false
    joinedOnDay = try reader.optional("joinedOnDay")?.integer(0...DemoCalendar.dayCount - 1)
  }
}
