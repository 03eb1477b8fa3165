package import RunnelBase
import RunnelStore
import RunnelStreams
package import RunnelTerminal
package import RunnelTree

/// An action of the workspace: something that happened.
///
/// The reducer makes the next state from it.
package enum AppAction: Action {
  /// The time changed, in milliseconds since 1970.
  case tick(Int64)
  /// The user typed, pasted, clicked, or resized the terminal.
  case input(InputEvent)
  /// A list changed.
  case list(view: Int, ListChange)
  /// A list could not unload rows that it wanted to unload.
  case keptAll(view: Int)
  /// The number of rows of a list's collection changed, loaded or not; nil if it is no longer
  /// known.
  case counted(view: Int, Int?)
  /// The number of rows that wait while a list is paused has changed.
  case waiting(view: Int, Int)
  /// The children of an expanded node of the tree changed.
  case tree(Path, TreeChange)
  /// The open record changed.
  case record(Path, RunnelTree.Node)
  /// The database answered a request.
  case answered(AppRequestID, Answer)
  /// The writes of a replica that its origin has not answered, oldest first, have changed.
  case pendingWrites([PendingWrite])
  /// The origin refused a pending write with this id, for this reason.
  case rejected(write: Int64, String)
  /// The writes that the origin of a replica refused and nobody has sent again or dropped, oldest first, have
  /// changed.
  case refusedWrites([KeptRefusal])
  /// The state of the link to the server whose database is shown has changed.
  case origin(OriginFacts)
  /// The accounts at the server, or the state of the session, have changed.
  case accounts(AccountFacts)
  /// The user's devices have changed.
  case devices(DeviceFacts)
  /// The people at other workspaces on the same database have changed.
  case present([Present])
  /// The database failed in something that no request asked for.
  case trouble(String)
  /// The data were taken from the screen while the user typed, for this reason: the keys that follow are no commands
  /// until the user has read it.
  case interrupted(String)
  /// What the user did before this workspace was opened is to be said.
  case said(String)
  /// The session was kept again after a failure, or could not be kept for this reason.
  case sessionKept(problem: String?)
  /// The database's file is gone or was replaced, for this reason: nothing is written any more.
  case fileGone(String, FileGone.Part)
  /// The database's file is at its place again as it was: it is written again.
  case fileBack
  /// The user's configuration was saved; the problem is the error in it, or nil.
  case configured(Settings, problem: String?)
  /// The file of the views or the resources was saved; the problem is the error in it, or nil, and
  /// the views are those of a views file.
  case redefined(file: String, problem: String?, views: SavedViews?)
  /// An export goes on, or has ended.
  case exported(ExportReport)
  /// The number of bytes of a requested file that were read has changed.
  case fileReading(Int, of: Int)
  /// A requested file was read, or could not be.
  case fileRead(String, FileContent)
  /// The refused records of an import were written to a file, or could not be for this reason.
  case refusedListed(file: String, problem: String?)
  /// The making of an index goes on, or has ended.
  case indexing(IndexMaking.Report)
  /// The saving of a copy of the database goes on, or has ended.
  case savingCopy(CopySaving.Report)
  /// The user opened the workspace for the first time.
  case greeted(Greeting)
  /// A session of the user is to be restored.
  case restored(SessionState)
  /// A text was put into the clipboard, or could not be; `what` names it in words.
  case copied(what: String, Clipboard.Outcome)
  /// A link was opened by a program, or by none.
  case opened(link: String, by: String?)
  /// The user's editor has ended.
  case edited(OutsideEdit, ExternalEditor.Outcome)
  /// The first of the waiting keys is to be tried again.
  case typedAhead
  /// The effects of the state were taken, to be carried out.
  case effectsTaken
}

