import Foundation
import Glibc
import RunnelBase
import RunnelDatabase
import RunnelStreams
import RunnelTerminal
import RunnelTree
import RunnelWorkspace

/// Writes an export to a file, page by page.
///
/// It asks its owner for the data to read, and is given the answers, so that it never waits. The
/// file is written under another name beside its place, and gets its own name when it is complete.
final class ExportRunner {
  /// The data to read next.
  enum Question {
    case rows(Query)
    case node(Path)
  }

  private let job: ExportJob
  /// The file of the open database; nil if it has none.
  private let database: String?
  /// The full path of the file.
  private let path: String
  /// The file that a link at the path leads to, which stays a link; otherwise the path.
  private let destination: String
  private let temporary: String
  private let report: (ExportReport) -> Void
  private var descriptor: Int32 = -1
  private var reader: ViewReader?
  private var writer: ExportWriter?
  private var byteCount = 0
  /// The nodes of the tree that were written.
  private var counted = ExportedCount()
  /// The file of which the open database was made, if that is replaced.
  private var replaced: OpenedDataFile?
  /// The fields of the rows read so far while it is found out which columns they need; nil after that.
  private var survey: RecordColumns?
  /// The nodes still to be read, if several are exported.
  private var unread: [Path] = []
  /// The keys of the rows that were written to a list, by their places.
  private var keys: RowKeys?
  /// The nodes that were read.
  private var nodes: [(path: Path, node: RunnelTree.Node)] = []

  /// Prepares an export from the database in a file; `report` takes its progress and result.
  init(
    _ job: ExportJob, database: String? = nil, report: @escaping (ExportReport) -> Void
  ) {
    self.job = job
    self.database = database
    self.report = report
    path = ExportRunner.expanded(job.file)
    destination = ExportRunner.resolved(path)
    temporary = PartFile.path(of: destination)
  }

  deinit { if descriptor >= 0 { abandon() } }

  /// Creates the file; returns the data to read first, or nil for none.
  func start() -> Question? {
    let opened =
      isOpenedFile
      ? job.opened.map { OpenedDataFile($0, database: database, showing: place) } : nil
    if let name = job.opened, opened != nil,
      destination != ExportRunner.resolved(ExportRunner.expanded(name))
    {
      // Only one of the names would get the new file.
      report(.failed("that is another name of the opened file: export to \(name)"))
      return nil
    }
    if access(path, F_OK) == 0, !job.replaces || opened.map(isNotAgreed) == true {
      report(opened.map(question) ?? .isThere(path))
      return nil
    }
    replaced = opened
    PartFile.removeLeft(of: destination)
    descriptor = open(temporary, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0o644)
    guard descriptor >= 0 else {
      report(.failed("cannot be written: \(String(cString: strerror(errno)))"))
      return nil
    }
    ByteLock.mark(descriptor)
    switch job.source {
    case .records(var records, let columns):
      if replaced != nil { records.sort { $0.row.key < $1.row.key } }
      let columns = isOwnTable ? [.key] : columns
      var fields = RecordColumns(beside: columns, coding: job.coding)
      fields.note(records.map { $0.row.node ?? .empty })
      begin(fields.added(to: columns))
      write(records)
      finish()
      return nil
    case .view where isWholeJSON, .subtree where isWholeJSON:
      begin([])
      return replaced.map { .node($0.place) }
    case .view(let definition, _, _):
      reader = viewReader()
      // The rows are read twice: first to find the columns that all of them need.
      if job.format.hasColumns {
        survey = RecordColumns(
          beside: isOwnTable ? [.key] : definition.exportColumns, coding: job.coding)
      } else {
        begin(definition.exportColumns)
      }
    case .subtree(let path): reader = ViewReader(childrenOf: path)
    case .nodes(let paths):
      unread = paths
      return unread.first.map { .node($0) }
    }
    return next()
  }

  /// Takes rows; returns the data to read next, or nil for none.
  func take(_ rows: [TreeRow]) -> Question? {
    guard descriptor >= 0, let records = reader?.take(rows) else { return nil }
    if survey != nil {
      survey?.note(records.map { $0.row.node ?? .empty })
      report(.surveyed(count: reader?.scannedCount ?? 0))
      return next()
    }
    if writer == nil {
      // A leaf has no children.
      if records.isEmpty, case .subtree(let path) = job.source { return .node(path) }
      begin(ExportWriter.columns(of: records.map { $0.row.node ?? .empty }))
    }
    write(records)
    report(.progress(count: writer?.count ?? 0))
    return next()
  }

