import Glibc
import RunnelApp
import RunnelBase
import RunnelDatabase
import RunnelTree
import RunnelWorkspace

/// A file with data that is opened as a database made of it.
///
/// The database stands beside the file, with `.db` behind its name, and is made once. What is written
/// in the workspace is in the database; the file itself is never changed.
struct DataDocument {
  /// The greatest size of a file of lines, which is read as a whole; JSON files may be larger.
  static let linesBytesMax = 256 << 20

  let file: String
  let format: ImportPlan.Format

  /// The name as messages show it.
  private var shown: String { FileName.shown(Array(file.utf8)) }
  /// The name of the file without its folders.
  private var name: String { String(file.split(separator: "/").last ?? "data") }

  /// The database beside the file.
  var besideFile: String { DataDocument.database(of: file) }

  /// The database beside a file.
  static func database(of file: String) -> String { file + ".db" }

  /// A database of the file, and what is to be said of its making.
  struct Made {
    let file: String
    /// What was read in another way than it is written, each in a sentence.
    var remarks: [String] = []
  }

  /// Returns the database of the file; it is made, or made anew on request, if that is needed.
  ///
  /// - Parameter isReadAgain: whether the file is read in any case, without a question.
  /// - Returns: the database, and what is to be said of its making.
  /// - Throws: `Failure` or `DatabaseError` if the file cannot be read or the database not be made.
  func database(readingAgain isReadAgain: Bool) throws -> Made {
    let database = try DatabaseOptions.fileName(besideFile)
    guard let made = DataDocument.changeTime(of: database) else {
      return Made(file: database, remarks: try make(database))
    }
    if isReadAgain { return Made(file: database, remarks: try fill(database)) }
    // What cannot be read is reported when it is opened.
    guard let mark = FileMark(of: file) else { return Made(file: database) }
    if let note = note(in: database) {
      guard note.isNews(mark) else {
        return Made(
          file: database, remarks: note.isOfOthers(mark) ? [declinedRemark(database)] : [])
      }
      return Made(file: database, remarks: try readAgain(into: database, mark, note))
    }
    // A database of an older program has no note, only a time.
    let changed = DataDocument.changeTime(of: file) ?? .min
    if changed > max(made, DataDocument.changeTime(of: database + "-wal") ?? .min) {
      let note = DataFileNote(known: nil)
      return Made(file: database, remarks: try readAgain(into: database, mark, note))
    }
    if StandardInput.isTerminal { keep(DataFileNote(known: mark), in: database) }
    return Made(file: database)
  }

  /// The note on the file in the database; nil if there is none, or if it cannot be read.
  private func note(in database: String) -> DataFileNote? {
    // What is wrong with the database is told when the workspace opens it.
    guard
      let session = try? DatabaseSession(file: database, isReadOnly: true, environment: .system)
    else { return nil }
    defer { try? session.close() }
    return try? session.dataFileNote()
  }

  /// Says that the file has what the database has not, which the user did not want to be read.
  private func declinedRemark(_ database: String) -> String {
    let shownDatabase = FileName.shown(Array(database.utf8))
    let remark =
      "\(shown) was changed, and was not read again: the rows are those of \(shownDatabase). "
      + "`runnel \(ShellText.quoted(file)) --read-again` reads it; what was written in the workspace is replaced then, and "
      + "`runnel undo` brings it back."
    if !StandardInput.isTerminal { StandardError.say(remark) }
    return remark
  }

  /// Keeps a note on the file in the database, where that can be written.
  private func keep(_ note: DataFileNote, in database: String) {
    // Without the note, the question is asked again, and nothing is lost.
    guard let session = try? DatabaseSession(file: database, environment: .system) else { return }
    try? session.keep(note)
    try? session.close()
  }

