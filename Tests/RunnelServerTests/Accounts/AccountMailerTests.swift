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
}
