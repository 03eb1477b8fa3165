package import RunnelBase
package import RunnelStreams
import RunnelTerminal
package import RunnelTree

// Forms with the fields of a resource's schema.

extension ResourceBook {
  /// Returns the inputs of a record's fields in the order of the schema, followed by its other
  /// leaves.
  ///
  /// Counters and copies are left out, because they are not edited.
  func inputs(
    of definition: ResourceDefinition, for record: JSONValue
  ) -> [(path: Path, input: FieldInput)] {
    let owned = registry.ownedFields(of: definition.name)
    var inputs: [(path: Path, input: FieldInput)] = []
    for rule in definition.schema.fields where !owned.contains(rule.field) {
      inputs.append(
        (
          Path(unchecked: [rule.field]),
          input(of: rule, in: definition, value: record[rule.field.text] ?? .null)
        ))
    }
    guard case .object(let members) = record else { return inputs }
    for member in members {
      guard let key = try? Key(member.name), !owned.contains(key),
        definition.schema.rule(of: key) == nil, Leaf(member.value) != nil
      else { continue }
      inputs.append((Path(unchecked: [key]), FieldInput(rule: nil, member.value)))
    }
    return inputs
  }

  /// Returns the input of a field; the input of a reference says where its choices stand.
  package func input(
    of rule: FieldRule, in definition: ResourceDefinition, value: JSONValue
  ) -> FieldInput {
    var input = FieldInput(rule: rule, value)
    input.choicesPath = choicesPath(of: rule)
    return input
  }

  /// The collection of the records that a reference may name; nil for other fields.
  func choicesPath(of rule: FieldRule) -> Path? {
    guard case .reference(let target) = rule.kind else { return nil }
    return try? registry.collection(of: target, in: [:])
  }

  /// Returns the rule of a resource for the field at a place, with its resource; nil if there is none.
  func rule(at path: Path) -> (rule: FieldRule, definition: ResourceDefinition)? {
    guard case .record(_, let field) = registry.place(of: path), field.keys.count == 1,
      let key = field.keys.first, let definition = record(at: path)?.definition,
      let rule = definition.schema.rule(of: key)
    else { return nil }
    return (rule, definition)
  }

  /// Returns the title of a record: its name or title, or else the first text of its schema; empty
  /// if it has none.
  package func title(of record: JSONValue, in collection: Path) -> String {
    let rules = registry.resource(ofChildrenOf: collection)?.definition.schema.fields ?? []
    let texts = rules.filter { if case .text = $0.kind { true } else { false } }
    for name in ["name", "title"] + texts.map(\.field.text) {
      if case .string(let text)? = record[name], !text.isEmpty { return text }
    }
    return ""
  }
}

extension FormScreen {
  /// The label of the field for the key of a new record.
  static let keyLabel = "key"

  /// Returns the fields for a new record of a resource.
  ///
  /// `filled` holds the initial values; the fields in `computed` are left out.
  static func newRecord(
    _ definition: ResourceDefinition, in book: ResourceBook, filled: JSONValue,
    without computed: [Path]
  ) -> [Field] {
    var record = filled
    for rule in definition.schema.fields {
      guard let initial = rule.initial, Leaf(initial) != nil, record[rule.field.text] == nil else {
        continue
      }
      if case .object(let members) = record {
        record = .object(members + [JSONMember(rule.field.text, initial)])
      }
    }
    let fields = book.inputs(of: definition, for: record)
      .filter { !computed.contains($0.path) }
      .map { Field($0.path.shownText, path: $0.path, $0.input) }
    return fields + [Field(keyLabel, FieldInput(kind: .string))]
  }

  /// Returns the fields for an existing record.
  static func editing(
    _ definition: ResourceDefinition, in book: ResourceBook, _ record: JSONValue
  ) -> [Field] {
    book.inputs(of: definition, for: record).map {
      Field($0.path.shownText, path: $0.path, $0.input)
    }
  }

  /// The index of the field for the key of a new record; nil if the form has none.
  var keyIndex: Int? {
    switch purpose {
    case .addRecord, .addResource: break
    default: return nil
    }
    guard let field = fields.last, field.label == FormScreen.keyLabel, field.path.isRoot else {
      return nil
    }
    return fields.count - 1
  }

  /// The key that was typed for a new record, or nil if a key is to be generated.
  var typedKey: String? {
    guard let keyIndex, !fields[keyIndex].input.editor.isEmpty else { return nil }
    return fields[keyIndex].input.editor.text
  }

  /// Returns the refusal in the words of the form: that of a key that others took meanwhile.
  func told(_ refusal: Refusal) -> Refusal {
    guard refusal.cause == .outdated, let key = typedKey else { return refusal }
    var refusal = refusal
    refusal.message = "\(key) is there already: choose another key"
    return refusal
  }
}
