import Glibc

/// A key held down from the newest of many rows to the oldest, beside `less`.
struct HeldKeyBenchmark {
  private static let page = 10_000

  let demo: DemoInput
  let rowCount: Int
  let folder: TemporaryFolder

  func run(into report: inout Report) throws {
    let views = try folder.write(
      """
      views:
        - name: Messages
          path: \(DemoInput.collection)
          anchor: last
          page: \(HeldKeyBenchmark.page)
          keep: off
          columns:
            - { field: created, format: time, width: 5 }
            - { field: from, width: 10 }
            - { field: text }
      """, to: "long-pages.views.yaml")
    let program = try TerminalProgram([
      "--no-session", "--database", demo.database, "--views", views,
    ])
    try program.wait(for: "the newest message") { $0.contains(demo.newestText) }
    while let count = program.rowCount, count <= rowCount { try program.fetchPage() }
    try program.strike("G")
    try program.rest(milliseconds: 300)
    let ours = try seconds(
      program, from: "row \(demo.messageCount) of",
      to: "row \(demo.messageCount - rowCount) of")
    try program.quit()
    guard access("/usr/bin/less", X_OK) == 0 else {
      return report.add("a key held through \(rowCount) rows", Format.time(ours))
    }
    let text = folder.file("newest.txt")
    let first = try writeNewest(to: text)
    let less = try TerminalProgram(command: ["/usr/bin/less", "-S", "+G", text])
    try less.wait(for: "the newest message") { $0.contains(demo.newestText) }
    let theirs = try seconds(less, from: demo.newestText, to: first)
    try less.quit()
    report.add(
      "a key held through \(rowCount) rows, beside less", Format.time(ours),
      baseline: Format.time(theirs), ratio: ours / theirs, aim: .atMost(1))
  }

  private func seconds(
    _ program: TerminalProgram, from first: String, to last: String
  ) throws -> Double {
    try program.wait(for: first) { $0.contains(first) }
    let start = Timing.now
    try program.hold("k", count: rowCount) { $0.contains(last) }
    return Timing.seconds(since: start)
  }

  /// Writes the newest rows, after a line to be known by; returns that line.
  private func writeNewest(to path: String) throws -> String {
    let first = "the first of the newest rows"
    guard let all = fopen(demo.textFile, "r") else {
      throw BenchmarkError.system("open \(demo.textFile)")
    }
    defer { fclose(all) }
    var lines: [String] = []
    var buffer = [CChar](repeating: 0, count: 4096)
    while fgets(&buffer, Int32(buffer.count), all) != nil {
      lines.append(
        String(decoding: buffer.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self))
    }
    try write(first + "\n" + lines.suffix(rowCount - 1).joined(), to: path)
    return first
  }

  private func write(_ text: String, to path: String) throws {
    guard let file = fopen(path, "w") else { throw BenchmarkError.system("open \(path)") }
    defer { fclose(file) }
    guard fputs(text, file) >= 0 else { throw BenchmarkError.system("write \(path)") }
  }
}
