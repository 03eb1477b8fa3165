package import RunnelBase
import RunnelStreams
package import RunnelTerminal
import RunnelTree

/// A value that is typed into a field: its text, its kind, and the error in it.
package struct FieldInput: Hashable, Sendable {
  /// The greatest number of records offered for a reference.
  static let choicesMax = 500

  /// A value to choose.
  package struct Choice: Hashable, Sendable {
    /// The text of the field for this choice.
    package var text: String
    /// The title of the choice; empty if the text is enough.
    package var title = ""

    package init(text: String, title: String = "") {
      self.text = text
      self.title = title
    }
  }

  /// The rule of a resource for the field, or nil if it may hold any value.
  let rule: FieldRule?
  package var kind: FieldKind
  package var editor: LineEditor
  package var error: String?
  /// The text that the field began with.
  let firstText: String
  /// The text that the field began with when the draft in it was typed; nil if it has none.
  var draftBase: String?
  /// A time that a record holds in this field; nil if none is known beside the first text.
  private var likeMoment: Int64?
  /// A date that a record holds in this field as a text; nil if none is known beside the first text.
  private var likeDate: String?
  /// Whether a record holds another text in this field, so that a word may be meant.
  private var isLikeText = false
  /// The known choices.
  var choices: [Choice] = []
  /// The collection of the records that a reference may name, or nil.
  var choicesPath: Path?
  /// Whether the choices are being read.
  var isReadingChoices = false
  private var dates = DateReading()
  /// How values that a tree does not hold stand in the database: only services have null and empty arrays.
  var coding = ValueCoding.tree

  init(kind: FieldKind, text: String = "") {
    rule = nil
    self.kind = kind
    editor = LineEditor(text)
    firstText = text
  }

  /// Makes an empty field for values like one of another record: if that is a time, dates may be typed.
  init(kind: FieldKind, like leaf: Leaf) {
    self.init(kind: kind)
    if case .number(let number) = leaf {
      likeMoment = number.integer.flatMap { StoredTime.milliseconds.contains($0) ? $0 : nil }
    } else if case .string(let text) = leaf {
      likeDate = DateText(text, .utc) == nil ? nil : text
    }
  }

  /// Takes the values that the field has in several records: if one of them is a time or a date, dates may be
  /// typed.
  mutating func hold(_ values: [JSONValue]) {
    for value in values {
      switch value {
      case .number(let number) where likeMoment == nil:
        likeMoment = number.integer.flatMap { StoredTime.contains($0) ? $0 : nil }
      case .string(let text) where likeDate == nil:
        likeDate = DateText(text, .utc) == nil ? nil : text
      default: break
      }
      if case .string(let text) = value, !text.isEmpty, DateText(text, .utc) == nil {
        isLikeText = true
      }
      if likeMoment != nil, likeDate != nil, isLikeText { return }
    }
  }

  init(rule: FieldRule?, _ value: JSONValue) {
    self.rule = rule
    kind = rule.map { FieldKind($0.kind, value) } ?? FieldKind(value)
    let text = FieldKind.text(of: value)
    editor = LineEditor(text)
    firstText = text
    if case .choice(let leaves)? = rule?.kind {
      choices = leaves.map { Choice(text: FieldKind.text(of: $0.json)) }
    }
  }

  /// The reader of dates; nil until something is typed into a field that holds a date.
  ///
  /// The time of typing makes no other input: all readers are equal.
  private struct DateReading: Hashable, Sendable {
    var reader: MomentReader?

    static func == (_: DateReading, _: DateReading) -> Bool { true }
    func hash(into _: inout Hasher) {}
  }

  /// Lets a text that has several lines have more of them, also where it is edited in one line.
  mutating func keepLines() {
    if editor.text.contains(where: \.isNewline) { allowLines() }
  }

  /// Lets the text have several lines, unless it is chosen or is no text.
  mutating func allowLines() {
    guard kind == .string, choices.isEmpty, choicesPath == nil, !editor.isSecret else { return }
    editor = LineEditor(editor.text, isMultiline: true)
  }

  /// Whether nothing is typed, which stands for no value.
  package var isEmpty: Bool { editor.isEmpty && (rule != nil || kind != .string) }

  /// Whether an empty text can be meant: as a text, or as no value where the rule allows that.
  var takesEmptyText: Bool { rule.map { !$0.isRequired } ?? (kind == .string) }

  /// Whether the text is another one than the field began with.
  var isChanged: Bool { editor.text != firstText }

  /// The kind of value, as a word.
  package var label: String {
    if editor.isSecret { return "hidden" }
    return switch rule?.kind {
    case nil, .any: kind.rawValue
    case .text: "text"
    case .integer: "integer"
    case .number: "number"
    case .boolean: "boolean"
    case .time: "time"
    case .choice: "choice"
    case .reference(let resource): resource
    case .object: "object"
    }
  }
}

