import ArgumentParser
import RunnelStore

/// The option for the present password, which the server wants before an account is changed.
struct PresentPasswordOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "The file whose first line is the present password (default: asks for it).",
      valueName: "file"), completion: .file())
  var currentFile: String?

  /// Reads the present password.
  ///
  /// - Throws: `Failure` as `PasswordOptions.password`.
  func password() throws -> Secret<String> {
    var options = PasswordOptions()
    (options.passwordFile, options.passwordFd) = (currentFile, nil)
    return try options.password("Present password: ", option: "--current-file")
  }
}
