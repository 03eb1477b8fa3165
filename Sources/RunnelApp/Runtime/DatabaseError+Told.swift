package import RunnelDatabase

// The advice of the program for errors of the library, which knows no commands.

extension DatabaseError {
  /// The message, and the command that helps, if there is one.
  package var told: String { remedy.map { "\(message) \($0.words)" } ?? message }
}

extension DatabaseRemedy {
  /// The command that helps, as a sentence.
  fileprivate var words: String {
    switch self {
    case .repair(let file):
      "`runnel doctor -d \(file)` tells all that is wrong, and which of its options recovers what can be."
    case .salvage(let file):
      "`runnel doctor -d \(file) --salvage NEW` puts all that can be read into a new file."
    case .readOnly(let file): "`runnel \(file) --read-only` shows it."
    case .text(let file):
      "In a terminal `runnel FILE` opens a .json, .jsonl or .csv file as the database FILE.db. "
        + DatabaseRemedy.wayIn(ofText: file)
    case .fill: "`runnel import` and `runnel set` fill it."
    case .convert: "`runnel doctor --repair` does that, too."
    case .write: "`runnel set` writes to it."
    }
  }

  /// How a file of data gets into another database, as a sentence; the name tells what is in it.
  private static func wayIn(ofText file: String) -> String {
    switch file.split(separator: ".").last?.lowercased() {
    case "jsonl", "ndjson":
      "`runnel push PLACE --lines < \(file)` adds its lines to a list of another one."
    case "csv", "tsv": "In the workspace, yi adds its rows to a list of another one."
    default: "`runnel import \(file)` reads JSON into another one."
    }
  }
}
