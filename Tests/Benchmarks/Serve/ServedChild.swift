import Glibc

/// `runnel serve` on a database of its own, as a child of this program.
final class ServedChild {
  private static let startMilliseconds: Int32 = 120_000

  let child: Child
  let port: Int
  /// From the start of the process until it said that it serves, in seconds.
  let startSeconds: Double

  /// Starts it on a file, which is made if it is not there.
  convenience init(file: String, _ options: [String] = []) throws {
    try self.init([file, "--create"] + options)
  }

  /// Starts it on a store.
  convenience init(store: String) throws { try self.init(["--store", store]) }

  private init(_ arguments: [String]) throws {
    let start = Timing.now
    child = try Child(
      ["serve"] + arguments + ["--listen", "127.0.0.1:0", "--no-access-log"], readsOutput: true)
    var port: Int?
    while port == nil {
      let line = try child.line(milliseconds: ServedChild.startMilliseconds)
      if line.hasPrefix("  at ") { port = line.split(separator: ":").last.flatMap { Int($0) } }
    }
    guard let port else { throw BenchmarkError("The server has no port.") }
    self.port = port
    _ = try LoopbackConnection(port: port)
    startSeconds = Timing.seconds(since: start)
  }

  var figures: ProcessFigures { ProcessFigures(processID: child.processID) }

  func socket(to namespace: String? = nil) throws -> LoopbackConnection {
    try LoopbackConnection.socket(port: port, namespace: namespace)
  }

  /// So many WebSockets, each of which listens to a place where nothing is.
  func listeners(_ count: Int, to place: String) throws -> [LoopbackConnection] {
    let listen = LoopbackConnection.request(1, "q", "{\"p\":\"\(place)\",\"h\":\"\"}")
    return try (0..<count).map { _ in
      let connection = try socket()
      try connection.ask(listen, number: 1)
      return connection
    }
  }

  func end() throws { try child.end() }
}

/// How long the disk takes until what was written is kept.
enum DiskTiming {
  private static let count = 200
  /// Up to so long the aims in milliseconds hold as they are.
  static let fastSeconds = 0.0003

  /// The times of so many `fdatasync`s, each after a page was written to a file in a folder.
  static func syncs(in folder: TemporaryFolder) throws -> Samples {
    let path = folder.file("sync")
    let descriptor = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw BenchmarkError.system("open \(path)") }
    defer {
      close(descriptor)
      unlink(path)
    }
    let page = [UInt8](repeating: 7, count: 4096)
    var samples = Samples()
    for _ in 0..<count {
      guard write(descriptor, page, page.count) == page.count else {
        throw BenchmarkError.system("write \(path)")
      }
      try samples.measure {
        guard fdatasync(descriptor) == 0 else { throw BenchmarkError.system("fdatasync") }
      }
    }
    return samples
  }
}
