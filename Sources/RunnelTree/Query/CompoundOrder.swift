/// An order by several components, or by one that descends; the key is always the last component.
///
/// The order is a kind of index, rather than a list of sort descriptors beside `QueryIndex`,
/// because every position, bound, view and index would have needed the list to compare anything.
/// The values of this index are tuples that carry the direction of each of their elements
/// (`IndexTuple`), so an `IndexPosition` compares by itself, and windows, pages, streams and the
/// storage work on positions as before. The price is a tuple for each row in such an order.
///
/// Each order has exactly one form. An order by a single ascending component, or by the key
/// ascending, is the plain index of the specification and never this type; a component after the
/// key is refused.
///
/// If the key descends, it is an element of the tuple. Read backwards, such an order is one in
/// which the key ascends (`forward`); an index keeps that one.
///
/// Invariants:
/// - C1. `parts` has at most `SortKey.countMax` components, no field twice, and neither the key nor
///   an empty child path.
/// - C2. It is not a plain index: its parts are neither none nor a single ascending one, unless the
///   key descends.
public struct CompoundOrder: Hashable, Sendable {
  /// The components before the key.
  public let parts: [SortKey]
  /// True if, where all parts are equal, the greater of two keys comes first.
  public let isKeyDescending: Bool

  fileprivate init(parts: [SortKey], isKeyDescending: Bool) {
    self.parts = parts
    self.isKeyDescending = isKeyDescending
  }

  /// The tuple that the order compares for a node: an element for each part, without the key.
  func tuple(of node: Node) -> IndexTuple { tuple { $0.index.value(of: node) } }

  /// The tuple of a row, given a function that reads one field.
  package func tuple<Failure: Error>(
    reading: (RowField) throws(Failure) -> IndexValue
  ) throws(Failure) -> IndexTuple {
    var elements: [IndexTuple.Element] = []
    elements.reserveCapacity(parts.count + 1)
    for part in parts {
      elements.append(.init(.value(try reading(part.field)), isDescending: part.isDescending))
    }
    return IndexTuple(elements)
  }

  /// The tuple with the key in it, if the key descends.
  func completed(_ tuple: IndexTuple, key: Key) -> IndexTuple {
    guard isKeyDescending else { return tuple }
    return IndexTuple(tuple.elements + [.init(.key(key), isDescending: true)])
  }
}

extension SortKey {
  /// The most components of one order.
  public static let countMax = 8
}

// MARK: One form for each order

extension QueryIndex {
  /// The order by several components, the first one first, and by the key among equals.
  ///
  /// The key ascends unless it is named as the last component. A single ascending component gives
  /// the plain index.
  ///
  /// - Throws: `TreeError` (`invalidQuery`) if there are no components or too many, two name the
  ///   same field, the key is not the last, or a child path is empty.
  public init(_ keys: [SortKey]) throws(TreeError) {
    if keys.isEmpty { throw QueryIndex.refusal("An order has at least one component.") }
    if keys.count > SortKey.countMax {
      throw QueryIndex.refusal(
        "The order has \(keys.count) components: \(SortKey.countMax) are allowed.")
    }
    for (offset, key) in keys.enumerated() {
      if key.field == .child(.root) {
        throw QueryIndex.refusal("The path to order by is empty: name a child.")
      }
      if keys[..<offset].contains(where: { $0.field == key.field }) {
        throw QueryIndex.refusal("The order names \(key.field) twice: name it once.")
      }
      if key.field == .key, offset != keys.count - 1 {
        throw QueryIndex.refusal("No two children have one key: $key is the last of an order.")
      }
    }
    let isKeyLast = keys.last?.field == .key
    self.init(
      parts: isKeyLast ? Array(keys.dropLast()) : keys,
      isKeyDescending: isKeyLast && keys.last?.isDescending == true)
  }

  private static func refusal(_ message: String) -> TreeError { TreeError(.invalidQuery, message) }

  /// Makes an order of components that were checked before.
  private init(parts: [SortKey], isKeyDescending: Bool) {
    if isKeyDescending {
      self = .compound(CompoundOrder(parts: parts, isKeyDescending: true))
    } else if parts.isEmpty {
      self = .key
    } else if parts.count == 1, let part = parts.first, !part.isDescending {
      self = part.field.index
    } else {
      self = .compound(CompoundOrder(parts: parts, isKeyDescending: false))
    }
  }

  /// The components of the order; the key only where it descends or stands alone.
  public var sortKeys: [SortKey] {
    switch self {
    case .key: [SortKey(.key)]
    case .value: [SortKey(.value)]
    case .priority: [SortKey(.priority)]
    case .child(let path): [SortKey(.child(path))]
    case .compound(let order):
      order.parts + (order.isKeyDescending ? [SortKey(.key, isDescending: true)] : [])
    }
  }

