package import RunnelBase
import RunnelStreams
package import RunnelTerminal
package import RunnelTree

/// A form: named fields with a kind each, for what cannot be edited in its place.
package struct FormScreen: Hashable, Sendable {
  /// What the form is for.
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
    /// The fields of a record of a resource, which were these.
    case editResource(Path, original: JSONValue)
    /// What is to be exported: what, in which format, to which file, which may replace that one.
    case export([ExportChoice], replaces: String?)
    /// The file from which records are imported into a view.
    case importFile(view: Int)
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
    }

    init(_ label: String, path: Path = .root, kind: FieldKind, text: String = "") {
      self.init(label, path: path, FieldInput(kind: kind, text: text))
    }
  }

  /// The fields for something new that has a name.
  static let nameAndValue = [Field("name", kind: .string), Field("value", kind: .json)]

  var purpose: Purpose
  package let title: String
  package var fields: [Field]
  /// What is to be known before; empty for nothing.
  package var note = ""
  /// The index of the field with the keys.
  package var focus = 0
  /// The first write that was asked for with it; nil before.
  ///
  /// What was typed is known by it as long as it is refused.
  var attempt: AppRequestID?
  /// The refused record of a paste that it goes on with, by its id in the queue; nil if it is of none.
  var pasted: AppRequestID?

  /// True if to save it writes to the database.
  package var writes: Bool {
    switch purpose {
    case .export, .importFile, .choose: false
    default: true
    }
  }

  /// Moves the keys to another field, around the ends.
  mutating func moveFocus(by steps: Int) {
    guard !fields.isEmpty else { return }
    focus = (focus + steps % fields.count + fields.count) % fields.count
  }

  /// Marks a field as wrong, gives it the keys, and returns false: it is not saved.
  mutating func refuse(_ index: Int, _ message: String) -> Bool {
    focus = index
    fields[index].input.error = message
    return false
  }

  /// Marks the fields that were refused, or if it was none of them the one with the keys.
  package mutating func take(_ refusal: Refusal) {
    var first: Int?
    for index in fields.indices where !fields[index].path.isRoot {
      guard let message = refusal.message(of: fields[index].path) else { continue }
      fields[index].input.error = message
      first = first ?? index
    }
    if let first { focus = first } else { fields[focus].input.error = refusal.message }
  }

  /// The values of all fields that are filled in; nil if one is refused, which is then marked.
  package mutating func values() -> [(path: Path, value: JSONValue)]? {
    var values: [(path: Path, value: JSONValue)] = []
    var firstError: Int?
    for index in fields.indices {
      fields[index].input.error = nil
      let field = fields[index]
      if field.input.isEmpty {
        // What has a first value of its own is given that.
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
}

/// The line in which a record is composed.
package struct ComposeScreen: Hashable, Sendable {
  package let view: Int
  package var editor: LineEditor
  package var error: String?
  /// What stands for the refused record whose text is in the line; nil if that is of none.
  var attempt: AppRequestID?
  /// True for a refused text that came back and was not touched: what is typed takes its place.
  var isReturned = false
}
