import RunnelBase
import RunnelIdentity

/// Accounts in memory: the naive form of the store.
final class MemoryIdentity: IdentityReader {
  var accounts: [String: AccountRecord] = [:]
  var codes: [String: MailedCode] = [:]
  var sessions: [String: [RefreshSession]] = [:]
  /// The ends of tokens, as a server that runs knows them.
  var ends: [String: TokenEnd] = [:]
  var owed: [String: OwedMail] = [:]
  var kept = IdentitySettings()

  func account(_ id: String) -> AccountRecord? { accounts[id] }

  func account(email: String) -> AccountRecord? {
    accounts.values.first { $0.email?.utf8.elementsEqual(email.utf8) == true }
  }

  func account(phone: String) -> AccountRecord? {
    accounts.values.first { $0.phoneNumber == phone }
  }

  func accounts(after id: String?, count: Int, isDescending: Bool) -> [AccountRecord] {
    var all = accounts.values.sorted { $0.id < $1.id }
    if isDescending { all.reverse() }
    return Array(all.filter { id == nil || $0.id > id ?? "" }.prefix(count))
  }

  func accountCount() -> Int { accounts.count }

  func code(_ hash: String) -> MailedCode? { codes[hash] }

  func codes(of owner: String) -> [MailedCode] { codes.values.filter { $0.owner == owner } }

  func codes(count: Int) -> [MailedCode] {
    Array(codes.values.sorted { ($0.time, $0.hash) < ($1.time, $1.hash) }.prefix(count))
  }

  func sessions(of account: String) -> [RefreshSession] { sessions[account] ?? [] }

  func settings() -> IdentitySettings { kept }

  /// Carries out the changes of a decision, by way of the stored forms.
  func apply(_ draft: IdentityDraft) {
    if draft.isWiping { (accounts, codes, sessions) = ([:], [:], [:]) }
    for (id, record) in draft.accounts {
      accounts[id] = record.flatMap { AccountRecord(stored: $0.stored) }
    }
    for (hash, code) in draft.codes {
      codes[hash] = code.flatMap { MailedCode(stored: $0.stored, hash: hash) }
    }
    for (id, list) in draft.sessions {
      sessions[id] = list.compactMap {
        RefreshSession(stored: $0.stored, hash: $0.hash, account: id)
      }
    }
    for (id, mail) in draft.owed {
      owed[id] = mail.flatMap { OwedMail(stored: $0.stored, id: id) }
    }
    for (id, second) in draft.revocations {
      let end = TokenEnd(second: second, epoch: draft.epochs[id] ?? 0)
      ends[id] = ends[id]?.joined(end) ?? end
    }
    if let settings = draft.settings { kept = IdentitySettings(stored: settings.stored) }
  }
}
