import Foundation
import Logging
import Testing

@testable import RunnelIdentity
@testable import RunnelServer

@Suite struct AccountMailerTests {
  @Test func aMailWhoseCodeCannotBeUsedAnyMoreIsNotSent() throws {
    let folder = NSTemporaryDirectory() + "runnel-mails-\(UUID().uuidString)"
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let mailer = try AccountMailer(
      .folder(folder), sender: "a@id.example", clientName: "id.example",
      logger: Logger(label: "test"), calendar: { 0 })
    mailer.ask { mail, answer in answer(mail.recipient != "gone@x.org") }
    for recipient in ["gone@x.org", "ada@x.org"] {
      mailer.send(
        AccountMail(
          kind: .verifyEmail, recipient: recipient, link: "https://id.example/x", code: "x"))
    }
    mailer.close()
    let mails = try FileManager.default.contentsOfDirectory(atPath: folder).map {
      try String(contentsOfFile: folder + "/" + $0, encoding: .utf8)
    }
    #expect(mails.count == 1)
    #expect(mails.first?.contains("ada@x.org") == true)
  }

  @Test func aNoticeHasNoLinkAndNoTextOfAUser() {
    for notice in [AccountMail.Notice.replaced, .takenBack] {
      let body = MailText.body(AccountMail(notice: notice, to: "a@x.org"))
      #expect(body.hasPrefix("Hello,\n\n") && !body.contains("://") && !body.contains("@"))
    }
    let removal = AccountMail(
      kind: .recoverEmail, recipient: "a@x.org", link: "https://id.example/x", code: "c0de")
    let body = MailText.body(removal)
    #expect(body.contains("this address was removed from your account. If you did not want that"))
    #expect(body.contains("https://id.example/x") && body.contains("c0de"))
  }
}
