public import RunnelBase
public import RunnelTree

/// The data source of a list view: sections and rows by index path, updates, and syncing while the
/// view is shown.
///
/// It is the data source of `FirebaseDataSource`, for any streams; its adapter makes the sections,
/// placeholders and fetch-more rows.
public final class IndexPathDataSource<Item: StreamItem> {
  /// Called with each update, after it was applied to `sections`; the first one is a reload.
  public var onUpdate: ((ListUpdate<Item>) -> Void)?
  /// Called with the reason, for a person, if a reload is told instead of a batch.
  public var onLog: ((String) -> Void)?
  /// The sections, as they were told last.
  public private(set) var sections: [AdapterSection<Item>] = []

  private let target: (any TreeTarget)?
  private let adapter: IndexPathAdapter<Item>
  private let receiver: Receiver
  private let life: SyncLife
  private var ownSync: SyncToken?

  /// Passes on updates of the adapter, without retaining the data source.
  private final class Receiver {
    weak var owner: IndexPathDataSource?
  }

  /// Makes a data source; it follows nothing before `startSync`.
  ///
  /// - Parameters:
  ///   - parts: the parts of the list, in order.
  ///   - streams: the streams that are started and stopped with it.
  ///   - target: the database for writes; nil for a list that refuses them.
  public init(
    _ parts: [ListPart<Item>], syncing streams: [any StartableStream],
    target: (any TreeTarget)? = nil
  ) {
    let receiver = Receiver()
    let adapter = IndexPathAdapter<Item>(
      parts, log: { receiver.owner?.onLog?($0) },
      receive: { update in
        receiver.owner?.sections = update.sections
        receiver.owner?.onUpdate?(update)
      })
    self.target = target
    self.adapter = adapter
    self.receiver = receiver
    life = SyncLife(
      start: {
        adapter.start()
        for stream in streams { stream.start() }
      },
      stop: {
        for stream in streams { stream.stop() }
        adapter.stop()
      })
    receiver.owner = self
  }
}

// MARK: Reading

extension IndexPathDataSource {
  /// The number of sections of the list.
  public var numberOfSections: Int { sections.count }

  /// The number of rows of a section, placeholders included; 0 if there is no such section, as before
  /// the first update.
  public func numberOfRows(inSection section: Int) -> Int {
    sections.indices.contains(section) ? sections[section].count : 0
  }

  /// The number of rows of the list, placeholders included.
  public var count: Int { sections.reduce(0) { $0 + $1.count } }

  /// The row at a path of the list.
  public subscript(path: ListIndexPath) -> AdapterRow<Item> { sections[path.section][path.row] }

  /// The item at a path of the list; nil for a placeholder, and for a path that is not in the list.
  public func item(at path: ListIndexPath) -> Item? {
    guard path.row >= 0, path.row < numberOfRows(inSection: path.section),
      case .item(let item) = self[path]
    else { return nil }
    return item
  }

  /// The header and footer of a section; none if there is no such section.
  public func labels(ofSection section: Int) -> SectionLabels {
    sections.indices.contains(section) ? sections[section].labels : SectionLabels()
  }
}

// MARK: Syncing

extension IndexPathDataSource {
  /// True while it follows the streams.
  public var isSynced: Bool { life.isSynced }

  /// Follows the streams until `stopSync`; does nothing if it was called already.
  public func startSync() { ownSync = ownSync ?? life.enter() }

  /// Ends the sync of `startSync`; the rows stay, and the next start begins with a reload.
  public func stopSync() { ownSync = nil }

  /// Follows the streams as long as the token lives.
  public func sync() -> SyncToken { life.enter() }

  /// Tells nothing until `release`, while the list is being changed or the user works in it.
  public func hold() { adapter.hold() }

  /// Tells the changes since `hold`.
  public func release() { adapter.release() }

  /// Fetches a page wherever a fetch-more row is near the visible rows, if the part asks for it.
  public func didShow(_ rows: ClosedRange<ListIndexPath>) { adapter.didShow(rows) }
}

// MARK: Writing

extension IndexPathDataSource where Item == Record {
  /// Makes a data source of one stream, in one section.
  public convenience init(_ stream: QueryStream<Record>, target: (any TreeTarget)? = nil) {
    self.init([ListPart(stream)], syncing: [stream], target: target)
  }

  /// Adds a child to a collection under a new key, which sorts after those made before.
  public func append(
    _ value: JSONValue, to collection: Path,
    completion: @escaping (WriteOutcome) -> Void = { _ in }
  ) {
    guard let target else { return completion(.refusedForReading) }
    let path = Path(unchecked: collection.keys + [target.makeKey()])
    target.submit(.set(path, value), completion: completion)
  }

  /// Replaces members of the record at a path of the list, and keeps its others.
  ///
  /// Refused for a placeholder, for a path that is not in the list, and for a value that is no object.
  public func update(
    at path: ListIndexPath, with members: JSONValue,
    completion: @escaping (WriteOutcome) -> Void = { _ in }
  ) {
    guard case .object(let members) = members else { return completion(.refusedForNoObject) }
    update(at: path, with: members, completion: completion)
  }

  /// Replaces members of the record at a path of the list; refused for a placeholder, and for a path
  /// that is not in the list.
  public func update(
    at path: ListIndexPath, with members: [JSONMember],
    completion: @escaping (WriteOutcome) -> Void = { _ in }
  ) {
    write(at: path, completion) { .update($0, members) }
  }

  /// Removes the record at a path of the list; refused for a placeholder, and for a path that is not
  /// in the list.
  public func remove(
    at path: ListIndexPath, completion: @escaping (WriteOutcome) -> Void = { _ in }
  ) {
    write(at: path, completion) { .remove($0) }
  }

  private func write(
    at path: ListIndexPath, _ completion: @escaping (WriteOutcome) -> Void,
    _ write: (Path) -> Write
  ) {
    guard let target else { return completion(.refusedForReading) }
    guard let record = item(at: path) else {
      return completion(.refused("There is no record in this row."))
    }
    target.submit(write(record.path), completion: completion)
  }
}
