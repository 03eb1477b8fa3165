import RunnelBase
import RunnelNetwork
import RunnelSync

/// The messages that a tree told together, divided among the loops of the connections.
///
/// Changes of one audience in a row become one run for all its members, so that many changes to many
/// members cost little more than one. Each connection gets its messages in their order: a run ends before
/// any other message to one of its members.
struct LoopBatches {
  typealias Connection = LoopBound<any ServedConnection>

  /// A member that receives a run.
  struct Receiver: Sendable {
    var connection: Connection
    var listen: ListenNumber
  }

  /// A message, or a run of them.
  enum Message: Sendable {
    case news(Connection, TreeNews)
    case run([Receiver], PushRun)
  }

  private let entries: [Int64: Switchboard.Entry]
  private var batches: [(loop: NetworkLoop, messages: [Message])] = []
  private var indexes: [NetworkLoop: Int] = [:]
  /// The members and changes of the run that has not ended; no members if there is none.
  private var run: (members: [Audiences.Member], pushes: [EncodedPush]) = ([], [])

  /// Makes batches for the connections that exist.
  init(_ entries: [Int64: Switchboard.Entry]) { self.entries = entries }

  /// Adds a message to a connection, or to the members that it names; those that do not exist any more get
  /// nothing.
  mutating func add(_ news: TreeNews, to number: Int64) {
    if case .pushed(let members, let push) = news { return add(push, to: members) }
    if hasRun(for: number) { endRun() }
    guard let connection = entries[number]?.connection else { return }
    batches[index(of: connection.loop)].messages.append(.news(connection, news))
  }

  /// Ends the last run, and returns the messages for each loop.
  mutating func finish() -> [(loop: NetworkLoop, messages: [Message])] {
    endRun()
    return batches
  }

  private mutating func add(_ push: EncodedPush, to members: [Audiences.Member]) {
    // Arrays of one address are not compared member by member.
    if members != run.members {
      endRun()
      run.members = members
    }
    run.pushes.append(push)
  }

  private func hasRun(for number: Int64) -> Bool {
    let members = run.members
    let index = members.lowerBound { $0.connection < number }
    return index < members.count && members[index].connection == number
  }

  private mutating func endRun() {
    if run.members.isEmpty { return }
    let (members, pushes) = run
    run = ([], [])
    var receivers: [[Receiver]] = []
    for member in members {
      guard let connection = entries[member.connection]?.connection else { continue }
      let index = index(of: connection.loop)
      while receivers.count <= index { receivers.append([]) }
      receivers[index].append(Receiver(connection: connection, listen: member.listen))
    }
    let shared = PushRun(pushes)
    for (index, list) in receivers.enumerated() where !list.isEmpty {
      batches[index].messages.append(.run(list, shared))
    }
  }

  private mutating func index(of loop: NetworkLoop) -> Int {
    if let known = indexes[loop] { return known }
    indexes[loop] = batches.count
    batches.append((loop, []))
    return batches.count - 1
  }
}
