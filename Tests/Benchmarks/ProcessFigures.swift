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

  /// How often the threads have gone to sleep of their own will, and so were woken.
  var wakeCount: Int {
    guard let folder = opendir("/proc/\(processID)/task") else { return 0 }
    defer { closedir(folder) }
    var count = 0
    while let entry = readdir(folder) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      guard let thread = Int(name) else { continue }
      count += number("voluntary_ctxt_switches:", in: "task/\(thread)/status")
    }
    return count
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
