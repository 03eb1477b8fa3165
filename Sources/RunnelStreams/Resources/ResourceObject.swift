public import RunnelBase
public import RunnelTree

/// A Swift type whose values are records of a resource.
///
/// The key is not stored in the record, since it is the record's name in the tree. A field called
/// `key` is therefore not stored either.
public protocol Resource: Codable, Sendable {
  /// The name of the resource in patterns, logs and files; by default the name of the type.
  static var resourceName: String { get }

  /// The record's key; nil until it is created.
  var key: String? { get set }
}

extension Resource {
  /// The name of the type.
  public static var resourceName: String { String(describing: Self.self) }
}

/// A record of a resource, stored or to be stored: the form that all objects have here.
public struct ResourceObject: Hashable, Sendable {
  /// The name of its resource.
  public var resource: String
  /// Its key; nil until it is created.
  public var key: Key?
  /// The record as JSON, without its key.
  public var value: JSONValue

  /// Makes an object.
  public init(_ resource: String, key: Key? = nil, value: JSONValue = .null) {
    self.resource = resource
    self.key = key
    self.value = value
  }

  /// Makes an object whose key is given as text.
  ///
  /// - Throws: `ResourceError` (`tree`) if the text is not a key.
  public init(
    _ resource: String, key: String, value: JSONValue = .null
  ) throws(ResourceError) {
    let key = try ResourceError.wrapping { () throws(TreeError) in try Key(key) }
    self.init(resource, key: key, value: value)
  }
}

/// The identity of a record: its resource, its key, and the keys of the names in its pattern.
public struct ResourceIdentity: Hashable, Sendable {
  /// The name of the resource.
  public var resource: String
  /// The record's key.
  public var key: Key
  /// The keys of the names in the resource's first pattern, and of no others.
  public var names: [String: Key]

  /// Makes an identity.
  public init(resource: String, key: Key, names: [String: Key]) {
    self.resource = resource
    self.key = key
    self.names = names
  }
}