  /// Takes a node that was read.
  ///
  /// - Returns: The data to read next, or nil for none.
  func take(_ node: RunnelTree.Node) -> Question? {
    guard descriptor >= 0 else { return nil }
    switch job.source {
    case .view where isWholeJSON, .subtree where isWholeJSON:
      writer?.take(whole: node)
      if case .subtree = job.source { for child in node.children { counted.add(child.node) } }
      finish()
    case .subtree(let path): take(value: node, at: path)
    case .nodes: return takeNext(node)
    case .view, .records: break
    }
    return nil
  }

  /// Takes one of several nodes; they are written after the last one.
  private func takeNext(_ node: RunnelTree.Node) -> Question? {
    nodes.append((unread.removeFirst(), node))
    if let path = unread.first { return .node(path) }
    let parents = Set(nodes.map(\.path.parent))
    begin(ExportWriter.columns(of: nodes.map(\.node)))
    for (path, node) in nodes where !node.isEmpty {
      guard var writer else { return nil }
      counted.add(node)
      // Nodes of different places may have the same key.
      let name = parents.count == 1 ? path.lastKey : nil
      let bytes = writer.bytes(of: name ?? Key(unchecked: path.text), node)
      self.writer = writer
      write(bytes)
    }
    finish()
    return nil
  }

  /// Takes the value of a place without children.
  private func take(value node: RunnelTree.Node, at path: Path) {
    if !node.isEmpty { counted.add(node) }
    if job.format == .json {
      write(Array((node.exportJSON.jsonText() + "\n").utf8))
      return finish()
    }
    begin([.key, .value])
    if !node.isEmpty, var writer {
      write(writer.bytes(of: path.lastKey ?? Key(unchecked: "root"), node))
      self.writer = writer
    }
    finish()
  }

  /// Ends the export because requested data cannot be read.
  func fail(_ reason: String) {
    guard descriptor >= 0 else { return }
    abandon()
    report(.failed(reason))
  }

  /// Stops the export; no file is left.
  func stop() {
    guard descriptor >= 0 else { return }
    abandon()
    report(.stopped)
  }

  // MARK: Steps

  private func next() -> Question? {
    guard descriptor >= 0 else { return nil }
    do {
      if let query = try reader?.nextQuery() { return .rows(query) }
      if let survey, case .view(let definition, _, _) = job.source {
        self.survey = nil
        reader = viewReader()
        begin(survey.added(to: isOwnTable ? [.key] : definition.exportColumns))
        if let query = try reader?.nextQuery() { return .rows(query) }
      }
      finish()
    } catch {
      fail("\(error)")
    }
    return nil
  }

  /// Whether all that is in a file of JSON is written back as it stands, whatever value it is.
  private var isWholeJSON: Bool {
    guard job.format == .json, let replaced, job.source.isWhole(at: replaced.place) else {
      return false
    }
    return writtenShape.values.isKeptJSON
  }

  /// Whether the records are written as a table over that of which they were read: it has columns for what
  /// is in them, whatever the view shows.
  private var isOwnTable: Bool {
    job.format == .csv && writtenShape.isOwn && !writtenShape.columns.isEmpty
  }

  private func begin(_ columns: [FieldPath]) {
    let writer = ExportWriter(job.format, columns: columns, shape: writtenShape)
    self.writer = writer
    write(writer.begin())
  }

  /// The shape of the file that is replaced, or of a new one.
  private lazy var writtenShape: WrittenShape = {
    var shape = job.replaces ? shapeOfFile : WrittenShape()
    if let replaced {
      shape.values = valuesOfFile ?? WrittenValues()
      // The rows of another place are not those of the file.
      let isOwn = place == replaced.place
      shape.values.take(isOwn ? replaced.keys : nil)
      shape.isOwn = isOwn && ImportPlan.format(ofFile: path) == job.format.read
    }
    // What was read from a data file is written with the names that it has there.
    shape.hasNames = job.opened != nil
    shape.coding = job.coding
    return shape
  }()

