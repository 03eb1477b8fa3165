import RunnelBase
import RunnelSync
import RunnelTree

/// A client of the smallest world: it sends requests as text, and notes what it is told.
struct Speaker {
  /// What a request asks for, from which its answer is judged.
  enum Ask {
    case increment
    case put(_ place: String, _ json: String)
    case forbidden(_ place: String)
    case listen(_ place: String)
    case unlisten(_ place: String)
    case farewell
    case other

    func asks(for other: String) -> Bool {
      if case .listen(let place) = self { place == other } else { false }
    }
  }

  let number: Int
  /// The number of its connection; nil while it has none.
  var connection: Int64?
  var isPaused = false
  private var requestCount: Int64 = 0
  /// The requests without an answer.
  private(set) var unanswered: [Int64: Ask] = [:]
  private var up: [[UInt8]] = []
  private var down: [[UInt8]] = []
  /// The places that it listens to, or has asked for.
  private(set) var wanted: Set<String> = []
  /// The places of which it is told every change.
  private(set) var listened: Set<String> = []
  /// What it was told of these.
  private(set) var shown = MemoryTree()
  /// The places whose last write was acknowledged, with what it wrote.
  private(set) var known: [String: String] = [:]
  private(set) var refused: [String] = []
  /// The increments that were acknowledged, and those whose connection ended first.
  private(set) var (incrementCount, doubtfulCount) = (0, 0)
  private var lost: Set<String> = []

  init(number: Int) { self.number = number }

  var hasRequests: Bool { !up.isEmpty }
  var hasNews: Bool { !down.isEmpty }

  mutating func ask(_ ask: Ask, _ action: String, _ body: String) {
    requestCount += 1
    unanswered[requestCount] = ask
    switch ask {
    case .listen(let place): wanted.insert(place)
    case .unlisten(let place): wanted.remove(place)
    default: break
    }
    let text = #"{"t":"d","d":{"r":\#(requestCount),"a":"\#(action)","b":\#(body)}}"#
    up.append(Array(text.utf8))
  }

  mutating func takeRequest() -> [UInt8]? { up.isEmpty ? nil : up.removeFirst() }

  mutating func receive(_ frame: [UInt8]) { down.append(frame) }

  /// The places that it listened to when its last connection ended.
  mutating func takeLost() -> [String] {
    defer { lost = [] }
    return lost.sorted()
  }

  /// Its connection has ended: what was not answered may be done or not.
  mutating func lose() {
    for (_, ask) in unanswered {
      switch ask {
      case .increment: doubtfulCount += 1
      case .put(let place, _): known[place] = nil
      default: break
      }
    }
    lost.formUnion(wanted)
    (connection, isPaused, unanswered, up, down) = (nil, false, [:], [], [])
    (wanted, listened, shown) = ([], [], MemoryTree())
  }

  // MARK: What it is told

  /// Reads one frame.
  mutating func hear() throws {
    guard !down.isEmpty else { return }
    let frame = down.removeFirst()
    switch try ServerMessage(frame) {
    case .response(let number, let status, _): try answered(number, isDone: status == .ok)
    case .push(let action, let body): try told(action, body)
    case .handshake, .redirect, .shutdown, .error, .pong, .control: break
    }
  }

  private mutating func answered(_ number: Int64, isDone: Bool) throws {
    guard let ask = unanswered.removeValue(forKey: number) else {
      throw SimulationError("S1: request \(number) of \(self.number) is answered twice")
    }
    switch ask {
    case .increment: if isDone { incrementCount += 1 }
    case .put(let place, let json): if isDone { known[place] = json }
    case .forbidden(let place):
      if isDone { throw SimulationError("S1: the write of \(place) is not refused") }
      refused.append(place)
    case .listen(let place):
      // It may have ended the listen meanwhile.
      if !isDone { wanted.remove(place) } else if wanted.contains(place) { listened.insert(place) }
    case .unlisten(let place):
      listened.remove(place)
      shown.root = shown.root.replacing(try Path(place), with: .empty)
    case .farewell, .other: break
    }
  }

  private mutating func told(_ action: String, _ body: JSONValue) throws {
    guard case .string(let text)? = body["p"] else { return }
    let path = try Path(text)
    switch (action, body["d"]) {
    case ("d", let json?): shown.root = shown.root.replacing(path, with: try Node(json: json))
    case ("m", .object(let members)?):
      for member in members {
        let place = try path.child(member.name)
        shown.root = shown.root.replacing(place, with: try Node(json: member.value))
      }
    case ("c", _):
      let place = path.description
      listened.remove(place)
      // It may have ended that listen, and asked for another one.
      if !unanswered.values.contains(where: { $0.asks(for: place) }) { wanted.remove(place) }
      shown.root = shown.root.replacing(path, with: .empty)
    default: break
    }
  }
}
