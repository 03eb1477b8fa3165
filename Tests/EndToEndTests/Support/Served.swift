import TestSupport

/// A server that runs.
final class Served {
  let program: RunningProgram
  let port: Int
  let lines: [String]

  /// Starts a server; `program` is one that starts it, with the arguments as they are.
  init(
    _ arguments: [String], listen: String = "localhost:0", environment: [String: String] = [:],
    program starter: String? = nil
  ) throws {
    program = try RunningProgram(
      (starter == nil ? ["serve"] : []) + arguments + ["--listen", listen],
      environment: environment, program: starter)
    // What can be opened is a file only.
    let last = arguments.contains("--store") ? "  curl " : "  runnel open"
    var lines: [String] = []
    var port: Int?
    while let line = try program.readLine() {
      lines.append(line)
      if line.hasPrefix("  at "), port == nil {
        port = line.split(separator: ":").last.flatMap { Int($0) }
      }
      if line.hasPrefix(last) { break }
    }
    guard let port else {
      throw SystemError(call: "serve", reason: "\(lines) \(try program.errors())")
    }
    (self.port, self.lines) = (port, lines)
  }

  func client() throws -> RawClient { try RawClient(port: port) }
}
