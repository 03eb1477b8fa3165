import RunnelBase
import Testing

/// Addresses of mails in their spellings, and the labels of their domains.
@Suite struct EmailAddressTests {
  /// Source: RFC 3492, section 7.1 (A to C, E to K, M to S), and labels of German.
  @Test(
    arguments: [
      ("ليهمابتكلموشعربي؟", "egbpdaj6bu4bxfgehfvwxn"),
      ("他们为什么不说中文", "ihqwcrb4cv8a8dqg056pqjye"),
      ("他們爲什麽不說中文", "ihqwctvzc91f659drss3x8bo0yb"),
      ("למההםפשוטלאמדבריםעברית", "4dbcagdahymbxekheh6e0a7fei0b"),
      (
        "なぜみんな日本語を話してくれないのか",
        "n8jok5ay5dzabd5bym9f0cm5685rrjetr6pdxa"
      ),
      ("почемужеонинеговорятпорусски", "b1abfaaepdrnnbgefbadotcwatmq2g4l"),
      ("3年B組金八先生", "3B-ww4c5e180e575a65lsy2b"),
      ("そのスピードで", "d9juau41awczczp"), ("パフィーdeルンバ", "de-jg4avhby1noc0d"),
      ("-> $1.00 <-", "-> $1.00 <--"), ("imkerei-müller", "imkerei-mller-4ob"),
      ("straße", "strae-oqa"),
    ])
  func aLabelHasItsCode(label: String, code: String) {
    #expect(Punycode.code(of: label) == code)
    #expect(
      Punycode.label(ofCode: code)?.unicodeScalars.elementsEqual(label.unicodeScalars) == true)
  }

  @Test(
    arguments: [
      "ü", "bcher-kv", "bcher-kva!", "99999999", "a-b-é",
      String(repeating: "a", count: 64), "bcher-\u{0}",
    ])
  func whatIsNoCodeIsOfNoLabel(code: String) { #expect(Punycode.label(ofCode: code) == nil) }

  @Test(
    arguments: [
      ("Ada@X.org", "ada@x.org"), ("ada@xn--bcher-kva.org", "ada@bücher.org"),
      ("ada@XN--BCHER-KVA.org", "ada@bücher.org"), ("ada@BÜCHER.org", "ada@bücher.org"),
      ("ada@mail.xn--bcher-kva.xn--strae-oqa.example", "ada@mail.bücher.straße.example"),
      // What stands before the @ has no such form.
      ("xn--bcher-kva@x.org", "xn--bcher-kva@x.org"),
      // Codes that the label would not get.
      ("ada@xn--abc-.org", "ada@xn--abc-.org"),
      ("ada@xn--bcher-kvb!.org", "ada@xn--bcher-kvb!.org"),
      ("ada@xn--.org", "ada@xn--.org"),
    ])
  func aDomainIsInUnicode(given: String, text: String) {
    #expect(EmailAddress(given).text == text)
  }

  @Test func labelsWithUnseenCharactersStayInTheFormForTheNetwork() {
    let address = "ada@xn--" + Punycode.code(of: "b\u{200D}ücher") + ".org"
    #expect(EmailAddress(address).text == address)
  }

  @Test func anAccountOfAnOlderFileIsLookedForInBothForms() {
    let (network, unicode) = ("ada@xn--bcher-kva.org", "ada@b\u{FC}cher.org")
    #expect(EmailAddress(network).spellings.first == network)
    #expect(EmailAddress(unicode).spellings.first == unicode)
    #expect(EmailAddress(network).spellings.contains(unicode))
    #expect(EmailAddress(unicode).spellings.contains(network))
    #expect(EmailAddress("ada@x.org").spellings == ["ada@x.org"])
  }

  @Test func twoSpellingsAreOneAddress() {
    #expect(EmailAddress.areSame("Ada@xn--bcher-kva.org", "ada@Bu\u{308}cher.org"))
    #expect(!EmailAddress.areSame("ada@xn--bcher-kva.org", "ada@bucher.org"))
    #expect(!EmailAddress.areSame(nil, nil) && !EmailAddress.areSame("", nil))
  }
}