  /// The shape of the file that is there.
  private var shapeOfFile: WrittenShape {
    // A file that cannot be read is replaced like one of another kind.
    guard let file = FileHandle(forReadingAtPath: path) else { return WrittenShape() }
    let bytes = (try? file.read(upToCount: WrittenShape.beginningBytes)) ?? Data()
    return WrittenShape(ofBeginning: String(decoding: bytes, as: UTF8.self), as: job.format)
  }

  /// The question whether the opened file is to be replaced.
  private func question(_ opened: OpenedDataFile) -> ExportReport {
    .isOpened(
      path, holding: opened.place, losses: losses, mark: opened.mark?.text,
      isOfOthers: opened.isOfOthers)
  }

  /// Whether the opened file holds something else than when the user agreed to replace it.
  private func isNotAgreed(_ opened: OpenedDataFile) -> Bool {
    job.agreed != opened.mark?.text
  }

  /// What the opened file does not keep if the export of all that it holds replaces it, each in words.
  private var losses: [String] {
    var shape = shapeOfFile
    let values = values(ofRowsAt: .root, isWhole: true)
    if let values { shape.values = values }
    return [unreadLines].compactMap(\.self)
      + shape.losses(job.format, isLookedAt: values != nil)
  }

  /// How the values stand in the file; nil if it is too large to look, or cannot be read.
  private var valuesOfFile: WrittenValues? {
    let isWhole =
      switch job.source {
      case .view(_, let filter, _): filter == nil
      case .subtree: true
      case .records, .nodes: false
      }
    // The records of a file that is a list of them are all that it has.
    return values(ofRowsAt: place == replaced?.place ? .root : place, isWhole: isWhole)
  }

  private func values(ofRowsAt place: Path, isWhole: Bool) -> WrittenValues? {
    textOfFile.map { WrittenValues(of: $0, as: job.format, ofRowsAt: place, isWhole: isWhole) }
  }

  /// The place of what is written.
  private var place: Path {
    switch job.source {
    case .view(let definition, _, _): definition.source.path
    case .records(let records, _): records.first.flatMap { $0.path.parent } ?? .root
    case .subtree(let path): path
    case .nodes(let paths): paths.first.flatMap { $0.parent } ?? .root
    }
  }

  /// The text of the file; nil if it is too large to look, or cannot be read.
  private var textOfFile: String? {
    var status = stat()
    guard stat(path, &status) == 0, status.st_size <= ImportPlan.bytesMax else { return nil }
    return FileManager.default.contents(atPath: path).map { String(decoding: $0, as: UTF8.self) }
  }

  /// The words on the lines of the file that cannot be read, and so are not in the database; nil if there
  /// are none, or if it is too large to look.
  private var unreadLines: String? {
    guard let format = ImportPlan.format(ofFile: path), format != .json, let text = textOfFile,
      let plan = try? ImportPlan(text, as: format),
      let first = plan.refused.first
    else { return nil }
    let count = plan.refused.count
    return count == 1
      ? "\(first.place) of it, which cannot be read, goes"
      : "\(count) lines of it that cannot be read go, the first is \(first.place)"
  }

  /// Whether the file is the one of which the open database was made, by whatever name.
  private var isOpenedFile: Bool {
    guard let opened = job.opened.map(ExportRunner.expanded) else { return false }
    var (file, other) = (stat(), stat())
    guard stat(path, &file) == 0, stat(opened, &other) == 0 else { return path == opened }
    return file.st_dev == other.st_dev && file.st_ino == other.st_ino
  }

  private func viewReader() -> ViewReader? {
    guard case .view(let definition, let filter, let surroundings) = job.source else { return nil }
    let matcher = filter.map { FilterMatcher($0, in: definition, surroundings) }
    return ViewReader(
      replaced == nil ? definition : definition.inFileOrder, filter: matcher)
  }

  private func write(_ records: [Record]) {
    guard var writer else { return }
    var bytes: [UInt8] = []
    for record in records { bytes += writer.bytes(of: record.row.key, record.row.node ?? .empty) }
    self.writer = writer
    if case .subtree = job.source {
      for record in records { counted.add(record.row.node ?? .empty) }
    }
    write(bytes)
  }

