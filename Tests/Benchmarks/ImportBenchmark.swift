import RunnelDatabase
import RunnelTree

/// How fast a document becomes a database, beside text rows through the sqlite3 C API.
struct ImportBenchmark {
  private static let runCount = 3

  let demo: DemoInput
  let folder: TemporaryFolder

  /// Measures; returns the path of a database without indexes.
  func run(into report: inout Report) throws -> String {
    let plainFile = folder.file("plain.db")
    let file = folder.file("import.db")
    let indexedFile = folder.file("indexed.db")
    var (plain, ours, indexed) = (Samples(), Samples(), Samples())
    // One after the other in each round, so that what disturbs the machine disturbs all.
    for _ in 0..<ImportBenchmark.runCount {
      try importPlain(to: plainFile, &plain)
      try importDocument(to: file, indexes: [], &ours)
      try importDocument(to: indexedFile, indexes: demo.indexes, &indexed)
    }
    let count = demo.recordCount
    for (what, samples, path) in [
      ("import", ours, file), ("import with the views' indexes", indexed, indexedFile),
    ] {
      report.add(
        what, Format.rate(count, in: samples.median),
        baseline: Format.rate(count, in: plain.median), ratio: plain.median / samples.median,
        aim: "ratio 0.35")
      report.add(
        "  size of the file", Format.megabytes(fileSize(path)),
        baseline: Format.megabytes(fileSize(plainFile)),
        ratio: Double(fileSize(path)) / Double(fileSize(plainFile)))
    }
    folder.removeDatabase(plainFile)
    folder.removeDatabase(indexedFile)
    return file
  }

  private func importPlain(to file: String, _ samples: inout Samples) throws {
    folder.removeDatabase(file)
    let plain = try PlainSQLite(file: file)
    try samples.measure { try plain.insert(demo.records) }
    try plain.close()
  }

  private func importDocument(
    to file: String, indexes: [IndexDefinition], _ samples: inout Samples
  ) throws {
    folder.removeDatabase(file)
    let session = try DatabaseSession(file: file, environment: .live)
    try session.declareIndexes(indexes)
    try samples.measure {
      _ = try demo.document.withUnsafeBufferPointer { try session.importJSON($0, at: .root) }
    }
    try session.close()
  }
}
