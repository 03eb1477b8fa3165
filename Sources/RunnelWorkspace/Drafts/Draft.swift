import RunnelBase
import RunnelTerminal
package import RunnelTree

/// Text that was typed and not saved: that of a form, or of a field that was edited in its line.
///
/// The line of a list that composes records has its draft in the list; texts that were refused besides
/// are kept here.
package struct Draft: Hashable, Sendable {
  /// What the text was typed for.
  package enum Kind: String, Hashable, Sendable {
    /// A new record of a collection.
    case add
    /// A record that was composed in the line of a list, and refused.
    case message
    /// The fields of a record, in a form.
    case edit
    /// A field of a record, in its line.
    case line
    /// A new field of a record.
    case field
    /// A value in the tree.
    case value
    /// A new child of a node of the tree.
    case child
    /// A field of the marked records of a collection.
    case marked
    /// A value as text, in the user's editor: it comes back among the refused writes.
    case outside
    /// The file that is imported into a collection.
    case importing = "import"
    /// The file of an export.
    case exporting = "export"
  }

  /// The place that the text was typed for: an opened form for the same subject offers the draft.
  package struct Subject: Hashable, Sendable {
    package var kind: Kind
    /// The collection, record, value or node.
    package var path: Path
    /// The field below the record; the root for none.
    package var field: Path

    package init(_ kind: Kind, _ path: Path, field: Path = .root) {
      (self.kind, self.path, self.field) = (kind, path, field)
    }
  }

  /// The typed text of a field.
  package struct Text: Hashable, Sendable {
    /// The label of the field.
    package var label: String
    package var text: String
    /// The kind of value that it was typed as.
    package var kind: FieldKind
    /// The text that the field began with; another one there now was written meanwhile.
    package var base: String

    package init(_ label: String, _ text: String, _ kind: FieldKind, base: String) {
      (self.label, self.text, self.kind, self.base) = (label, text, kind, base)
    }

    /// Returns the value that the field began with, or null if it had none; the kind is that of the
    /// field's present value.
    func baseValue(as present: FieldKind) -> JSONValue {
      if base.isEmpty { return .null }
      for kind in [present, kind] {
        // A text of another kind is tried as the next one.
        if let value = try? kind.value(of: base) { return value }
      }
      return .string(base)
    }

    init(_ label: String, _ input: FieldInput) {
      self.init(label, input.editor.text, input.kind, base: input.draftBase ?? input.firstText)
    }
  }

  package var subject: Subject
  /// The texts of the fields that were changed.
  package var texts: [Text]
  /// When a message was last typed, in milliseconds since 1970; nil if that is not known.
  var time: Int64?
  /// What was sent before a message.
  var sentBefore = SentBefore()

  package init(_ subject: Subject, _ texts: [Text]) {
    (self.subject, self.texts) = (subject, texts)
  }

  /// The number of bytes of its texts.
  var byteCount: Int { texts.reduce(0) { $0 + $1.text.utf8.count + $1.base.utf8.count } }

  /// The draft in words, for a list of them.
  var title: String {
    let place = subject.path
    return switch subject.kind {
    case .add, .message: "a new record of \(place)"
    case .edit: "the form of \(place)"
    case .line: "\(subject.field.isRoot ? "the value" : subject.field.text) of \(place)"
    case .field: "a new field of \(place)"
    case .value: "the value of \(place)"
    case .child: "a new child of \(place)"
    case .marked: "\(subject.field.text) of the marked records of \(place)"
    case .outside: "the text of \(place)"
    case .importing: "the file to import into \(place)"
    case .exporting: "the file of an export"
    }
  }
}

// MARK: JSON

extension Draft {
  /// The draft in the format of a session.
  var json: JSONValue {
    var members = [
      JSONMember("for", .string(subject.kind.rawValue)),
      JSONMember("path", .string(subject.path.description)),
    ]
    if !subject.field.isRoot {
      members.append(JSONMember("field", .string(subject.field.description)))
    }
    let fields = texts.map { text in
      JSONValue.object([
        JSONMember("label", .string(text.label)), JSONMember("text", .string(text.text)),
        JSONMember("kind", .string(text.kind.rawValue)), JSONMember("base", .string(text.base)),
      ])
    }
    members.append(JSONMember("texts", .array(fields)))
    return .object(members + TypedLine.members(time, sentBefore))
  }

  /// Reads a draft; nil if the JSON is none.
  init?(_ json: JSONValue) {
    guard let kind = json["for"]?.string.flatMap({ Kind(rawValue: $0) }),
      let path = json["path"]?.string.flatMap({ try? Path($0) })
    else { return nil }
    let field = json["field"]?.string.flatMap { try? Path($0) } ?? .root
    let texts = (json["texts"]?.array ?? []).compactMap { json -> Text? in
      guard let label = json["label"]?.string, let text = json["text"]?.string else { return nil }
      let kind = json["kind"]?.string.flatMap { FieldKind(rawValue: $0) } ?? .string
      return Text(label, text, kind, base: json["base"]?.string ?? "")
    }
    if texts.isEmpty { return nil }
    self.init(Subject(kind, path, field: field), texts)
    time = TypedLine.time(json)
    if time != nil { sentBefore = SentBefore(json) }
  }
}
