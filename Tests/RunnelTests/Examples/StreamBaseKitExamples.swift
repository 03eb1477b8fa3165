// ComingFromStreamBaseKit.md shows what stands between the marks; a test holds them equal.

// example begin
import RunnelBase
import RunnelDatabase
import RunnelStreams
import RunnelTree

struct MyItem: Codable, Sendable {
  var name: String?
}

final class MyController {
  let stream: QueryStream<DecodedRecord<MyItem>>
  let adapter: IndexPathAdapter<DecodedRecord<MyItem>>

  init(_ session: StreamSession, _ table: TextTable) throws {
    let items = try session.database.reference(withPath: "items")
    stream = session.stream(of: items, as: MyItem.self)
    adapter = IndexPathAdapter(stream) { table.apply($0, text: MyController.text) }
    adapter.start()
  }

  static func text(_ row: AdapterRow<DecodedRecord<MyItem>>) -> String {
    guard case .item(let item) = row else { return "" }
    switch item.result {
    case .success(let value): return value.name ?? "without a name"
    case .failure(let error): return "\(error)"  // this record alone; the others are shown
    }
  }
}
// example end

// example begin
struct Member: Codable, Sendable {
  var name: String
  var isOrganizer = false
}

final class RosterController {
  let roster: PartitionedStream<DecodedRecord<Member>, Int>
  let adapter: IndexPathAdapter<DecodedRecord<Member>>

  init(_ session: StreamSession, _ table: TextTable) throws {
    let users = try session.database.reference(withPath: "users").queryOrdered(byChild: "name")
    let stream = session.stream(of: users, as: Member.self)
    roster = PartitionedStream(stream, titles: ["organizers", "participants"]) { user in
      user.isOrganizer == true ? 0 : 1
    }
    adapter = IndexPathAdapter(roster) { table.apply($0, text: RosterController.text) }
    adapter.start()
  }

  func title(ofSection section: Int) -> String? { adapter.sections[section].labels.header }

  static func text(_ row: AdapterRow<DecodedRecord<Member>>) -> String {
    if case .item(let user) = row { user.name ?? "?" } else { "" }
  }
}
// example end

// example begin
final class LimitedRosterController {
  let adapter: IndexPathAdapter<DecodedRecord<Member>>

  init(_ session: StreamSession, _ table: TextTable) throws {
    let users = try session.database.reference(withPath: "users")
      .queryOrdered(byChild: "isOrganizer")
    let organizers = session.stream(
      of: try users.queryStarting(atValue: true).queryLimited(toFirst: 100), as: Member.self)
    let participants = session.stream(
      of: try users.queryEnding(atValue: false).queryLimited(toFirst: 100), as: Member.self)
    adapter = IndexPathAdapter([
      ListPart(organizers, idPrefix: "organizers") { _ in SectionLabels(header: "organizers") },
      ListPart(participants, idPrefix: "participants") { _ in
        SectionLabels(header: "participants")
      },
    ]) { table.apply($0, text: RosterController.text) }
    adapter.start()
  }
}
// example end

// example begin
final class ChatController {
  let messages: QueryStream<Record>
  let typing = TransientStream<Record>()
  let adapter: IndexPathAdapter<Record>

  init(_ session: StreamSession, _ table: TextTable) throws {
    let place = try session.database.reference(withPath: "messages")
    messages = session.stream(of: place, paging: Paging(anchor: .last, count: 100))
    let all = UnionStream([messages, typing]) { $0.row.key < $1.row.key }
    adapter = IndexPathAdapter([
      ListPart(all, pagings: [PagingPoint(messages)], placeholders: [.status, .empty])
    ]) { table.apply($0, text: ChatController.text) }
    adapter.start()
  }

  func fetchMoreTapped() { messages.fetchMore(100) }

  static func text(_ row: AdapterRow<Record>) -> String {
    switch row {
    case .item(let message): message["text"].string ?? ""
    case .placeholder(let placeholder):
      switch placeholder.content {
      case .loading, .paging(.fetching), .paging(.unknown): "loading"
      case .paging(.more): "fetch more"
      case .paging(.exhausted): "the beginning"
      case .paging(.failed(let reason)), .failed(let reason): "\(reason): try again"
      case .empty: "nothing here yet"
      }
    }
  }
}
// example end
