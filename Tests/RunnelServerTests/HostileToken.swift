import RunnelBase

#if canImport(RunnelServer)
@testable import RunnelServer
#endif

/// What must hold for whatever comes as a token or a form: nothing crashes, and what is read is what was
/// written.
///
/// The function gives nil, or says what does not hold. The test suite calls it, and so does a driver in
/// `Tests/Fuzzing`, which is built with the readers themselves.
enum HostileToken {
  /// What does not hold for a text.
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
    // Whatever it claims can be asked for.
    _ = (token.auth, token.seconds("exp"), token.text("aud"), token.keyID)
    return nil
  }
}
