import RunnelBase
import RunnelServices
import RunnelTree

/// The parts of an index in which the values of a field stand, as services see them.
///
/// An index has nothing, flags, numbers, texts, and then what has children: that is null, arrays and
/// objects, which a tree stores in a form of their own. A condition on a field holds for an array if it
/// holds for an element, so what has children always has to be looked at.
///
/// Source: services protocol, sections 3.3 and 11.2.
struct RecordSlices {
  /// The kinds of values that have an order of their own.
  enum Kind: CaseIterable { case flag, number, text }

  /// The order by the field.
  let order: QueryIndex

  /// Makes the slices of a field; nil for a field that is not stored under its name.
  init?(_ field: String) {
    // These may be made of the key, or of a record that is no object.
    if field == ServedCollection.idField || field == "value" || field.hasPrefix("~") { return nil }
    guard let text = try? ServiceRecordCoding.key(for: field), text.utf8.elementsEqual(field.utf8),
      let key = try? Key(text)
    else { return nil }
    order = .child(Path(unchecked: [key]))
  }

  /// An end of a slice: a value, and whether what has it belongs to the slice.
  private struct End {
    var value: IndexValue
    var isInside: Bool

    init(_ value: IndexValue, isInside: Bool = true) {
      (self.value, self.isInside) = (value, isInside)
    }

    var start: Query.Bound {
      let position = IndexPosition(value: value, key: isInside ? .minimum : .maximum)
      return Query.Bound(position, isInclusive: isInside)
    }

    var end: Query.Bound {
      let position = IndexPosition(value: value, key: isInside ? .maximum : .minimum)
      return Query.Bound(position, isInclusive: isInside)
    }
  }

  private func slice(from start: End?, to end: End?) -> RowSlice {
    RowSlice(index: order, start: start?.start, end: end?.end)
  }

  /// The records without the field.
  var absent: RowSlice { slice(from: nil, to: End(.null)) }

  /// The records whose field has children in the tree.
  var nested: RowSlice { slice(from: End(.children), to: nil) }

  /// The records with exactly this value.
  func equal(to value: IndexValue) -> RowSlice { slice(from: End(value), to: End(value)) }

  /// The records whose field has a value of a kind.
  func all(_ kind: Kind) -> RowSlice { slice(from: start(of: kind), to: end(of: kind)) }

  private func start(of kind: Kind) -> End {
    switch kind {
    case .flag: End(.null, isInside: false)
    case .number: End(.leaf(.bool(true)), isInside: false)
    case .text: End(.leaf(.string("")))
    }
  }

  private func end(of kind: Kind) -> End {
    switch kind {
    case .flag: End(.leaf(.bool(true)))
    case .number: End(.leaf(.string("")), isInside: false)
    case .text: End(.children, isInside: false)
    }
  }

  // MARK: Conditions

  /// The most values of one condition that are looked up one by one.
  private static let valuesMax = 200

  /// The parts, which do not overlap, of the shortest index in which all records stand that can fulfil a
  /// condition; nil if no index helps.
  static func candidates(
    for condition: ServiceCondition, hasIndex: (QueryIndex) -> Bool
  ) -> [RowSlice]? {
    let parts = conjuncts(of: condition)
    // What equals one value is less, as a rule, than what lies in a range.
    for wanted in [FieldComparison.equal, .oneOf] {
      for case .field(let name, wanted, let value) in parts {
        guard let field = RecordSlices(name), hasIndex(field.order),
          let slices = field.slices(equalTo: wanted == .equal ? [value] : value.array ?? [value])
        else { continue }
        return slices
      }
    }
    for case .field(let name, _, _) in parts {
      guard let field = RecordSlices(name), hasIndex(field.order),
        let slices = field.slices(between: parts, name)
      else { continue }
      return slices
    }
    return [RowSlice]?.none
  }

  private static func conjuncts(of condition: ServiceCondition) -> [ServiceCondition] {
    guard case .all(let parts) = condition else { return [condition] }
    return parts.flatMap(conjuncts)
  }

  private func slices(equalTo values: [JSONValue]) -> [RowSlice]? {
    if values.count > RecordSlices.valuesMax { return [RowSlice]?.none }
    var leaves: Set<Leaf> = []
    var slices: [RowSlice] = []
    for value in values {
      if let leaf = Leaf(value), leaves.insert(leaf).inserted {
        slices.append(equal(to: .leaf(leaf)))
      }
    }
    if values.contains(.null) { slices.append(absent) }
    return slices + [nested]
  }

  /// The slices in which a field is less or greater than the values of all such conditions.
  private func slices(between parts: [ServiceCondition], _ name: String) -> [RowSlice]? {
    var kind: Kind?
    var (lower, upper): (Leaf?, Leaf?)
    for case .field(name, let comparison, let value) in parts {
      let isLower = comparison == .greater || comparison == .greaterOrEqual
      guard isLower || comparison == .less || comparison == .lessOrEqual else { continue }
      // Nothing is less or greater than what has no order.
      guard let leaf = Leaf(value) else { return [] }
      let found = RecordSlices.kind(of: leaf)
      // An array may have elements of two kinds.
      if let kind, kind != found { return [nested] }
      kind = found
      if isLower {
        lower = max(lower ?? leaf, leaf)
      } else {
        upper = min(upper ?? leaf, leaf)
      }
    }
    guard let kind else { return [RowSlice]?.none }
    if let lower, let upper, upper < lower { return [nested] }
    let start = lower.map { End(.leaf($0)) } ?? start(of: kind)
    let end = upper.map { End(.leaf($0)) } ?? end(of: kind)
    return [slice(from: start, to: end), nested]
  }

  private static func kind(of leaf: Leaf) -> Kind {
    switch leaf {
    case .bool: .flag
    case .number: .number
    case .string: .text
    }
  }
}
