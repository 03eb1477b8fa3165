public import RunnelBase
public import RunnelTree

/// The definition of a view: what is read of a collection, its order, its sections, and the columns
/// of a row.
///
/// A definition is data: it comes from a views file, or is inferred for a collection that was
/// found.
public struct ViewDefinition: Hashable, Sendable {
  /// The name on the tab.
  public var name: String
  /// The source of the rows.
  public var source: SourceDefinition
  /// Further sources; a row that is also in `source` is shown once, as theirs.
  public var also: [SourceDefinition] = []
  /// The name of the view from whose rows this one is opened, if it has parameters; nil to find it by
  /// the name of the last parameter.
  package var from: String?
  /// The rules that sort rows into sections; the first rule that matches a row counts.
  public var sections: [SectionRule] = []
  /// The columns of a row, from the left.
  public var columns: [ColumnDefinition]
  /// Whether the view was made without a record: columns are found when there are some.
  package var awaitsColumns = false
  /// The field of a new record that is typed into the bottom line; nil to add records by a form.
  public var compose: Path?
  /// Whether the user is told of new rows outside of the screen.
  package var notices = ViewNotices.none
  /// The fields of a new record with their initial values, in the order of the form.
  public var template: [TemplateField] = []

  package init(
    name: String, source: SourceDefinition, also: [SourceDefinition] = [],
    sections: [SectionRule] = [], columns: [ColumnDefinition], compose: Path? = nil,
    template: [TemplateField] = []
  ) {
    self.name = name
    self.source = source
    self.also = also
    self.sections = sections
    self.columns = columns
    self.compose = compose
    self.template = template
  }

  /// An order of the children of a place that needs an index.
  package struct WantedIndex: Hashable, Sendable {
    package var path: Path
    package var order: QueryIndex
  }

  /// The indexes that the sources need.
  package var wantedIndexes: [WantedIndex] {
    ([source] + also).compactMap { source in
      // Unless priorities are used, the order by priority is that of keys.
      source.order.forward == .priority
        ? nil : WantedIndex(path: source.path, order: source.order)
    }
  }
}

extension ViewDefinition {
  /// The view of a service's records: a field that is null counts as missing.
  package var countingNull: ViewDefinition {
    var view = self
    view.source.filter = source.filter?.countingNull
    for index in also.indices { view.also[index].filter = also[index].filter?.countingNull }
    return view
  }
}

extension ViewDefinition {
  /// The view with the places of services that are written with slashes, as `/shop/orders`: in the tree such
  /// a path is one key.
  package func placed(among services: Set<Path>) -> ViewDefinition {
    var view = self
    view.source.place(among: services)
    for index in also.indices { view.also[index].place(among: services) }
    return view
  }
}

extension SourceDefinition {
  fileprivate mutating func place(among services: Set<Path>) {
    guard path.keys.count > 1,
      let key = try? RunnelTree.Key(path.keys.map(\.text).joined(separator: "%2F")),
      services.contains(Path(unchecked: [key]))
    else { return }
    (writtenPath, path) = (writtenPath ?? path, Path(unchecked: [key]))
  }
}

/// A query on one place, and its paging.
public struct SourceDefinition: Hashable, Sendable {
  /// The number of rows that a list keeps loaded, for views that do not set it.
  public static let keptRows = 2000
  /// The collection.
  public var path: Path
  /// The path in the views file, if `$me` stands in it; nil otherwise.
  package var writtenPath: Path?
  /// The order of the rows.
  public var order: QueryIndex = .key
  /// The end at which the list starts and stays live; pages are fetched from there.
  public var anchor: Query.Side = .first
  /// Whether the rows are shown in the reverse order.
  public var isDescending = false
  /// The number of rows of a page.
  public var page = 50
  /// Whether the source sets its page size; otherwise the user's settings do.
  public var hasOwnPage = false
  /// The number of rows that an open list keeps loaded around the cursor; nil to keep all rows
  /// loaded.
  public var keep: Int? = SourceDefinition.keptRows
  /// The distance in rows between the cursor and rows not loaded at which the next page is fetched
  /// automatically; nil to fetch only what the user asks for.
  public var prefetch: Int?
  /// The value in the order, or in its first component, of the rows to show; nil for all rows.
  public var equalTo: IndexValue?
  /// The condition on the rows to show; nil for all rows.
  public var filter: ChildPredicate?