  /// The order that is this one when read backwards; itself if the key ascends.
  ///
  /// Its key always ascends, so one index serves an order and its opposite.
  package var forward: QueryIndex {
    guard case .compound(let order) = self, order.isKeyDescending else { return self }
    let parts = order.parts.map { SortKey($0.field, isDescending: !$0.isDescending) }
    return QueryIndex(parts: parts, isKeyDescending: false)
  }
}

extension QueryIndex: CustomStringConvertible {
  /// The components as text, which `SortKey.list` reads: `created:desc,likes`.
  public var description: String {
    sortKeys.map(\.description).joined(separator: ",")
  }
}

// MARK: Backwards

extension RowSlice {
  /// The slice of the opposite order that has the same rows in reverse, if the key descends in this
  /// one.
  package var reversed: RowSlice? {
    guard case .compound(let order) = index, order.isKeyDescending else { return nil }
    func reversed(_ bound: Query.Bound) -> Query.Bound {
      Query.Bound(order.reversed(bound.position), isInclusive: bound.isInclusive)
    }
    return RowSlice(
      index: index.forward, start: end.map(reversed), end: start.map(reversed),
      limit: limit.map { Query.Limit(count: $0.count, side: $0.side.opposite) }, filter: filter)
  }
}

// MARK: Mirrored

extension QueryIndex {
  /// The order in which each value descends that ascends in this one, and the key ascends as it does here; nil
  /// for orders that need no index, or in which the key descends.
  fileprivate var mirrored: QueryIndex? {
    let keys = sortKeys
    if keys.contains(where: { $0.field == .key }) { return nil }
    let parts = keys.map { SortKey($0.field, isDescending: !$0.isDescending) }
    return QueryIndex(parts: parts, isKeyDescending: false)
  }
}

extension RowSlice {
  /// The slice of the mirrored order that has all rows of this one, and no more than all rows whose values are
  /// those of its ends; nil if there is no such order.
  ///
  /// Read backwards, it has the values in the order of this slice, but the keys of equal values in reverse.
  package var mirrored: RowSlice? {
    guard let mirror = index.mirrored else { return nil }
    var slice = RowSlice(index: mirror, filter: filter)
    if let end {
      guard let value = mirror.mirroring(end.position.value) else { return nil }
      slice.start = Query.Bound(IndexPosition(value: value, key: .minimum), isInclusive: true)
    }
    if let start {
      guard let value = mirror.mirroring(start.position.value) else { return nil }
      slice.end = Query.Bound(IndexPosition(value: value, key: .maximum), isInclusive: true)
    }
    return slice
  }
}

extension QueryIndex {
  /// A value of the mirrored order as one of this order; nil if it has none.
  fileprivate func mirroring(_ value: IndexValue) -> IndexValue? {
    var elements = [IndexTuple.Element(.value(value), isDescending: false)]
    if case .tuple(let tuple) = value { elements = tuple.elements }
    elements = elements.map { element in
      switch element.content {
      case .lowest: .init(.highest, isDescending: false)
      case .highest: .init(.lowest, isDescending: false)
      case .value, .key: .init(element.content, isDescending: !element.isDescending)
      }
    }
    if case .compound = self { return .tuple(IndexTuple(elements)) }
    if elements.count == 1, case .value(let plain) = elements[0].content { return plain }
    return nil
  }
}

extension CompoundOrder {
  /// A place in this order as the same place in the opposite one.
  ///
  /// - Precondition: the key descends.
  fileprivate func reversed(_ position: IndexPosition) -> IndexPosition {
    guard case .tuple(let tuple) = position.value, let last = tuple.elements.last else {
      preconditionFailure("A position in this order has a tuple, which is not empty.")
    }
    var elements = tuple.elements.map { element in
      IndexTuple.Element(element.content, isDescending: !element.isDescending)
    }
    let key: IndexPosition.KeyBound
    switch last.content {
    case .key(let name): key = .key(name)
    case .lowest: key = .maximum
    case .highest: key = .minimum
    case .value: preconditionFailure("A tuple ends with the key, or with what stands for it.")
    }
    elements.removeLast()
    if tuple.elements.count <= parts.count {
      // The bound gives only some of the parts: all rows with equal values are on one side of it.
      elements.append(.init(key == .maximum ? .highest : .lowest, isDescending: false))
    }
    return IndexPosition(value: value(ofForward: elements), key: key)
  }

  /// The value in the opposite order, made of its elements: a plain value if that is a plain index.
  private func value(ofForward elements: [IndexTuple.Element]) -> IndexValue {
    switch (parts.count, elements.first?.content) {
    case (0, _): .null
    case (1, .value(let value)?) where parts.first?.isDescending == true: value
    default: .tuple(IndexTuple(elements))
    }
  }
}
