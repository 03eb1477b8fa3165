package import RunnelBase
import RunnelStreams
import RunnelTerminal

/// The list of the clients that are connected to the database's server; it is refreshed
/// automatically.
package struct ClientsScreen: Hashable, Sendable {
  /// The pause between an answer and the next request, in milliseconds.
  package static let restMilliseconds: Int64 = 2000
  private static let section = "clients"
  /// The most columns of an address.
  private static let addressMax = 39
  /// The columns that users may have in any case, and those of the sizes, ages, kinds and gaps.
  private static let (userMin, otherColumns) = (24, 37)

  private(set) var clients: [ServerClient] = []
  /// True if more clients are connected than are listed.
  private(set) var hasMore = false
  private(set) var phase = LoadState.loading
  /// The request in progress; nil if there is none.
  private(set) var request: AppRequestID?
  /// The time of the next request, in milliseconds since 1970; nil while one is in progress.
  private(set) var due: Int64?
  package private(set) var content = ListContent()
  /// The lines of the rows, with the ages at the last answer.
  ///
  /// They are kept: the widths of their columns are those of all clients, of which there may be
  /// `ClientPage.countMax`, and a key is to cost no more than the rows on the screen.
  private(set) var lines: [String: StyledLine] = [:]
  package var list = ListState()

  /// The client under the cursor; nil if there is none.
  var cursorClient: ServerClient? {
    guard case .row(let id)? = list.cursor, let number = Int64(id) else { return nil }
    return clients.first { $0.id == number }
  }

  /// Records that a request was sent.
  mutating func wait(for request: AppRequestID) { (self.request, due) = (request, nil) }

  /// Shows the clients that the server reported.
  mutating func take(_ page: ClientPage, now: Int64, body: Rect) {
    (clients, hasMore, phase) = (page.clients, page.hasMore, .loaded)
    scheduleRefresh(now: now, body: body)
  }

  /// Shows that the request failed.
  mutating func fail(_ message: String, now: Int64, body: Rect) {
    (clients, hasMore, phase) = ([], false, .failed(StreamFailure(message)))
    scheduleRefresh(now: now, body: body)
  }

  private mutating func scheduleRefresh(now: Int64, body: Rect) {
    (request, due) = (nil, now + ClientsScreen.restMilliseconds)
    rebuild(now: now, body: body)
  }

  /// Computes the rows.
  mutating func rebuild(now: Int64, body: Rect) {
    lines = [:]
    let addressWidth = CellWidth.widest(
      of: clients.map(\.address), atMost: ClientsScreen.addressMax)
    let listenWidth = CellWidth.widest(of: clients.map { ClientsScreen.listens($0) }, atMost: 20)
    let numberWidth = CellWidth.widest(of: clients.map { ClientsScreen.number($0) }, atMost: 20)
    let room =
      body.width - addressWidth - listenWidth - numberWidth - ClientsScreen.otherColumns
    let userWidth = CellWidth.widest(
      of: clients.map(\.user), atMost: max(ClientsScreen.userMin, room))
    for client in clients {
      var line = StyledLine(" \(CellWidth.column(client.address, addressWidth))  ")
      line.append(ClientsScreen.user(client, userWidth) + "  ", .strong)
      line.append(CellWidth.column(ClientsScreen.listens(client), listenWidth) + "  ")
      line.append(CellWidth.column(ByteCount.text(client.sentBytes) + " sent", 15) + "  ", .muted)
      line.append(CellWidth.column(Age.text(of: client.since, now: now), 4) + "  ", .muted)
      line.append(client.kind + ClientsScreen.number(client), .muted)
      lines["\(client.id)"] = line
    }
    show(clients.map { "\($0.id)" }, height: body.height)
  }

  private mutating func show(_ ids: [String], height: Int) {
    let section = ListSection(id: ClientsScreen.section, rows: ids, emptyText: emptyText)
    list.show(
      ListContent(sections: [section]), inPlaceOf: &content, height: height, first: ids.first)
  }

  private var headings: [String: ListHeading] {
    let count = phase == .loaded ? "\(clients.count)\(hasMore ? "+" : "")" : ""
    return [
      ClientsScreen.section: ListHeading(
        title: StyledLine("Connected to the server", .sectionHeader),
        detail: StyledLine(count, .muted))
    ]
  }

  private var emptyText: String {
    switch phase {
    case .failed(let failure): failure.message
    case .cached, .loaded: "nobody is connected"
    case .idle, .loading: "waiting for the server"
    }
  }

  /// The name of the user, in so many columns; a cut one ends with dots.
  private static func user(_ client: ServerClient, _ columns: Int) -> String {
    if CellWidth.width(of: client.user) <= columns { return CellWidth.column(client.user, columns) }
    return CellWidth.column(CellWidth.column(client.user, columns - 3) + "...", columns)
  }

  /// The number of the connection, by which the server's log names it.
  private static func number(_ client: ServerClient) -> String { " #\(client.id)" }

  private static func listens(_ client: ServerClient) -> String {
    client.listenCount == 1 ? "1 listen" : "\(client.listenCount) listens"
  }
}

// MARK: - The layer

extension ClientsScreen: ListLayer {
  var layer: Layer { .clients(self) }
  var summary: String { "clients of the server" }
  var heading: String? { "clients" }
  var countWords: (one: String, several: String)? { ("client", "clients") }

  func contexts(about hand: AtHand) -> [KeymapContext] { ClientsCommands.table.contexts }

  func reasonWaiting(for action: ActionID, in state: AppState) -> String? {
    phase == .loading && TypeAhead.isAboutRows(state, action) ? "waiting for the server" : nil
  }

  func draw(into canvas: inout Canvas, _ screen: AppScreen) {
    screen.drawLines(lines, of: self, headings: headings, into: &canvas)
  }

  func text(ofRow id: String) -> String { lines[id]?.text ?? "" }
}
