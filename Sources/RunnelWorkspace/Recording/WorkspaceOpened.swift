package import RunnelBase
import RunnelStore
package import RunnelTerminal

/// The first action of a recorded session, with everything that the first state was made from.
///
/// The reducer does nothing with it.
package struct WorkspaceOpened: LoggableAction, Hashable {
  package static let kind = "app/open"

  /// The views, in the format of a views file.
  package var views: JSONValue
  /// What was inferred about each view; empty in recordings of old.
  package var inferred: [InferredParts]
  /// The text of the resources file; empty if there is none.
  package var resources: String
  package var databaseName: String
  package var me: String
  package var isReadOnly: Bool
  /// The user's profile of the server; nil for none.
  package var profile: ProfileMark?
  /// The text of the user's configuration; empty if there is none.
  package var configuration: String
  /// The names of the user's themes.
  package var themes: [String]
  package var allowsCrash: Bool
  /// Whether the session comes back the next time.
  package var isKept: Bool
  /// Whether the database is temporary.
  package var isScratch: Bool
  /// Whether the accounts that sign in are forgotten at the end.
  package var forgetsAccounts: Bool
  /// The data file that the database was made of; nil for none.
  package var dataFile: String?
  package var size: TerminalSize
  /// Milliseconds since 1970.
  package var now: Int64
  /// The name of the time zone.
  package var zone: String
  /// The tab that was opened.
  package var tab: Int

  /// Makes the action from a first state.
  package init(_ state: AppState) {
    let definitions = state.tabs.lists.map(\.definition) + state.tabs.templates
    views = ViewFile(me: state.database.me, views: definitions).json
    inferred = definitions.map { InferredParts(of: $0) }
    resources = state.database.resources.source ?? ""
    databaseName = state.database.name
    me = state.database.me
    isReadOnly = state.database.isReadOnly
    profile = state.database.profile
    configuration = state.settings.configuration
    themes = state.settings.themes
    allowsCrash = state.settings.allowsCrash
    isKept = state.session.isKept
    isScratch = state.session.isScratch
    forgetsAccounts = state.session.forgetsAccounts
    dataFile = state.files.dataFile
    size = state.size
    now = state.now
    zone = state.settings.local.name
    tab = state.tabs.front.view ?? state.tabs.lists.count
  }

  package func json() -> JSONValue {
    [
      "views": views, "inferred": .array(inferred.map(\.json)), "resources": .string(resources),
      "name": .string(databaseName),
      "me": .string(me), "readonly": .bool(isReadOnly),
      "configuration": .string(configuration), "themes": .strings(themes),
      "crash": .bool(allowsCrash), "kept": .bool(isKept), "scratch": .bool(isScratch),
      "forgets": .bool(forgetsAccounts),
      "columns": .int(size.columns), "rows": .int(size.rows), "now": .number(JSONNumber(now)),
      "zone": .string(zone), "tab": .int(tab), "profile": profile?.json ?? .null,
      "file": dataFile.map { .string($0) } ?? .null,
    ]
  }

  package init(json: JSONValue) throws {
    let fields = LogFields(json)
    views = try fields.value("views")
    let parts = json["inferred"] == nil ? [] : try fields.array("inferred")
    inferred = try parts.map { try InferredParts(json: $0) }
    resources = try fields.string("resources")
    databaseName = try fields.string("name")
    me = try fields.string("me")
    isReadOnly = try fields.bool("readonly")
    profile = json["profile"].flatMap(ProfileMark.init)
    configuration = try fields.string("configuration")
    themes = try fields.stringsIfAny("themes")
    allowsCrash = try fields.bool("crash")
    // Recordings of old do not say it.
    isKept = json["kept"] == nil ? false : try fields.bool("kept")
    isScratch = json["scratch"] == nil ? false : try fields.bool("scratch")
    forgetsAccounts = json["forgets"] == nil ? false : try fields.bool("forgets")
    dataFile = json["file"]?.string
    size = TerminalSize(columns: try fields.int("columns"), rows: try fields.int("rows"))
    now = try fields.int64("now")
    zone = try fields.string("zone")
    tab = try fields.int("tab")
  }
}
