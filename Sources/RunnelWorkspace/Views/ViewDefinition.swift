public import RunnelBase
public import RunnelTree

/// How one collection is shown: what is read, in which order, in which sections, how a row looks.
///
/// A view is data: it comes from a views file, or is made up for a collection that was found.
public struct ViewDefinition: Hashable, Sendable {
  /// The name on the tab.
  public var name: String
  /// What is read.
  public var source: SourceDefinition
  /// Further sources, whose rows come before those of `source` where both have one.
  public var also: [SourceDefinition] = []
  /// How rows fall into sections; the first rule that fits a row counts.
  public var sections: [SectionRule] = []
  /// What a row shows, from the left.
  public var columns: [ColumnDefinition]
  /// The field that a new record is typed into at the bottom line; nil to add by a form.
  public var compose: Path?
  /// The fields of a new record: their first values, in the order of the form.
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

  /// An order of the children of a place that an index is to serve.
  package struct WantedIndex: Hashable, Sendable {
    package var path: Path
    package var order: QueryIndex
  }

  /// The indexes that the sources ask for.
  package var wantedIndexes: [WantedIndex] {
    ([source] + also).compactMap { source in
      // The order by priority is that of keys wherever nothing has one.
      source.order.forward == .priority
        ? nil : WantedIndex(path: source.path, order: source.order)
    }
  }
}

/// A query on one place, and how it is paged.
public struct SourceDefinition: Hashable, Sendable {
  /// How many rows a list keeps loaded where a view does not say.
  public static let keptRows = 2000
  /// The collection.
  public var path: Path
  /// The order of its rows.
  public var order: QueryIndex = .key
  /// The end at which the list starts and stays live; pages are fetched from there on.
  public var anchor: Query.Side = .first
  /// Whether the rows are shown in the opposite of the order.
  public var isDescending = false
  /// How many rows a page has.
  public var page = 50
  /// Whether that is said of this source; otherwise it is what the user's settings say.
  public var hasOwnPage = false
  /// How many rows a list that is left open keeps loaded around the cursor; nil for all that were ever
  /// loaded.
  public var keep: Int? = SourceDefinition.keptRows
  /// How near the cursor may come to the rows that are not loaded before their next page is fetched by
  /// itself, in rows; nil to fetch what the user asks for only.
  public var prefetch: Int?
  /// Only rows with this value in the order, or its first component, if given.
  public var equalTo: IndexValue?
  /// Only rows of which this holds, if given.
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

  /// The question that the source asks.
  ///
  /// - Throws: `TreeError` if its parts contradict each other.
  package func request() throws -> ListenRequest {
    var query = try Query(path).ordered(by: order)
    if let equalTo { query = try query.equal(to: equalTo) }
    if let filter { query = try query.filtered(by: filter) }
    return ListenRequest(query: query, paging: Paging(anchor: anchor, count: page))
  }
}

/// A rule that says to which section a row belongs.
public enum SectionRule: Hashable, Sendable {
  /// One section, for the rows whose fields have these values.
  case match(title: String, [FieldPath: JSONValue])
  /// A section for each value of a field; those named come first, in this order.
  case field(FieldPath, titles: [SectionTitle])
  /// A section for each day of a time in milliseconds.
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
  /// How a field is written.
  public enum Format: String, Hashable, Sendable, CaseIterable {
    /// Text as it is, everything else as JSON.
    case plain
    /// The time of day of milliseconds since 1970.
    case time
    /// The date of milliseconds since 1970.
    case date
    /// How long ago milliseconds since 1970 are.
    case age
    /// A mark if the field is true.
    case mark
    /// A number, and nothing where it is 0.
    case count
    /// What an entry of an action log did, with old and new values.
    case change
  }

  /// The field.
  public var field: FieldPath
  /// How it is written.
  public var format: Format = .plain
  /// The columns it takes; nil to take what is left.
  public var width: Int?
  /// The least width of the screen at which it is shown.
  public var minimumScreen = 0
  /// Whether it is drawn in the muted role.
  public var isMuted = false

  package init(
    field: FieldPath, format: Format = .plain, width: Int? = nil, minimumScreen: Int = 0,
    isMuted: Bool = false
  ) {
    self.field = field
    self.format = format
    self.width = width
    self.minimumScreen = minimumScreen
    self.isMuted = isMuted
  }
}

/// A field of a new record.
public struct TemplateField: Hashable, Sendable {
  /// The field.
  public var path: Path
  /// Its first value; `{".sv": "timestamp"}` and `"$me"` are resolved when the record is written.
  public var value: JSONValue

  package init(path: Path, value: JSONValue) {
    self.path = path
    self.value = value
  }

  /// True if the value is computed, and not shown in the form.
  var isComputed: Bool {
    switch value {
    case .object: true
    case .string("$me"): true
    default: false
    }
  }
}
