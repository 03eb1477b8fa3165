/// A group of the demo, with what is talked about in it.
struct DemoGroup: Sendable {
  /// A conversation that begins with a pinned message.
  struct Announcement: Sendable {
    /// How far through the messages it comes: 1 is the end.
    var place: Double
    var script: DemoScript
  }

  /// The key of the record.
  var id: String
  /// The name.
  var name: String
  /// What the group is for.
  var description: String
  /// How long before the end of the two months it was made, in days.
  var ageDays: Int
  /// How many messages it has; nil for the one that has as many as asked for.
  var messageCount: Int?
  /// True if only organizers talk in it.
  var isForOrganizers = false
  /// The conversations; see `DemoTexts`.
  var scripts: [DemoScript]
  /// The short exchanges, of which no two are alike: each turn is one of several.
  var exchanges: [DemoScript] = []
  /// The single messages.
  var remarks: [DemoScript]
  /// The announcements, in their order.
  var announcements: [Announcement] = []

  /// The most messages of a group that has a number of its own.
  private static let messageCountMax = 100_000

  /// Reads a group, and checks that every text can be filled.
  init(_ reader: DemoTextsReader, _ slots: DemoSlotCheck) throws(DemoTextsError) {
    try reader.expect(only: [
      "id", "name", "description", "ageDays", "messageCount", "forOrganizers", "announcements",
      "scripts", "exchanges", "remarks",
    ])
    id = try reader.member("id").string()
    if id.contains(where: { ".#$/[]".contains($0) || $0 < " " }) {
      throw reader.error("the id '\(id)' is no key")
    }
    name = try reader.member("name").string()
    description = try reader.member("description").string()
    ageDays = try reader.member("ageDays").integer(DemoCalendar.dayCount...36_500)
    messageCount = try reader.optional("messageCount")?.integer(0...DemoGroup.messageCountMax)
    isForOrganizers = try reader.optional("forOrganizers")?.bool() ?? false
    scripts = try Self.scripts(reader.member("scripts"), slots)
    exchanges =
      try reader.optional("exchanges").map { (list) throws(DemoTextsError) in
        try Self.scripts(list, slots)
      } ?? []
    remarks = try reader.elements("remarks").mapped { (remark) throws(DemoTextsError) in
      try DemoScript(remark: remark, slots)
    }
    guard !scripts.isEmpty, !remarks.isEmpty else {
      throw reader.error("there are no scripts, or no remarks")
    }
    announcements =
      try reader.optional("announcements").map { (list) throws(DemoTextsError) in
        try Self.announcements(list, slots)
      } ?? []
  }

  private static func scripts(
    _ reader: DemoTextsReader, _ slots: DemoSlotCheck
  ) throws(DemoTextsError) -> [DemoScript] {
    try reader.elements().mapped { (script) throws(DemoTextsError) in
      try DemoScript(script, slots)
    }
  }

  private static func announcements(
    _ reader: DemoTextsReader, _ slots: DemoSlotCheck
  ) throws(DemoTextsError) -> [Announcement] {
    try reader.elements().mapped { (announcement) throws(DemoTextsError) in
      try announcement.expect(only: ["place", "script"])
      return Announcement(
        place: try announcement.member("place").share(),
        script: try DemoScript(announcement.member("script"), slots))
    }
  }
}