  /// Asks whether a changed file is read again, which holds `mark` now; returns remarks on the reading.
  private func readAgain(
    into database: String, _ mark: FileMark, _ note: DataFileNote
  ) throws -> [String] {
    let shownDatabase = FileName.shown(Array(database.utf8))
    guard StandardInput.isTerminal else {
      StandardError.say(
        "\(shown) was changed after it was read. The rows are those of \(shownDatabase), with what was "
          + "written to them here: `runnel open` on \(shown) in a terminal asks whether the file is read "
          + "again, and `--read-again` reads it.")
      return []
    }
    let question =
      "\(shown) was changed after it was read.\n"
      + "What was written in the workspace is replaced; `runnel undo` brings it back.\n"
      + "Read it again?"
    if try StandardInput.confirms(question) { return try fill(database) }
    StandardError.say("Nothing was read again: the rows are those of \(shownDatabase).")
    // The question is asked once for each change of the file.
    keep(DataFileNote(known: note.known, declined: mark, rows: note.rows), in: database)
    return []
  }

  /// Makes the database in a new folder for temporary files.
  ///
  /// Returns it with remarks on the reading.
  func scratchDatabase() throws -> (database: ScratchDatabase, remarks: [String]) {
    let scratch = try ScratchDatabase(named: name + ".db")
    do {
      return (scratch, try fill(scratch.file))
    } catch {
      scratch.remove()
      throw error
    }
  }

  private func make(_ database: String) throws -> [String] {
    let folder = database.lastIndex(of: "/").map { String(database[...$0]) } ?? "."
    if access(folder, W_OK) != 0 {
      throw Failure(
        "No database can be made beside \(shown), for its folder cannot be written: --scratch opens it "
          + "in a temporary place.")
    }
    return try NewDatabase.removingUnused(database) { try fill(database) }
  }

  // MARK: Writing the data

  /// Puts the data in the place of what the database holds; returns and says what was read in another way
  /// than it is written.
  private func fill(_ database: String) throws -> [String] {
    // This must come before the database starts a thread.
    let interruption = try Interruption()
    do {
      let document = try InputDocument(
        FileName(bytes: Array(file.utf8)), interruption: interruption)
      let session = try DatabaseSession(file: database, environment: .system)
      // If the work fails, its own error is the one to report.
      defer { try? session.close() }
      var remarks: [String]
      switch format {
      case .json:
        remarks = try document.withBytes { try fill(session, json: $0.withoutMark, interruption) }
      case .jsonl, .csv:
        let (json, told) = try document.withBytes { try records($0.withoutMark, interruption) }
        let writable = WritableJSON(json)
        try check(writable)
        try write(writable.text, into: session, at: .root, interruption, "Writing \(name).db")
        remarks = told
      }
      if format != .csv {
        remarks += document.withBytes { bytes in
          let text = bytes.withoutMark
          return [RoundedNumbers(in: text).sentence, RepeatedMembers(in: text).sentence]
            .compactMap(\.self)
        }
      }
      // The rows are written. Without the note, it is asked again whether the file is to be read.
      try? session.keep(
        DataFileNote(
          known: document.withBytes { FileMark(UnsafeRawBufferPointer($0)) },
          rows: RowKeys.asRead.text))
      for remark in remarks { StandardError.say("\(shown): \(remark)") }
      // The workspace has few lines for all of them.
      return remarks.enumerated().map { $0 == 0 ? "\(shown): \($1)" : $1 }
    } catch let stopped as Interruption.Stopped {
      throw Failure(
        "The reading of \(shown) was stopped. Nothing was kept.",
        status: .interrupted(by: stopped.signal))
    }
  }

  private func fill(
    _ session: DatabaseSession, json bytes: UnsafeBufferPointer<UInt8>,
    _ interruption: Interruption
  ) throws -> [String] {
    var remarks: [String] = []
    let path: Path = OpenedFile.isListOfRecords(bytes) ? collection : .root
    do {
      try load(bytes, into: session, at: path, interruption)
    } catch let error as DatabaseError where error.code == .malformedJSON {
      throw Failure("\(shown): \(error.message)")
    } catch let error as DatabaseError where error.code == .refused {
      // The names of some members cannot be keys, perhaps only of such as a later one hides.
      let json = WritableJSON(try JSONValue(parsing: bytes))
      try check(json)
      if json.renamedCount > 0 {
        let names = json.renamedCount == 1 ? "1 name holds" : "\(json.renamedCount) names hold"
        remarks.append(
          "\(names) signs that no key may have (. # $ / [ ]): they are stored as %2E and the like."
        )
      }
      try write(json.text, into: session, at: path, interruption)
    }
    if let sentence = EmptyContainers(in: bytes).sentence { remarks.append(sentence) }
    return remarks
  }

