import Testing

@testable import RunnelNetwork

/// Addresses in the form for servers of mail.
@Suite struct MailAddressTests {
  @Test(
    arguments: [
      ("b@x.org", "b@x.org"), ("B.c@X.org", "B.c@X.org"), ("b@[IPv6:::1]", "b@[IPv6:::1]"),
      ("info@IMKEREI-MÜLLER.example", "info@xn--imkerei-mller-4ob.example"),
      ("info@imkerei-mu\u{308}ller.example", "info@xn--imkerei-mller-4ob.example"),
      ("zoë@bücher.example", "zoë@xn--bcher-kva.example"),
    ])
  func aDomainIsOfASCII(given: String, text: String) {
    let address = MailAddress(given)
    #expect(address?.text == text)
    #expect(address?.needsUnicode == text.contains("ë"))
  }

  @Test(
    arguments: [
      "b@x.org> NOTIFY=NEVER", "b@x.org\r\nDATA", "b @x.org", "b\u{2028}@x.org", "b\u{85}@x.org",
      "b",
      "@x.org", "b@", "b@ü..org", "", "b@" + String(repeating: "ü", count: 80) + ".org",
    ])
  func addressesThatCouldChangeTheDialogueAreRefused(text: String) {
    #expect(MailAddress(text) == nil)
  }

  @Test(
    arguments: [
      ("a@x.org", "<a@x.org>"), ("<a@x.org>", "<a@x.org>"),
      ("Imkerverein <a@x.org>", "\"Imkerverein\" <a@x.org>"),
      ("\"Bees, Inc.\" <a@x.org>", "\"Bees, Inc.\" <a@x.org>"),
      ("Größe <a@x.org>", "=?utf-8?B?R3LDtsOfZQ==?= <a@x.org>"),
    ])
  func aSenderHasItsHeader(given: String, header: String) {
    #expect(MailSender(given)?.header == header)
  }

  @Test(
    arguments: [
      "a", "a@b@x.org", "a@x.org, b@x.org", "A\r\nBcc: b@x.org <a@x.org>", "A <a>", "A <a@x.org> b",
      "a <b> <a@x.org>", "a\"b <a@x.org>", "",
    ])
  func whatIsNoSenderIsRefused(text: String) {
    #expect(MailSender(text) == nil)
  }

  @Test func aLongNameIsInWordsOfAtMost75Characters() throws {
    let sender = try #require(MailSender(String(repeating: "ü", count: 60) + " <a@x.org>"))
    let lines = sender.header.split(separator: "\r\n")
    #expect(lines.count == 3)
    #expect(lines.allSatisfy { $0.trimmingPrefix(" ").prefix { $0 != " " }.count <= 75 })
  }
}
