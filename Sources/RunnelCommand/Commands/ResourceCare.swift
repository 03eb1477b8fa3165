import RunnelBase
import RunnelDatabase
import RunnelStreams
import RunnelTree

/// The work of `runnel doctor --resources`: it compares counters and copies with the records.
struct ResourceCare {
  let registry: ResourceRegistry
  let repairs: Bool

  /// Checks a database whose file is sound, and prints the result.
  ///
  /// - Throws: `Failure` if counters or copies are wrong and are not repaired, `DatabaseError` if
  ///   the file cannot be read or written.
  func run(on database: DatabaseOptions) throws {
    let report = try database.open(for: repairs ? .change : .read) { session in
      repairs ? try session.repair(registry)?.found : try session.audit(registry)
    }
    guard let report else { return }
    try list(report)
    let count = report.counters.count + report.copies.count
    let faults = count == 1 ? "1 field" : "\(count) fields"
    if report.isInStep {
      try StandardOutput.say(
        "Counters and copies are right: \(report.recordCount) records were read.\n")
    } else if repairs {
      let rest = report.isCut ? " There are more: run it again." : ""
      try StandardOutput.say("Made \(faults) anew from the records.\(rest)\n")
    } else {
      throw Failure(
        "\(faults) of resources \(count == 1 ? "is" : "are") wrong: `runnel doctor --repair\(database.words)`, "
          + "with the same `--resources` if you gave it, makes them anew from the records.")
    }
  }

  private func list(_ report: ResourceReport) throws {
    for drift in report.counters + report.copies {
      try StandardOutput.say(
        "\(drift.path): is \(drift.stored.json.jsonText()), and should be "
          + "\(drift.expected.json.jsonText())\n")
    }
    for orphan in report.orphans {
      try StandardOutput.say(
        "\(orphan.path): belongs by `\(orphan.link)` to \(orphan.missing), which is gone\n")
    }
  }
}