  /// Refuses data with two names that are one key in the tree, where only one of two values could stay.
  private func check(_ json: WritableJSON) throws {
    guard let clash = json.clash else { return }
    throw Failure("\(shown): \(clash.sentence)")
  }

  private func write(
    _ text: String, into session: DatabaseSession, at path: Path, _ interruption: Interruption,
    _ what: String? = nil
  ) throws {
    var text = text
    try text.withUTF8 { try load($0, into: session, at: path, interruption, what) }
  }

  private func load(
    _ bytes: UnsafeBufferPointer<UInt8>, into session: DatabaseSession, at path: Path,
    _ interruption: Interruption, _ what: String? = nil
  ) throws {
    var work = ImportWork(what ?? "Reading \(name)", totalBytes: bytes.count, interruption)
    defer { work.end() }
    do {
      // A file that is read again may have another shape than before, so all that stands goes.
      _ = try session.importJSON(bytes, at: path, inPlaceOf: .root) { work.isWanted(at: $0) }
    } catch {
      throw work.told(error)
    }
  }

  /// Returns the records of lines or a table as a collection, numbered from 0 where they have no key, and
  /// remarks on them.
  ///
  /// Where some cannot be read, the user is asked whether the others are opened.
  private func records(
    _ bytes: UnsafeBufferPointer<UInt8>, _ interruption: Interruption
  ) throws -> (JSONValue, [String]) {
    if bytes.count > DataDocument.linesBytesMax {
      throw Failure(
        "\(shown) has more than \(DataDocument.linesBytesMax >> 20) MB. `runnel push /PLACE --lines` reads "
          + "lines of any number, and `runnel import` JSON of any size.")
    }
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw Failure("\(shown) is no text in UTF-8: convert it first, as with iconv.")
    }
    let plan: ImportPlan
    var work = ImportWork("Reading \(name)", totalBytes: bytes.count, interruption)
    defer { work.end() }
    do throws(ImportPlan.Unreadable) {
      plan = try ImportPlan(text, as: format) { part in
        work.isWanted(at: .reading(bytes: Int(part * Double(bytes.count))))
      }
      work.end()
    } catch {
      try work.checkSignal()
      throw Failure("\(shown): \(error.message).")
    }
    if let reason = plan.repeatedKey(isNumbered: true) { throw Failure("\(shown): \(reason).") }
    if let first = plan.refused.first {
      let count = plan.refused.count
      let words = count == 1 ? "1 record" : "\(count) records"
      let reason = "\(shown): \(words) cannot be read; \(first.place): \(first.reason)."
      guard StandardInput.isTerminal, !plan.rows.isEmpty else { throw Failure(reason) }
      if try !StandardInput.confirms("\(reason) Open the other \(plan.rows.count)?", interruption) {
        throw Failure("Nothing was opened.")
      }
    }
    let members = plan.rows.enumerated().map { JSONMember($1.key ?? "\($0)", $1.value) }
    let records = JSONValue.object(members)
    let json = collection.keys.reversed().reduce(records) { .object([JSONMember($1.text, $0)]) }
    return (json, plan.remarks(.tree))
  }

  /// The place of the records of the file.
  private var collection: Path { OpenedFile.collection(ofFile: name) }

  /// The time of the last change of a file, in microseconds since 1970; nil if there is no file.
  private static func changeTime(of file: String) -> Int64? {
    var status = stat()
    guard stat(file, &status) == 0 else { return nil }
    return Int64(status.st_mtim.tv_sec) * 1_000_000 + Int64(status.st_mtim.tv_nsec) / 1000
  }
}

/// A JSON document whose members are named by valid keys.
///
/// Signs that no key may have are written as in addresses: `a.example` becomes `a%2Eexample`.
struct WritableJSON {
  private(set) var renamedCount = 0
  private(set) var text = ""
  /// Two names in it that are written as one key; nil if there are none.
  let clash: NameClash?

  init(_ json: JSONValue) {
    clash = NameClash(in: json)
    var count = 0
    text = WritableKey.value(json, keepsServerValues: false) { _ in count += 1 }.jsonText()
    renamedCount = count
  }
}
