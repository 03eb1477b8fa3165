package import RunnelBase
import RunnelTerminal

/// The list of the accounts at the database's server.
package struct AccountsScreen: Hashable, Sendable {
  private static let section = "accounts"
  private static let rowPrefix = "user "
  /// The row of the writes without an account, which are shown without one.
  private static let nobodyRow = "nobody"
  /// The most columns of an account's title and of its name.
  private static let (titleMax, nameMax) = (40, 24)
  /// The least columns to which they are cut; a name that would be shorter is left out.
  private static let (titleMin, nameMin) = (12, 4)
  /// The columns of a state for which they give way: the reason why a session has ended may be long.
  private static let stateMax = 36
  /// The columns between the parts of a row.
  private static let gap = 2

  private(set) var facts = AccountFacts()
  /// Whether the server confirms addresses: those of Feathers have no service for it.
  var confirmsAddresses = true
  package private(set) var content = ListContent()
  package var list = ListState()

  /// The account under the cursor; nil if there is none.
  var cursorAccount: AccountFacts.Account? {
    guard case .row(let id)? = list.cursor, !isAtNobody else { return nil }
    return facts.account(of: String(id.dropFirst(AccountsScreen.rowPrefix.count)))
  }

  /// Whether the cursor is on the row of the writes without an account.
  var isAtNobody: Bool { list.cursor == .row(AccountsScreen.nobodyRow) }

  /// Shows what is known of the accounts now.
  mutating func show(_ facts: AccountFacts, height: Int) {
    self.facts = facts
    let accounts = facts.listed
    var ids = accounts.map { AccountsScreen.rowPrefix + $0.id }
    if facts.tellsOfNobody { ids.append(AccountsScreen.nobodyRow) }
    let section = ListSection(
      id: AccountsScreen.section, rows: ids, emptyText: facts.emptyText)
    // The account in use is the one that most keys are about.
    let first = facts.current?.id ?? accounts.first?.id
    list.show(
      ListContent(sections: [section]), inPlaceOf: &content, height: height,
      first: first.map { AccountsScreen.rowPrefix + $0 })
  }

  private var headings: [String: ListHeading] {
    let count = facts.listed.count
    return [
      AccountsScreen.section: ListHeading(
        title: StyledLine("Accounts for this database", .sectionHeader),
        detail: StyledLine(count == 0 ? "" : "\(count)", .muted))
    ]
  }

  /// The lines of the rows, for so many columns.
  ///
  /// O(n²) in the accounts, which are a few: those of one user at one server.
  private func lines(in columns: Int) -> [String: StyledLine] {
    let widths = widths(in: columns)
    let gap = String(repeating: " ", count: AccountsScreen.gap)
    var lines: [String: StyledLine] = [:]
    for account in facts.listed {
      var line = StyledLine(
        " \(AccountsScreen.cut(facts.title(of: account), widths.title))\(gap)", .strong)
      if widths.name > 0 {
        line.append(AccountsScreen.cut(account.name ?? "", widths.name) + gap)
      }
      line.append(words(on: account))
      lines[AccountsScreen.rowPrefix + account.id] = line
    }
    if facts.tellsOfNobody {
      var line = StyledLine(
        " \(AccountsScreen.cut("nobody", widths.title))\(gap)", .strong)
      line.append(wordsOnNobody)
      lines[AccountsScreen.nobodyRow] = line
    }
    return lines
  }

  /// What there is without an account, in words.
  private var wordsOnNobody: StyledLine {
    let (waiting, refused) = (facts.nobodyCount, facts.nobodyRefusedCount)
    var words: [String] = []
    if waiting > 0 { words.append(waiting == 1 ? "1 write waits" : "\(waiting) writes wait") }
    if refused > 0 {
      words.append(refused == 1 ? "1 write was refused" : "\(refused) writes were refused")
    }
    return StyledLine(words.joined(separator: ", "), .warn)
  }

  /// The columns of the titles and of the names, so that the states behind them are seen: where there is no room for
  /// all, the names are cut first.
  private func widths(in columns: Int) -> (title: Int, name: Int) {
    let accounts = facts.listed
    let gap = AccountsScreen.gap
    var title = CellWidth.widest(
      of: accounts.map { facts.title(of: $0) }, atMost: AccountsScreen.titleMax)
    var name = CellWidth.widest(of: accounts.map { $0.name ?? "" }, atMost: AccountsScreen.nameMax)
    let state = min(accounts.map { words(on: $0).width }.max() ?? 0, AccountsScreen.stateMax)
    let room = columns - 1 - gap - state
    if name > 0, title + gap + name > room {
      name = room - title - gap
      if name < AccountsScreen.nameMin { name = 0 }
    }
    if name == 0 { title = min(title, max(room, AccountsScreen.titleMin)) }
    return (title, name)
  }

  /// Returns a text of exactly so many columns, which says if it was cut.
  private static func cut(_ text: String, _ columns: Int) -> String {
    CellWidth.width(of: text) <= columns
      ? CellWidth.column(text, columns) : CellWidth.column(text, columns - 1) + "…"
  }

  /// Returns why an account is not signed in, in words.
  private static func end(of waiting: AccountFacts.Waiting) -> String {
    switch waiting.absence {
    case .revoked: "device revoked"
    case .signedOut: "signed out"
    case nil where waiting.isDeleted: "account deleted"
    case nil: waiting.account.isAnonymous ? "signed out for good" : "session ended"
    }
  }

  /// Returns the state of an account, in words.
  private func words(on account: AccountFacts.Account) -> StyledLine {
    let isCurrent = account.id == facts.current?.id
    if isCurrent, let reason = facts.reasonEnded { return StyledLine(reason, .error) }
    let waiting = isCurrent ? nil : facts.waiting.first { $0.account.id == account.id }
    let writes = waiting.map { $0.count == 1 ? "1 write waits" : "\($0.count) writes wait" }
    if let waiting, let writes, !facts.isSignedIn(account) {
      return StyledLine("\(AccountsScreen.end(of: waiting)), \(writes)", .warn)
    }
    if let writes { return StyledLine(writes, .warn) }
    var words: [String] = isCurrent ? ["shown"] : []
    if account.email != nil, !account.isVerified, confirmsAddresses {
      words.append("address not confirmed")
    }
    return StyledLine(words.joined(separator: ", "), isCurrent ? .ok : .muted)
  }
}

// MARK: - The layer

extension AccountsScreen: ListLayer {
  var layer: Layer { .accounts(self) }
  var summary: String { "accounts" }
  var heading: String? { "accounts" }

  func contexts(about hand: AtHand) -> [KeymapContext] { AccountsCommands.table.contexts }

  func depth(ofRow id: String) -> Int { 0 }

  var countWords: (one: String, several: String)? { ("account", "accounts") }

  func draw(into canvas: inout Canvas, _ screen: AppScreen) {
    // The first column is that of the cursor.
    let lines = lines(in: max(screen.layout.body.width - 1, 0))
    screen.drawLines(lines, of: self, headings: headings, into: &canvas)
  }

  func text(ofRow id: String) -> String { lines(in: .max)[id]?.text ?? "" }
}
