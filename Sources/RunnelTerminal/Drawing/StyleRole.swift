/// The meaning of a cell; a theme decides how it looks.
public enum StyleRole: UInt8, CaseIterable, Sendable {
  /// Ordinary text.
  case text
  /// Ages, counts, hints.
  case muted
  /// Text that stands out.
  case strong
  /// A frame or a separator.
  case frame
  /// The frame of the pane with the focus.
  case frameFocus
  /// A key in the line of hints.
  case hintKey
  /// Something that can be followed.
  case link
  /// The title of a screen or a popup.
  case title
  /// The header of a section.
  case sectionHeader
  /// The header of the section whose rows start above the screen.
  case sectionSticky
  /// A marked row.
  case rowMarked
  /// A row that arrived since the last visit.
  case rowNew
  /// A cell that changed a moment ago.
  case rowChanged
  /// A row with a write that waits.
  case rowPending
  /// A conflict, a refused write, a removed value.
  case conflict
  /// An error.
  case error
  /// A row that is not stored.
  case transient
  /// A row that stands for rows not loaded.
  case placeholder
  /// The line between read and unread rows.
  case unreadLine
  /// A warning.
  case warn
  /// A live connection.
  case live
  /// A success, an added value.
  case ok
  /// A connection being made, or stale data.
  case connecting
  /// A match of the search.
  case searchMatch
  /// The match of the search under the cursor.
  case searchCurrent
  /// A text field.
  case input
  /// A text field with an unacceptable value.
  case inputInvalid
  /// The border of a dialog.
  case dialog
  /// The border of a dialog that asks about something destructive.
  case dialogDanger
  /// The key of a JSON object.
  case jsonKey
  /// A JSON string.
  case jsonString
  /// A JSON number.
  case jsonNumber
  /// A JSON boolean.
  case jsonBool
  /// A JSON null.
  case jsonNull
  /// A toast that tells something.
  case toastInfo
  /// A toast that warns.
  case toastWarn
  /// A toast that reports an error.
  case toastError
  /// The thumb of a scroll bar.
  case scrollbar
  /// The header of a red profile, such as that of production.
  case production
  /// The header of a yellow profile.
  case profileYellow
  /// The header of a green profile.
  case profileGreen
  /// The header of a blue profile.
  case profileBlue
  /// The header of a magenta profile.
  case profileMagenta
  /// The header of a cyan profile.
  case profileCyan
  /// The first color of values that are told apart by their color.
  case value1
  /// The second color of values.
  case value2
  /// The third color of values.
  case value3
  /// The fourth color of values.
  case value4
  /// The fifth color of values.
  case value5
  /// The sixth color of values.
  case value6

  /// The colors of values.
  private static let values: [StyleRole] = [.value1, .value2, .value3, .value4, .value5, .value6]

  /// The color of a value, such as a person or a state: the same in every row, list and session.
  ///
  /// Two values may have the same color. O(n) in the text.
  public static func color(ofValue text: String) -> StyleRole {
    // FNV-1a, because the standard library's hashes differ from run to run.
    var hash: UInt32 = 2_166_136_261
    for byte in text.utf8 { hash = (hash ^ UInt32(byte)) &* 16_777_619 }
    // The low bits of the hash alone say little about short texts.
    return values[Int((hash ^ hash >> 15) % UInt32(values.count))]
  }

  /// A sign unique to the role, for the role layer of screen tests; `.` for ordinary text.
  public var letter: Character { Self.letters[Int(rawValue)] }

  /// The letters in the order of the cases.
  private static let letters = Array(".msfFklTHSMNCPXEtpuwLOcqQiIdDKGUBZ123bRyegnW456789")

  /// Whether the cursor row draws the role as ordinary text, which is easier to read there.
  var isMuted: Bool {
    switch self {
    case .muted, .frame, .transient, .jsonNull, .scrollbar: true
    default: false
    }
  }
}

/// Text with one role.
public struct StyledRun: Hashable, Sendable {
  /// The text, unchanged; it is sanitized when it is drawn.
  public var text: String
  /// The role of each of its cells.
  public var role: StyleRole

  /// Makes a run.
  public init(_ text: String, _ role: StyleRole = .text) {
    self.text = text
    self.role = role
  }
}

/// A line of text whose parts have roles of their own.
public struct StyledLine: Hashable, Sendable {
  /// The parts, from left to right.
  public var runs: [StyledRun]

  /// Makes a line of runs.
  public init(_ runs: [StyledRun] = []) {
    self.runs = runs
  }

  /// Makes a line with one role.
  public init(_ text: String, _ role: StyleRole = .text) {
    runs = [StyledRun(text, role)]
  }

  /// The number of columns of the line if there is room.
  ///
  /// O(n) in its characters.
  public var width: Int { runs.reduce(0) { $0 + CellWidth.width(of: $1.text) } }

  /// The text without its roles.
  public var text: String { runs.map(\.text).joined() }

  /// Whether there is no text in the line.
  public var isEmpty: Bool { runs.allSatisfy(\.text.isEmpty) }

  /// Adds text at the end.
  public mutating func append(_ text: String, _ role: StyleRole = .text) {
    runs.append(StyledRun(text, role))
  }

  /// Adds the runs of another line at the end.
  public mutating func append(_ line: StyledLine) {
    runs.append(contentsOf: line.runs)
  }
}

extension StyledLine: ExpressibleByStringLiteral {
  /// Makes a line of ordinary text.
  public init(stringLiteral value: String) {
    self.init(value)
  }
}
