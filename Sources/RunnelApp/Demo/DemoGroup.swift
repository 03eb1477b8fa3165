/// A group of the demo, with what is talked about in it.
struct DemoGroup: Sendable {
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
  var scripts: [String]
  /// The short exchanges.
  var exchanges: [String] = []
  /// The single messages.
  var remarks: String
  /// The conversations that begin with a pinned message, and how far through the messages they
  /// come: 1 is the end.
  var announcements: [(place: Double, script: String)] = []

  /// The groups in the order of their keys.
  static let all = [
    DemoGroup(
      id: "allotment", name: "Riverside Allotments",
      description:
        "Everyone with a plot between the canal and the railway. Be kind, shut the gate.",
      ageDays: 1_460, messageCount: nil,
      scripts: DemoTexts.sharing + DemoTexts.growing + DemoTexts.site + DemoTexts.company
        + DemoTexts.languages,
      exchanges: DemoTexts.exchanges, remarks: DemoTexts.remarks,
      announcements: DemoTexts.announcements),
    DemoGroup(
      id: "committee", name: "Committee",
      description: "Agendas, money, keys, the waiting list. Minutes go on the notice board.",
      ageDays: 1_402, messageCount: 60, isForOrganizers: true,
      scripts: DemoTexts.committee, remarks: DemoTexts.committeeRemarks),
    DemoGroup(
      id: "kitchen", name: "Kitchen table",
      description: "What to do with all of it: recipes, jars, and the Sunday lunches.",
      ageDays: 611, messageCount: 120,
      scripts: DemoTexts.kitchen, remarks: DemoTexts.kitchenRemarks),
  ]
}
