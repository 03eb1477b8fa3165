// What observers and readers are told when the file is gone.
//
// Those of the inbox go on with what the session has open, and say so themselves.

extension Database {
  /// Tells once that the file is gone.
  func tellLoss() {
    if let news = session.takeLossNews() { post(news) }
  }

  /// Checks that the database is open and its file at its place, before something is read once.
  ///
  /// - Throws: `DatabaseError` (`closed` or `fileGone`); observers are then told of the loss.
  func checkIsReadable() throws {
    try checkIsOpen()
    do {
      try session.checkPlace()
    } catch {
      tellLoss()
      throw error
    }
  }

  /// Ends all observations: what they were told does not follow the file any more.
  func endObservations(_ error: DatabaseError) {
    dispatcher.report(error)
    for listener in dispatcher.endAll(error) { session.unlisten(listener) }
  }
}
