import ArgumentParser
import Glibc
import RunnelApp

/// The option for the certificates to trust, for commands that take no other credentials.
struct TrustArguments: ParsableArguments {
  @Option(
    name: .customLong("ca"),
    help: ArgumentHelp(
      "The PEM file with the certificates to trust when connecting to a server.",
      valueName: "file"), completion: .file())
  var trustedFile: String?

  func validate() throws { try TrustArguments.check(trustedFile) }

  /// Checks that the file of `--ca` can be read.
  ///
  /// - Throws: `ValidationError` if it cannot.
  static func check(_ file: String?) throws {
    guard let file, access(file, R_OK) != 0 else { return }
    throw ValidationError("--ca \(file) cannot be read: \(SystemReason.words(errno)).")
  }

  /// The options for access with these certificates.
  var origin: OriginArguments {
    var arguments = OriginArguments.none
    arguments.trustedFile = trustedFile
    return arguments
  }
}
