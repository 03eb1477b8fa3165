// Null in the records of services. A tree does not hold it, so there it is an object with the member `~`, "n".

extension ChildPredicate {
  private static let mark = Key(unchecked: "~")
  private static let null = Leaf.string("n")

  /// The predicate for records of services: a field that is null counts as missing.
  package var countingNull: ChildPredicate {
    switch self {
    case .exists(.child(let path)): .not(.missing(path))
    case .not(.exists(.child(let path))): .missing(path)
    case .not(let part): .not(part.countingNull)
    case .all(let parts): .all(parts.map(\.countingNull))
    case .any(let parts): .any(parts.map(\.countingNull))
    case .compare, .exists, .matches: self
    }
  }

  /// The predicate that a record of a service has no such field, or null there.
  private static func missing(_ field: Path) -> ChildPredicate {
    let mark = Path(unchecked: field.keys + [mark])
    return .any([.not(.exists(.child(field))), .compare(.child(mark), .equal, null)])
  }

  /// The field of which `countingNull` says that it is missing; nil for any other predicate.
  package var fieldMissingOrNull: Path? {
    guard case .any(let parts) = self, case .not(.exists(.child(let field)))? = parts.first,
      self == .missing(field)
    else { return nil }
    return field
  }
}

extension Node {
  /// True if the node stands for null in a record of a service.
  package var isNullOfService: Bool {
    guard children.count == 1, let child = children.first else { return false }
    return child.key.text == "~" && child.node.leaf == .string("n")
  }
}
