import ArgumentParser

/// The option for the certificates to trust, for commands that take no other credentials.
struct TrustArguments: ParsableArguments {
  @Option(
    name: .customLong("ca"),
    help: ArgumentHelp(
      "The PEM file with the certificates to trust when connecting to a server.",
      valueName: "file"), completion: .file())
  var trustedFile: String?

  /// The options for access with these certificates.
  var origin: OriginArguments {
    var arguments = OriginArguments.none
    arguments.trustedFile = trustedFile
    return arguments
  }
}
