import RunnelTerminal

/// The writes that wait on this machine, of the account that is shown and of all others that are known for the
/// database: whatever tells of them tells it from here.
struct WaitingWrites {
  /// What becomes of the writes of an account that is signed out.
  enum Fate {
    /// They are sent when the account signs in again.
    case sentLater
    /// The account was deleted.
    case deleted
    /// Another account has the address.
    case replaced
    /// Nobody can sign in to the account again.
    case neverSent
  }

  /// The writes of one account.
  struct Entry {
    /// The account; nil for nobody.
    let account: AccountFacts.Account?
    /// The address, or what stands for it.
    let title: String
    let count: Int
    let fate: Fate
    /// Why only a new sign-in shows them; nil if they can be shown now.
    var absence: AccountFacts.Absence?

    /// The number of writes, in words with a verb.
    var words: String { count == 1 ? "1 write waits" : "\(count) writes wait" }

    /// The number of writes and whose they are, in words with a verb.
    var wordsWithTitle: String {
      let whose = account == nil ? "without an account" : "of \(title)"
      return count == 1 ? "1 write \(whose) waits" : "\(count) writes \(whose) wait"
    }

    /// What becomes of the writes if the account is signed out, in words that follow others.
    var end: String {
      let them = count == 1 ? "it is" : "they are"
      return switch fate {
      case .sentLater where account == nil: "\(them) sent while nobody is signed in"
      case .sentLater: "\(them) sent when it signs in again"
      case .deleted: "\(them) not sent, for the account was deleted"
      case .replaced: "\(them) not sent by a sign-in with this address"
      case .neverSent: "\(them) never sent then"
      }
    }
  }

  /// The writes of the account that is shown, or of nobody; their number may be 0.
  let shown: Entry
  /// The writes of the other accounts, of each some.
  let others: [Entry]
  /// The number of the writes without an account that were refused, while an account is shown.
  let nobodyRefusedCount: Int

  /// Counts the writes.
  init(_ state: AppState) {
    let facts = state.database.accounts ?? AccountFacts()
    let current = facts.current
    shown = Entry(
      account: current, title: current.map { facts.title(of: $0) } ?? "nobody",
      count: state.writes.queue.pending.count,
      fate: current.map {
        WaitingWrites.fate(of: $0, isDeleted: facts.isDeleted, isReplaced: facts.isReplaced)
      } ?? .sentLater)
    let ofAccounts = facts.waiting.filter { $0.account.id != current?.id }.map { waiting in
      Entry(
        account: waiting.account, title: facts.title(of: waiting.account), count: waiting.count,
        fate: WaitingWrites.fate(
          of: waiting.account, isDeleted: waiting.isDeleted,
          isReplaced: facts.isReplaced(waiting.account)), absence: waiting.absence)
    }
    let isOfNobody = current != nil && facts.nobodyCount > 0
    let ofNobody = Entry(
      account: nil, title: "nobody", count: facts.nobodyCount, fate: .sentLater)
    others = ofAccounts + (isOfNobody ? [ofNobody] : [])
    nobodyRefusedCount = current == nil ? 0 : facts.nobodyRefusedCount
  }

  private static func fate(
    of account: AccountFacts.Account, isDeleted: Bool, isReplaced: Bool
  ) -> Fate {
    if isDeleted { return .deleted }
    if isReplaced { return .replaced }
    return account.isAnonymous ? .neverSent : .sentLater
  }

  /// The writes of an account; nil if it has none.
  func entry(of account: AccountFacts.Account) -> Entry? {
    if account.id == shown.account?.id { return shown.count > 0 ? shown : nil }
    return others.first { $0.account?.id == account.id }
  }

  /// The number of the writes of other accounts.
  var othersCount: Int { others.reduce(0) { $0 + $1.count } }

  /// The writes of each account that has some, with that of the shown one first.
  var all: [Entry] { (shown.count > 0 ? [shown] : []) + others }

  /// A line for each account but the shown one, for the queue.
  func lines(_ state: AppState) -> [StyledLine] {
    let keys = KeyText.listKeys(state)
    var lines = others.map { entry in
      let rest =
        if entry.account == nil {
          ": \(entry.end)"
        } else if entry.absence == nil {
          keys.hint(.accountsOpen, "shows the account")
        } else {
          (entry.fate == .sentLater ? " for a new sign-in" : "")
            + keys.hint(.accountsOpen, "lists the account")
        }
      return StyledLine("   \(entry.wordsWithTitle)\(rest)", .rowPending)
    }
    if nobodyRefusedCount > 0 {
      let words = nobodyRefusedCount == 1 ? "1 write" : "\(nobodyRefusedCount) writes"
      let were = nobodyRefusedCount == 1 ? "was" : "were"
      let rest = keys.hint(.accountsOpen, "lists nobody, Enter shows them")
      lines.append(
        StyledLine("   \(words) without an account \(were) refused\(rest)", .conflict))
    }
    return lines
  }

  /// What is said first in the queue if nothing of the shown account is there, but something of others.
  var emptyText: String {
    shown.account == nil
      ? "   without an account nothing waits, and nothing was refused"
      : "   nothing of \(shown.title) waits, and nothing was refused"
  }
}
