import RunnelBase
import RunnelTree

/// The values within the objects of a record: those that its form has as `address/city`, and how many it lacks.
struct NestedFields {
  /// The most values of one object in a form: what has more is a collection rather than a part of a record.
  private static let objectValuesMax = 20
  /// The most nested values in a form.
  private static let valuesMax = 40

  /// The values, by their places in the record.
  private(set) var fields: [(path: Path, value: JSONValue)] = []
  /// The number of values that the form lacks.
  private(set) var restCount = 0

  /// Reads the objects of a record that are no fields themselves.
  ///
  /// O(n) in the record. `areListed` is false if the form has none of their values.
  init(of record: JSONValue, areListed: Bool, isField: (RunnelTree.Key) -> Bool) {
    for member in record.object ?? [] {
      guard let key = NestedFields.key(member), Leaf(member.value) == nil, !isField(key) else {
        continue
      }
      let members = member.value.object?.filter { NestedFields.key($0) != nil } ?? []
      guard areListed, !members.isEmpty, members.count <= NestedFields.objectValuesMax else {
        restCount += NestedFields.valueCount(member.value)
        continue
      }
      for nested in members {
        if let name = NestedFields.key(nested), Leaf(nested.value) != nil,
          fields.count < NestedFields.valuesMax
        {
          fields.append((Path(unchecked: [key, name]), nested.value))
        } else {
          restCount += NestedFields.valueCount(nested.value)
        }
      }
    }
  }

  /// What the form lacks, in words; empty if that is nothing.
  func restWords(_ state: AppState) -> String {
    if restCount == 0 { return "" }
    let words =
      restCount == 1 ? "1 nested field is not here" : "\(restCount) nested fields are not here"
    // A form over the open record closes to it.
    if case .record? = state.layers.last { return words }
    return words + KeyText.frontKeys(state).hint(.rowOpen, "in the list shows all", after: ": ")
  }

  /// The key of a member; nil for one with a special meaning, such as a priority.
  private static func key(_ member: JSONMember) -> RunnelTree.Key? {
    member.name.hasPrefix(".") ? nil : RunnelTree.Key(unchecked: member.name)
  }

  /// The number of values at and below a value.
  private static func valueCount(_ json: JSONValue) -> Int {
    if let elements = json.array { return elements.reduce(0) { $0 + valueCount($1) } }
    guard let members = json.object else { return json == .null ? 0 : 1 }
    if json[".value"] != nil { return 1 }
    return members.reduce(0) { $0 + (key($1) == nil ? 0 : valueCount($1.value)) }
  }
}
