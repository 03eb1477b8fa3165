/// A component of an order: a field, ascending or descending.
///
/// As text it is the field, followed by `:desc` if it descends: `created:desc`. `:asc` is optional,
/// except after a name that itself ends in `:desc`. In a list of components there are commas
/// between them: `created:desc,likes`; a comma or a backslash within a name has a backslash before
/// it.
public struct SortKey: Hashable, Sendable {
  /// The field that is compared.
  public var field: RowField
  /// True if greater values come first.
  public var isDescending: Bool

  /// Makes a component.
  public init(_ field: RowField, isDescending: Bool = false) {
    self.field = field
    self.isDescending = isDescending
  }

  /// Makes a component from its text: a path below each child, `$key`, `$value` or `$priority`.
  ///
  /// - Throws: `TreeError` (`invalidKey`, `invalidPath` or `invalidQuery`) if there is no such
  ///   field.
  public init(_ field: String, isDescending: Bool = false) throws(TreeError) {
    self.init(try RowField(field), isDescending: isDescending)
  }
}

extension SortKey {
  private static let ascending = ":asc"
  private static let descending = ":desc"

  /// Reads a list of components.
  ///
  /// - Throws: `TreeError` that names the component that is refused.
  public static func list(_ text: String) throws(TreeError) -> [SortKey] {
    var keys: [SortKey] = []
    for piece in pieces(of: text) { keys.append(try SortKey(piece: piece)) }
    return keys
  }

  /// The texts between commas; a backslash takes the next character literally.
  private static func pieces(of text: String) -> [String] {
    var pieces: [String] = []
    var piece = String.UnicodeScalarView()
    var isEscaped = false
    for scalar in text.unicodeScalars {
      if !isEscaped, scalar == "\\" {
        isEscaped = true
      } else if !isEscaped, scalar == "," {
        pieces.append(String(piece))
        piece = String.UnicodeScalarView()
      } else {
        piece.append(scalar)
        isEscaped = false
      }
    }
    return pieces + [String(piece)]
  }

  private init(piece: String) throws(TreeError) {
    if piece.hasSuffix(SortKey.descending) {
      try self.init(
        RowField(String(piece.dropLast(SortKey.descending.count))), isDescending: true)
    } else if piece.hasSuffix(SortKey.ascending) {
      try self.init(RowField(String(piece.dropLast(SortKey.ascending.count))))
    } else {
      try self.init(RowField(piece))
    }
  }
}

extension SortKey: CustomStringConvertible {
  /// The text of the component, which `list` reads.
  public var description: String {
    var text = String.UnicodeScalarView()
    for scalar in field.description.unicodeScalars {
      if scalar == "," || scalar == "\\" { text.append("\\") }
      text.append(scalar)
    }
    let name = String(text)
    if isDescending { return name + SortKey.descending }
    let isMistakable = name.hasSuffix(SortKey.descending) || name.hasSuffix(SortKey.ascending)
    return isMistakable ? name + SortKey.ascending : name
  }
}
