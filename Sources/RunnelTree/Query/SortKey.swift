/// A component of an order: a field, ascending or descending.
///
/// As text it is the field, followed by `:desc` if it descends: `created:desc`. `:asc` is optional,
/// except after a name with a colon in it: `a:b:asc`. In a list of components there are commas
/// between them: `created:desc,likes`. Blanks around a comma do not count. A comma, a backslash, or a
/// blank at an end of a name has a backslash before it.
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
  private static let ascending = "asc"
  private static let descending = "desc"
  private static let blanks: Set<Unicode.Scalar> = [" ", "\t", "\n", "\r"]

  /// A character of a list; one that is escaped belongs to a name, whatever it is.
  private struct Sign {
    var scalar: Unicode.Scalar
    var isEscaped = false

    var isBlank: Bool { !isEscaped && SortKey.blanks.contains(scalar) }
    var isColon: Bool { !isEscaped && scalar == ":" }
  }

  /// Reads a list of components.
  ///
  /// - Throws: `TreeError` that names the component that is refused: `invalidQuery` if a colon is
  ///   followed by another word than `asc` or `desc`, or a blank is before it; as `RowField` for a
  ///   name that is no field.
  public static func list(_ text: String) throws(TreeError) -> [SortKey] {
    var keys: [SortKey] = []
    for piece in pieces(of: text) { keys.append(try SortKey(piece: trimmed(piece))) }
    return keys
  }

  /// Reads a list of components that a file has: whatever is no direction belongs to the name.
  ///
  /// Earlier versions took blanks and unknown words for a part of a name, and wrote such a list.
  ///
  /// - Throws: as `RowField` for a name that is no field.
  static func storedList(_ text: String) throws(TreeError) -> [SortKey] {
    var keys: [SortKey] = []
    for piece in pieces(of: text) {
      if let (name, isDescending) = directed(piece) {
        keys.append(try SortKey(name, isDescending: isDescending))
      } else {
        keys.append(try SortKey(SortKey.text(piece)))
      }
    }
    return keys
  }

  /// The texts between commas; a backslash takes the next character literally.
  private static func pieces(of text: String) -> [ArraySlice<Sign>] {
    var pieces: [ArraySlice<Sign>] = []
    var piece: ArraySlice<Sign> = []
    var isEscaped = false
    for scalar in text.unicodeScalars {
      if !isEscaped, scalar == "\\" {
        isEscaped = true
      } else if !isEscaped, scalar == "," {
        pieces.append(piece)
        piece = []
      } else {
        piece.append(Sign(scalar: scalar, isEscaped: isEscaped))
        isEscaped = false
      }
    }
    return pieces + [piece]
  }

  private static func trimmed(_ piece: ArraySlice<Sign>) -> ArraySlice<Sign> {
    var piece = piece.drop(while: \.isBlank)
    while piece.last?.isBlank == true { piece.removeLast() }
    return piece
  }

  private static func text(_ signs: ArraySlice<Sign>) -> String {
    var text = String.UnicodeScalarView()
    text.append(contentsOf: signs.lazy.map(\.scalar))
    return String(text)
  }

  /// The name and the direction of a component; nil if it does not end with a direction.
  private static func directed(
    _ piece: ArraySlice<Sign>
  ) -> (name: String, isDescending: Bool)? {
    guard let colon = piece.lastIndex(where: \.isColon) else { return nil }
    let word = text(piece[(colon + 1)...])
    guard word == ascending || word == descending else { return nil }
    return (text(piece[..<colon]), word == descending)
  }

  private init(piece: ArraySlice<Sign>) throws(TreeError) {
    guard let colon = piece.lastIndex(where: \.isColon) else {
      try self.init(SortKey.text(piece))
      return
    }
    let whole = SortKey.text(piece)
    guard let (name, isDescending) = SortKey.directed(piece) else {
      let word = SortKey.text(piece[(colon + 1)...])
      throw TreeError(
        .invalidQuery,
        "\"\(whole)\" of the order: \"\(word)\" is no direction. Write :asc or :desc; after a name "
          + "with a colon in it :asc is needed (\"\(whole):asc\").")
    }
    if piece[..<colon].last?.isBlank == true {
      throw TreeError(
        .invalidQuery,
        "\"\(whole)\" of the order has a blank before the colon: leave it out, or write a backslash "
          + "before it if the name ends with it.")
    }
    try self.init(name, isDescending: isDescending)
  }
}

extension SortKey: CustomStringConvertible {
  /// The text of the component, which `list` reads.
  public var description: String {
    let name = Array(field.description.unicodeScalars)
    var text = String.UnicodeScalarView()
    for (offset, scalar) in name.enumerated() {
      let isOuterBlank =
        (offset == 0 || offset == name.count - 1) && SortKey.blanks.contains(scalar)
      if isOuterBlank || scalar == "," || scalar == "\\" { text.append("\\") }
      text.append(scalar)
    }
    if isDescending { return "\(String(text)):\(SortKey.descending)" }
    let hasColon = name.contains { $0 == ":" }
    return hasColon ? "\(String(text)):\(SortKey.ascending)" : String(text)
  }
}