// MARK: Values

extension FieldInput {
  /// The local date and time, as the cells show it, of a typed moment that is written in another zone; nil for
  /// other texts.
  func localTime(_ local: LocalTime) -> String? {
    guard kind == .string, !editor.isSecret, let zoned = ZonedText(editor.text),
      local.offsetSeconds(zoned.milliseconds) != zoned.offsetSeconds
    else { return nil }
    return TreeText.moment(of: Leaf.string(editor.text), local).map { "\($0) local" }
  }

  /// The kind of value, and the date that a word names, or the local time of a moment that is written in
  /// another zone.
  func label(_ local: LocalTime) -> String {
    (namedDate ?? localTime(local)).map { "\(label) · \($0)" } ?? label
  }

  /// What a word such as `tomorrow` stands for in a field that holds dates as texts.
  private enum DateWord {
    /// A date, as the field writes dates.
    case date(String)
    /// The word itself, which was typed in quotes.
    case text(String)
    /// A time of day, for which the field has no place.
    case time
  }

  /// What the typed word stands for; nil if the field holds no dates as texts, or the text is no such word.
  private var dateWord: DateWord? {
    switch rule?.kind {
    case nil, .any, .text: break
    default: return nil
    }
    guard !editor.isSecret, let example = dateExample, let reader = dates.reader else { return nil }
    let text = editor.text
    if text.count > 2, text.hasPrefix("\""), text.hasSuffix("\"") {
      let quoted = String(text.dropFirst().dropLast())
      return reader.moment(quoted) == nil && !isMistyped(quoted) ? nil : .text(quoted)
    }
    guard DateText(text, .utc) == nil, let moment = reader.moment(text),
      let date = FieldDate(text: example, reader.local)
    else { return nil }
    let namesTime = text.contains(":") || text.split(separator: " ").count > 1
    if let day = date.text(of: moment, withTime: namesTime, reader.local) { return .date(day) }
    return date.isDay && namesTime ? .time : nil
  }

  /// Whether a text is no date that is understood, in a field that held a date, or is empty in a column of
  /// dates.
  ///
  /// Where other records hold other texts, only one with a digit is meant as a date.
  private func isMistyped(_ text: String) -> Bool {
    guard dates.reader != nil, dateExample != nil, text != firstText,
      firstText.isEmpty || DateText(firstText, .utc) != nil
    else { return false }
    switch rule?.kind {
    case nil, .any, .text: break
    default: return false
    }
    if text.isEmpty || isLikeText && !text.contains(where: \.isNumber) { return false }
    return !text.hasPrefix("\"")
      && DateText(text, .utc) == nil && FieldDate(text: text, .utc) == nil
  }

  /// The date that a word such as `tomorrow` names, as the field writes dates; nil if the field holds no dates as
  /// texts, or the text names none.
  var namedDate: String? { if case .date(let date)? = dateWord { date } else { nil } }

  /// Returns the text that a word stands for in a field that holds dates as texts, or nil if it is no such word.
  ///
  /// - Throws: `InputError`, for a time of day in a field of days.
  private func textOfDateWord() throws(InputError) -> String? {
    switch dateWord {
    case nil:
      if isMistyped(editor.text) { throw InputError(FieldInput.dayAdvice) }
      return nil
    case .date(let text), .text(let text): return text
    case .time: throw InputError("this field holds days: type a day, or the text in \"quotes\"")
    }
  }

  /// The word that stands for the time of the write.
  package static let now = "now"
  private static let dayAdvice =
    "not a date: type 2026-08-24, 24.8.2026, 24.8., tomorrow or -2d, or the text in \"quotes\""
  private static let dateAdvice =
    "not a time: type 2026-08-24 09:30, tomorrow 9:00, -2d, or milliseconds since 1970"

