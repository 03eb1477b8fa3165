package import RunnelBase

/// The demo's tree: a believable community that has talked for two months.
///
/// It is a pure function of its texts, its seed, its size and its end: the same inputs give the
/// same bytes, on every machine. The tree has these places, each with its children in the order of
/// the keys:
/// - `/group/ID`: `created`, `description`, `message_count`, `name`, `pinned_count`;
/// - `/group_message/GROUP/PUSH-ID`: `created`, `from` (a user's key), `like_count`, `pinned` (only
///   where it is true), `text`; push ids are in the order of `created`, no two of which are the same in
///   a group;
/// - `/message_like/GROUP/PUSH-ID/USER`: `created`;
/// - `/user/ID`: `away` (not always there), `email`, `joined`, `name`, `plot`, `role`.
///
/// Times are in milliseconds since 1970. People who are away wrote nothing in the last days, and
/// nobody wrote before joining.
package struct DemoData: Sendable {
  /// The greatest number of messages: a larger demo would have more messages than milliseconds.
  package static let messageCountMax = 10_000_000

  /// The key of the group that has `messageCount` messages.
  package static let mainGroupID = "allotment"

  /// The names of the people, and their texts.
  let texts: DemoTexts
  /// The seed of all random choices.
  package let seed: UInt64
  /// The number of messages in the main group; the texts give those of the other groups.
  package let messageCount: Int
  /// The time of the last message, in milliseconds since 1970.
  package let endingAt: Int64
  /// The offset of the place from UTC, in seconds, east positive: its people sleep at night.
  package let utcOffsetSeconds: Int

  /// The people and their times; the same for all groups.
  let cast: DemoCast

  /// Describes a demo; its parts are made when they are needed.
  ///
  /// The count is from 0 to `messageCountMax`, and the end is after 1990. The project's texts are
  /// set in summer and early autumn in a temperate place.
  package init(
    _ texts: DemoTexts, seed: UInt64, messageCount: Int = 2_400, endingAt: Int64,
    utcOffsetSeconds: Int = 0
  ) {
    precondition(0...Self.messageCountMax ~= messageCount, "The demo's size is within its limit.")
    precondition(endingAt > 631_152_000_000, "The demo ends after 1990.")
    self.texts = texts
    self.seed = seed
    self.messageCount = messageCount
    self.endingAt = endingAt
    self.utcOffsetSeconds = utcOffsetSeconds
    var random = Self.random(seed, "cast")
    cast = DemoCast(texts.people, endingAt: endingAt, using: &random)
  }

  /// The whole tree in memory.
  package func json() -> JSONValue {
    var messages: [JSONMember] = []
    var likes: [JSONMember] = []
    for group in texts.groups {
      var members: [JSONMember] = []
      var liked: [JSONMember] = []
      DemoMessages(of: group, in: self).forEach { entry in
        members.append(JSONMember(entry.key, entry.message))
        if !entry.likes.isEmpty { liked.append(JSONMember(entry.key, likeJSON(entry))) }
      }
      messages.append(JSONMember(group.id, .object(members)))
      if !liked.isEmpty { likes.append(JSONMember(group.id, .object(liked))) }
    }
    return .object([
      JSONMember("group", .object(groups())),
      JSONMember("group_message", .object(messages)),
      JSONMember("message_like", .object(likes)),
      JSONMember("user", .object(users())),
    ])
  }

  /// Passes the tree to a function as JSON text, in pieces of about `chunkBytes`, and never holds
  /// more than one.
  ///
  /// The pieces together are the compact text of `json()`.
  package func write(
    chunkBytes: Int = 65_536, into sink: (_ chunk: [UInt8]) throws -> Void
  ) rethrows {
    var writer = JSONWriter()
    writer.beginObject()
    writer.writeName("group")
    writer.writeValue(.object(groups()))
    writer.writeName("group_message")
    writer.beginObject()
    for group in texts.groups {
      writer.writeName(group.id)
      writer.beginObject()
      try DemoMessages(of: group, in: self).forEach { entry in
        writer.writeName(entry.key)
        writer.writeValue(entry.message)
        if writer.bytes.count >= chunkBytes { try sink(writer.takeBytes()) }
      }
      writer.endObject()
    }
    writer.endObject()
    writer.writeName("message_like")
    writer.beginObject()
    for group in texts.groups { try writeLikes(of: group, &writer, chunkBytes, sink) }
    writer.endObject()
    writer.writeName("user")
    writer.writeValue(.object(users()))
    writer.endObject()
    try sink(writer.takeBytes())
  }

  /// Passes each message of the main group to a function as JSON, the oldest first; holds one
  /// conversation at a time.
  package func forEachMessage(_ body: (_ message: JSONValue) throws -> Void) rethrows {
    for group in texts.groups where group.id == Self.mainGroupID {
      try DemoMessages(of: group, in: self).forEach { try body($0.message) }
    }
  }

  /// Writes the likes of a group, if there are any.
  private func writeLikes(
    of group: DemoGroup, _ writer: inout JSONWriter, _ chunkBytes: Int,
    _ sink: (_ chunk: [UInt8]) throws -> Void
  ) rethrows {
    var isOpen = false
    try DemoMessages(of: group, in: self).forEach { entry in
      if entry.likes.isEmpty { return }
      if !isOpen {
        writer.writeName(group.id)
        writer.beginObject()
        isOpen = true
      }
      writer.writeName(entry.key)
      writer.writeValue(likeJSON(entry))
      if writer.bytes.count >= chunkBytes { try sink(writer.takeBytes()) }
    }
    if isOpen { writer.endObject() }
  }

  /// Returns a generator for one purpose, so that a change of one purpose does not affect the
  /// others.
  func random(_ purpose: String) -> SeededRandom { Self.random(seed, purpose) }

  private static func random(_ seed: UInt64, _ purpose: String) -> SeededRandom {
    // FNV-1a: the standard library's hashes differ from run to run.
    let hash = purpose.utf8.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { hash, byte in
      (hash ^ UInt64(byte)) &* 0x100_0000_01B3
    }
    var random = SeededRandom(seed: seed ^ hash)
    return SeededRandom(seed: random.next())
  }
}

