public import RunnelBase
public import RunnelTree

/// A Swift type whose values are records of a resource.
///
/// The key is not stored in the record: it is its name in the tree. A field called `key` therefore is
/// not stored either.
public protocol Resource: Codable, Sendable {
  /// What the resource is called in patterns, logs and files; the name of the type unless said
  /// otherwise.
  static var resourceName: String { get }

  /// The record's key; nil until it is created.
  var key: String? { get set }
}

extension Resource {
  /// The name of the type.
  public static var resourceName: String { String(describing: Self.self) }
}

/// A record of a resource, or what one is to be: the form that all kinds of objects have here.
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
  /// - Throws: `ResourceError` (`tree`) if it is no key.
  public init(
    _ resource: String, key: String, value: JSONValue = .null
  ) throws(ResourceError) {
    let key = try ResourceError.wrapping { () throws(TreeError) in try Key(key) }
    self.init(resource, key: key, value: value)
  }
}

/// Which record of a resource is meant: its key, and what the names of its pattern stand for.
public struct ResourceIdentity: Hashable, Sendable {
  /// The name of the resource.
  public var resource: String
  /// The record's key.
  public var key: Key
  /// What the names of the resource's first pattern stand for, and no others.
  public var names: [String: Key]

  /// Makes an identity.
  public init(resource: String, key: Key, names: [String: Key]) {
    self.resource = resource
    self.key = key
    self.names = names
  }
}
