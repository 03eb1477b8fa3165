import RunnelBase
import RunnelStreams
import RunnelTerminal
import RunnelTree

// A refused new record is typed again in the form in which such records are added.

extension EarlierEdit {
  /// Returns the purpose of the write of a new record of a list, in the list's form; nil for any other write.
  func record(_ state: AppState, as id: AppRequestID) -> WritePurpose? {
    guard members.count == 1, let member = members.first, let collection = member.path.parent,
      let key = member.path.lastKey, base(of: member.path)?.isEmpty ?? true,
      case .object = member.value,
      let view = EarlierEdit.view(state, of: collection),
      var form = ResourceCommands.formForNewRecord(state, in: collection, view: view)
        ?? state.tabs.lists[view].formForNewRecord(view: view) as FormScreen?
    else { return nil }
    let computed = Set(
      state.tabs.lists[view].definition.template.filter(\.isComputed).map(\.path))
    let values = EarlierEdit.values(of: member.value, at: .root, state.database.coding)
      .filter { !computed.contains($0.path) }
    form.fill(values, key: PushIDGenerator.isPushID(key) ? nil : key)
    form.attempt = id
    return .form(form)
  }

  /// The list with the records of a collection, first of all the one in front.
  private static func view(_ state: AppState, of collection: Path) -> Int? {
    ([state.tabs.front.view].compactMap(\.self) + Array(state.tabs.lists.indices)).first {
      state.tabs.lists[$0].definition.source.path == collection
    }
  }

  /// The values in a record that are typed, with their places; times of the server are not.
  private static func values(
    of json: JSONValue, at path: Path, _ coding: ValueCoding
  ) -> [(path: Path, value: JSONValue)] {
    if json[ReservedName.serverValue] != nil { return [] }
    if Leaf(json) != nil { return [(path, json)] }
    if let value = (try? RunnelTree.Node(json: json)).flatMap(coding.codedValue) {
      return [(path, value)]
    }
    return (json.object ?? []).flatMap { member in
      values(
        of: member.value,
        at: Path(unchecked: path.keys + [RunnelTree.Key(unchecked: member.name)]), coding)
    }
  }
}

extension FormScreen {
  /// Types the values of a record into the fields of a form for a new one; values without a field get one.
  fileprivate mutating func fill(
    _ values: [(path: Path, value: JSONValue)], key: RunnelTree.Key?
  ) {
    let isKey = { [keyIndex] (index: Int) in index == keyIndex }
    for index in fields.indices where !isKey(index) {
      let value = values.first { $0.path == fields[index].path }?.value
      if let value, fields[index].input.rule == nil {
        fields[index].input.kind = FieldKind(value)
      }
      fields[index].input.editor.replaceText(value.map { FieldKind.text(of: $0) } ?? "")
    }
    let known = Set(fields.map(\.path))
    for (path, value) in values where !known.contains(path) {
      var field = Field(path.shownText, path: path, kind: FieldKind(value))
      field.input.editor.replaceText(FieldKind.text(of: value))
      fields.insert(field, at: keyIndex ?? fields.count)
    }
    guard let key else { return }
    if keyIndex == nil { fields.append(Field(FormScreen.keyLabel, kind: .string)) }
    if let keyIndex { fields[keyIndex].input.editor.replaceText(key.text) }
  }
}
