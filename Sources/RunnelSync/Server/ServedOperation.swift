public import RunnelBase
public import RunnelTree

/// For whom a connection speaks, as rules see it.
public struct Caller: Hashable, Sendable {
  /// The variable `auth` of the rules: an object; null for nobody.
  public var auth: JSONValue
  /// True if no rule applies.
  public var isAdministrator: Bool

  /// Makes a caller.
  public init(auth: JSONValue, isAdministrator: Bool = false) {
    self.auth = auth
    self.isAdministrator = isAdministrator
  }

  /// A client that has shown no credential.
  public static let nobody = Caller(auth: .null)
  /// Whom no rule binds.
  public static let administrator = Caller(auth: .null, isAdministrator: true)
}

/// The name of one listen of a connection: a query that is asked again has another one.
public struct ListenNumber: Hashable, Sendable, Comparable {
  /// The number, counted from 1.
  public var rawValue: Int64

  /// Makes a name from a number.
  public init(_ rawValue: Int64) { self.rawValue = rawValue }

  /// Orders by number: the older listen first.
  public static func < (left: ListenNumber, right: ListenNumber) -> Bool {
    left.rawValue < right.rawValue
  }
}

/// What a connection wants of the tree that is served.
///
/// The tree takes the operations of one connection in their order, checks each by the rules for its
/// caller, and answers in that order. What it tells the connection of a write's effect it tells before
/// the answer.
public struct ServedRequest: Hashable, Sendable {
  /// The number of the request on its connection: the answer names it.
  public var id: Int64
  /// For whom.
  public var caller: Caller
  /// What is to be done.
  public var operation: ServedOperation
}

/// What can be wanted of the tree that is served.
public enum ServedOperation: Hashable, Sendable {
  /// Tell what a query shows, and from then on every change of it; answered by `listening`.
  case listen(ListenNumber, Query, known: KnownHash)
  /// Tell no more of it; needs no answer.
  case unlisten(ListenNumber)
  /// Tell what a query shows; answered by `value`.
  case get(Query)
  /// Do a write, once for each name; answered by `done`.
  case write(Write, name: WriteID?)
  /// Set a place, if the hash of what stands there is this one; answered by `done` or `stale`.
  case compareAndSet(Path, JSONValue, hash: String, name: WriteID?)
  /// Check by the rules what is to be done when the connection ends, and keep all that is to be done
  /// then, so that it is done even if the server ends first; answered by `done`.
  case keepForDisconnect([Write], all: [Write])
  /// Check by the rules whether the connection may still listen to what it does; answered by
  /// `reviewed`.
  case review
  /// The connection ended: tell it nothing more, and do what was to be done then, each write that the
  /// rules allow. It is the last operation of a connection, and needs no answer.
  case leave([Write])
}

/// What became of an operation.
public enum ServedAnswer: Hashable, Sendable {
  /// It was done.
  case done
  /// It was refused; nothing of it was done.
  case refused(TreeError)
  /// The condition does not hold: this stands there. Who may not read it is refused instead.
  case stale(Node)
  /// The connection listens now. Without an index it is told all that is at the place.
  case listening(ListenAnswer, isIndexed: Bool)
  /// What a query shows.
  case value(Node)
  /// The connection may not listen to these any more, and is told nothing of them.
  case reviewed(revoked: [ListenNumber])
}

/// What a client lacks of the answer to a query.
public enum ListenAnswer: Hashable, Sendable {
  /// Nothing: what it has is right.
  case unchanged
  /// All of it.
  case all(Node)
  /// Ranges of leaves that differ.
  case ranges([RangeMerge])

  /// The answer to a query for a client that knows something of it.
  ///
  /// O(n) in what the query shows.
  ///
  /// - Parameters:
  ///   - query: what is asked.
  ///   - known: what the client has, by its hashes.
  ///   - sentQuery: the query whose answer is sent; another one only where an index is missing.
  ///   - reader: the tree.
  /// - Throws: `TreeError` (`storage`) if the tree cannot be read.
  public init(
    _ query: Query, known: KnownHash, sentQuery: Query? = nil, reader: some TreeReader
  ) throws(TreeError) {
    if try reader.contentHash(of: query) == known.whole {
      self = .unchanged
      return
    }
    let node = try reader.window(of: sentQuery ?? query)
    if let ranges = known.ranges, sentQuery == nil {
      self = .ranges(RangeMerge.merges(updating: ranges, to: node))
    } else {
      self = .all(node)
    }
  }
}

/// What the tree that is served tells a connection.
public enum ServedTold: Hashable, Sendable {
  /// Something changed of what it listens to.
  case push(ListenNumber, EncodedPush)
  /// The answer to the request of this id.
  case answer(Int64, ServedAnswer)
}

extension TreeReader {
  /// What a query shows, as one node: all of a place, or the children in the window, without a
  /// priority of its own.
  ///
  /// Source: tree semantics, section 5.3.
  ///
  /// - Throws: `TreeError` (`storage`) if the tree cannot be read.
  public func window(of query: Query) throws(TreeError) -> Node {
    if query.loadsAllData { return try node(at: query.path) }
    let rows = try rows(of: query.path, in: RowSlice(query), detail: .full)
    return Node(
      children: rows.compactMap { row in row.node.map { Child(key: row.key, node: $0) } })
  }
}
