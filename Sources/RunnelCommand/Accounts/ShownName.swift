import ArgumentParser

/// The name of an account that other people see.
enum ShownName {
  /// Checks a name.
  ///
  /// - Parameters:
  ///   - name: the name.
  ///   - way: what to do for no name, for the error.
  /// - Throws: `ValidationError` if it is empty or blank, or has control characters.
  static func check(_ name: String, else way: String) throws {
    if name.allSatisfy(\.isWhitespace) {
      throw ValidationError("the name is empty: \(way).")
    }
    if name.unicodeScalars.contains(where: { breaksLines($0) }) {
      throw ValidationError("a name has no line breaks, nor other control characters.")
    }
  }

  private static func breaksLines(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control, .lineSeparator, .paragraphSeparator: true
    default: false
    }
  }
}
