import RunnelTree

/// The part that a field plays in a record, as its name says.
enum FieldRole: Hashable {
  /// What the record is called.
  case title
  /// How far it is.
  case status
  case priority
  /// The person concerned.
  case person
  /// The kind of the record.
  case category
  /// When something was, or is to be.
  case date
  /// What was written.
  case text
  /// What only programs use.
  case identifier
  case other

  private static let words: [(role: FieldRole, words: Set<String>)] = [
    (.title, ["name", "title", "subject", "headline", "label", "caption", "summary"]),
    (
      .text,
      [
        "text", "body", "message", "description", "content", "note", "notes", "comment",
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

  /// The part that the field at a path below a record plays.
  ///
  /// Of `owner/login` the name of the group counts: it is a person.
  init(ofFieldAt path: Path) {
    let names = path.keys.map { FieldRole.pieces(of: $0.text) }
    let last = names.last.map(FieldRole.role(of:)) ?? .other
    let group = names.dropLast().last.map(FieldRole.role(of:)) ?? .other
    self = group == .person && [.title, .other].contains(last) ? .person : last
  }

  /// The last word that says something counts: `created_by` is a person, `user_name` a title.
  private static func role(of pieces: [String]) -> FieldRole {
    for piece in pieces.reversed() {
      if let role = words.first(where: { $0.words.contains(piece) })?.role { return role }
    }
    return .other
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
