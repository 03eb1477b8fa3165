/// The loss of a database file, or of a file that belongs to it, while it was open.
///
/// A process that has the file open cannot repair a loss: its later writes are not found by
/// processes that open the file by its name, or two processes write to the same location.
enum FileLoss: Error, Hashable {
  /// The file has no name any more.
  case deleted
  /// The file, or a folder above it, was renamed; the log may have stayed.
  case moved(to: String, leavesLog: Bool)
  /// Another file has the name; `isAt` is the path of the original file, if it has another name.
  case replaced(isAt: String?)
  /// The file is shorter than its content, or has other content.
  case overwritten
  /// All files were written over with others that fit each other: the content is another one, or an older one.
  case contentReplaced
  /// The log was deleted; `isSaved` tells whether its content is in the file now.
  case logDeleted(isSaved: Bool)
  /// Another file has the name of the log.
  case logReplaced
  /// The log is shorter than its content, or has other content.
  case logOverwritten
  /// The index of the log, by which programs coordinate their writes, is gone or was replaced.
  case indexLost
  /// The index of the log was cut off: programs that have it open do not see each other's writes.
  case indexCut
}

/// What was lost of a database file while it was open.
package enum LostPart: Hashable, Sendable {
  /// The file itself.
  case file
  /// A file beside it; what is open can be read as a whole.
  case companion
  /// A part of what was saved: it cannot be read here either.
  case content
}

extension FileLoss {
  /// The error for the user: what happened, and what to do.
  func error(file: String) -> DatabaseError {
    var error = DatabaseError(
      .fileGone, "\(what(file)) Nothing is written there any more. \(remedy(file))")
    error.lost = part
    return error
  }

  /// What was lost.
  var part: LostPart {
    switch self {
    case .deleted, .moved, .replaced, .overwritten: .file
    case .logDeleted, .logReplaced, .indexLost, .indexCut: .companion
    case .logOverwritten, .contentReplaced: .content
    }
  }

  private func what(_ file: String) -> String {
    switch self {
    case .deleted: "\(file) is gone: it was deleted while it was open."
    case .moved(let place, _): "\(file) is gone: it was moved to \(place) while it was open."
    case .replaced: "\(file) is gone: another file was put in its place while it was open."
    case .overwritten: "\(file) is gone: it was cut off or overwritten while it was open."
    case .contentReplaced:
      "\(file) has other content, or an older state: it and its log were written over while it was open."
    case .logDeleted: "\(file)-wal, the log of \(file), was deleted while it was open."
    case .logReplaced: "\(file)-wal, the log of \(file), was replaced while it was open."
    case .logOverwritten:
      "\(file)-wal, the log of \(file), was cut off or overwritten while it was open."
    case .indexLost: "\(file)-shm, the index of the log of \(file), was removed while it was open."
    case .indexCut: "\(file)-shm, the index of the log of \(file), was cut off while it was open."
    }
  }

  private func remedy(_ file: String) -> String {
    switch self {
    case .deleted, .replaced(isAt: nil), .overwritten, .logReplaced, .logDeleted(isSaved: false):
      "Save a copy from a program that still has it open, be it this one, or restore one."
    case .logOverwritten:
      "What the log held and \(file) does not is lost, here too, and a copy of all may fail: export what is still "
        + "shown, close all programs that have it open, and open it again, or restore a copy."
    case .contentReplaced:
      "What it held is lost, here too: export what is still shown, close all programs that have it open, and open "
        + "it again, or restore a copy."
    case .moved(let place, leavesLog: false):
      "What was saved is there: open \(place), or move it back."
    case .replaced(let place?):
      "What was saved is there: open \(place)."
    case .moved(let place, leavesLog: true):
      "Its log stayed behind with the newest of what was saved: rename \(file)-wal to \(place)-wal "
        + "before you open that, or move the file back."
    case .logDeleted(isSaved: true):
      "What was saved was put into \(file) itself: open it again."
    case .indexLost, .indexCut:
      "Save a copy from a program that still has it open, be it this one, in case more than the index was replaced; then "
        + "close all programs that have it open, and open it again."
    }
  }
}