/// An effect: work outside the state that an action asks for.
///
/// Effects are carried out in order, after the action.
package enum Effect: Hashable, Sendable {
  /// Start the streams of a view.
  case openView(Int)
  /// Fetch the next pages of a view.
  case fetchMore(Int, pages: Int)
  /// Fetch the next pages of a view at the end where rows arrive.
  case fetchNewer(Int, pages: Int)
  /// Read a view again from the end where rows arrive; `count` is the number of rows, if that is more than
  /// a page.
  case goToLiveEnd(Int, count: Int? = nil)
  /// Read the rows of a view around a place in its order; `count` is the number of rows at each side, if that
  /// is more than a page.
  case goTo(view: Int, IndexPosition, count: Int? = nil)
  /// Keep only some rows of a view loaded.
  case letGo(view: Int, KeptRows)
  /// Pause a view, or make it live again.
  case pause(view: Int, Bool)
  /// Use the page sizes of the state from now on.
  case resizePages
  /// Stop fetching a page of a view, or searching in it.
  case stopFetching(Int)
  /// Show only the rows of a view that match a filter; nil shows all.
  case filter(view: Int, Filter?, FilterMatcher.Surroundings)
  /// Show the records of a view that are being sent, the one being composed, or nil, and the rows of
  /// others who are typing.
  case compose(view: Int, sending: [SentRecord], JSONValue?, typing: [TypingRow])
  /// Listen to the children of a node of the tree.
  case expand(Path)
  /// Stop listening to the children of a node.
  case collapse(Path)
  /// Fetch the next page of the children of a node.
  case fetchMoreChildren(Path)
  /// Keep only the first children of a node loaded.
  case keepChildren(Path, count: Int)
  /// Find out what stands at the listed nodes in sight.
  case look([Path])
  /// Count the keys of a listed node.
  case countKeys(Path)
  /// Look up a child of an expanded node that a server listed in part, to show it beside its loaded keys.
  case seek(Path)
  /// Listen to a record.
  case openRecord(Path)
  /// Stop listening to a record.
  case closeRecord(Path)
  /// Send a request to the database; the answer carries the id.
  case request(AppRequestID, Request)
  /// Ask the server of the database for something; the answer carries the id.
  case askServer(AppRequestID, ServerRequest)
  /// Ask the account service for something; the answer carries the id.
  case account(AppRequestID, AccountRequest)
  /// Stop waiting for an answer of the account service.
  case stopAccount(AppRequestID)
  /// Ask for something about the user's devices; the answer carries the id.
  case device(AppRequestID, DeviceRequest)
  /// Call a method of a service; the answer carries the id.
  case callMethod(AppRequestID, MethodCall)
  /// Explain by the rules of the server why it refused a write; the answer carries the id.
  case explain(AppRequestID, PendingWrite)
  /// Read a value that the origin may have to be asked for; the answer carries the id.
  case find(AppRequestID, Path)
  /// Count records; the answer carries the id.
  case count(AppRequestID, Counting)
  /// Make an index, and stop making it.
  case makeIndex(IndexDefinition)
  case stopIndex
  /// Save the whole database to a new file, and stop that. The id is that of what is asked for it.
  case saveCopy(AppRequestID, String)
  case stopCopy
  /// Write records to a file.
  ///
  /// The database is asked for them under the id.
  case export(AppRequestID, ExportJob)
  /// Stop writing records to a file.
  case stopExport
  /// Read the records of a file; the fields in `texts` hold only texts, those in `nested` are within
  /// others.
  case readFile(String, texts: [String], nested: [Path])
  /// Stop reading a file.
  case stopReading
  /// Write the refused records of an import to a new file.
  case writeRefused(String, String)
  /// Write a view to the views file.
  case saveView(ViewSaving)
  /// Put a text into the clipboard; `what` names it in words.
  case copy(String, what: String)
  /// Tell the user of new rows outside of the screen.
  case notify(TerminalNotice)
  /// Open a link in the browser.
  case openLink(String)
  /// Send the write of unknown outcome with this id again.
  case sendAgain(Int64)
  /// Connect to the server now, also after it has refused the credentials.
  case reconnect
  /// Ask the server again for all that is shown, if it tells only what it says has changed.
  case readOrigin
  /// Measure how long the server takes to answer.
  case measureLatency
  /// Draw in the colors of a theme, or of the configuration if it is nil.
  case theme(ThemeChoice?)
  /// Open the user's editor on a value.
  case editOutside(OutsideEdit)
  /// Give the terminal back until the program is continued.
  case suspend
  /// Draw the screen from scratch.
  case redraw
  /// Log that an answer does not fit the purpose of its request, which is a fault of the program.
  case mismatch(String)
  /// End the program with a fault, to test what a crash leaves behind.
  case crash
}

/// A composed record whose write is under way.
package struct SentRecord: Hashable, Sendable {
  /// The id of the write.
  package var id: AppRequestID
  package var value: JSONValue
}
