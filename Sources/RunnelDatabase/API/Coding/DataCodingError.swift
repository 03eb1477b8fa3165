import RunnelTree

/// A Swift value that does not fit into the tree, or a part of the tree that does not fit a Swift
/// type.
public struct DataCodingError: Error, Hashable, Sendable {
  /// The kinds of misfit.
  public enum Code: String, Hashable, Sendable {
    /// A value is needed at a place where none is stored.
    case missing
    /// The stored value has another type, or is out of the type's range.
    case mismatch
    /// A Swift value that the tree cannot hold.
    case notEncodable = "not_encodable"
  }

  /// The kind of misfit.
  public var code: Code
  /// The place that does not fit, as a path from the root: `/users/ana/age`.
  public var path: String
  /// The Swift type that is expected at the place, or that was to be written there.
  public var expected: String
  /// The problem, as a clause.
  public var reason: String

  init(_ code: Code, path: String, type: Any.Type, reason: String) {
    self.code = code
    self.path = path
    expected = String(describing: type)
    self.reason = reason
  }

  /// The same error in a value that was coded without its place.
  func below(_ place: Path) -> DataCodingError {
    if place.isRoot { return self }
    var error = self
    error.path = place.description + (path == Path.root.description ? "" : path)
    return error
  }

  /// The words of Swift's coding as a clause: `Cannot initialize X from ….` begins and ends a sentence.
  fileprivate static func clause(_ text: String) -> String {
    var words = Substring(text)
    while words.last == "." { words.removeLast() }
    // A name in capitals stays as it is.
    guard let first = words.first, first.isUppercase, words.dropFirst().first?.isLowercase == true
    else { return String(words) }
    return first.lowercased() + words.dropFirst()
  }
}

extension DataCodingError: CustomStringConvertible {
  /// The place, the type and the problem.
  public var description: String { "\(path): \(clause)." }

  /// The type and the problem, without the place.
  var clause: String {
    switch code {
    case .missing, .mismatch: "expected \(expected), but \(reason)"
    case .notEncodable: "\(expected) cannot be written: \(reason)"
    }
  }
}

extension DataCodingError {
  /// Makes the error for an error of Swift's coding, in a value of type `type` at `place`.
  init(_ error: any Error, place: Path, type: Any.Type) {
    switch error {
    case let error as DataCodingError: self = error
    case DecodingError.valueNotFound(let type, let context):
      self.init(.missing, context, place, type)
    case DecodingError.keyNotFound(let key, var context):
      context = DecodingError.Context(
        codingPath: context.codingPath + [key], debugDescription: context.debugDescription)
      self.init(.missing, context, place, type)
    case DecodingError.typeMismatch(let type, let context):
      self.init(.mismatch, context, place, type)
    case DecodingError.dataCorrupted(let context): self.init(.mismatch, context, place, type)
    case EncodingError.invalidValue(let value, let context):
      self.init(
        .notEncodable, path: place.joined(context.codingPath), type: Swift.type(of: value),
        reason: DataCodingError.clause(context.debugDescription))
    default:
      self.init(.mismatch, path: place.description, type: type, reason: "\(error)")
    }
  }

  private init(
    _ code: Code, _ context: DecodingError.Context, _ place: Path, _ type: Any.Type
  ) {
    self.init(
      code, path: place.joined(context.codingPath), type: type,
      reason: DataCodingError.clause(context.debugDescription))
  }
}

extension Path {
  /// The place below, as text: coding keys need not be valid.
  fileprivate func joined(_ codingPath: [any CodingKey]) -> String {
    codingPath.isEmpty
      ? description
      : (isRoot ? "" : description) + "/" + codingPath.map(\.stringValue).joined(separator: "/")
  }
}

/// The key of an element of an array.
struct PositionKey: CodingKey {
  let position: Int

  init(_ position: Int) { self.position = position }

  init?(stringValue: String) {
    guard let position = Int(stringValue) else { return nil }
    self.position = position
  }

  init?(intValue: Int) { position = intValue }

  var stringValue: String { String(position) }
  var intValue: Int? { position }
}

/// A key that is known by its name only.
struct NamedKey: CodingKey {
  let stringValue: String

  init(_ name: String) { stringValue = name }

  init?(stringValue: String) { self.stringValue = stringValue }

  init?(intValue: Int) { stringValue = String(intValue) }

  var intValue: Int? { Int(stringValue) }

  /// The key under which Swift's coding puts the values of a superclass.
  static let superclass = NamedKey("super")
}
