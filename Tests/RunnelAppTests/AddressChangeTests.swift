import RunnelBase
import RunnelStore
import RunnelTerminal
import Testing

@testable import RunnelApp
@testable import RunnelWorkspace

/// The change of an account's address, as the user sees it.
@Suite struct AddressChangeTests {
  /// The last request for accounts, and its id.
  private func request(_ app: AppDriver) -> (id: AppRequestID, request: AccountRequest)? {
    for case .account(let id, let request) in app.screenEffects.reversed() { return (id, request) }
    return nil
  }

  private func answer(_ app: AppDriver, _ answer: Answer) throws {
    app.take(.answered(try #require(request(app)).id, answer))
  }

  @Test func theFormForTheCodeOfANewAddressIsOpenedAgain() throws {
    let app = try AppDriver(Fixture.views(), json: Fixture.small, origin: "home", isRecording: true)
    let bo = AccountTests.bo
    app.take(.accounts(AccountFacts([bo], current: bo, .signedIn)))
    app.press("A e")
    app.type("bo2@x.org")
    app.press("Tab o l d Enter")
    try answer(app, .account(user: nil))
    #expect(app.form?.title == "Confirm the e-mail address")
    app.press("Esc")
    #expect(app.form == nil)
    app.press("c")
    #expect(app.form?.title == "Confirm the e-mail address")
    app.press("c 1 Enter")
    #expect(request(app)?.request == .applyCode(Secret("c1")))
    try answer(app, .account(user: nil))
    app.press("c")
    #expect(app.form == nil, "the address is confirmed")
  }

  @Test func aCodeForTheNewAddressIsAskedForThoughTheOldOneIsNotConfirmed() throws {
    let app = try AppDriver(Fixture.views(), json: Fixture.small, origin: "home", isRecording: true)
    let cy = AccountFacts.Account(id: "cy", email: "cy@x.org")
    app.take(.accounts(AccountFacts([cy], current: cy, .signedIn)))
    app.press("A e")
    app.type("cy2@x.org")
    app.press("Tab o l d Enter")
    try answer(app, .account(user: nil))
    app.press("Esc")
    let count = app.screenEffects.count
    app.press("c")
    #expect(app.form?.title == "Confirm the e-mail address")
    #expect(app.toast == "the code is in the message to the new address")
    #expect(app.screenEffects.count == count, "No message goes to the old address.")
    app.press("c 1 Enter")
    #expect(request(app)?.request == .applyCode(Secret("c1")))
  }
}
