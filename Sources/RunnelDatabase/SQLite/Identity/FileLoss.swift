/// What became of a database file, or of what belongs to it, while it was open.
///
/// None of it can be mended by whoever has the file open: what SQLite writes from then on is not found by
/// those who open the file by its name, or is written by two at one place.
enum FileLoss: Error, Hashable {
  /// The file has no name any more.
  case deleted
  /// The file has another name, itself or a folder above it; the log may have stayed.
  case moved(to: String, leavesLog: Bool)
  /// Another file has the name; where the one that was opened is, if it has another.
  case replaced(isAt: String?)
  /// The file is shorter than what it should hold, or holds something else.
  case overwritten
  /// The log has no name any more; whether what it held is in the file now.
  case logDeleted(isSaved: Bool)
  /// Another file has the name of the log.
  case logReplaced
  /// The log is shorter than what was written to it, or holds something else.
  case logOverwritten
  /// The index of the log, by which programs agree who writes where, is gone or another one.
  case indexLost
}

extension FileLoss {
  /// What is said of it: what happened, and what to do.
  func error(file: String) -> DatabaseError {
    DatabaseError(.fileGone, "\(what(file)) Nothing is written there any more. \(remedy(file))")
  }

  private func what(_ file: String) -> String {
    switch self {
    case .deleted: "\(file) is gone: it was deleted while it was open."
    case .moved(let place, _): "\(file) is gone: it was moved to \(place) while it was open."
    case .replaced: "\(file) is gone: another file was put in its place while it was open."
    case .overwritten: "\(file) is gone: it was cut off or overwritten while it was open."
    case .logDeleted: "\(file)-wal, the log of \(file), was deleted while it was open."
    case .logReplaced: "\(file)-wal, the log of \(file), was replaced while it was open."
    case .logOverwritten:
      "\(file)-wal, the log of \(file), was cut off or overwritten while it was open."
    case .indexLost: "\(file)-shm, the index of the log of \(file), was removed while it was open."
    }
  }

  private func remedy(_ file: String) -> String {
    switch self {
    case .deleted, .replaced(isAt: nil), .overwritten, .logReplaced, .logOverwritten,
      .logDeleted(isSaved: false):
      "Save a copy from a program that still has it open, or restore one."
    case .moved(let place, leavesLog: false):
      "What was saved is there: open \(place), or move it back and open it again."
    case .replaced(let place?):
      "What was saved is there: open \(place)."
    case .moved(let place, leavesLog: true):
      "Its log stayed behind with the newest of what was saved: rename \(file)-wal to \(place)-wal "
        + "before you open that."
    case .logDeleted(isSaved: true):
      "What was saved was put into \(file) itself: open it again."
    case .indexLost:
      "What was saved is there: close all programs that have it open, and open it again."
    }
  }
}
