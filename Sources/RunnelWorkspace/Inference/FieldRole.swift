import RunnelTree

/// The role of a field in a record, told from its name.
enum FieldRole: Hashable {
  /// The name of the record.
  case title
  /// The state of the record, such as open or done.
  case status
  case priority
  /// A person, such as the author.
  case person
  /// The kind of the record.
  case category
  /// A date or time.
  case date
  /// A text that people wrote, such as a comment.
  case text
  /// A value that only programs use.
  case identifier
  case other

  private static let words: [(role: FieldRole, words: Set<String>)] = [
    (.title, ["name", "title", "subject", "headline", "label", "caption", "summary"]),
    (
      .text,
      [
        "text", "body", "message", "msg", "description", "content", "note", "notes", "comment",
        "details", "bio", "remark", "remarks",
      ]
    ),
    (.status, ["status", "state", "stage", "phase", "done", "completed", "closed", "resolved"]),
    (.priority, ["priority", "severity", "importance", "urgency"]),
    (
      .date,
      [
        "date", "due", "when", "time", "at", "created", "updated", "modified", "deadline",
        "start", "end", "begin", "birthday", "since", "until", "timestamp", "day", "sent", "joined",
        "started", "ended", "finished", "opened", "added", "changed", "seen", "read", "checked",
        "posted", "published", "received", "delivered", "shipped", "ordered", "paid", "bought",
        "sold", "born", "built", "hired", "registered", "visited", "logged", "recorded", "measured",
        "arrival", "arrived", "departure", "departed", "issued", "expires", "expiry", "expired",
      ]
    ),
    (
      .person,
      [
        "assignee", "assigned", "owner", "author", "from", "to", "user", "sender", "by",
        "who", "reporter", "member", "login", "person", "contact",
      ]
    ),
    (
      .category,
      [
        "type", "kind", "category", "role", "group", "section", "tag", "voice", "team",
        "department", "class", "level", "language", "country", "city",
      ]
    ),
    (
      .identifier,
      [
        "id", "uid", "uuid", "guid", "key", "token", "hash", "etag", "url", "uri",
        "href", "link", "version", "revision", "photo", "avatar", "image", "icon",
      ]
    ),
  ]

  /// Makes the role of the field at a path below a record.
  ///
  /// The name of a group counts too: `owner/login` is a person.
  init(ofFieldAt path: Path) {
    let names = path.keys.map { FieldRole.pieces(of: $0.text) }
    let last = names.last.map(FieldRole.role(of:)) ?? .other
    let group = names.dropLast().last.map(FieldRole.role(of:)) ?? .other
    self = group == .person && [.title, .other].contains(last) ? .person : last
  }

  /// Returns the role told by the last word that has one: `created_by` is a person, `user_name` a
  /// title.
  private static func role(of pieces: [String]) -> FieldRole {
    for piece in pieces.reversed() {
      if let role = words.first(where: { $0.words.contains(piece) })?.role { return role }
    }
    return .other
  }

  /// Names of numbers that are given to records, and endings of such names.
  private static let numbers: (words: Set<String>, endings: [String]) = (
    ["nr", "no", "num", "number", "nummer", "numero", "sku", "isbn", "ean"], ["nr", "nummer"]
  )

  /// Whether the name of a field says that it is a number given to each record: `nr`, `invoice_no`,
  /// `Kundennummer`.
  static func isNumber(_ path: Path) -> Bool {
    guard let name = path.lastKey?.text, let last = pieces(of: name).last else { return false }
    return numbers.words.contains(last) || numbers.endings.contains { last.hasSuffix($0) }
  }

  /// The words of a name such as `dueDate`, `due_date` or `due-date`, in lower case.
  static func pieces(of name: String) -> [String] {
    var pieces: [String] = []
    var piece = ""
    var wasLower = false
    for character in name {
      let isBreak = !character.isLetter && !character.isNumber
      if isBreak || (wasLower && character.isUppercase) {
        if !piece.isEmpty { pieces.append(piece) }
        piece = ""
      }
      if !isBreak { piece += character.lowercased() }
      wasLower = character.isLowercase
    }
    return piece.isEmpty ? pieces : pieces + [piece]
  }
}
