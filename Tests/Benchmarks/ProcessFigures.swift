import Glibc

/// What the system says of a process.
struct ProcessFigures {
  let processID: pid_t

  /// The memory that is resident, in bytes.
  var residentBytes: Int { number("VmRSS:", in: "status") * 1024 }

  /// The most memory that was resident since the program began, in bytes.
  var peakResidentBytes: Int { number("VmHWM:", in: "status") * 1024 }

  /// The seconds of CPU used by all threads.
  var cpuSeconds: Double {
    // The fields after the name in parentheses, which may hold anything.
    guard let rest = contents("stat").split(separator: ")").last else { return 0 }
    let fields = rest.split(separator: " ")
    guard fields.count > 12, let user = Double(fields[11]), let system = Double(fields[12]) else {
      return 0
    }
    return (user + system) / Double(sysconf(Int32(_SC_CLK_TCK)))
  }

  /// How often each thread has gone to sleep of its own will, and so was woken.
  private var wakeCounts: [Int: Int] {
    guard let folder = opendir("/proc/\(processID)/task") else { return [:] }
    defer { closedir(folder) }
    var counts: [Int: Int] = [:]
    while let entry = readdir(folder) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      guard let thread = Int(name) else { continue }
      counts[thread] = number("voluntary_ctxt_switches:", in: "task/\(thread)/status")
    }
    return counts
  }

  /// Does something; returns how often a thread was woken meanwhile.
  ///
  /// One that ended is not counted.
  func wakes(during body: () throws -> Void) rethrows -> Int {
    let before = wakeCounts
    try body()
    return wakeCounts.reduce(0) { $0 + $1.value - before[$1.key, default: 0] }
  }

  /// The bytes written by all calls, to whatever.
  var writtenBytes: Int {
    let line = contents("io").split(separator: "\n").first { $0.hasPrefix("wchar:") }
    return line?.split(separator: " ").last.flatMap { Int($0) } ?? 0
  }

  /// The number behind a name in a file of lines.
  private func number(_ name: String, in file: String) -> Int {
    let line = contents(file).split(separator: "\n").first { $0.hasPrefix(name) }
    return line?.split(whereSeparator: { " \t".contains($0) }).dropFirst().first
      .flatMap { Int($0) } ?? 0
  }

  private func contents(_ name: String) -> String {
    guard let file = fopen("/proc/\(processID)/\(name)", "r") else { return "" }
    defer { fclose(file) }
    var bytes = [UInt8](repeating: 0, count: 1 << 14)
    let count = fread(&bytes, 1, bytes.count, file)
    return String(decoding: bytes[..<count], as: UTF8.self)
  }
}