// MARK: - Records

extension DemoData {
  private func groups() -> [JSONMember] {
    texts.groups.map { group in
      var messageCount = 0
      var pinnedCount = 0
      DemoMessages(of: group, in: self).forEach { entry in
        messageCount += 1
        if entry.isPinned { pinnedCount += 1 }
      }
      return JSONMember(
        group.id,
        [
          "created": .number(JSONNumber(endingAt - Int64(group.ageDays) * 86_400_000)),
          "description": .string(group.description),
          "message_count": .number(JSONNumber(Int64(messageCount))),
          "name": .string(group.name),
          "pinned_count": .number(JSONNumber(Int64(pinnedCount))),
        ])
    }
  }

  private func likeJSON(_ entry: DemoMessages.Entry) -> JSONValue {
    .object(
      entry.likes.map { like in
        JSONMember(like.user, ["created": .number(JSONNumber(like.created))])
      })
  }

  private func users() -> [JSONMember] {
    zip(texts.people, cast.joined).enumerated().map { index, entry in
      let (person, joined) = entry
      var members: [JSONMember] = []
      // Some people have come back, but most were never away.
      if person.isAway || index % 9 == 4 {
        members.append(JSONMember("away", .bool(person.isAway)))
      }
      members += [
        JSONMember("email", .string("\(person.id)@riverside.example")),
        JSONMember("joined", .number(JSONNumber(joined))),
        JSONMember("name", .string(person.name)),
        JSONMember("plot", .number(JSONNumber(Int64(person.plot)))),
        JSONMember("role", .string(person.isOrganizer ? "organizer" : "participant")),
      ]
      return JSONMember(person.id, .object(members))
    }
  }
}
