import Glibc
import RunnelApp
import RunnelBase
import RunnelDatabase
import RunnelTree

/// What a list that is left open comes to hold while another session writes rows: memory, and frames.
///
/// Both sessions are of this process, so that its memory is that of both.
struct LeftOpenBenchmark {
  private static let rowsPerWrite = 100
  private static let start: Int64 = 1_788_000_000_000

  let folder: TemporaryFolder
  /// How many rows arrive after the first 100,000.
  let rowCount: Int

  func run(into report: inout Report) throws {
    for follows in [true, false] {
      let file = folder.file("left-open-\(follows).db")
      defer { folder.removeDatabase(file) }
      let writer = try DatabaseSession(file: file, environment: .live)
      let reader = try DatabaseSession(file: file, environment: .live)
      let workspace = try HeadlessWorkspace(
        views: """
          views:
            - name: Messages
              path: /messages
              anchor: last
              columns: [{ field: at, format: time, width: 5 }, { field: text }]
          """, session: reader, now: LeftOpenBenchmark.start)
      if follows { workspace.strike("F") }
      var number = 0
      let own = ProcessFigures(processID: getpid())
      try write(100_000, from: &number, writer, workspace)
      let before = own.residentBytes
      try write(rowCount, from: &number, writer, workspace)
      let growth = own.residentBytes - before
      let words = follows ? "that follows" : "whose cursor stays behind"
      report.add(
        "memory gained by a list \(words), \(rowCount) rows more", Format.megabytes(growth),
        baseline: Format.megabytes(before) + " at 100000", value: Double(growth),
        aim: .below(5_000_000, "5 MB"))
      report.add("  rows loaded then", "\(workspace.rowCount)")
      try reader.close()
      try writer.close()
    }
  }

  private func write(
    _ count: Int, from number: inout Int, _ session: DatabaseSession, _ workspace: HeadlessWorkspace
  ) throws {
    let place = try Path("/messages")
    let end = number + count
    while number < end {
      let members = (number..<number + LeftOpenBenchmark.rowsPerWrite).map { number in
        let digits = String(number)
        return JSONMember(
          "m" + String(repeating: "0", count: 12 - digits.count) + digits,
          [
            "at": .number(JSONNumber(LeftOpenBenchmark.start + Int64(number))),
            "text": .string("some words of message \(number)"),
          ])
      }
      number += LeftOpenBenchmark.rowsPerWrite
      _ = try session.write(.update(place, members))
      workspace.catchUp()
      workspace.paint()
    }
  }
}
