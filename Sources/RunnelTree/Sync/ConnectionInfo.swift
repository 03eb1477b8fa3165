import RunnelBase

/// The state of the connection to the origin, as places that are read and observed like others:
/// `/.info/connected` and `/.info/serverTimeOffset`.
///
/// They belong to this process: they are neither stored nor sent, and cannot be written. A place
/// without a value counts as unknown rather than empty, so that listeners are not told null at
/// first.
///
/// Source: tree semantics, section 13.
package struct ConnectionInfo: Hashable, Sendable {
  /// True while the origin can be reached and has been sent everything that waited for it.
  package internal(set) var isConnected: Bool
  /// The time by which the origin's clock is ahead of this one, in milliseconds; nil before the
  /// origin has told it.
  package internal(set) var serverTimeOffset: Int64?

  /// The state before the first connection.
  package static let offline = ConnectionInfo(isConnected: false, serverTimeOffset: nil)
  /// The state of a tree without an origin, which is the truth itself.
  package static let ownTree = ConnectionInfo(isConnected: true, serverTimeOffset: 0)

  /// The times that an origin may tell, in milliseconds since 1970: those that a key made of the
  /// time can hold, up to the year 10889.
  ///
  /// The time is a word of a server, with which is calculated here: no server must stop a program by
  /// it.
  package static let originTimes: ClosedRange<Int64> = 0...0xFFFF_FFFF_FFFF

  /// The time by which the origin's clock is ahead, in milliseconds; both times are brought into
  /// `originTimes`.
  static func offset(ofOriginTime origin: Int64, now: Int64) -> Int64 {
    func fit(_ time: Int64) -> Int64 {
      min(max(time, originTimes.lowerBound), originTimes.upperBound)
    }
    return fit(origin) - fit(now)
  }

  /// The whole node at `/.info`.
  package var node: Node {
    var children = [Child(key: Key(unchecked: "connected"), node: Node(.bool(isConnected)))]
    if let serverTimeOffset {
      let number = Leaf.number(JSONNumber(serverTimeOffset))
      children.append(Child(key: Key(unchecked: "serverTimeOffset"), node: Node(number)))
    }
    return Node(children: children)
  }

  private var tree: MemoryTree { MemoryTree(Node.empty.replacing(.info, with: node)) }
}

extension ConnectionInfo: DelegatingReader {
  /// The tree with the places of `/.info`.
  package var reader: some TreeReader { tree }

  /// True: a place without a value may get one later.
  package var hasOrigin: Bool { true }

  /// Complete for a place that has a value, and nothing for any other.
  package func knowledge(of query: Query) -> Knowledge {
    tree.root[query.path].isEmpty ? .keys([], isAnswer: false) : .complete
  }
}

/// The listeners of `/.info`, with their events.
package struct InfoEngine: Sendable {
  /// The current state.
  package private(set) var info: ConnectionInfo
  private var engine = TreeEngine()
  private var listeners: Set<ListenerID> = []

  /// Makes an engine without listeners.
  package init(_ info: ConnectionInfo) { self.info = info }

  /// True if anyone listens.
  package var hasListeners: Bool { engine.hasListeners }

  /// True if a listener is registered here.
  package func contains(_ listener: ListenerID) -> Bool { listeners.contains(listener) }

  /// Registers a listener; it is told the current state at once.
  package mutating func listen(
    _ listener: ListenerID, _ request: ListenRequest
  ) throws(TreeError) -> [Delivery] {
    let deliveries = try engine.listen(listener, request, reader: info)
    listeners.insert(listener)
    return deliveries
  }

  /// Removes a listener; one that is not registered is ignored.
  package mutating func unlisten(_ listener: ListenerID) {
    engine.unlisten(listener)
    listeners.remove(listener)
  }

  /// Extends the window of a paged listener.
  package mutating func extend(
    _ listener: ListenerID, by count: Int
  ) throws(TreeError) -> [Delivery] {
    try engine.extend(listener, by: count, reader: info)
  }

  /// Changes the state; returns the deliveries.
  mutating func update(_ info: ConnectionInfo) throws(TreeError) -> [Delivery] {
    if info == self.info { return [] }
    self.info = info
    return try engine.apply(touched: [.info], reader: info)
  }
}
