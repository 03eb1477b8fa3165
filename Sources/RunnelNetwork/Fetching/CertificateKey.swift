import NIOSSL

/// The public key in a certificate.
public enum CertificateKey {
  /// The key (a SubjectPublicKeyInfo in DER) of a certificate in PEM; nil if the text is no
  /// certificate.
  ///
  /// The certificate is not verified.
  public static func publicKey(ofPEM text: String) -> [UInt8]? {
    // A text that is no certificate has no key.
    try? NIOSSLCertificate(bytes: Array(text.utf8), format: .pem).extractPublicKey().toSPKIBytes()
  }
}
