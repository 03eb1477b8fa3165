import Glibc
import NIOSSL

/// The reasons of failures of TLS, for people.
enum TLSReason {
  private static let untrusted =
    "its certificate is not trusted: it has expired, or is signed by nobody whom this machine trusts"
  private static let hint = " (--ca FILE, or `ca` in a profile, names the certificates to trust)"
  private static let failed = "the TLS handshake failed"

  /// The codes of the TLS library, with what they mean.
  private static let known = [
    "CERTIFICATE_VERIFY_FAILED": untrusted,
    "WRONG_VERSION_NUMBER": "it does not speak TLS: the address may begin with http://",
    "HTTP_REQUEST": "it does not speak TLS: the address may begin with http://",
    "UNSUPPORTED_PROTOCOL": "it speaks only old versions of TLS",
    "TLSV1_ALERT_PROTOCOL_VERSION": "it speaks only old versions of TLS",
  ]

  /// Returns the reason of a failure; nil if it is not one of TLS.
  ///
  /// - Parameters:
  ///   - error: the failure.
  ///   - namesOption: whether it names the option for other certificates to trust.
  /// - Returns: the reason.
  static func words(_ error: any Error, namesOption: Bool) -> String? {
    let words = words(error)
    return words == untrusted && namesOption ? untrusted + hint : words
  }

  private static func words(_ error: any Error) -> String? {
    switch error {
    case NIOSSLError.handshakeFailed(let failure): words(failure)
    case NIOSSLError.unableToValidateCertificate, NIOSSLError.noCertificateToValidate: untrusted
    case NIOSSLError.uncleanShutdown: "the connection was closed"
    case is NIOSSLError: "TLS failed"
    case let error as NIOSSLExtraError where error == .failedToValidateHostname:
      "its certificate is for another name"
    case is NIOSSLExtraError: failed
    case let error as BoringSSLError: words(error)
    default: nil
    }
  }

  private static func words(_ failure: BoringSSLError) -> String {
    let stack: NIOBoringSSLErrorStack
    switch failure {
    case .sslError(let errors), .unknownError(let errors): stack = errors
    default: return failed
    }
    if stack.contains(.eofDuringHandshake) {
      return "it closed the connection during the TLS handshake"
    }
    let codes = stack.map { code(in: $0.description) }
    for code in codes {
      if let words = known[code] { return words }
    }
    let told = codes.first.map { $0.lowercased().replacing("_", with: " ") } ?? ""
    return told.isEmpty ? failed : "\(failed) (\(told))"
  }

  /// The code in a text like `Error: 1 error:1:SSL routines:f:CODE at /path/to/source:7`.
  private static func code(in text: String) -> String {
    let head = text.firstRange(of: " at ").map { text[..<$0.lowerBound] } ?? text[...]
    let code = head.split(separator: ":").last.map(String.init) ?? ""
    return code.contains(" ") ? "" : code
  }

  /// Checks a file with certificates to trust.
  ///
  /// - Throws: `NetworkError` if it cannot be read.
  static func check(_ file: String) throws(NetworkError) {
    if access(file, R_OK) == 0 { return }
    throw NetworkError(
      "\(file) with the certificates to trust cannot be read: \(String(cString: strerror(errno)))")
  }
}
