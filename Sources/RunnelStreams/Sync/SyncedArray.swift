public import RunnelBase
import RunnelTree

/// The children of a place as an array that updates itself and can be written.
///
/// It is the synchronized array of `FirebaseDataSource`. Between `startSync` and `stopSync` it
/// follows the tree; otherwise it keeps its rows. A write changes the array when the tree tells the
/// change, before the write's completion is called.
///
/// When a write is requested, its index is converted to the row's key, so that later changes of the
/// array do not make it affect another row.
public final class SyncedArray {
  /// The rows, as they were told last.
  public private(set) var list = Rows<Record>()
  /// The load state.
  public private(set) var loadState = LoadState.idle
  /// Called with each change, after it was applied to `list`; the first one is a reload.
  public var onUpdate: ((SyncedUpdate) -> Void)?

  /// The stream behind it.
  public let stream: QueryStream<Record>
  private let target: (any TreeTarget)?
  private var isTold = false
  private var token: StreamToken?
  private var ownSync: SyncToken?
  private let life: SyncLife

  /// Makes an array of a stream's rows; it follows nothing before `startSync`.
  ///
  /// - Parameters:
  ///   - stream: the stream that is followed, started and stopped.
  ///   - target: the database for writes; nil for an array that refuses them.
  public init(_ stream: QueryStream<Record>, target: (any TreeTarget)?) {
    self.stream = stream
    self.target = target
    life = SyncLife(start: { stream.start() }, stop: { stream.stop() })
    token = stream.observe { [weak self] change in self?.take(change) }
  }

  deinit {
    ownSync?.end()
    if let token { stream.cancel(token) }
  }

  private func take(_ change: StreamChange<Record>) {
    let old = list
    loadState = change.loadState
    if !change.changes.isEmpty { list = change.sections.first?.items ?? [] }
    if !isTold, !change.loadState.showsRows { return }
    let changes = isTold ? change.changes : .reload
    isTold = true
    if changes.isEmpty { return }
    onUpdate?(SyncedUpdate(old: old, list: list, changes: changes))
  }
}

// MARK: Reading

extension SyncedArray {
  /// The number of rows.
  public var count: Int { list.count }

  /// The row at an index below `count`.
  public subscript(index: Int) -> Record { list[index] }
}

// MARK: Syncing

extension SyncedArray {
  /// True while it follows the tree.
  public var isSynced: Bool { life.isSynced }

  /// Follows the tree until `stopSync`; does nothing if it was called already.
  public func startSync() { ownSync = ownSync ?? life.enter() }

  /// Ends the sync of `startSync`; the rows stay, and the next start tells the differences.
  public func stopSync() { ownSync = nil }

  /// Follows the tree as long as the token lives.
  public func sync() -> SyncToken { life.enter() }
}

// MARK: Writing

extension SyncedArray {
  /// Adds a child under a new key, which sorts after those made before.
  public func append(
    _ value: JSONValue, completion: @escaping (WriteOutcome) -> Void = { _ in }
  ) {
    guard let target else { return completion(.refusedForReading) }
    let path = Path(unchecked: stream.request.query.path.keys + [target.makeKey()])
    target.submit(.set(path, value), completion: completion)
  }

  /// Replaces members of the row at an index, and keeps its others: `["text": "zero"]`.
  ///
  /// Refused if there is no such row, as after a change of the array, and for a value that is no
  /// object.
  public func update(
    at index: Int, with members: JSONValue,
    completion: @escaping (WriteOutcome) -> Void = { _ in }
  ) {
    guard case .object(let members) = members else { return completion(.refusedForNoObject) }
    update(at: index, with: members, completion: completion)
  }

  /// Replaces members of the row at an index, and keeps its others; refused if there is no such row.
  public func update(
    at index: Int, with members: [JSONMember],
    completion: @escaping (WriteOutcome) -> Void = { _ in }
  ) {
    write(at: index, completion) { .update($0, members) }
  }

  /// Removes the row at an index; refused if there is no such row.
  public func remove(at index: Int, completion: @escaping (WriteOutcome) -> Void = { _ in }) {
    write(at: index, completion) { .remove($0) }
  }

  private func write(
    at index: Int, _ completion: @escaping (WriteOutcome) -> Void, _ write: (Path) -> Write
  ) {
    guard let target else { return completion(.refusedForReading) }
    guard index >= 0, index < count else {
      return completion(.refused("There is no row \(index): the count is \(count)."))
    }
    target.submit(write(list[index].path), completion: completion)
  }
}

extension WriteOutcome {
  static let refusedForReading = WriteOutcome.refused("This list is for reading only.")
  static let refusedForNoObject = WriteOutcome.refused(
    "The members to replace are not an object: write [\"text\": \"new\"], for instance.")
}

/// A change of a synced array.
public struct SyncedUpdate: Sendable {
  /// A row and its place: of a new row the new one, of others the old one.
  public struct Place: Hashable, Sendable {
    /// The place.
    public var path: ListIndexPath
    /// The row.
    public var record: Record
  }

  /// A row that moved.
  public struct Move: Hashable, Sendable {
    /// The place before.
    public var from: ListIndexPath
    /// The place after.
    public var to: ListIndexPath
    /// The row.
    public var record: Record
  }

  /// The array before.
  private let old: Rows<Record>
  /// The array after.
  public let list: Rows<Record>
  /// The changes, in the coordinates of `BatchUpdate`.
  public let batch: BatchUpdate
  /// The ids of the rows whose content changed.
  public let changedIDs: [String]

  init(old: Rows<Record>, list: Rows<Record>, changes: ChangeSet) {
    self.old = old
    self.list = list
    batch = changes.batch
    changedIDs = changes.updatedIDs
  }

  /// True if the array must be read again; the lists below are then empty.
  public var isReload: Bool { batch.isReload }

  /// The rows that are new.
  public var added: [Place] { batch.insertedRows.map { Place(path: $0, record: list[$0.row]) } }

  /// The removed rows, as they were, at their old places.
  public var removed: [Place] { batch.deletedRows.map { Place(path: $0, record: old[$0.row]) } }

  /// The rows whose content changed, as they were, at their old places; a view reads them again.
  public var changed: [Place] { batch.reloadedRows.map { Place(path: $0, record: old[$0.row]) } }

  /// The rows that moved.
  public var moved: [Move] {
    batch.movedRows.map { Move(from: $0.from, to: $0.to, record: list[$0.to.row]) }
  }
}
