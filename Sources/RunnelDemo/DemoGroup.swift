/// A group of the demo, with the texts of its conversations.
struct DemoGroup: Sendable {
  /// A conversation that begins with a pinned message.
  struct Announcement: Sendable {
    /// Its position among the messages, as a share: 1 is the end.
    var place: Double
    var script: DemoScript
  }

  /// The key of the record.
  var id: String
  /// The name.
  var name: String
  /// The purpose of the group.
  var description: String
  /// Its age at the end of the two months, in days.
  var ageDays: Int
  /// The number of its messages; nil for the group whose number the caller chooses.
  var messageCount: Int?
  /// True if only organizers talk in it.
  var isForOrganizers = false
  /// The conversations; see `DemoTexts`.
  var scripts: [DemoScript]
  /// The short exchanges, no two of which are alike: each turn is one of several.
  var exchanges: [DemoScript] = []
  /// The single messages.
  var remarks: [DemoScript]
  /// The announcements, in their order.
  var announcements: [Announcement] = []

  /// The greatest number of messages of a group whose number the texts give.
  private static let messageCountMax = 100_000

  /// Reads a group, and checks that all slots of its texts can be filled.
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
