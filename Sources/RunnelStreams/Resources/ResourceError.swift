public import RunnelTree

/// What stands in the way of doing something with a resource.
public struct ResourceError: Error, Hashable, Sendable {
  /// The kind of refusal: a stable word to match on.
  public struct Code: RawRepresentable, Hashable, Sendable {
    /// The word, as it appears in machine-readable output.
    public var rawValue: String

    /// Makes a code from its word.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The text of a path pattern is wrong.
    public static let invalidPattern = Code(rawValue: "invalid_pattern")
    /// What was registered contradicts itself, or what was registered before.
    public static let invalidDefinition = Code(rawValue: "invalid_definition")
    /// There is no resource of this name.
    public static let unknownResource = Code(rawValue: "unknown_resource")
    /// The pattern has a name that the context has not; `missing` is the name.
    public static let missingName = Code(rawValue: "missing_name")
    /// The object has no key, and the operation needs one; `missing` is its resource.
    public static let missingKey = Code(rawValue: "missing_key")
    /// The object's key is not the one that its place has.
    public static let keyMismatch = Code(rawValue: "key_mismatch")
    /// The record would break the rules of its fields; `fields` are the mistakes.
    public static let invalidFields = Code(rawValue: "invalid_fields")
    /// The record would be of a shape that cannot be stored: nothing at all, or no object.
    public static let invalidRecord = Code(rawValue: "invalid_record")
    /// There is no such record.
    public static let notFound = Code(rawValue: "not_found")
    /// On a replica: whether there is such a record is not known here.
    public static let notKnown = Code(rawValue: "not_known")
    /// A hook forbade it; the message is its reason.
    public static let vetoed = Code(rawValue: "vetoed")
    /// One write would touch more records than is allowed.
    public static let tooMany = Code(rawValue: "too_many")
    /// The tree refused a part of it; `tree` tells which.
    public static let tree = Code(rawValue: "tree")
  }

  /// The kind of refusal.
  public var code: Code
  /// What happened and what to do, for a person.
  public var message: String
  /// The resource that it is about, if there is one.
  public var resource: String?
  /// The pattern that it is about, as text, if there is one.
  public var pattern: String?
  /// The name or key that was missing, if one was.
  public var missing: String?
  /// What is wrong with the fields, in the order of the rules, if that is what is wrong.
  public var fields: [FieldError] = []
  /// What the tree refused, if it did.
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

  /// Makes the error of a refusal by the tree.
  public init(_ error: TreeError) {
    self.init(.tree, error.description)
    tree = error
  }
}

extension ResourceError: CustomStringConvertible {
  /// The message.
  public var description: String { message }
}

extension ResourceError {
  /// Runs `body`, whose errors become errors of resources.
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

/// The limits of what is done with resources at once.
public enum ResourceLimits {
  /// The most records that one operation changes besides its own: destroyed with it, or holding copies.
  public static let recordsMax = 10_000
  /// The most bytes of JSON of an old or new value in an entry of the action log.
  public static let logValueBytesMax = 65_536
  /// The most wrong copies, and the most orphans, that an audit notes.
  public static let reportedMax = 10_000
}
