/// The rule by which a view chooses its rows among the children of its place.
///
/// There is one conformance for each kind of window. `View` holds the rows, and asks its window
/// only questions whose answers depend on the kind.
protocol Window: Sendable {
  /// The query whose rows the window shows: the listener's request, or a part of it.
  var query: Query { get }

  /// The part of the order that the window covers now.
  var slice: RowSlice { get }

  /// True if there are rows beyond the end at which a listener can extend the window, as far as is known.
  var hasMore: Bool { get }

  /// Tells which rows of a view may change when children are touched.
  ///
  /// - Throws: `TreeError` (`storage`) if a child cannot be read.
  func effect(
    of keys: Set<Key>, on view: View, _ reader: some TreeReader
  ) throws(TreeError) -> WindowEffect

  /// Reads all rows of the window, in order; `shownCount` rows were shown before.
  ///
  /// - Throws: `TreeError` (`storage`) if they cannot be read; the window is then as before.
  mutating func load(
    shownCount: Int, _ source: RowSource<some TreeReader>
  ) throws(TreeError) -> [TreeRow]

  /// Grows by up to `count` rows; returns the rows gained, in order, and nil if it cannot grow.
  ///
  /// - Throws: `TreeError` (`storage`) if they cannot be read; the window is then as before.
  mutating func grow(
    by count: Int, _ source: RowSource<some TreeReader>
  ) throws(TreeError) -> [TreeRow]?
}

/// The rows of a window that may change when children are touched.
enum WindowEffect {
  /// No row may change.
  case nothing
  /// Only the rows of the touched children may change.
  case theirRows
  /// Any row may change: the window is read anew.
  case anyRow
}

extension Window {
  /// Returns `theirRows`: no row pushes another one out.
  func effect(
    of keys: Set<Key>, on view: View, _ reader: some TreeReader
  ) throws(TreeError) -> WindowEffect {
    .theirRows
  }

  /// The rows of the slice.
  func load(
    shownCount: Int, _ source: RowSource<some TreeReader>
  ) throws(TreeError) -> [TreeRow] {
    try source.rows(in: slice)
  }

  /// Returns nil: this window cannot grow.
  func grow(
    by count: Int, _ source: RowSource<some TreeReader>
  ) throws(TreeError) -> [TreeRow]? {
    nil
  }
}

/// The part of a paged listener's rows that is shown on a replica, where the listener's queries to
/// the origin decide how far it reaches.
struct WindowPart: Hashable, Sendable {
  /// The rows from the anchor to the frontier.
  var query: Query
  /// True if there may be rows beyond.
  var hasMore: Bool

  /// The window that shows the part.
  var window: any Window {
    query.limit == nil
      ? RangeWindow(query, hasMore: hasMore) : LimitedWindow(query, hasMore: hasMore)
  }
}

extension ListenRequest {
  /// The window of a listener whose tree knows all its rows.
  var window: any Window {
    if let paging { return PagedWindow(query, paging) }
    return WindowPart(query: query, hasMore: false).window
  }
}

/// The source of a window's rows: a place and the knowledge about its children.
struct RowSource<Reader: TreeReader> {
  var reader: Reader
  var path: Path
  var detail: TreeRow.Detail
  var knowledge: Knowledge

  /// The rows of a slice, in order.
  func rows(in slice: RowSlice) throws(TreeError) -> [TreeRow] {
    var known: [TreeRow] = []
    let keys: Set<Key>
    switch knowledge {
    case .complete: return try reader.rows(of: path, in: slice, detail: detail)
    case .allBut(let unknown):
      var wide = slice
      wide.limit = slice.limit.map {
        Query.Limit(count: $0.count.addingClamped(unknown.count), side: $0.side)
      }
      known = try reader.rows(of: path, in: wide, detail: detail)
      if unknown.isEmpty { return known }
      return slice.rows(among: known.filter { !unknown.contains($0.key) })
    case .keys(let some, _): keys = some
    }
    for key in keys {
      let row = try reader.row(key, of: path, in: slice, detail: detail)
      if let row { known.append(row) }
    }
    return slice.rows(among: known)
  }
}
