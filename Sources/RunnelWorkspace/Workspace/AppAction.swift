package import RunnelBase
import RunnelStore
import RunnelStreams
package import RunnelTerminal
package import RunnelTree

/// What happened to the application.
///
/// The reducer makes the next state of it.
package enum AppAction: Action {
  /// Time went on: milliseconds since 1970.
  case tick(Int64)
  /// The user did something.
  case input(InputEvent)
  /// A list changed.
  case list(view: Int, ListChange)
  /// Rows of a list that were to be let go of could not be, now.
  case keptAll(view: Int)
  /// The collection of a list has so many rows, loaded or not; nil if that is not known any more.
  case counted(view: Int, Int?)
  /// So many rows of a paused list wait to be shown.
  case waiting(view: Int, Int)
  /// The children of an expanded node of the tree changed.
  case tree(Path, TreeChange)
  /// The open record changed.
  case record(Path, RunnelTree.Node)
  /// The database answered a request.
  case answered(AppRequestID, Answer)
  /// On a replica: these are the writes that its origin has not answered, oldest first.
  case pendingWrites([PendingWrite])
  /// The database could not do something that no write asked for.
  case trouble(String)
  /// The database's file is gone or another one, for this reason: nothing is written any more.
  case fileGone(String)
  /// The user's configuration changed; what is wrong with it, if anything is.
  case configured(Settings, problem: String?)
  /// The file of the views or the resources changed; what is wrong with it, if anything is, and what
  /// one with views says.
  case redefined(file: String, problem: String?, views: SavedViews?)
  /// An export goes on, or ended.
  case exported(ExportReport)
  /// So many bytes of a file that was asked for were read.
  case fileReading(Int, of: Int)
  /// A file that was asked for was read, or was not.
  case fileRead(String, FileContent)
  /// The user is here for the first time.
  case greeted(Greeting)
  /// The user had been here before: this is to come back.
  case restored(SessionState)
  /// Something was put into the clipboard, or was not: what, in words.
  case copied(what: String, Clipboard.Outcome)
  /// A link was handed to a program, or to none.
  case opened(link: String, by: String?)
  /// The user's editor has ended.
  case edited(OutsideEdit, ExternalEditor.Outcome)
  /// The first of the keys that wait for an answer is to be tried again.
  case typedAhead
  /// The effects of the state were taken to be carried out.
  case effectsTaken
}

/// What the application asks the world to do; carried out in order, after the action.
package enum Effect: Hashable, Sendable {
  /// Start the streams of a view.
  case openView(Int)
  /// Fetch the next page of a view.
  case fetchMore(Int)
  /// Fetch the next page of a view towards the end where rows arrive.
  case fetchNewer(Int)
  /// Read the end of a view again where rows arrive.
  case goToLiveEnd(Int)
  /// Keep only some rows of a view loaded.
  case letGo(view: Int, KeptRows)
  /// Hold a view as it is, or let it be live again.
  case pause(view: Int, Bool)
  /// Fetch pages of the sizes that the state has from now on.
  case resizePages
  /// Give up fetching a page of a view, or searching on in it.
  case stopFetching(Int)
  /// Show only the rows of a view that a filter wants; nil shows all.
  case filter(view: Int, Filter?, FilterMatcher.Surroundings)
  /// Show the records that are being sent in a view, and the one being composed, if there are any.
  case compose(view: Int, sending: [SentRecord], JSONValue?)
  /// Listen to the children of a node of the tree.
  case expand(Path)
  /// Stop listening to them.
  case collapse(Path)
  /// Fetch the next page of them.
  case fetchMoreChildren(Path)
  /// Listen to a record.
  case openRecord(Path)
  /// Stop listening to it.
  case closeRecord(Path)
  /// Ask the database for something; the answer carries the id.
  case request(AppRequestID, Request)
  /// Ask the server of the database for something; the answer carries the id.
  case askServer(AppRequestID, ServerRequest)
  /// Write records to a file.
  ///
  /// What it reads of the database is asked under the id.
  case export(AppRequestID, ExportJob)
  /// Give up writing them.
  case stopExport
  /// Read the records of a file, some of whose fields hold texts only.
  case readFile(String, texts: [String])
  /// Give up reading it.
  case stopReading
  /// Write a text to a file, in place of what is in it.
  case writeFile(String, String)
  /// Put a text into the clipboard; the words say what it is.
  case copy(String, what: String)
  /// Open a link in the browser.
  case openLink(String)
  /// Draw in the colours of a theme, or in those of the configuration.
  case theme(ThemeChoice?)
  /// Let the user edit something in their editor.
  case editOutside(OutsideEdit)
  /// Give the terminal back until the program is continued.
  case suspend
  /// Draw the screen from scratch.
  case redraw
  /// End with a fault of the program, to see what a crash leaves behind.
  case crash
}

/// A composed record whose write is under way.
package struct SentRecord: Hashable, Sendable {
  /// The write.
  package var id: AppRequestID
  package var value: JSONValue
}
