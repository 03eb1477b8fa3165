import RunnelDatabase
import RunnelTerminal
import RunnelTree
import RunnelWorkspace

/// Carries out the effects on files: exports, reads, indexes and copies of the database.
///
/// It belongs to the runtime's thread, and gives the work to other threads, so that the terminal
/// never waits for it. The data that an export reads is requested from the database under its id,
/// one request at a time.
final class FileWork {
  /// Takes the resulting actions.
  var report: (AppAction) -> Void = { _ in }
  private let backend: any TreeBackend
  /// Runs a task on another thread.
  private let start: (FileTask) -> Void
  private var exporting: ExportThread?
  private var reading: FileReading?
  private var indexing: IndexThread?
  private var copying: CopyThread?

  init(_ backend: any TreeBackend, start: @escaping (FileTask) -> Void) {
    self.backend = backend
    self.start = start
  }

  /// Takes a report of a task; reports of a stopped task are dropped.
  func receive(_ message: FileReport) {
    switch message {
    case .reading(let number, let report): receive(report, of: number)
    case .export(let id, let step): receive(step, of: id)
    case .copying(let id, let step): receive(step, of: id)
    case .indexing(let report):
      if case .progress = report {} else { indexing = nil }
      self.report(.indexing(report))
    case .written(let problem): if let problem { report(.trouble(problem)) }
    case .listed(let file, let problem):
      report(.refusedListed(file: file, problem: problem))
    // The owners of the session and of the state hear of these.
    case .kept, .answered: break
    }
  }

  // MARK: Export

  func export(_ job: ExportJob, _ id: AppRequestID) {
    do throws(TerminalError) {
      let export = try ExportThread(job, database: backend.databaseFile, id: id)
      exporting = export
      start(.export(export))
    } catch {
      report(.exported(.failed("\(error)")))
    }
  }

  func stopExport() { exporting?.give(.stop) }

  /// Takes an answer of the database if it is for the export; otherwise returns false.
  func take(_ answer: Answer, to id: AppRequestID) -> Bool {
    if let copying, copying.id == id {
      if case .refused(let refusal) = answer {
        copying.give(.failure(CopyThread.Refused(refusal.message)))
      }
      return true
    }
    guard let exporting, exporting.id == id else { return false }
    switch answer {
    case .records(let rows): exporting.give(.records(rows))
    case .value(let node): exporting.give(.node(node))
    case .refused(let refusal): exporting.give(.failed(refusal.message))
    case .written, .undonePartly, .performed, .excerpt, .history, .orders, .count, .clients,
      .disconnected, .account, .devices, .result:
      break
    }
    return true
  }

  private func receive(_ step: ExportThread.Step, of id: AppRequestID) {
    guard exporting?.id == id else { return }
    switch step {
    case .question(.rows(let query)): backend.submit(.search(DatabaseAsker.state(id).number, query))
    case .question(.node(let path)): backend.submit(.get(DatabaseAsker.state(id).number, path))
    case .report(let report):
      if !report.isProgress { exporting = nil }
      self.report(.exported(report))
    }
  }

  // MARK: Import

  func read(_ file: String, _ texts: [String], _ nested: [Path]) {
    reading?.stop()
    let next = FileReading((reading?.number ?? 0) + 1, file: file, texts: texts, nested: nested)
    reading = next
    start(.read(next))
  }

  func stopReading() { reading?.stop() }

  private func receive(_ report: FileReading.Report, of number: Int) {
    guard let reading, reading.number == number else { return }
    switch report {
    case .progress(let count, let size): self.report(.fileReading(count, of: size))
    case .done(let content): self.report(.fileRead(reading.file, content))
    }
  }

  // MARK: Indexes

  func makeIndex(_ definition: IndexDefinition) {
    guard let file = backend.databaseFile else {
      return report(.indexing(.failed("this database has no file")))
    }
    let thread = IndexThread(definition, in: file)
    indexing = thread
    start(.makeIndex(thread))
  }

  func stopIndex() { indexing?.stop() }

  // MARK: Copies of the database

  func saveCopy(to file: String, _ id: AppRequestID) {
    guard let database = backend.databaseFile else {
      return report(.savingCopy(.failed("this database has no file")))
    }
    do throws(TerminalError) {
      let thread = try CopyThread(of: database, to: file, id: id)
      copying = thread
      start(.copy(thread))
    } catch {
      report(.savingCopy(.failed("\(error)")))
    }
  }

  func stopCopy() { copying?.stop() }

  /// Takes how far the pages of a file that is gone are copied.
  func take(_ stage: CopyStage, _ number: Int) {
    guard let copying, DatabaseAsker.state(copying.id).number == number else { return }
    copying.give(.success(stage))
  }

  private func receive(_ step: CopyThread.Step, of id: AppRequestID) {
    guard copying?.id == id else { return }
    switch step {
    case .pages(let path): backend.submit(.copyPages(DatabaseAsker.state(id).number, to: path))
    case .end(let path): backend.submit(.endCopy(path))
    case .report(let report):
      if !report.isProgress { copying = nil }
      self.report(.savingCopy(report))
    }
  }

  /// Writes the refused records of an import to a file.
  func write(refused text: String, to file: String) { start(.writeRefused(text, file: file)) }
}
