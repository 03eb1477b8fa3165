import Foundation

/// Client libraries in Python.
enum PythonClients {
  private static let environment = PythonEnvironment(
    "python", ["pyrebase4==4.9.0", "firebase-admin==7.7.0"])

  /// True unless there is no Python, or pip cannot reach anything.
  static var isThere: Bool { environment.isThere }

  /// Runs a script of `Tests/Clients`.
  static func run(
    _ script: String, _ arguments: [String], environment variables: [String: String] = [:]
  ) throws -> Program.Outcome {
    let (python, file) = try environment.command(script)
    return try Program.run([file] + arguments, environment: variables, program: python)
  }
}

/// Packages of Python in a virtual environment of their own below the build folder.
///
/// They are installed once, by the first test that needs them.
final class PythonEnvironment: Sendable {
  /// Whether the packages can be used.
  enum State: Sendable {
    case ready(python: String)
    /// There is no Python, or no way to the packages.
    case absent(String)
    case broken(String)
  }

  /// What pip says where it cannot reach anything.
  private static let unreachable = [
    "NewConnectionError", "Temporary failure in name resolution", "ConnectTimeoutError",
    "ProxyError", "Network is unreachable",
  ]

  /// The packages, installed if need be.
  let state: State

  init(_ name: String, _ packages: [String]) {
    state = PythonEnvironment.install(name, packages)
  }

  /// True unless there is no Python, or pip cannot reach anything.
  var isThere: Bool {
    if case .absent = state { return false }
    return true
  }

  /// Returns the interpreter and the file of a script of `Tests/Clients`.
  func command(_ script: String) throws -> (python: String, file: String) {
    guard case .ready(let python) = state else {
      throw SystemError(call: "pip", reason: "\(state)")
    }
    return (python, try PythonEnvironment.top() + "/Tests/Clients/" + script)
  }

  /// The folder of the project: the tests are built in `.build/TRIPLE/debug`.
  private static func top() throws -> String {
    let path = try Program.path()
    guard let build = path.range(of: "/.build/") else {
      throw SystemError(call: "top", reason: path)
    }
    return String(path[..<build.lowerBound])
  }

  private static func install(_ name: String, _ packages: [String]) -> State {
    guard
      let found = ["/usr/bin/python3", "/usr/local/bin/python3", whichPython() ?? ""]
        .first(where: FileManager.default.isExecutableFile)
    else { return .absent("There is no python3.") }
    do {
      let folder = try top() + "/.build/" + name
      let done = folder + "/" + packages.joined(separator: "+")
      let python = folder + "/bin/python"
      // Suites run in processes of their own: one makes the environment, the others wait for it.
      let lock = open(folder + ".lock", O_CREAT | O_RDWR | O_CLOEXEC, 0o600)
      defer { close(lock) }
      guard flock(lock, LOCK_EX) == 0 else {
        throw SystemError(call: "flock", reason: String(cString: strerror(errno)))
      }
      if FileManager.default.fileExists(atPath: done) { return .ready(python: python) }
      // What was begun and not done is begun again.
      try? FileManager.default.removeItem(atPath: folder)
      let made = try Program.run(["-m", "venv", folder], program: found)
      if made.status != 0 { return .absent("python3 -m venv: \(made.output)\(made.errors)") }
      let installed = try pip(python, packages)
      if installed.status != 0 {
        let text = installed.output + installed.errors
        return unreachable.contains(where: text.contains) ? .absent(text) : .broken(text)
      }
      try Data().write(to: URL(fileURLWithPath: done))
      return .ready(python: python)
    } catch {
      return .broken("\(error)")
    }
  }

  private static func pip(_ python: String, _ packages: [String]) throws -> Program.Outcome {
    let output = try File.temporary()
    let arguments = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"] + packages
    let program = try RunningProgram(
      arguments, RunningProgram.Descriptors(input: .file(File.temporary()), output: .file(output)),
      environment: ProcessInfo.processInfo.environment, program: python)
    let status = try program.wait(milliseconds: 600_000)
    return Program.Outcome(
      status: status, output: try output.contents(), errors: try program.errors())
  }

  private static func whichPython() -> String? {
    (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
      .map { $0 + "/python3" }.first(where: FileManager.default.isExecutableFile)
  }
}
