import Glibc

/// A server of tmux of our own, which ends with this object.
///
/// Its socket is in a folder of its own, and it reads nobody's configuration.
final class Tmux {
  /// Why there is no server.
  struct Missing: Error, CustomStringConvertible {
    let description =
      "tmux is not installed: run `make test`, which installs it, or `sudo apt-get install tmux`."
  }

  private static let places = ["/usr/bin/tmux", "/usr/local/bin/tmux", "/bin/tmux"]
  private static let patienceMilliseconds: Int32 = 30_000

  let folder: TemporaryFolder
  private let program: String
  private let name: String
  private let environment: [String: String]

  /// - Throws: `Missing` if there is no tmux.
  init(isFirstStart: Bool = false) throws {
    guard let program = Tmux.places.first(where: { access($0, X_OK) == 0 }) else { throw Missing() }
    self.program = program
    folder = try TemporaryFolder()
    name = "runnel-\(getpid())-\(folder.path.split(separator: "-").last ?? "")"
    if !isFirstStart {
      for name in ["state", "state/runnel"] { try check(mkdir(folder.file(name), 0o700), "mkdir") }
      _ = try folder.write("", to: "state/runnel/greeted")
    }
    environment = [
      "LC_ALL": "C.UTF-8", "TZ": "UTC", "SHELL": "/bin/sh", "TMUX_TMPDIR": folder.path,
      "XDG_STATE_HOME": folder.path + "/state",
    ]
  }

  deinit {
    // The server may have ended with its last window; there is nobody to tell anything else.
    _ = try? run(["kill-server"])
  }

  /// Runs commands of tmux, with `;` between them; returns what they print.
  @discardableResult
  func run(_ arguments: [String]) throws -> String {
    let client = try Client(
      program, ["-u", "-L", name, "-f", "/dev/null"] + arguments, environment: environment)
    return try client.finish(milliseconds: Tmux.patienceMilliseconds)
  }

  /// A run of the program, which tells the server what to do.
  private final class Client {
    private let processID: pid_t
    private let output: File
    private let errors: File

    init(_ program: String, _ arguments: [String], environment: [String: String]) throws {
      let (output, outputOfClient) = try File.pipe()
      self.output = output
      errors = try File.temporary()
      processID = try Spawning.spawn(
        program, arguments, environment: environment,
        descriptors: [File.temporary(), outputOfClient, errors])
    }

    /// Waits for the end of what is printed, which is the end of the client.
    ///
    /// A server that it starts closes its own copy of the descriptor.
    func finish(milliseconds: Int32) throws -> String {
      var bytes: [UInt8] = []
      var chunk = [UInt8](repeating: 0, count: 1 << 16)
      var count = 1
      while count > 0 {
        guard try output.waitForInput(milliseconds: milliseconds) else {
          kill(processID, SIGKILL)
          break
        }
        count = try check(read(output.descriptor, &chunk, chunk.count), "read")
        bytes += chunk[..<count]
      }
      var status: Int32 = 0
      while waitpid(processID, &status, 0) < 0 {
        if errno != EINTR { throw SystemError(call: "waitpid", reason: "\(errno)") }
      }
      if status != 0 {
        throw SystemError(call: "tmux", reason: "status \(status): \(try errors.contents())")
      }
      return String(decoding: bytes, as: UTF8.self)
    }
  }
}
