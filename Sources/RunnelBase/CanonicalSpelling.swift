// The standard library has these forms, and Foundation's are out of reach here. They are not in its public
// interface: this file is the only place that knows.
@_spi(_Unicode) import Swift

extension String {
  /// The text in Unicode's composed form (NFC): one spelling for texts that are the same to a reader.
  package var composed: String { spelled { String(String.UnicodeScalarView($0._nfc)) } }

  /// The text in Unicode's decomposed form (NFD).
  package var decomposed: String { spelled { String(String.UnicodeScalarView($0._nfd)) } }

  private func spelled(_ form: (String) -> String) -> String {
    utf8.allSatisfy { $0 < 0x80 } ? self : form(self)
  }
}
