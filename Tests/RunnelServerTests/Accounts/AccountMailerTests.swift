import Foundation
import Logging
import RunnelNetwork
import Testing

@testable import RunnelIdentity
@testable import RunnelServer

@Suite struct AccountMailerTests {
  @Test func aMailWhoseCodeCannotBeUsedAnyMoreIsNotSent() throws {
    let folder = NSTemporaryDirectory() + "runnel-mails-\(UUID().uuidString)"
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let mailer = try AccountMailer(
      .folder(folder), sender: try #require(MailSender("a@id.example")), clientName: "id.example",
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

  @Test func aMailInTheFolderHasAddressesForItsSender() throws {
    let folder = NSTemporaryDirectory() + "runnel-mails-\(UUID().uuidString)"
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let sender = try AccountMailer.sender("Imkerei Müller <info@imkerei-müller.example>", host: "x")
    let mailer = try AccountMailer(
      .folder(folder), sender: sender, clientName: "id.example", logger: Logger(label: "test"),
      calendar: { 0 })
    mailer.send(AccountMail(notice: .replaced, to: "zoë.çelik@bücher.example"))
    mailer.close()
    let name = try #require(try FileManager.default.contentsOfDirectory(atPath: folder).first)
    let text = try String(contentsOfFile: folder + "/" + name, encoding: .utf8)
    let lines = text.components(separatedBy: "\r\n")
    #expect(
      lines.prefix(2) == [
        "From: =?utf-8?B?SW1rZXJlaSBNw7xsbGVy?= <info@xn--imkerei-mller-4ob.example>",
        "To: <zoë.çelik@xn--bcher-kva.example>",
      ])
    #expect(lines.contains("Date: 1 Jan 1970 00:00:00 +0000"))
    let id = try #require(lines.first { $0.hasPrefix("Message-ID: <") })
    #expect(id.hasSuffix("@xn--imkerei-mller-4ob.example>"))
    #expect(MailText.newMessageID(from: sender) != MailText.newMessageID(from: sender))
  }

  @Test func aMailSaysItsCodeAlsoForASignIn() {
    let mail = AccountMail(
      kind: .emailSignIn, recipient: "a@x.org", link: "https://id.example/x", code: "c0de")
    #expect(MailText.body(mail).contains("Where a program asks for the code, it is:\n\nc0de\n"))
  }

  @Test(
    arguments: [
      ("nobody", "give name@host"), ("zoë@x.example", "has to be of ASCII"),
      ("a@x.example, b@x.example", "give name@host"),
    ])
  func aSenderFromWhichNoMailCanComeIsRefused(text: String, words: String) {
    let error = #expect(throws: ServerError.self) {
      try AccountMailer.sender(text, host: "id.example")
    }
    #expect(error?.isUsage == true && error?.message.contains(words) == true, "\(text)")
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
