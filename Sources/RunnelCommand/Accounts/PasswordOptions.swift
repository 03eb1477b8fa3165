import ArgumentParser
import Glibc
import RunnelStore

/// The options for a password: it is typed at a prompt, or read from a file or a descriptor.
///
/// It is never an argument, because other users of the machine can see arguments.
struct PasswordOptions: ParsableArguments {
  private static let bytesMax = 4096

  @Option(
    help: ArgumentHelp(
      "The file whose first line is the password; - is standard input (default: asks for it).",
      valueName: "file"), completion: .file())
  var passwordFile: String?
  @Option(
    help: ArgumentHelp(
      "The open descriptor from which the password is read, up to the first line's end.",
      valueName: "number"))
  var passwordFd: Int32?

  func validate() throws {
    if passwordFile != nil, passwordFd != nil {
      throw ValidationError("--password-file and --password-fd exclude each other.")
    }
    if let passwordFd, passwordFd < 0 {
      throw ValidationError("--password-fd takes the number of an open descriptor.")
    }
  }

  /// Reads the password.
  ///
  /// - Throws: `Failure` if it cannot be read, or is empty.
  func password(
    _ question: String = "Password: ", option: String = "--password-file"
  ) throws -> Secret<String> {
    if let passwordFd { return try PasswordOptions.line(passwordFd, "descriptor \(passwordFd)") }
    if let passwordFile, passwordFile != InputDocument.standardInputName {
      let descriptor = open(passwordFile, O_RDONLY | O_CLOEXEC)
      if descriptor < 0 { throw Failure.system("\(passwordFile) cannot be read") }
      defer { close(descriptor) }
      return try PasswordOptions.line(descriptor, passwordFile)
    }
    return try PasswordOptions.checked(
      try StandardInput.secret(question, otherwise: option), "Standard input")
  }

  /// Reads a new password; at a terminal it is asked for twice.
  ///
  /// - Throws: `Failure` as `password`, or if the two differ.
  func newPassword(_ question: String = "New password: ") throws -> Secret<String> {
    guard passwordFile == nil, passwordFd == nil, StandardInput.isTerminal else {
      return try password(question)
    }
    return try StandardInput.hidden {
      let first = try password(question)
      guard try password("Again: ") == first else {
        throw Failure("The passwords differ. Nothing was changed.", status: .usage)
      }
      return first
    }
  }

  private static func line(_ descriptor: Int32, _ name: String) throws -> Secret<String> {
    var bytes: [UInt8] = []
    while !bytes.contains(UInt8(ascii: "\n")), bytes.count <= bytesMax {
      let piece = try StandardInput.readSome(descriptor, named: name)
      if piece.isEmpty { break }
      bytes += piece
    }
    let line = bytes.prefix { $0 != UInt8(ascii: "\n") }
    guard let text = String(validating: line, as: UTF8.self) else {
      throw Failure("\(name) holds no password in UTF-8.")
    }
    return try checked(text.hasSuffix("\r") ? String(text.dropLast()) : text, name)
  }

  private static func checked(_ text: String, _ name: String) throws -> Secret<String> {
    guard (1...bytesMax).contains(text.utf8.count) else {
      throw Failure("\(name) holds no password, or one of more than \(bytesMax) bytes.")
    }
    return Secret(text)
  }
}
