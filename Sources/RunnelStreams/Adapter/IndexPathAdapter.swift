public import RunnelBase
import RunnelTree

/// A list after a change, with the change.
public struct ListUpdate<Item: KeyedItem> {
  /// The list by the keys of its rows, the paging row among them.
  public var sections: [KeyedSection]
  /// What happened since the list before.
  public var update: BatchUpdate
  /// The items that are new or have another content.
  public var touched: [Item]
  /// The keys of the rows that arrived by themselves.
  public var arrived: Set<String>
}

/// A stream that is fetched page by page, as the adapter sees it.
public protocol PagedStream: AnyObject {
  /// How far it has been paged.
  var fetchState: FetchState { get }
  /// The key of the row at the end from which pages are fetched; nil if there are no rows.
  var boundaryKey: String? { get }
  /// True if pages are added before the rows that are there.
  var isPagedAtStart: Bool { get }
}

extension QueryStream: PagedStream {
  /// The key of the row at the end from which pages are fetched; nil if there are no rows.
  public var boundaryKey: String? { boundaryItem?.key }

  /// True if pages are added before the rows that are there.
  public var isPagedAtStart: Bool { (request.paging?.anchor == .last) != isDescending }
}

/// Turns the changes of a stream into batch updates of a list, with the paging row in its place.
///
/// The *paging row* stands for what is not loaded, or says that everything is. It is a row like any
/// other: beside the boundary row of the paged stream, in the same section; in a list without rows in
/// a section of its own.
///
/// Each update is checked: what it leads to must be the list. One that fails the check stops a debug
/// build; in a release build the list is read anew and `mistakes` counts.
public final class IndexPathAdapter<Item: KeyedItem> {
  /// The key of the paging row.
  public let pagingKey: String
  /// The list, the paging row included.
  public private(set) var sections: [KeyedSection] = []
  /// How often an update failed its check.
  public private(set) var mistakes = 0

  private let stream: any SectionedStream<Item>
  private let paged: (any PagedStream)?
  private let receive: (ListUpdate<Item>) -> Void
  private var token: StreamToken?
  private var isLoaded = false
  private var lastFetchState = FetchState.unknown

  /// Makes an adapter and tells the first state if the stream is loaded.
  ///
  /// - Parameters:
  ///   - stream: what the list shows.
  ///   - paged: the stream that is fetched page by page; nil for a list without a paging row.
  ///   - pagingKey: the key of the paging row; no item may have it.
  ///   - receive: what is told each update, the first one a reload.
  public init(
    _ stream: any SectionedStream<Item>, paged: (any PagedStream)?, pagingKey: String,
    receive: @escaping (ListUpdate<Item>) -> Void
  ) {
    self.stream = stream
    self.paged = paged
    self.pagingKey = pagingKey
    self.receive = receive
  }

  /// Starts to follow the stream.
  public func start() {
    guard token == nil else { return }
    token = stream.observe { [weak self] in self?.streamChanged($0) }
  }

  /// Stops following; nothing is told afterwards.
  public func stop() {
    if let token { stream.cancel(token) }
    token = nil
    isLoaded = false
  }

  private func streamChanged(_ change: StreamChange<Item>) {
    guard token != nil || !isLoaded, stream.loadState == .loaded else { return }
    let old = sections
    sections = withPagingRow(stream.sections)
    var changed = Set(change.touched.map(\.key))
    if paged?.fetchState != lastFetchState { changed.insert(pagingKey) }
    lastFetchState = paged?.fetchState ?? .unknown
    let isFirst = !isLoaded
    isLoaded = true
    var update = BatchUpdate.reload
    if !isFirst, !change.update.isReload {
      update = checked(SectionedDiff.update(from: old, to: sections, changed: changed), from: old)
    }
    receive(
      ListUpdate(
        sections: sections, update: update,
        touched: isFirst ? stream.sections.flatMap(\.items) : change.touched,
        arrived: isFirst ? [] : change.arrived))
  }

  /// Checks in debug builds that the update leads from the list before to the list.
  private func checked(_ update: BatchUpdate, from old: [KeyedSection]) -> BatchUpdate {
    #if DEBUG
    if update.replayed(on: old, to: sections) != sections {
      mistakes += 1
      assertionFailure("The batch \(update) does not lead from \(old) to \(sections).")
      return .reload
    }
    #endif
    return update
  }

  private func withPagingRow(_ streamSections: [StreamSection<Item>]) -> [KeyedSection] {
    var list = streamSections.map { KeyedSection(id: $0.id, keys: $0.items.map(\.key)) }
    guard let paged, paged.fetchState != .unknown else { return list }
    guard let boundary = paged.boundaryKey else {
      // Without a row to stand beside, it is shown only if there is something to fetch.
      if paged.fetchState != .exhausted {
        list.append(KeyedSection(id: pagingKey, keys: [pagingKey]))
      }
      return list
    }
    for index in list.indices {
      let keys = list[index].keys
      let isAtStart = paged.isPagedAtStart
      let row =
        isAtStart ? keys.firstIndex(of: boundary) : keys.lastIndex(of: boundary).map { $0 + 1 }
      if let row {
        list[index].keys.insert(pagingKey, at: row)
        break
      }
    }
    return list
  }
}
