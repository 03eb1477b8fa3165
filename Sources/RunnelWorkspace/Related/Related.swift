import RunnelBase
import RunnelStreams
import RunnelTerminal
package import RunnelTree

/// What belongs to a record besides its fields: a list of its own, a collection of its members, or the
/// records that refer to it.
package struct Related: Hashable, Sendable {
  /// The kinds of what belongs to a record.
  package enum Kind: Hashable, Sendable {
    /// The list of a view with parameters, opened from a row of the list with this index.
    case view(String, list: Int)
    /// A collection.
    case collection
    /// The records of a collection whose field holds the key of the record.
    case references(field: Path)
  }

  /// What is known of the number of records.
  package enum Count: Hashable, Sendable {
    case unknown
    case asked
    case known(Int, hasMore: Bool)
    case failed(String)
  }

  package let kind: Kind
  /// The name, in the row of the record's page.
  package let title: String
  /// The place of the records.
  package let path: Path
  /// The key of the record that the records belong or refer to.
  package let key: RunnelTree.Key
  package var count = Count.unknown

  /// The records to count.
  var counting: Counting {
    guard case .references(let field) = kind else { return Counting(path: path) }
    return Counting(path: path, field: field, key: key)
  }

  /// The number of records in words; empty while it is not known.
  func countText(_ glyphs: Glyphs) -> String {
    switch count {
    case .unknown: ""
    case .asked: glyphs.loading
    case .known(let count, let hasMore): hasMore ? "\(count) or more" : "\(count)"
    case .failed(let reason): "\(glyphs.failed) \(reason)"
    }
  }
}

/// Records to count: the children of a place, or those of them whose field holds a key.
///
/// Children are not read; of the records that refer to another one at most `rowsMax` are counted.
package struct Counting: Hashable, Sendable {
  package static let rowsMax = 1000

  package let path: Path
  /// The field that holds the key, or nil to count all children.
  package var field: Path?
  package var key: RunnelTree.Key?

  package init(path: Path, field: Path? = nil, key: RunnelTree.Key? = nil) {
    (self.path, self.field, self.key) = (path, field, key)
  }

  /// Returns the request whose rows tell the number: one row with the number of its children, or a page
  /// of the rows that are counted.
  ///
  /// - Throws: `TreeError` if the place is the root, or the field no path.
  package func request() throws(TreeError) -> ListenRequest {
    if let field, let key {
      let query = try Query(path).ordered(by: .child(field)).equal(to: .leaf(.string(key.text)))
      return ListenRequest(
        query: query, paging: Paging(anchor: .first, count: Counting.rowsMax), detail: .shallow)
    }
    guard let parent = path.parent, let last = path.lastKey else {
      throw TreeError(.invalidQuery, "The root is in no collection.")
    }
    let query = try Query(parent).ordered(by: .key).equal(to: .leaf(.string(last.text)))
    return ListenRequest(
      query: query, paging: Paging(anchor: .first, count: 1), detail: .shallow)
  }

  /// Returns the number that the first rows of the request tell.
  package func number(in rows: [TreeRow]) -> Int {
    if field != nil { return rows.count }
    if case .children(let count)? = rows.first?.summary.kind { return count }
    return 0
  }
}
