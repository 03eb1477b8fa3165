/// A member of the demo's community.
struct DemoPerson: Sendable {
  /// The key of the record, and the name that the scripts know the person by: lower-case letters.
  var id: String
  /// The full name.
  var name: String
  /// What the others call them.
  var shortName: String
  /// The number of the plot they keep.
  var plot: Int
  /// True for those who look after the gate, the water and the lists.
  var isOrganizer = false
  /// True for those who are away at the end of the two months.
  var isAway = false
  /// On which day of the two months they joined; nil for those who were there before.
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
