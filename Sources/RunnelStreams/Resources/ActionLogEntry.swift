public import RunnelBase
public import RunnelTree

/// A change of a record in the action log.
///
/// Source: origins, section 2.6.
public struct ActionLogEntry: Hashable, Sendable {
  /// The entry's key; later ones come after it.
  public var id: Key
  /// The time of the action, in milliseconds since 1970.
  public var at: Int64
  /// The author; empty if none was named.
  public var author: String
  /// The resource.
  public var resource: String
  /// The record's key.
  public var key: Key
  /// The kind of change.
  public var kind: ResourceChangeKind
  /// The place of the record.
  public var path: Path
  /// The record before; null if there was none, or it was left out.
  public var old: JSONValue
  /// The record after; null if there was none, or it was left out.
  public var new: JSONValue
  /// The keys of the context's objects that are not in the path, by name.
  public var context: [String: Key]
  /// True if the record was destroyed with its owner.
  public var isCascaded: Bool
  /// True if `old` or `new` was left out because it was too large.
  public var isCut: Bool

  /// Makes an entry from its parts.
  package init(
    id: Key, at: Int64, author: String, resource: String, key: Key, kind: ResourceChangeKind,
    path: Path, old: JSONValue, new: JSONValue, context: [String: Key], isCascaded: Bool,
    isCut: Bool
  ) {
    (self.id, self.at, self.author) = (id, at, author)
    (self.resource, self.key, self.kind, self.path) = (resource, key, kind, path)
    (self.old, self.new, self.context) = (old, new, context)
    (self.isCascaded, self.isCut) = (isCascaded, isCut)
  }
}

/// The fields of an entry in the tree.
private enum LogField {
  static let at = "at"
  static let author = "by"
  static let resource = "resource"
  static let key = "key"
  static let kind = "operation"
  static let path = "path"
  static let old = "old"
  static let new = "new"
  static let context = "context"
  static let isCascaded = "cascaded"
  static let isCut = "cut"
}

extension ActionLogEntry {
  /// The JSON of an entry for a change; its time is that of the write.
  ///
  /// `besides` are the names of the context that the path contains already.
  static func json(
    _ change: ResourceHookContext, author: String, besides used: Set<String>
  ) -> JSONValue {
    var members = [
      JSONMember(LogField.at, [".sv": "timestamp"]),
      JSONMember(LogField.author, .string(author)),
      JSONMember(LogField.resource, .string(change.identity.resource)),
      JSONMember(LogField.key, .string(change.identity.key.text)),
      JSONMember(LogField.kind, .string(change.kind.rawValue)),
      JSONMember(LogField.path, .string(change.path.description)),
    ]
    var isCut = false
    for (name, value) in [(LogField.old, change.old), (LogField.new, change.new)]
    where value != .null {
      if value.jsonBytes().count > ResourceLimits.logValueBytesMax {
        isCut = true
      } else {
        members.append(JSONMember(name, value))
      }
    }
    let extra = change.context.filter { !used.contains($0.key) }
      .compactMap { name, object in object.key.map { JSONMember(name, .string($0.text)) } }
      .filter { Key.isValid($0.name) }
      .sorted { $0.name < $1.name }
    if !extra.isEmpty { members.append(JSONMember(LogField.context, .object(extra))) }
    if change.isCascaded { members.append(JSONMember(LogField.isCascaded, true)) }
    if isCut { members.append(JSONMember(LogField.isCut, true)) }
    return .object(members)
  }

  /// Makes the entry of a change that was just made, complete whatever its size, for undoing it
  /// without the log.
  ///
  /// - Parameters:
  ///   - change: the change.
  ///   - at: when it happened, in milliseconds since 1970.
  ///   - author: the author.
  package init(of change: ResourceHookContext, at: Int64, author: String) {
    id = change.identity.key
    (self.at, self.author) = (at, author)
    (resource, key) = (change.identity.resource, change.identity.key)
    (kind, path, old, new) = (change.kind, change.path, change.old, change.new)
    context = change.context.compactMapValues(\.key)
    isCascaded = change.isCascaded
    isCut = false
  }

  /// Reads an entry; nil if the node is not one.
  package init?(id: Key, _ node: Node) {
    guard let kind = node.text(LogField.kind).flatMap(ResourceChangeKind.init(rawValue:)),
      let resource = node.text(LogField.resource),
      let key = node.text(LogField.key).flatMap({ try? Key($0) }),
      let path = node.text(LogField.path).flatMap({ try? Path($0) }),
      case .number(let time)? = node[LogField.at].leaf, let at = time.integer
    else { return nil }
    self.id = id
    self.at = at
    author = node.text(LogField.author) ?? ""
    (self.resource, self.key, self.kind, self.path) = (resource, key, kind, path)
    old = node[LogField.old].exportJSON
    new = node[LogField.new].exportJSON
    context = [:]
    for child in node[LogField.context].children {
      if case .string(let text)? = child.node.leaf { context[child.key.text] = try? Key(text) }
    }
    isCascaded = node[LogField.isCascaded].leaf == .bool(true)
    isCut = node[LogField.isCut].leaf == .bool(true)
  }
}

extension Node {
  /// The child of a name that is known to be a key.
  fileprivate subscript(name: String) -> Node { self[Key(unchecked: name)] }

  fileprivate func text(_ name: String) -> String? {
    if case .string(let text)? = self[name].leaf { text } else { nil }
  }
}

extension Key {
  fileprivate static func isValid(_ text: String) -> Bool { (try? Key(text)) != nil }
}

/// Finds places for new entries of a log, each after all existing entries.
///
/// The clocks of several processes differ, and so do their keys. A reader of the log continues
/// after the last key that it has read: an entry before that key would never be read. So if a new
/// key would not be the last, the entry gets the key after the last one instead.
struct ActionLogWriter<Reader: TreeReader> {
  private let place: Path
  private let reader: Reader
  private let newKey: () -> Key
  private var last: Key?

  init(place: Path, reader: Reader, newKey: @escaping () -> Key) {
    self.place = place
    self.reader = reader
    self.newKey = newKey
  }

  /// The place of the next entry.
  mutating func nextPlace() throws(ResourceError) -> Path {
    if last == nil { last = try lastStored() }
    var key = newKey()
    if let last, key < last || key == last { key = PushIDGenerator.following(last) }
    last = key
    return try ResourceError.wrapping { [place] () throws(TreeError) in try place.child(key) }
  }

  private func lastStored() throws(ResourceError) -> Key? {
    try ResourceError.wrapping { () throws(TreeError) in
      let slice = RowSlice(try Query(place).ordered(by: .key).limited(to: 1, from: .last))
      return try reader.rows(of: place, in: slice, detail: .shallow).last?.key
    }
  }
}
