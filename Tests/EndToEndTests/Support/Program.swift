import Foundation

/// The built program, run as a user would run it.
enum Program {
  /// What a run came to.
  struct Outcome {
    /// The exit status; the negative number of the signal if one ended it.
    var status: Int32
    /// What it wrote to standard output.
    var output: String
    /// What it wrote to standard error.
    var errors: String
  }

  /// Runs the program to its end, with `input` as standard input and variables besides those that
  /// every run gets; or runs another program.
  static func run(
    _ arguments: [String], input: String = "", environment: [String: String] = [:],
    program other: String? = nil
  ) throws -> Outcome {
    let output = try File.temporary()
    let program = try RunningProgram(
      arguments,
      RunningProgram.Descriptors(input: .file(File.temporary(input)), output: .file(output)),
      environment: environment, program: other)
    let status = try program.wait()
    return Outcome(status: status, output: try output.contents(), errors: try program.errors())
  }

  /// Whether another program is tested than the one that is built beside the tests.
  static var isOther: Bool { getenv("RUNNEL_PROGRAM") != nil }

  /// The path of the program: it is built beside the tests, unless `RUNNEL_PROGRAM` names another.
  static func path() throws -> String {
    if let other = getenv("RUNNEL_PROGRAM") { return String(cString: other) }
    return try folder() + "runnel"
  }

  /// The folder of the tests, where all programs are built.
  static func folder() throws -> String {
    var buffer = [UInt8](repeating: 0, count: Int(PATH_MAX))
    let count = readlink("/proc/self/exe", &buffer, buffer.count)
    try check(count, "readlink")
    let tests = String(decoding: buffer[..<count], as: UTF8.self)
    return tests.split(separator: "/").dropLast().reduce("/") { $0 + $1 + "/" }
  }
}

/// A call of the system that failed in a test.
struct SystemError: Error {
  var call: String
  var reason: String
}

/// Throws if the result of a call of the system is negative.
@discardableResult
func check<Result: SignedInteger>(_ result: Result, _ call: String) throws -> Result {
  if result >= 0 { return result }
  throw SystemError(call: call, reason: String(cString: strerror(errno)))
}

/// An open file, closed at the end of its life.
final class File {
  let descriptor: Int32

  init(_ descriptor: Int32) { self.descriptor = descriptor }

  /// Takes over a descriptor that no program started later is to have.
  init(closingOnExec descriptor: Int32) throws {
    self.descriptor = descriptor
    try check(fcntl(descriptor, F_SETFD, FD_CLOEXEC), "fcntl")
  }

  deinit { close(descriptor) }

  /// An unnamed file with a text in it, at its beginning.
  static func temporary(_ text: String = "") throws -> File {
    var name = Array("/tmp/runnel-test-XXXXXX".utf8CString)
    let file = try Spawning.withoutOthers {
      try File(closingOnExec: check(mkstemp(&name), "mkstemp"))
    }
    try check(unlink(name), "unlink")
    try file.write(text)
    try check(lseek(file.descriptor, 0, SEEK_SET), "lseek")
    return file
  }

  /// The two ends of a pipe.
  static func pipe() throws -> (reading: File, writing: File) {
    var ends: [Int32] = [0, 0]
    return try Spawning.withoutOthers {
      try check(Foundation.pipe(&ends), "pipe")
      return (try File(closingOnExec: ends[0]), try File(closingOnExec: ends[1]))
    }
  }

  func write(_ text: String) throws {
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Foundation.write(descriptor, $0.baseAddress, $0.count) }
      rest = rest.dropFirst(try check(count, "write"))
    }
  }

  /// Overwrites a few bytes in the midst of the file.
  func write(_ bytes: [UInt8], at offset: off_t) throws {
    let count = try check(pwrite(descriptor, bytes, bytes.count, offset), "pwrite")
    precondition(count == bytes.count, "A few bytes are written at once.")
  }

  /// All that is in the file.
  func contents() throws -> String {
    try check(lseek(descriptor, 0, SEEK_SET), "lseek")
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = try check(read(descriptor, &chunk, chunk.count), "read")
      if count == 0 { return String(decoding: bytes, as: UTF8.self) }
      bytes += chunk[..<count]
    }
  }

  /// The same open file under a number that is not below `least`: this one, or a copy.
  func raised(to least: Int32) throws -> File {
    if descriptor >= least { return self }
    return File(try check(fcntl(descriptor, F_DUPFD_CLOEXEC, least), "fcntl"))
  }

  /// Waits until the file can be read or is at its end; false if that takes too long.
  func waitForInput(milliseconds: Int32) throws -> Bool {
    var polled = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    while true {
      let count = poll(&polled, 1, milliseconds)
      if count < 0, errno == EINTR { continue }
      return try check(count, "poll") > 0
    }
  }
}

/// A new folder for one test, removed with what is in it.
final class TemporaryFolder {
  let path: String

  init() throws {
    var name = Array("/tmp/runnel-test-XXXXXX".utf8CString)
    guard mkdtemp(&name) != nil else { throw SystemError(call: "mkdtemp", reason: "\(errno)") }
    path = String(decoding: name.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  deinit {
    // What is left behind is left to the system, which empties /tmp.
    try? FileManager.default.removeItem(atPath: path)
  }

  /// The path of a file in the folder, which need not exist.
  func file(_ name: String) -> String { path + "/" + name }

  /// Makes a file with a text in it; returns its path.
  func write(_ text: String, to name: String) throws -> String {
    let descriptor = open(file(name), O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, 0o644)
    try File(check(descriptor, "open")).write(text)
    return file(name)
  }

  /// The names of the files in the folder, in order.
  func names() throws -> [String] {
    guard let folder = opendir(path) else { throw SystemError(call: "opendir", reason: "\(errno)") }
    defer { closedir(folder) }
    var names: [String] = []
    while let entry = readdir(folder) {
      let name = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
        String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
      }
      if name != ".", name != ".." { names.append(name) }
    }
    return names.sorted()
  }
}
