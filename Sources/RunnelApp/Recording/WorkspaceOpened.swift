import RunnelBase
import RunnelStore
import RunnelTerminal
import RunnelTree
import RunnelWorkspace

/// The first action of a recorded session: all that its first state was made of.
///
/// The reducer does nothing with it.
struct WorkspaceOpened: LoggableAction, Hashable {
  static let kind = "app/open"

  /// The views, in the words of a views file.
  var views: JSONValue
  /// The text of the resources file; empty if there is none.
  var resources: String
  var databaseName: String
  var me: String
  var isReadOnly: Bool
  /// The text of the user's configuration; empty if there is none.
  var configuration: String
  /// The names of the user's themes.
  var themes: [String]
  var allowsCrash: Bool
  var size: TerminalSize
  /// Milliseconds since 1970.
  var now: Int64
  /// The name of the time zone.
  var zone: String
  /// The tab that was opened.
  var tab: Int

  /// What a first state was made of.
  init(_ state: AppState) {
    views = ViewFile(me: state.database.me, views: state.tabs.lists.map(\.definition)).json
    resources = state.database.resources.source ?? ""
    databaseName = state.database.name
    me = state.database.me
    isReadOnly = state.database.isReadOnly
    configuration = state.settings.configuration
    themes = state.settings.themes
    allowsCrash = state.settings.allowsCrash
    size = state.size
    now = state.now
    zone = state.settings.local.name
    tab = state.tabs.index
  }

  /// The first state again.
  ///
  /// - Throws: `ConfigurationError` if the views or resources cannot be read.
  func state() throws -> AppState {
    let settings = Settings(source: configuration, themes: themes)
    let views = try ViewFile(
      yaml: views.jsonText(), name: "the views of the recorded session",
      pageSize: settings.pageSize
    ).views
    let book =
      resources.isEmpty
      ? ResourceBook()
      : try ResourceBook(yaml: resources, name: "the resources of the recorded session")
    var state = AppState(
      views: views, resources: book, databaseName: databaseName, me: me, isReadOnly: isReadOnly,
      size: size, now: now, local: LocalTime.zone(named: zone),
      settings: settings)
    state.settings.allowsCrash = allowsCrash
    if tab != state.tabs.index { state.open(tab) }
    return state
  }

  func json() -> JSONValue {
    [
      "views": views, "resources": .string(resources), "name": .string(databaseName),
      "me": .string(me), "readonly": .bool(isReadOnly),
      "configuration": .string(configuration), "themes": .strings(themes),
      "crash": .bool(allowsCrash),
      "columns": .int(size.columns), "rows": .int(size.rows), "now": .number(JSONNumber(now)),
      "zone": .string(zone), "tab": .int(tab),
    ]
  }

  init(json: JSONValue) throws {
    let fields = LogFields(json)
    views = try fields.value("views")
    resources = try fields.string("resources")
    databaseName = try fields.string("name")
    me = try fields.string("me")
    isReadOnly = try fields.bool("readonly")
    configuration = try fields.string("configuration")
    themes = try fields.stringsIfAny("themes")
    allowsCrash = try fields.bool("crash")
    size = TerminalSize(columns: try fields.int("columns"), rows: try fields.int("rows"))
    now = try fields.int64("now")
    zone = try fields.string("zone")
    tab = try fields.int("tab")
  }
}
