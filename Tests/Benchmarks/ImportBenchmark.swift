import RunnelDatabase
import RunnelTree

/// How fast a document becomes a database, and how large that is, beside text rows in one table.
struct ImportBenchmark {
  private static let runCount = 3

  let stage: StorageBenchmark.Stage

  /// Measures; both databases are there afterwards.
  func run(into report: inout Report) throws {
    var (plain, ours) = (Samples(), Samples())
    // One after the other in each round, so that what disturbs the machine disturbs both.
    for _ in 0..<ImportBenchmark.runCount {
      try importPlain(&plain)
      try importDocument(&ours)
    }
    let count = stage.input.records.count
    report.add(
      "import \(count) messages, \(Format.megabytes(stage.document.count))",
      Format.rate(count, in: ours.median), baseline: Format.rate(count, in: plain.median),
      ratio: plain.median / ours.median, aim: .atLeast(0.35))
    let other = stage.folder.file("memory.db")
    let peak = try Child.peakMemory(["import", stage.documentFile, "--database", other, "--create"])
    stage.folder.removeDatabase(other)
    report.add(
      "  peak memory of `runnel import`", Format.megabytes(peak), value: Double(peak),
      aim: .below(300_000_000, "300 MB"))
    let (size, plainSize) = (fileSize(stage.file), fileSize(stage.plainFile))
    report.add(
      "size of the file", Format.megabytes(size), baseline: Format.megabytes(plainSize),
      ratio: Double(size) / Double(plainSize), aim: .atMost(1.3))
  }

  private func importPlain(_ samples: inout Samples) throws {
    stage.folder.removeDatabase(stage.plainFile)
    let plain = try PlainSQLite(file: stage.plainFile)
    try samples.measure { try plain.insert(stage.input.records) }
    try plain.close()
  }

  private func importDocument(_ samples: inout Samples) throws {
    stage.folder.removeDatabase(stage.file)
    let session = try DatabaseSession(file: stage.file, environment: .live)
    try samples.measure {
      _ = try stage.document.withUnsafeBufferPointer { try session.importJSON($0, at: .root) }
    }
    try session.close()
  }
}
