import Glibc

/// A terminal whose user is the test.
struct PseudoTerminal {
  /// Where the test types, and reads what is shown.
  let testEnd: File
  /// What the program has for a terminal.
  let programEnd: File

  init() throws {
    (testEnd, programEnd) = try Spawning.withoutOthers {
      var ends: (Int32, Int32) = (0, 0)
      try check(openpty(&ends.0, &ends.1, nil, nil, nil), "openpty")
      return (try File(closingOnExec: ends.0), try File(closingOnExec: ends.1))
    }
  }

  /// What was shown and not read yet; of a program that ended, all of it.
  func shown() throws -> String {
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 1 << 12)
    while try testEnd.waitForInput(milliseconds: 0) {
      let count = try check(read(testEnd.descriptor, &chunk, chunk.count), "read")
      bytes += chunk[..<count]
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
