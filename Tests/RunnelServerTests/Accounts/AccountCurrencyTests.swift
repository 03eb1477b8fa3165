import RunnelBase
import RunnelSync
import Synchronization
import Testing

@testable import RunnelServer

/// What depends on the accounts of a store counts only while they are read.
@Suite struct AccountCurrencyTests {
  /// What a currency is made of, changed by a test.
  private final class World: Sendable {
    private let state = Mutex<(time: Int64, isConfirmed: Bool)>((1_000_000, true))

    var time: Int64 { state.withLock { $0.time } }
    var isConfirmed: Bool { state.withLock { $0.isConfirmed } }

    func pass(_ milliseconds: Int64) { state.withLock { $0.time += milliseconds } }
    func confirm(_ isConfirmed: Bool) { state.withLock { $0.isConfirmed = isConfirmed } }
  }

  private let world = World()
  private let currency: AccountCurrency
  /// The verifiers of the accounts, and of a database.
  private let (accounts, database): (TokenVerifier, TokenVerifier)
  private let (forAll, own): (String, String)

  init() throws {
    currency = AccountCurrency(
      isConfirmed: { [world] in world.isConfirmed }, now: { [world] in world.time })
    var (accountSecrets, ownSecrets) = (ServerSecrets(), ServerSecrets())
    let added = (accountSecrets.add("all", now: 0), ownSecrets.add("own", now: 0))
    (forAll, own) = (try #require(added.0).text, try #require(added.1).text)
    accounts = TokenVerifier(
      TokenVerifier.Knowledge(
        secrets: accountSecrets, accounts: ServiceAccounts(), currency: currency, areForAll: true),
      isEmulator: false)
    database = TokenVerifier(
      TokenVerifier.Knowledge(
        secrets: ownSecrets, accounts: ServiceAccounts(), administrators: accounts,
        currency: currency),
      isEmulator: false)
  }

  private func outcome(_ verifier: TokenVerifier, _ text: String) -> String {
    do throws(CredentialRefusal) {
      return try verifier.verify(Credential(text), now: 0).caller.isAdministrator ? "yes" : "no"
    } catch {
      return error.status.rawValue
    }
  }

  @Test func whatDependsOnOldAccountsIsNotAccepted() {
    world.pass(AccountCurrency.patience)
    #expect(outcome(database, forAll) == "yes")
    #expect(outcome(accounts, forAll) == "yes")
    world.pass(1)
    #expect(outcome(database, forAll) == "unavailable")
    #expect(outcome(accounts, forAll) == "unavailable")
    // Whoever issued it, its keys may be new.
    #expect(outcome(database, "a.b.c") == "unavailable")
    #expect(outcome(database, own) == "yes")
    currency.confirm(since: world.time)
    #expect(outcome(database, forAll) == "yes")
    #expect(outcome(database, "other") == "invalid_token")
  }

  @Test func aReadingIsAsOldAsItsBeginning() {
    let start = world.time
    world.pass(AccountCurrency.patience + 1)
    currency.confirm(since: start)
    #expect(!currency.isCurrent)
    currency.confirm(since: start + 1)
    #expect(currency.isCurrent)
  }

  /// The primary may have been replaced by one that knows more.
  @Test func aServerWithoutLeaseDoesNotRelyOnAccounts() {
    world.confirm(false)
    #expect(outcome(database, forAll) == "unavailable")
    #expect(outcome(database, own) == "yes")
    world.confirm(true)
    #expect(outcome(database, forAll) == "yes")
  }

  @Test func onlyWhatDependsOnThemIsUnconfirmed() {
    world.pass(AccountCurrency.patience + 1)
    #expect(database.isUnconfirmed(Credential(forAll), now: 0))
    #expect(!database.isUnconfirmed(Credential(own), now: 0))
    #expect(!database.isUnconfirmed(nil, now: 0))
    currency.confirm(since: world.time)
    #expect(!database.isUnconfirmed(Credential(forAll), now: 0))
  }
}