  private func write(_ bytes: [UInt8]) {
    var rest = bytes[...]
    while !rest.isEmpty, descriptor >= 0 {
      let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else {
        let reason = String(cString: strerror(errno))
        abandon()
        return report(.failed("cannot be written: \(reason)"))
      }
      byteCount += count
      rest = rest.dropFirst(count)
    }
  }

  /// Ends the export: the complete file gets its name, unless another file has it by now.
  private func finish() {
    if let writer {
      let ending = writer.ending()
      keys = ending.keys
      write(ending.bytes)
    }
    guard descriptor >= 0 else { return }
    guard fsync(descriptor) == 0 || errno == EINVAL || errno == EROFS else {
      let reason = errno
      abandon()
      return report(.failed("cannot be written: \(String(cString: strerror(reason)))"))
    }
    if let replaced, replaced.isChangedSince {
      abandon()
      return report(.failed("was changed by others in this moment"))
    }
    let written = replaced == nil ? nil : FileMark(of: temporary)
    let reason = giveName()
    abandon()
    if reason == 0, let written { replaced?.note(written, writesAll ? keys : nil) }
    if reason == 0 {
      report(
        .done(
          file: job.file, count: exportedCount, bytes: byteCount,
          cutCount: writer?.cutCount ?? 0))
    } else if reason == EEXIST {
      report(.isThere(path))
    } else {
      report(.failed("cannot be written: \(String(cString: strerror(reason)))"))
    }
  }

  /// Whether all that the opened file holds was written.
  private var writesAll: Bool { replaced.map { job.source.isWhole(at: $0.place) } ?? false }

  /// What was written: of the tree nodes of all kinds, else rows.
  private var exportedCount: ExportedCount {
    switch job.source {
    case .subtree, .nodes: counted
    case .view, .records: ExportedCount(records: writer?.count ?? 0)
    }
  }

  /// Gives the written file its name; returns 0, or the `errno` of the failure.
  private func giveName() -> Int32 {
    // `link` fails if the name exists; `rename` replaces an existing file.
    if job.replaces { return rename(temporary, destination) == 0 ? 0 : errno }
    if link(temporary, path) == 0 { return 0 }
    let reason = errno
    // Some file systems have no links.
    guard [EPERM, EOPNOTSUPP, ENOSYS].contains(reason) else { return reason }
    if access(path, F_OK) == 0 { return EEXIST }
    return rename(temporary, path) == 0 ? 0 : errno
  }

  private func abandon() {
    close(descriptor)
    descriptor = -1
    unlink(temporary)
  }

  /// Returns the path of a file without links; a path that leads to no file as it is.
  static func resolved(_ path: String) -> String {
    guard let real = realpath(path, nil) else { return path }
    defer { free(real) }
    return String(cString: real)
  }

  /// Returns the full path of a file, with `~` expanded, relative to the current folder.
  static func expanded(_ file: String) -> String {
    if file.hasPrefix("~/"), let home = ProcessInfo.processInfo.environment["HOME"] {
      return home + file.dropFirst()
    }
    if file.hasPrefix("/") { return file }
    return FileManager.default.currentDirectoryPath + "/" + file
  }
}

extension FileContent {
  /// Writes a text to a file; returns the reason of a failure, or nil.
  static func write(_ text: String, to file: String) -> String? {
    let path = ExportRunner.expanded(file)
    do {
      try text.write(toFile: path, atomically: true, encoding: .utf8)
      return nil
    } catch {
      return "\(path) cannot be written: \(error.fileReason)"
    }
  }
}

extension ExportFormat {
  /// The format in which a file of this one is read; nil if it is not read.
  fileprivate var read: ImportPlan.Format? {
    switch self {
    case .json: .json
    case .jsonl: .jsonl
    case .csv: .csv
    case .markdown: nil
    }
  }
}

extension ViewDefinition {
  /// The view in the order of a data file: that of the keys, which number the rows of a file without keys.
  fileprivate var inFileOrder: ViewDefinition {
    // An equal value belongs to the order of the source.
    guard source.equalTo == nil else { return self }
    var view = self
    (view.source.order, view.source.isDescending) = (.key, false)
    // Other sources have rows of the same place, which come first.
    if source.filter == nil { view.also.removeAll { $0.path == source.path } }
    return view
  }
}
