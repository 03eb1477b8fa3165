package import RunnelBase
package import RunnelTree

/// The identity for which a connection acts, as rules see it.
package struct Caller: Hashable, Sendable {
  /// The variable `auth` of the rules: an object; null if unauthenticated.
  package var auth: JSONValue
  /// True if no rule applies.
  package var isAdministrator: Bool

  /// Makes a caller.
  package init(auth: JSONValue, isAdministrator: Bool = false) {
    self.auth = auth
    self.isAdministrator = isAdministrator
  }

  /// An unauthenticated client.
  package static let nobody = Caller(auth: .null)
  /// A caller that no rule binds.
  package static let administrator = Caller(auth: .null, isAdministrator: true)
}

/// The name of one listen of a connection; a query that is asked again gets another name.
package struct ListenNumber: Hashable, Sendable, Comparable {
  /// The number, counted from 1.
  package var rawValue: Int64

  /// Makes a name from a number.
  package init(_ rawValue: Int64) { self.rawValue = rawValue }

  /// Orders by number: the older listen first.
  package static func < (left: ListenNumber, right: ListenNumber) -> Bool {
    left.rawValue < right.rawValue
  }
}

/// A request of a connection to the served tree.
///
/// The tree takes the operations of one connection in order, checks each by the rules for its
/// caller, and answers in that order. Pushes that a write causes on its own connection precede its
/// answer.
package struct ServedRequest: Hashable, Sendable {
  /// The number of the request on its connection: the answer names it.
  package var id: Int64
  /// The caller for whom the operation is done.
  package var caller: Caller
  /// The operation.
  package var operation: ServedOperation
}

/// An operation that a connection asks of the served tree.
package enum ServedOperation: Hashable, Sendable {
  /// Tell what a query shows, and every later change of it. The answer is `listening`.
  case listen(ListenNumber, Query, known: KnownHash)
  /// Stop telling changes of a query. There is no answer.
  case unlisten(ListenNumber)
  /// Tell what a query shows. The answer is `value`.
  case get(Query)
  /// Do a write, once for each name. The answer is `done`.
  case write(Write, name: WriteID?)
  /// Do a write if the nodes at these places have these hashes, once for each name. The answer is `done` or
  /// `changed`. A place that the caller may not read is not compared.
  case writeIf(Write, hashes: [PlaceHash], name: WriteID?)
  /// Set a place if its hash is this one; whoever may not read the place is refused. The answer is `done` or
  /// `stale`.
  case compareAndSet(Path, JSONValue, hash: String, name: WriteID?)
  /// Check new disconnect requests by the rules and keep all of them, so that they are done even if
  /// the server ends first. The answer is `done`.
  case keepForDisconnect([Write], all: [Write])
  /// Check by the rules whether the connection may keep its listens. The answer is `reviewed`.
  case review
  /// The credential of the connection ended: do those of its disconnect requests that the rules allow,
  /// which are all that it has. There is no answer.
  case doDisconnects([Write])
  /// The connection ended: tell it nothing more, and do those of its disconnect requests that the
  /// rules allow. This is the last operation of a connection, and has no answer.
  case leave([Write])
}

/// The result of an operation.
package enum ServedAnswer: Hashable, Sendable {
  /// The operation was done.
  case done
  /// The operation was refused; nothing of it was done.
  case refused(TreeError)
  /// The condition does not hold; the current node is given.
  case stale(Node)
  /// Conditions do not hold; the current nodes of their places are given.
  case changed([PlacedNode])
  /// The connection listens now. Without an index it is told everything at the place.
  case listening(ListenAnswer, isIndexed: Bool)
  /// The node that a query shows.
  case value(Node)
  /// The node that a query shows, encoded: its JSON in UTF-8, with priorities.
  case text([UInt8])
  /// The connection may not keep these listens, and is told nothing more of them.
  case reviewed(revoked: [ListenNumber])
}

/// A node and its place.
package struct PlacedNode: Hashable, Sendable {
  package var path: Path
  package var node: Node

  package init(_ path: Path, _ node: Node) { (self.path, self.node) = (path, node) }
}

/// The part of a query's answer that a client lacks.
package enum ListenAnswer: Hashable, Sendable {
  /// The client lacks nothing.
  case unchanged
  /// The client needs the whole answer.
  case all(Node)
  /// Ranges of leaves that differ.
  case ranges([RangeMerge])
  /// One of these, encoded before.
  case encoded(EncodedPush)

  /// The length of a hash: 20 bytes in base64.
  private static let hashBytes = 28

  /// Computes the answer to a query for a client that already has a part of it.
  ///
  /// Complexity: O(n) in the result of the query.
  ///
  /// - Parameters:
  ///   - query: the query.
  ///   - known: the hashes of the client's current data.
  ///   - sentQuery: the query whose answer is sent; it differs only where an index is missing.
  ///   - reader: the tree.
  /// - Throws: `TreeError` (`storage`) if the tree cannot be read.
  package init(
    _ query: Query, known: KnownHash, sentQuery: Query? = nil, reader: some TreeReader
  ) throws(TreeError) {
    try self.init(query, known: known, sentQuery: sentQuery, reader: reader) {
      (query) throws(TreeError) in try reader.contentHash(of: query)
    }
  }

  /// Computes the answer to a query for a client that already has a part of it; `hash` is the hash of a
  /// query's result, which the caller may know.
  ///
  /// - Throws: `TreeError` (`storage`) if the tree cannot be read.
  package init(
    _ query: Query, known: KnownHash, sentQuery: Query? = nil, reader: some TreeReader,
    hash: (Query) throws(TreeError) -> String
  ) throws(TreeError) {
    // The hash costs more than the answer, so it is made only if it may be the known one.
    if known.whole.utf8.count == ListenAnswer.hashBytes,
      try hash(query) == known.whole
    {
      self = .unchanged
      return
    }
    let node = try reader.window(of: sentQuery ?? query)
    if node.isEmpty, known.whole.isEmpty {
      self = .unchanged
      return
    }
    if let ranges = known.ranges, sentQuery == nil {
      self = .ranges(RangeMerge.merges(updating: ranges, to: node))
    } else {
      self = .all(node)
    }
  }

  /// True if these hashes of a client's data cannot be those of any tree, so that the client needs the
  /// whole answer.
  package static func needsAll(_ known: KnownHash) -> Bool {
    known.whole.utf8.count != hashBytes && known.ranges == nil
  }

  /// The same answer to a query, encoded.
  ///
  /// Complexity: O(n) in the answer.
  package func encoded(of query: Query) -> ListenAnswer {
    EncodedPush(self, of: query).map { .encoded($0.shared().withoutChange()) } ?? self
  }
}

/// A message of the served tree to a connection.
package enum ServedTold: Hashable, Sendable {
  /// A change of a query that the connection listens to.
  case push(ListenNumber, EncodedPush)
  /// The answer to the request with this id.
  case answer(Int64, ServedAnswer)
}

extension TreeReader {
  /// Reads the result of a query as one node: all of a place, or the children in the window,
  /// without a priority of the place itself.
  ///
  /// Source: tree semantics, section 5.3.
  ///
  /// - Throws: `TreeError` (`storage`) if the tree cannot be read.
  package func window(of query: Query) throws(TreeError) -> Node {
    if query.loadsAllData { return try node(at: query.path) }
    let rows = try rows(of: query.path, in: RowSlice(query), detail: .full)
    return Node(
      children: rows.compactMap { row in row.node.map { Child(key: row.key, node: $0) } })
  }
}
