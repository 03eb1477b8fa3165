package import RunnelBase
import RunnelStreams
import RunnelTerminal

/// The list of the accounts at the database's server.
package struct AccountsScreen: Hashable, Sendable {
  private static let section = "accounts"
  private static let rowPrefix = "user "
  /// The most columns of an account's title and of its name.
  private static let (titleMax, nameMax) = (40, 24)

  private(set) var facts = AccountFacts()
  /// Whether the server confirms addresses: those of Feathers have no service for it.
  var confirmsAddresses = true
  package private(set) var content = ListContent()
  private(set) var headings: [String: ListHeading] = [:]
  private(set) var lines: [String: StyledLine] = [:]
  package var list = ListState()

  /// The account under the cursor; nil if there is none.
  var cursorAccount: AccountFacts.Account? {
    guard case .row(let id)? = list.cursor else { return nil }
    return facts.account(of: String(id.dropFirst(AccountsScreen.rowPrefix.count)))
  }

  /// Shows what is known of the accounts now.
  mutating func show(_ facts: AccountFacts, height: Int) {
    self.facts = facts
    lines = [:]
    let accounts = facts.listed
    let titleWidth = CellWidth.widest(
      of: accounts.map { facts.title(of: $0) }, atMost: AccountsScreen.titleMax)
    let nameWidth = CellWidth.widest(
      of: accounts.map { $0.name ?? "" }, atMost: AccountsScreen.nameMax)
    for account in accounts {
      var line = StyledLine(
        " \(AccountsScreen.cut(facts.title(of: account), titleWidth))  ", .strong)
      if nameWidth > 0 { line.append(AccountsScreen.cut(account.name ?? "", nameWidth) + "  ") }
      line.append(words(on: account))
      lines[AccountsScreen.rowPrefix + account.id] = line
    }
    headings = [
      AccountsScreen.section: ListHeading(
        title: StyledLine("Accounts for this database", .sectionHeader),
        detail: StyledLine(accounts.isEmpty ? "" : "\(accounts.count)", .muted))
    ]
    let ids = accounts.map { AccountsScreen.rowPrefix + $0.id }
    let old = content
    content = ListContent(sections: [
      ListSection(
        id: AccountsScreen.section, rows: ids, emptyText: facts.emptyText)
    ])
    list.apply(
      SectionedDiff.update(
        from: old.sections.map { SectionIDs($0) }, to: content.sections.map { SectionIDs($0) }),
      from: old, to: content, height: height)
    // The account in use is the one that most keys are about.
    if old.rowCount == 0, let id = facts.current?.id ?? accounts.first?.id {
      _ = list.moveTo(.row(AccountsScreen.rowPrefix + id), in: content, height: height)
    }
  }

  /// Returns a text of exactly so many columns, which says if it was cut.
  private static func cut(_ text: String, _ columns: Int) -> String {
    CellWidth.width(of: text) <= columns
      ? CellWidth.column(text, columns) : CellWidth.column(text, columns - 1) + "…"
  }

  /// Returns the state of an account, in words.
  private func words(on account: AccountFacts.Account) -> StyledLine {
    let isCurrent = account.id == facts.current?.id
    if isCurrent, let reason = facts.reasonEnded { return StyledLine(reason, .error) }
    if !isCurrent, let waiting = facts.waiting.first(where: { $0.account.id == account.id }) {
      let end =
        waiting.isDeleted
        ? "account deleted" : account.isAnonymous ? "signed out for good" : "session ended"
      return StyledLine(
        "\(end), \(waiting.count) \(waiting.count == 1 ? "write waits" : "writes wait")", .warn)
    }
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

  func draw(into canvas: inout Canvas, _ screen: AppScreen) {
    screen.drawLines(lines, of: self, headings: headings, into: &canvas)
  }

  func text(ofRow id: String) -> String { lines[id]?.text ?? "" }
}
