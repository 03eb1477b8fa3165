package import RunnelBase
import RunnelStreams
package import RunnelTerminal
import RunnelTree

/// One value as it is typed: the text, as what it is read, and what is wrong with it.
package struct FieldInput: Hashable, Sendable {
  /// How many records are offered where a reference may name one.
  static let choicesMax = 500

  /// Something that may be chosen.
  package struct Choice: Hashable, Sendable {
    /// What the field then holds, as text.
    package var text: String
    /// What it is called; empty if the text says it all.
    package var title = ""

    package init(text: String, title: String = "") {
      self.text = text
      self.title = title
    }
  }

  /// The rule that a resource has for the field; nil if it may hold anything.
  let rule: FieldRule?
  package var kind: FieldKind
  package var editor: LineEditor
  package var error: String?
  /// What may be chosen, as far as it is known.
  var choices: [Choice] = []
  /// Where the records are that a reference may name.
  var choicesPath: Path?
  /// True from when those were asked for until they are known.
  var isReadingChoices = false

  init(kind: FieldKind, text: String = "") {
    rule = nil
    self.kind = kind
    editor = LineEditor(text)
  }

  init(rule: FieldRule?, _ value: JSONValue) {
    self.rule = rule
    kind = rule.map { FieldKind($0.kind, value) } ?? FieldKind(value)
    editor = LineEditor(FieldKind.text(of: value))
    if case .choice(let leaves)? = rule?.kind {
      choices = leaves.map { Choice(text: FieldKind.text(of: $0.json)) }
    }
  }

  /// Whether nothing is typed, which stands for no value.
  package var isEmpty: Bool { editor.isEmpty && (rule != nil || kind != .string) }

  /// What kind of value it takes, in a word.
  package var label: String {
    switch rule?.kind {
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
  /// The word for a time that is the moment of the write.
  package static let now = "now"

  /// The value of what is typed.
  ///
  /// - Throws: `InputError` that says what is expected.
  package func value() throws(InputError) -> JSONValue {
    guard let rule else { return try kind.value(of: editor.text) }
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

  private func value(by rule: FieldRule) throws(InputError) -> JSONValue {
    let text = editor.text
    switch rule.kind {
    case .time where text == FieldInput.now: return [".sv": "timestamp"]
    case .choice(let leaves):
      return leaves.map(\.json).first { FieldKind.text(of: $0) == text } ?? .string(text)
    case .integer, .number, .boolean, .time:
      do {
        return try kind.value(of: text)
      } catch {
        // The rule says what is expected better than the kind does.
        return .string(text)
      }
    case .text, .reference, .object, .any: return try kind.value(of: text)
    }
  }

  /// Says while it is typed what is wrong with it; nothing typed is not wrong yet.
  package mutating func check() {
    error = nil
    if rule == nil || editor.isEmpty { return }
    do throws(InputError) {
      _ = try value()
    } catch {
      self.error = error.message
    }
  }

  /// Another kind of value; where a rule says which it is, the next thing that may be chosen.
  mutating func changeKind() {
    switch rule?.kind {
    case nil, .any:
      kind = kind.next
      error = nil
    case .boolean: choose(from: [Choice(text: "true"), Choice(text: "false")])
    case .choice, .reference: choose(from: choices)
    case .text, .integer, .number, .time, .object: break
    }
  }

  /// Puts text in at the cursor.
  ///
  /// Where one of several choices stands, text that leads to none of them takes its place.
  mutating func insert(_ text: String) {
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

  /// What is offered while the field has the keys: what begins as typed, or all that may be chosen.
  var offers: [Choice] {
    let typed = editor.text
    if typed.isEmpty || choices.contains(where: { $0.text == typed }) { return choices }
    let fitting = choices.filter { $0.begins(with: typed) }
    return fitting.isEmpty ? choices : fitting
  }
}

extension FieldInput.Choice {
  fileprivate func begins(with typed: String) -> Bool {
    let typed = typed.lowercased()
    return text.lowercased().hasPrefix(typed) || title.lowercased().hasPrefix(typed)
  }
}

extension FieldKind {
  /// The kind of text that a rule's values are typed as.
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
