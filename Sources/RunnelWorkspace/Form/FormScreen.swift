package import RunnelBase
import RunnelStreams
package import RunnelTerminal
package import RunnelTree

/// A form: fields with names and kinds, for values that cannot be edited in their place.
package struct FormScreen: Hashable, Sendable {
  /// The purpose of the form.
  enum Purpose: Hashable, Sendable {
    /// A new record of a view.
    case addRecord(view: Int)
    /// A new child of a node: the first field is its name.
    case addChild(Path)
    /// A new field of a record: the first field is its name.
    case addField(Path)
    /// The value of a leaf.
    case setLeaf(Path, original: JSONValue)
    /// Another value for a field of a comparison, by its index.
    case choose(Int)
    /// A new record of a resource in a collection, which may be that of a view.
    case addResource(String, in: Path, view: Int?)
    /// The fields of an existing record of a resource, with its value when the form was opened.
    case editResource(Path, original: JSONValue)
    /// A field of several records.
    case editField(MarkedField)
    /// An export: its records, format and file. `replaces` is the existing file that may be
    /// replaced.
    case export([ExportChoice], replaces: String?)
    /// The file from which records are imported into a view.
    case importFile(view: Int)
    /// Something that is done with the accounts at the server.
    case account(AccountDeed)
    /// The name of a device, by its id.
    case renameDevice(String)
    /// The data of a call of a service's method.
    case callMethod(MethodOffer)
  }

  /// A field of a form.
  package struct Field: Hashable, Sendable {
    package var label: String
    package var path: Path
    package var input: FieldInput

    init(_ label: String, path: Path = .root, _ input: FieldInput) {
      self.label = label
      self.path = path
      self.input = input
      self.input.allowLines()
    }

    init(_ label: String, path: Path = .root, kind: FieldKind, text: String = "") {
      self.init(label, path: path, FieldInput(kind: kind, text: text))
    }
  }

  /// The fields for a new node: its name and its value.
  static let nameAndValue = [Field("name", kind: .string), Field("value", kind: .json)]

  var purpose: Purpose
  /// The purpose as it was before a draft over another's change was taken up; nil if none was.
  var purposeWithoutDraft: Purpose?
  package var title: String
  package var fields: [Field]
  /// A note for the user; empty for none.
  package var note = ""
  /// A note that the form holds a draft; empty if it does not.
  var draftNote = ""
  /// Why the form was refused, if that is about none of its fields; empty for no reason.
  var refusal = ""
  /// The index of the field that has the keys.
  package var focus = 0
  /// The id of the first write of this form, or nil before a write.
  ///
  /// The id identifies the typed text while its writes are refused. Of a form for accounts, it is
  /// the id of the request under way.
  var attempt: AppRequestID?
  /// The id in the queue of the refused pasted record that the form edits, or nil if there is none.
  var pasted: AppRequestID?
  /// Whether something was typed or deleted in one of the fields, so that an empty text is meant.
  var isTouched = false

  /// Whether saving the form writes to the database.
  package var writes: Bool {
    switch purpose {
    case .export, .importFile, .choose, .account, .renameDevice, .callMethod: false
    default: true
    }
  }

  /// The notes below the fields; empty for none.
  package var noteText: String {
    note.isEmpty || draftNote.isEmpty ? note + draftNote : "\(note) · \(draftNote)"
  }

  /// The word for the end of the form, for its hints.
  var doneWord: String {
    switch purpose {
    case .export: "export"
    case .importFile: "import"
    case .choose: "take"
    case .account(let deed): deed.words.done
    case .renameDevice: "rename"
    case .callMethod: "call"
    default: "save"
    }
  }

  /// Moves the keys by a number of fields, from the last field to the first and back.
  mutating func moveFocus(by steps: Int) {
    guard !fields.isEmpty else { return }
    focus = (focus + steps % fields.count + fields.count) % fields.count
  }

  /// Marks a field as wrong, gives it the keys, and returns false: the form is not saved.
  mutating func refuse(_ index: Int, _ message: String) -> Bool {
    focus = index
    fields[index].input.error = message
    return false
  }

  /// Shows a refusal in the fields that it is about, or else below all fields.
  package mutating func take(_ refusal: Refusal) {
    if refusal.cause == .outdated, typedKey != nil, let keyIndex {
      _ = refuse(keyIndex, refusal.message)
      return
    }
    var first: Int?
    for index in fields.indices where !fields[index].path.isRoot {
      guard let message = refusal.message(of: fields[index].path) else { continue }
      fields[index].input.error = message
      first = first ?? index
    }
    if let first {
      focus = first
    } else if fields.allSatisfy(\.path.isRoot) {
      // The fields of such a form are not those of a record.
      fields[focus].input.error = refusal.message
    } else {
      self.refusal = refusal.message
    }
  }

  /// Takes how values that a tree does not hold stand in the database: only services have null and empty
  /// arrays.
  mutating func take(_ coding: ValueCoding) {
    for index in fields.indices { fields[index].input.coding = coding }
  }

  /// Returns the values of all fields that are filled in; if a field is wrong, marks it and returns
  /// nil.
  package mutating func values() -> [(path: Path, value: JSONValue)]? {
    var values: [(path: Path, value: JSONValue)] = []
    var firstError: Int?
    refusal = ""
    for index in fields.indices {
      fields[index].input.error = nil
      let field = fields[index]
      if isLeftOut(field) || index == keyIndex { continue }
      if case .editResource(_, let original) = purpose, !field.input.isChanged {
        // What is not edited may break a rule that is newer than the record.
        if let value = original[field.path] { values.append((field.path, value)) }
        continue
      }
      if field.input.isEmpty {
        // An empty field with an initial value gets that value.
        guard let rule = field.input.rule, rule.isRequired, rule.initial == nil else { continue }
        fields[index].input.error = "is missing."
        firstError = firstError ?? index
        continue
      }
      do throws(InputError) {
        values.append((field.path, try field.input.value()))
      } catch {
        fields[index].input.error = error.message
        firstError = firstError ?? index
      }
    }
    if let firstError { focus = firstError }
    return firstError == nil ? values : nil
  }

  /// Whether a field of a new record is without a text because nobody typed one there.
  func isLeftOut(_ field: Field) -> Bool {
    guard case .addRecord = purpose, field.input.rule == nil else { return false }
    return field.input.editor.isEmpty && !field.input.isChanged
  }
}

/// The line that composes a record.
package struct ComposeScreen: Hashable, Sendable {
  package let view: Int
  package var editor: LineEditor
  package var error: String?
  /// The id of the refused record whose text is in the line, or nil if there is none.
  var attempt: AppRequestID?
  /// Whether the text came back after a refusal and was not edited since; typing replaces it.
  var isReturned = false
}
