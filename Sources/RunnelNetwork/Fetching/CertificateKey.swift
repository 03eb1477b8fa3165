import NIOSSL

/// The public key in a certificate.
public enum CertificateKey {
  /// The key (a SubjectPublicKeyInfo in DER) in a certificate in PEM; nil if it is none.
  ///
  /// Nothing of the certificate is verified.
  public static func publicKey(ofPEM text: String) -> [UInt8]? {
    // What is no certificate has no key either.
    try? NIOSSLCertificate(bytes: Array(text.utf8), format: .pem).extractPublicKey().toSPKIBytes()
  }
}
