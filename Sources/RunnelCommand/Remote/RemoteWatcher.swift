import Glibc
import RunnelBase
import RunnelNetwork
import RunnelTree

/// Prints the events of a query on a server's database as they happen.
///
/// The server streams changes, and the watcher computes the events from them. A stream that ends is
/// requested again; the changes made in between are then printed.
struct RemoteWatcher {
  private enum Listener {
    static let events = ListenerID(1)
    /// The listener for the value of a place without children.
    static let leaf = ListenerID(2)
  }

  /// The pause between the end of a stream and the next request.
  private static let pauseMicroseconds: UInt32 = 200_000

  private let remote: RemoteDatabase
  private let request: Watcher.Request
  private var tree = MemoryTree()
  private var engine = TreeEngine()
  private var leafWatch = LeafWatch()
  private var isListening = false
  /// True if it was said that the server is away.
  private var hasToldOutage = false

  init(_ remote: RemoteDatabase, _ request: Watcher.Request) {
    (self.remote, self.request) = (remote, request)
  }

  /// Prints events until the process is ended.
  ///
  /// Once events came, a server that cannot be reached, or is not ready, is asked until it is.
  ///
  /// - Throws: `Failure` if the server cancels the stream, `StandardOutput.Closed` if nobody reads
  ///   the output.
  mutating func run() throws -> Never {
    while true {
      do {
        let exchange = try remote.get(request.query, accept: "text/event-stream")
        var decoder = EventStreamDecoder()
        while let piece = try exchange.next() {
          for event in try decoder.take(piece) { try take(event) }
        }
      } catch is NetworkError {
        // The next request tells if the server stays unreachable.
      } catch let failure as Failure where isListening && failure.status == .retryable {
        if !hasToldOutage {
          StandardError.say("\(failure.message) It is tried until it succeeds; Ctrl-C ends it.")
        }
        hasToldOutage = true
      }
      usleep(RemoteWatcher.pauseMicroseconds)
    }
  }

  private mutating func take(_ event: EventStreamDecoder.Event) throws {
    switch event.name {
    case "put", "patch":
      hasToldOutage = false
      let json = try JSONValue(parsing: event.data)
      guard let path = json["path"]?.string, let data = json["data"] else { return }
      try change(Path(path), data, isPatch: event.name == "patch")
    case "cancel":
      throw Failure("\(remote.name) ended the stream: its rules no longer allow it.")
    case "auth_revoked":
      throw Failure("\(remote.name) ended the stream: the token is no longer valid.")
    default: break
    }
  }

  private mutating func change(_ below: Path, _ data: JSONValue, isPatch: Bool) throws {
    let place = try request.query.path.appending(below)
    var touched = [place]
    if isPatch, case .object(let members) = data {
      touched = []
      for member in members {
        let path = try place.appending(Path(member.name))
        tree.perform(Assignment(path: path, target: .node(try Node(json: member.value))))
        touched.append(path)
      }
    } else {
      tree.perform(Assignment(path: place, target: .node(try Node(json: data))))
    }
    let told = try isListening ? engine.apply(touched: touched, reader: tree) : listen()
    for delivery in told { try print(delivery) }
  }

  /// Starts listening, after the first message of the stream.
  private mutating func listen() throws -> [Delivery] {
    isListening = true
    let query = request.query
    let events = request.events ?? .children
    var told = try engine.listen(
      Listener.events, ListenRequest(query: query, events: events), reader: tree)
    if request.events == nil, query.loadsAllData {
      told += try engine.listen(
        Listener.leaf, ListenRequest(query: query, detail: .shallow, events: .value),
        reader: tree)
    }
    if !request.skipsInitial { return told }
    for delivery in told { _ = text(of: delivery) }
    return []
  }

  private mutating func print(_ delivery: Delivery) throws {
    guard let event = text(of: delivery), let line = EventLine(event, of: request.query) else {
      return
    }
    try StandardOutput.write(line.bytes)
  }

  /// Returns the event to print for a delivery, or nil.
  private mutating func text(of delivery: Delivery) -> TreeEvent? {
    if delivery.listener == Listener.events {
      leafWatch.count(delivery.event)
      return delivery.event
    }
    guard case .value(let node) = delivery.event else { return nil }
    return leafWatch.change(to: node).map { .value($0) }
  }
}

/// Decodes the events of an event stream.
///
/// Source: wire protocol, section D.
struct EventStreamDecoder {
  /// One event.
  struct Event: Equatable {
    var name: String
    var data: [UInt8]
  }

  /// The most bytes of one event.
  private static let bytesMax = 1 << 30

  private var rest: [UInt8] = []
  private var event = Event(name: "", data: [])

  /// Decodes a piece of the stream; returns the events that it completes.
  ///
  /// - Throws: `Failure` if an event is longer than the limit.
  mutating func take(_ piece: [UInt8]) throws -> [Event] {
    rest += piece
    if rest.count > EventStreamDecoder.bytesMax {
      throw Failure("The server sent an event that is too long.")
    }
    var events: [Event] = []
    var start = rest.startIndex
    while let end = rest[start...].firstIndex(of: UInt8(ascii: "\n")) {
      let line = rest[start..<end]
      start = end + 1
      if let event = take(line: line) { events.append(event) }
    }
    rest.removeFirst(start)
    return events
  }

  private mutating func take(line: ArraySlice<UInt8>) -> Event? {
    if line.isEmpty {
      defer { event = Event(name: "", data: []) }
      return event.name.isEmpty ? nil : event
    }
    if let name = EventStreamDecoder.field("event: ", line) {
      event.name = String(decoding: name, as: UTF8.self)
    } else if let data = EventStreamDecoder.field("data: ", line) {
      event.data = Array(data)
    }
    return nil
  }

  private static func field(_ name: String, _ line: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
    line.starts(with: name.utf8) ? line.dropFirst(name.utf8.count) : nil
  }
}
