import Glibc
import RunnelSync
import RunnelTree
public import RunnelWorkspace

/// The options for starting the workspace.
public struct ApplicationOptions: Sendable {
  /// The file of the database.
  public var database: String
  /// Where a server of the database may be asked who is connected.
  public var serverPlaces: [ServerPlace] = []
  /// The views file; nil to look for one beside the database, or else to find collections.
  public var views: String?
  /// The resources file; nil to look for one beside the database.
  public var resources: String?
  /// The name of the view to open first; nil for the first view.
  public var view: String?
  /// The filter of the view that is opened first; nil for none.
  public var filter: String?
  /// Whether the view that is opened first follows new rows.
  public var follows = false
  /// The folder for sessions; nil to remember nothing.
  public var stateFolder: String?
  /// Whether the database is temporary, and gone after the end.
  public var isScratch = false
  /// Whether the accounts that sign in here are forgotten at the end.
  package var forgetsAccounts = false
  /// What is to be said at the start on how the database was made, each in a sentence.
  package var remarks: [String] = []
  /// Whether writing is off.
  public var isReadOnly: Bool
  /// The file of the user's configuration; nil for none.
  public var configuration: String?
  /// The server whose database this is the replica of, or nil for a local database.
  public var origin: OriginWish?
  /// Some records of that server's services, to find columns for those that the replica does not
  /// have yet.
  package var samples: [CollectionSample] = []
  /// The user's profile of that server, or nil for none.
  public var profile: ProfileMark?
  /// The name of that server's database: that of the profile, or else the address; nil for a file.
  var serverName: String? { profile?.name ?? origin?.address.title }
  /// The data file that the database beside it was made of; nil if there is none.
  var dataFile: String? {
    let suffix = FileState.databaseSuffix
    guard !isScratch, origin == nil, database.hasSuffix(suffix) else { return nil }
    let file = String(database.dropLast(suffix.count))
    return ImportPlan.format(ofFile: file) != nil && access(file, F_OK) == 0 ? file : nil
  }
  /// The terminal options of the command line, which override the configuration.
  public var terminal: TerminalWishes
  /// The file in which the session's actions are recorded; nil to record nothing.
  public var record: String?
  /// Whether `C-x !` ends the program with a fault, to test what a crash leaves behind.
  public var allowsCrash: Bool

  /// Creates options for a database file.
  public init(database: String) {
    self.database = database
    isReadOnly = false
    terminal = TerminalWishes()
    allowsCrash = false
  }
}

extension SessionState {
  /// Adds the view, filter and following of the command line to the session, and the place that the
  /// address of the database names.
  mutating func take(_ options: ApplicationOptions, view name: String?) {
    if options.view != nil { tab = nil }
    if options.view == nil, let address = options.origin?.address, !address.hasServices {
      place = address.place == .root ? nil : address.place
    }
    guard let name else { return }
    if let filter = options.filter { views[name, default: View()].filter = filter }
    if options.follows { views[name, default: View()].isFollowing = true }
  }
}
