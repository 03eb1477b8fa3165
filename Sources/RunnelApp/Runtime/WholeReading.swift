import RunnelTree
import RunnelWorkspace

/// The reading of all rows of a view from the origin of a replica, for an export.
///
/// What the replica knows may be a part, and rows of earlier sessions may be old. A paged window without an end
/// tells that it has no more rows only when the origin has answered on this connection. As long as the
/// listeners stay, all rows are live.
final class WholeReading {
  /// The most rows of a window: servers take limits of 32 bits, and a window asks for one row more.
  private static let countMax = (1 << 31) - 2

  let listeners: [ListenerID]
  private var open: Set<ListenerID>
  private var done: ((String?) -> Void)?

  /// Makes the reading of some listeners; `done` is called once, with the reason if it fails.
  init(_ listeners: [ListenerID], done: @escaping (String?) -> Void) {
    (self.listeners, open, self.done) = (listeners, Set(listeners), done)
  }

  /// Whether rows are still being read.
  var isReading: Bool { done != nil }

  /// The requests for all rows of the sources of a view.
  ///
  /// - Throws: `TreeError` if the query of a source contradicts itself.
  static func requests(of definition: ViewDefinition) throws -> [ListenRequest] {
    try (definition.also + [definition.source]).map { source in
      var request = try source.request()
      request.paging = Paging(anchor: .first, count: countMax)
      request.events = []
      request.detail = .shallow
      return request
    }
  }

  /// Takes events of a listener.
  func take(_ events: [TreeEvent], from listener: ListenerID) {
    guard events.contains(.page(hasMore: false)), open.remove(listener) != nil, open.isEmpty
    else { return }
    end(nil)
  }

  /// Ends the reading if rows are still being read.
  func fail(_ reason: String) { end(reason) }

  private func end(_ reason: String?) {
    let done = done
    self.done = nil
    done?(reason)
  }
}
