import RunnelNetwork
import Testing

/// The dialogue with a server of mail, line by line.
///
/// Source: RFC 5321, RFC 3207, RFC 4954, RFC 6531.
@Suite struct MailDialogueTests {
  private let login = MailServer.Login(user: "ada", password: "pass")

  private func dialogue(
    _ content: String = "Subject: x\r\n\r\nHello\r\n", to recipient: String = "b@x.org",
    login: MailServer.Login? = nil, security: MailDialogue.Security = .required
  ) throws -> MailDialogue {
    let message = MailMessage(
      clientName: "id.example", sender: try #require(MailAddress("a@id.example")),
      recipient: try #require(MailAddress(recipient)), content: Array(content.utf8))
    return MailDialogue(message, login: login, security: security)
  }

  private func text(_ steps: [MailDialogue.Step]) -> String {
    steps.map { step in
      switch step {
      case .send(let bytes): String(decoding: bytes, as: UTF8.self)
      case .startTLS: "<TLS>"
      case .done: "<done>"
      case .failed(let failure): "<\(failure.isFinal ? "final" : "later"): \(failure.reason)>"
      }
    }.joined()
  }

  @Test func aMessageIsDelivered() throws {
    var mail = try dialogue(login: login)
    func says(_ line: String, _ expected: String) {
      #expect(text(mail.receive(line)) == expected, "\(line)")
    }
    says("220 mail.example ESMTP", "EHLO id.example\r\n")
    says("250-mail.example", "")
    says("250-SIZE 1000", "")
    says("250 STARTTLS", "STARTTLS\r\n")
    says("220 go ahead", "<TLS>")
    #expect(text(mail.handshakeEnded()) == "EHLO id.example\r\n")
    says("250-mail.example", "")
    says("250 AUTH LOGIN PLAIN", "AUTH PLAIN AGFkYQBwYXNz\r\n")
    says("235 welcome", "MAIL FROM:<a@id.example>\r\n")
    says("250 ok", "RCPT TO:<b@x.org>\r\n")
    says("250 ok", "DATA\r\n")
    says("354 go ahead", "Subject: x\r\n\r\nHello\r\n.\r\n")
    says("250 queued", "QUIT\r\n<done>")
    says("221 bye", "")
  }

  @Test func linesThatBeginWithADotGetAnother() throws {
    var mail = try dialogue(".a\r\n..\r\nb.\r\n.", security: .ifOffered)
    for line in ["220 x", "250 x", "250 x", "250 x"] { _ = mail.receive(line) }
    #expect(text(mail.receive("354 x")) == "..a\r\n...\r\nb.\r\n..\r\n.\r\n")
  }

  @Test(
    arguments: [
      (["554 no"], "<final: it said 554 no>"), (["421 later"], "<later: it said 421 later>"),
      (["hello"], "<later: it is no server of mail>"),
      (["220 x", "250 x"], "<final: it offers no encryption>"),
      (["220 x", "250 STARTTLS", "454 no"], "<later: it said 454 no>"),
      (
        ["220 x", "250 STARTTLS", "220 x", "250 AUTH PLAIN"],
        "<final: it sent text before the encryption>"
      ),
    ] as [([String], String)])
  func afterARefusalNothingMoreIsSent(lines: [String], end: String) throws {
    var mail = try dialogue(login: login)
    var last = ""
    for line in lines { last = text(mail.receive(line)) }
    #expect(last == end)
    #expect(mail.receive("250 ok").isEmpty)
  }

  @Test func aPasswordIsSentOnlyEncrypted() throws {
    var mail = try dialogue(login: login, security: .ifOffered)
    _ = mail.receive("220 x")
    #expect(
      text(mail.receive("250 AUTH PLAIN")) == "<final: it offers no encryption for the login>")
    var open = try dialogue(security: .ifOffered)
    _ = open.receive("220 x")
    #expect(text(open.receive("250 x")) == "MAIL FROM:<a@id.example>\r\n")
  }

  @Test func aDomainBeyondASCIIGoesToEachServer() throws {
    var mail = try dialogue(to: "info@Imkerei-Müller.example", security: .ifOffered)
    for line in ["220 x", "250 x"] { _ = mail.receive(line) }
    #expect(text(mail.receive("250 x")) == "RCPT TO:<info@xn--imkerei-mller-4ob.example>\r\n")
  }

  @Test(
    arguments: [
      (["250-x", "250-8BITMIME", "250 SMTPUTF8"], " BODY=8BITMIME SMTPUTF8"),
      (["250-x", "250 SMTPUTF8"], " SMTPUTF8"),
    ] as [([String], String)])
  func aNameBeyondASCIIGoesWithSMTPUTF8(offers: [String], parameters: String) throws {
    var mail = try dialogue(to: "zoë.çelik@x.example", security: .ifOffered)
    _ = mail.receive("220 x")
    var last = ""
    for line in offers { last = text(mail.receive(line)) }
    #expect(last == "MAIL FROM:<a@id.example>\(parameters)\r\n")
    #expect(text(mail.receive("250 x")) == "RCPT TO:<zoë.çelik@x.example>\r\n")
  }

  @Test func aServerWithoutSMTPUTF8GetsNoNameBeyondASCII() throws {
    var mail = try dialogue(to: "zoë.çelik@x.example", security: .ifOffered)
    _ = mail.receive("220 x")
    let end = text(mail.receive("250 x"))
    #expect(end.hasPrefix("<final: it does not offer SMTPUTF8"), "\(end)")
  }

  @Test func anEndlessReplyEnds() throws {
    var mail = try dialogue()
    var end = ""
    for _ in 0..<200 where end.isEmpty { end = text(mail.receive("220-more")) }
    #expect(end == "<later: its reply is too long>")
    #expect("\(login)" == "the login of ada")
  }
}
