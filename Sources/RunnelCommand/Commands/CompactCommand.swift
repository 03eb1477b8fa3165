import ArgumentParser
import RunnelDatabase

/// `runnel compact`: returns the space of removed data to the disk.
struct CompactCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "compact",
    abstract: "Rewrite a database file without the space that removed data left.",
    discussion: """
      The file is checked first, as by `runnel doctor`, and not changed if anything is wrong. Rows \
      that an older Runnel wrote get a checksum, by which damage to them is found.

      For the time of the work the disk needs room for the file once or twice more; without it nothing \
      is begun. Ctrl-C leaves the file as it was.

      Example:
        runnel compact -d chat.db
      """)

  @OptionGroup var database: DatabaseOptions

  func run() throws {
    let interruption = try Interruption()
    let file = try database.file(for: .change)
    var line = ProgressLine("Compacting \(file)")
    var signal: Int32?
    defer { line.clear() }
    do {
      let result = try DatabaseCare.compact(file: file) {
        line.report("copying")
        signal = signal ?? interruption.pending()
        return signal == nil
      }
      line.clear()
      StandardError.say(CompactCommand.words(result, file))
    } catch let error as DatabaseError {
      line.clear()
      guard error.code == .cancelled, let signal else { throw error }
      throw Interruption.Stopped(signal: signal)
    }
  }

  private static func words(_ result: DatabaseCompaction, _ file: String) -> String {
    let sizes =
      "\(file) had \(ProgressLine.megabytes(result.bytesBefore)) MB "
      + "and has \(ProgressLine.megabytes(result.bytesAfter)) MB."
    if result.isFinished { return sizes }
    return sizes + " Another process still reads its log, which shrinks when that is done."
  }
}
