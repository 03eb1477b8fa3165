import RunnelBase

#if canImport(RunnelServer)
@testable import RunnelServer
#endif

/// The check of arbitrary texts as tokens and forms: nothing crashes, and decoding returns the
/// encoded values.
///
/// The function returns nil, or the description of a failure. The test suite calls it, and a driver
/// in `Tests/Fuzzing`, which is built together with the readers.
enum HostileToken {
  /// Returns the failure of a text, or nil.
  static func violation(inToken bytes: [UInt8]) -> String? {
    if let decoded = Base64URL.bytes(bytes), Array(Base64URL.text(decoded).utf8) != bytes {
      return "decoded, and encoded as another text"
    }
    if Base64URL.bytes(Base64URL.text(bytes).utf8) != bytes { return "encoded, and not decoded" }
    if let members = FormText.members(of: bytes), members.count > bytes.count + 1 {
      return "more members than bytes"
    }
    guard let token = JSONWebToken(String(decoding: bytes, as: UTF8.self)) else { return nil }
    let text = String(decoding: token.signedBytes, as: UTF8.self) + "."
    if Array((text + Base64URL.text(token.signature)).utf8) != bytes {
      return "taken apart into another token"
    }
    // All claims can be read.
    _ = (token.auth, token.seconds("exp"), token.text("aud"), token.keyID)
    return nil
  }
}
