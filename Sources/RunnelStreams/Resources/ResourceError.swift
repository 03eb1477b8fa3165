public import RunnelTree

/// The reason why an operation on a resource is refused.
public struct ResourceError: Error, Hashable, Sendable {
  /// The kind of refusal: a stable word to match on.
  public struct Code: RawRepresentable, Hashable, Sendable {
    /// The word, as it appears in machine-readable output.
    public var rawValue: String

    /// Makes a code from its word.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The text of a path pattern is wrong.
    public static let invalidPattern = Code(rawValue: "invalid_pattern")
    /// A definition contradicts itself, or an earlier one.
    public static let invalidDefinition = Code(rawValue: "invalid_definition")
    /// No resource has the given name.
    public static let unknownResource = Code(rawValue: "unknown_resource")
    /// The context lacks a name of the pattern; `missing` is the name.
    public static let missingName = Code(rawValue: "missing_name")
    /// The context's object of a name is of another resource than the path says; `missing` is the name.
    public static let wrongResource = Code(rawValue: "wrong_resource")
    /// The object has no key, and the operation needs one; `missing` is its resource.
    public static let missingKey = Code(rawValue: "missing_key")
    /// The object's key differs from the key in its place.
    public static let keyMismatch = Code(rawValue: "key_mismatch")
    /// The record would break the rules of its fields; `fields` are the mistakes.
    public static let invalidFields = Code(rawValue: "invalid_fields")
    /// The record could not be stored: it is empty, or not an object.
    public static let invalidRecord = Code(rawValue: "invalid_record")
    /// The record does not exist.
    public static let notFound = Code(rawValue: "not_found")
    /// The owner that the record needs does not exist.
    public static let ownerNotFound = Code(rawValue: "owner_not_found")
    /// It is not known on this replica whether the record exists.
    public static let notKnown = Code(rawValue: "not_known")
    /// A hook forbade it; the message is its reason.
    public static let vetoed = Code(rawValue: "vetoed")
    /// One write would touch more records than allowed.
    public static let tooMany = Code(rawValue: "too_many")
    /// The tree refused a part of it; `tree` is the tree's error.
    public static let tree = Code(rawValue: "tree")
  }

  /// The kind of refusal.
  public var code: Code
  /// The message for a person: what happened and what to do.
  public var message: String
  /// The resource that it is about, if there is one.
  public var resource: String?
  /// The pattern that it is about, as text, if there is one.
  public var pattern: String?
  /// The name or key that was missing, if one was.
  public var missing: String?
  /// The mistakes in fields, in the order of the rules.
  public var fields: [FieldError] = []
  /// The error of the tree, if the tree refused it.
  public var tree: TreeError?

  /// Makes an error.
  public init(
    _ code: Code, _ message: String, resource: String? = nil, pattern: String? = nil,
    missing: String? = nil
  ) {
    self.code = code
    self.message = message
    self.resource = resource
    self.pattern = pattern
    self.missing = missing
  }

  /// Makes the error for a refusal by the tree.
  public init(_ error: TreeError) {
    self.init(.tree, error.description)
    tree = error
  }
}

extension ResourceError.Code: CustomStringConvertible {
  /// The word.
  public var description: String { rawValue }
}

extension ResourceError: CustomStringConvertible {
  /// The message.
  public var description: String { message }
}

extension ResourceError {
  /// Runs `body`, and wraps its errors as errors of resources.
  static func wrapping<Result>(
    _ body: () throws(TreeError) -> Result
  ) throws(ResourceError) -> Result {
    do throws(TreeError) {
      return try body()
    } catch {
      throw ResourceError(error)
    }
  }
}

/// The limits of operations on resources.
package enum ResourceLimits {
  /// The most other records that one operation changes: destroyed with the record, or holding
  /// copies.
  package static let recordsMax = 10_000
  /// The most bytes of JSON of an old or new value in an entry of the action log.
  package static let logValueBytesMax = 65_536
  /// The most wrong copies, and the most orphans, that an audit lists.
  package static let reportedMax = 10_000
}