  package init(
    path: Path, order: QueryIndex = .key, anchor: Query.Side = .first, isDescending: Bool = false,
    page: Int = 50, hasOwnPage: Bool = false, keep: Int? = SourceDefinition.keptRows,
    prefetch: Int? = nil, equalTo: IndexValue? = nil, filter: ChildPredicate? = nil
  ) {
    self.path = path
    self.order = order
    self.anchor = anchor
    self.isDescending = isDescending
    self.page = page
    self.hasOwnPage = hasOwnPage
    self.keep = keep
    self.prefetch = prefetch
    self.equalTo = equalTo
    self.filter = filter
  }

  /// Returns the request that reads the source.
  ///
  /// - Throws: `TreeError` if the parts of the source contradict each other.
  package func request() throws -> ListenRequest {
    var query = try Query(path).ordered(by: order)
    if let equalTo { query = try query.equal(to: equalTo) }
    if let filter { query = try query.filtered(by: filter) }
    return ListenRequest(query: query, paging: Paging(anchor: anchor, count: page))
  }
}

/// A rule that sorts rows into sections.
public enum SectionRule: Hashable, Sendable {
  /// A section for the rows whose fields have these values.
  case match(title: String, [FieldPath: JSONValue])
  /// A section for each value of a field; the named ones come first, in this order.
  case field(FieldPath, titles: [SectionTitle])
  /// A section for each day of a time in milliseconds since 1970.
  case day(FieldPath)
}

/// The name of a section for one value of a field.
public struct SectionTitle: Hashable, Sendable {
  /// The value, as text.
  public var value: String
  /// The name.
  public var title: String

  package init(value: String, title: String) {
    self.value = value
    self.title = title
  }
}

/// A column of a list.
public struct ColumnDefinition: Hashable, Sendable {
  /// The format of a field.
  public enum Format: String, Hashable, Sendable, CaseIterable {
    /// Text as it is, other values as JSON.
    case plain
    /// The time of day of a number of milliseconds or seconds since 1970.
    case time
    /// The date of a number of milliseconds or seconds since 1970.
    case date
    /// The age of a time in milliseconds or seconds since 1970.
    case age
    /// A mark if the field is true.
    case mark
    /// A number, or nothing if it is 0; of an object, the number of its members.
    case count
    /// A number, at the right of its column.
    case number
    /// The change described by an entry of an action log, with old and new values.
    case change
  }

  /// The field.
  public var field: FieldPath
  /// The format of the field.
  public var format: Format = .plain
  /// The width in columns; nil to take the rest of the line.
  public var width: Int?
  /// The width up to which an inferred column grows on a screen with room to spare; nil for none.
  var wideWidth: Int?
  /// The width that an inferred column needs, if it has more; nil if that is not known.
  var leastWidth: Int?
  /// `wideWidth` of a column of dates that have a time of day; a column of dates with this width shows it.
  static let timestampWidth = 16
  /// Whether the times of an inferred column are so dense that their days do not tell the rows apart.
  var isDense = false
  /// The least width of the screen at which the column is shown.
  public var minimumScreen = 0
  /// Whether the column is drawn in the muted role.
  public var isMuted = false
  /// Whether each value has a color of its own, the same in every row; for people and states.
  public var isColored = false

  package init(
    field: FieldPath, format: Format = .plain, width: Int? = nil, minimumScreen: Int = 0,
    isMuted: Bool = false, isColored: Bool = false
  ) {
    self.field = field
    self.format = format
    self.width = width
    self.minimumScreen = minimumScreen
    self.isMuted = isMuted
    self.isColored = isColored
  }
}

/// A field of a new record.
public struct TemplateField: Hashable, Sendable {
  /// The field.
  public var path: Path
  /// The initial value; `{".sv": "timestamp"}` and `"$me"` are resolved when the record is written.
  public var value: JSONValue

  package init(path: Path, value: JSONValue) {
    self.path = path
    self.value = value
  }

  /// Whether the value is computed, and not shown in the form.
  var isComputed: Bool {
    switch value {
    case .object: true
    case .string("$me"): true
    default: false
    }
  }
}