  /// Returns the value of the typed text.
  ///
  /// - Throws: `InputError`, which says what is expected.
  package func value() throws(InputError) -> JSONValue {
    if let day = missingDay { throw InputError("there is no day \(day)") }
    guard let rule else {
      if coding == .services, kind == .json { return try kind.value(of: editor.text, coding) }
      if let text = try textOfDateWord() { return .string(text) }
      if let number = try? kind.value(of: editor.text) { return number }
      if let typedMoment { return typedMoment }
      if holdsMoment { throw InputError(FieldInput.dateAdvice) }
      return try kind.value(of: editor.text)
    }
    let value = try value(by: rule)
    if case .object = value, case .time = rule.kind { return value }
    let node: RunnelTree.Node
    do throws(TreeError) {
      node = try RunnelTree.Node(json: value)
    } catch {
      throw InputError(error.message)
    }
    if let wrong = rule.error(in: node) { throw InputError(wrong.message) }
    return value
  }

  /// The typed day, such as `2026-06-31`, if it does not exist and the field holds dates; otherwise nil.
  private var missingDay: String? {
    let text = editor.text
    let word = text.prefix { $0 != "T" && $0 != " " }
    guard let day = WrittenDay(word), day.civil == nil, holdsMoment || holdsDate else { return nil }
    return String(word)
  }

  /// Whether the field holds a date as a text.
  var holdsDate: Bool {
    kind == .string && (likeDate != nil || DateText(firstText, .utc) != nil)
  }

  /// A date as the field had it, or as other records have it; nil if the field holds no date as a text.
  var dateExample: String? {
    guard kind == .string else { return nil }
    return DateText(firstText, .utc) == nil ? likeDate : firstText
  }

  /// The date of the text, such as `tomorrow 9:00`, in milliseconds since 1970, or in seconds if the
  /// field holds those; nil if it names none.
  private var typedMoment: JSONValue? {
    guard let moment = dates.reader?.moment(editor.text) else { return nil }
    let isSeconds = (Int64(firstText) ?? likeMoment).map(StoredTime.seconds.contains) == true
    return .number(JSONNumber(isSeconds && rule == nil ? moment / 1000 : moment))
  }

  /// Whether the field holds a time in milliseconds since 1970, or a number that may be one in seconds.
  private var holdsMoment: Bool {
    if case .time? = rule?.kind { return true }
    guard rule == nil, kind == .number else { return false }
    return likeMoment != nil || Int64(firstText).map(StoredTime.contains) == true
  }

  /// Lets dates be typed as people write them, if the field holds a date.
  mutating func readDates(by reader: MomentReader) {
    if holdsMoment || holdsDate { dates.reader = reader }
  }

  private func value(by rule: FieldRule) throws(InputError) -> JSONValue {
    let text = editor.text
    switch rule.kind {
    case .time where text == FieldInput.now: return [".sv": "timestamp"]
    case .time:
      if let number = try? kind.value(of: text) { return number }
      if let typedMoment { return typedMoment }
      throw InputError(FieldInput.dateAdvice)
    case .choice(let leaves):
      return leaves.map(\.json).first { FieldKind.text(of: $0) == text } ?? .string(text)
    case .integer, .number, .boolean:
      do {
        return try kind.value(of: text)
      } catch {
        // The error of the rule says more exactly what is expected than that of the kind.
        return .string(text)
      }
    case .text, .any: return try kind.value(of: try textOfDateWord() ?? text)
    case .reference, .object: return try kind.value(of: text)
    }
  }

  /// Checks the text while it is typed; an empty text is not an error yet.
  package mutating func check() {
    error = nil
    if rule == nil || editor.isEmpty { return }
    // A word such as `tomorrow` is complete with its last letter only.
    if isMistyped(editor.text), !editor.text.contains(where: \.isNumber) { return }
    do throws(InputError) {
      _ = try value()
    } catch {
      self.error = error.message
    }
  }

  /// Changes the kind of value; if a rule sets the kind, chooses the next choice.
  mutating func changeKind() {
    switch rule?.kind {
    case nil, .any:
      kind = kind.next
      error = nil
    case .boolean: choose(from: FieldInput.booleans)
    case .choice, .reference: choose(from: choices)
    case .text, .integer, .number, .time, .object: break
    }
  }

  /// Whether the key that changes the kind chooses among values instead.
  var offersValues: Bool {
    switch rule?.kind {
    case .boolean, .choice, .reference: true
    case nil, .any, .text, .integer, .number, .time, .object: false
    }
  }

