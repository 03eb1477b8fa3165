import RunnelDatabase

/// The figures of the storage, each beside a baseline of the same run and its aim.
struct StorageBenchmark {
  let messageCount: Int
  let folder: TemporaryFolder

  /// What can be measured by itself.
  enum Part: CaseIterable {
    case reads, writes, listeners
  }

  func run(_ parts: [Part]) throws -> Report {
    var report = Report()
    if parts.contains(.reads) { try reads(into: &report) }
    if parts.contains(.writes) {
      Output.note("writing")
      try WriteBenchmark(folder: folder).run(into: &report)
      try ResourceBenchmark(folder: folder).run(into: &report)
      try ProcessesBenchmark(folder: folder).run(into: &report)
    }
    if parts.contains(.listeners) {
      Output.note("listening")
      try ListenerBenchmark(folder: folder).run(into: &report)
    }
    return report
  }

  private func reads(into report: inout Report) throws {
    Output.note("making \(messageCount) messages")
    let stage = try Stage(messageCount: messageCount, folder: folder)
    Output.note("importing")
    try ImportBenchmark(stage: stage).run(into: &report)
    Output.note("reading")
    try ReadBenchmark(stage: stage).run(into: &report)
    try MemoryBenchmark(stage: stage).run(into: &report)
    Output.note("JSON")
    try JSONBenchmark(document: stage.document).run(into: &report)
  }

  /// What the measurements share: the history, and the two databases that hold it.
  struct Stage {
    let input: MessageInput
    let document: [UInt8]
    let documentFile: String
    let file: String
    let plainFile: String
    let folder: TemporaryFolder

    init(messageCount: Int, folder: TemporaryFolder) throws {
      self.folder = folder
      input = MessageInput(count: messageCount)
      document = input.document()
      documentFile = folder.file("messages.json")
      file = folder.file("messages.db")
      plainFile = folder.file("plain.db")
      try MessageInput.write(document, to: documentFile)
    }
  }
}