  private static let booleans = [Choice(text: "true"), Choice(text: "false")]

  /// Whether the field holds true or false.
  private var isBoolean: Bool {
    switch rule?.kind {
    case .boolean: true
    case nil, .any: kind == .boolean
    default: false
    }
  }

  /// Inserts text at the cursor; a blank changes true and false.
  ///
  /// If the field holds one of its choices, and the new text leads to no choice, it replaces the
  /// field's text.
  mutating func insert(_ text: String) {
    if text == " ", isBoolean { return choose(from: FieldInput.booleans) }
    if choices.contains(where: { $0.text == editor.text }) {
      var longer = editor
      longer.insert(text)
      let leadsToChoice = choices.contains { $0.begins(with: longer.text) }
      if !leadsToChoice, choices.contains(where: { $0.begins(with: text) }) {
        editor = LineEditor("")
      }
    }
    editor.insert(text)
    check()
  }

  /// Completes what is typed to the first choice that begins with it; returns false if it is a choice
  /// already, or begins none.
  mutating func takeChoice() -> Bool {
    let typed = editor.text
    guard !typed.isEmpty, !choices.contains(where: { $0.text == typed }),
      let choice = choices.first(where: { $0.begins(with: typed) })
    else { return false }
    editor = LineEditor(choice.text)
    check()
    return true
  }

  private mutating func choose(from choices: [Choice]) {
    guard !choices.isEmpty else { return }
    let typed = editor.text
    let index: Int
    if let present = choices.firstIndex(where: { $0.text == typed }) {
      index = (present + 1) % choices.count
    } else {
      index = choices.firstIndex { $0.begins(with: typed) } ?? 0
    }
    editor = LineEditor(choices[index].text)
    check()
  }

  /// The choices offered while the field has the keys: those that begin with the typed text, or
  /// else all.
  var offers: [Choice] {
    let typed = editor.text
    if typed.isEmpty || choices.contains(where: { $0.text == typed }) { return choices }
    let fitting = choices.filter { $0.begins(with: typed) }
    return fitting.isEmpty ? choices : fitting
  }
}

extension FieldInput {
  /// The greatest number of choices that are listed.
  private static let offersMax = 12

  /// The offered choices in a line, with their titles; empty if nothing is chosen there.
  var offersText: String {
    if choices.isEmpty { return "" }
    return offers.prefix(FieldInput.offersMax).map { choice in
      choice.title.isEmpty || choice.title == choice.text
        ? choice.text : "\(choice.text) \(choice.title)"
    }.joined(separator: " · ")
  }

  /// Completes what is typed to the only choice that it can mean: the one with this title, or that begins with it.
  ///
  /// Where there may be more records than the read ones, the text stays as it is.
  mutating func takeOnlyChoice() {
    let typed = editor.text
    guard isChanged, !typed.isEmpty, choices.count < FieldInput.choicesMax,
      !choices.contains(where: { $0.text == typed })
    else { return }
    let named = choices.filter { $0.title == typed }
    let fitting = named.isEmpty ? choices.filter { $0.begins(with: typed) } : named
    guard let only = fitting.first, fitting.count == 1 else { return }
    editor = LineEditor(only.text)
    check()
  }
}

extension FieldInput.Choice {
  fileprivate func begins(with typed: String) -> Bool {
    let typed = typed.lowercased()
    return text.lowercased().hasPrefix(typed) || title.lowercased().hasPrefix(typed)
  }
}

extension FieldKind {
  /// The kind of text in which the values of a rule are typed.
  fileprivate init(_ kind: FieldRule.Kind, _ value: JSONValue) {
    switch kind {
    case .text, .reference, .choice: self = .string
    case .integer, .number, .time: self = .number
    case .boolean: self = .boolean
    case .object: self = .json
    case .any: self = value == .null ? .json : FieldKind(value)
    }
  }
}

// MARK: - Description

extension FieldInput: CustomStringConvertible, CustomReflectable {
  /// The kind and the text; of a hidden text, that it is hidden.
  package var description: String { "\(label): \(editor.isSecret ? "<secret>" : editor.text)" }
  /// A mirror with the description only, so that no dump of a state has a hidden text.
  package var customMirror: Mirror { Mirror(self, children: ["input": description]) }
}
