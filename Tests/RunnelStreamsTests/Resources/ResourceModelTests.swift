import Foundation
import RunnelBase
import RunnelTree
import TestSupport
import Testing

@testable import RunnelStreams

/// Random operations on few records.
///
/// After each of them counters, copies and further places are what counting from scratch says, and a
/// refused one has changed nothing.
@Suite struct ResourceModelTests {
  @Test(arguments: Seeds.first(30))
  func everythingFollowsFromTheRecordsAfterEachOperation(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    var world = try ResourceWorld()
    var refused = 0
    for step in 0..<60 {
      if step.isMultiple(of: 10) { try ResourceModelTests.forgetCounters(&random, in: &world) }
      let before = world.tree
      do {
        try world.perform(try ResourceModelTests.operation(&random))
      } catch is ResourceError {
        refused += 1
        #expect(world.tree == before)
      }
      try #require(
        ResourceModelTests.fault(in: world.tree.root) == nil, "seed \(seed), step \(step)")
      if step.isMultiple(of: 20) {
        try #require(try world.report().isInStep, "seed \(seed), step \(step)")
      }
    }
    #expect(refused < 40, "Too few operations were done to tell anything.")
  }

  /// Removes the counters of an owner, as if it was written without the registry, and has each of
  /// them counted again by a member that comes and one that goes.
  private static func forgetCounters(
    _ random: inout SeededRandom, in world: inout ResourceWorld
  ) throws {
    let key = Bool.random(using: &random) ? "g" : "h"
    guard try world.json("/group/\(key)") != .null else { return }
    try world.set("/group/\(key)/message_count", .null)
    try world.set("/group/\(key)/pinned_count", "none")
    let context = ["group": (resource: "group", key: key)]
    let message: JSONValue = ["text": "x", "pinned": true]
    try world.perform(.create, "message", "extra", message, in: context)
    try #require(fault(in: world.tree.root) == nil)
    try world.set("/group/\(key)/message_count", .null)
    try world.perform(.destroy, "message", "extra", in: context)
  }

  /// An operation on one of few records, with some fields, in a context that may be short.
  static func operation(_ random: inout SeededRandom) throws -> ResourceOperation {
    func pick(_ texts: [String]) -> String {
      texts[Int.random(in: 0..<texts.count, using: &random)]
    }
    let context = [
      "group": (resource: "group", key: pick(["g", "h"])),
      "message": (resource: "message", key: pick(["m", "n", "o"])),
      "user": (resource: "user", key: pick(["ana", "bo"])),
    ]
    let kinds: [ResourceOperation.Kind] = [
      .create, .create, .update, .update, .destroy, .createOrUpdate(), .toggle(),
      .toggle(exists: true), .toggle(exists: false),
    ]
    let kind = kinds[Int.random(in: 0..<kinds.count, using: &random)]
    switch Int.random(in: 0..<10, using: &random) {
    case 0..<2:
      return try ResourceWorld.operation(
        kind, "user", pick(["ana", "bo"]), ["name": .string(pick(["A", "B"]))])
    case 2..<4:
      return try ResourceWorld.operation(
        kind, "group", pick(["g", "h"]), ["name": "G", "message_count": 99])
    case 4..<8:
      var members = [JSONMember("text", .string(pick(["x", "y"])))]
      if Bool.random(using: &random) {
        members.append(JSONMember("from", .string(pick(["ana", "bo"]))))
      }
      if Bool.random(using: &random) { members.append(JSONMember("pinned", true)) }
      if Int.random(in: 0..<4, using: &random) == 0 {
        members.append(JSONMember("from_name", "forged"))
      }
      return try ResourceWorld.operation(
        kind, "message", pick(["m", "n", "o"]), .object(members), in: context)
    default: return try ResourceWorld.operation(kind, "like", nil, ["at": 1], in: context)
    }
  }

  /// What does not follow from the records, counted from scratch without the registry.
  static func fault(in root: Node) -> String? {
    func children(_ text: String) -> [Child] { (try? Path(text)).map { root[$0].children } ?? [] }
    func number(_ node: Node, _ name: String) -> Int64 {
      guard case .number(let number)? = (try? Key(name)).flatMap({ node[$0].leaf }) else {
        return 0
      }
      return number.integer ?? -1
    }
    func field(_ node: Node, _ name: String) -> JSONValue {
      (try? Key(name)).map { node[$0].json } ?? nil
    }
    let messages = children("group_message").flatMap { group in
      group.node.children.map { (group: group.key, message: $0) }
    }
    for group in children("group") {
      let own = messages.filter { $0.group == group.key }.map(\.message.node)
      if number(group.node, "message_count") != own.count { return "messages of \(group.key)" }
      let pinned = own.count { field($0, "pinned") == true }
      if number(group.node, "pinned_count") != pinned { return "pinned of \(group.key)" }
    }
    for user in children("user") {
      let own = messages.count { field($0.message.node, "from") == .string(user.key.text) }
      if number(user.node, "message_count") != own { return "messages of \(user.key)" }
    }
    for (group, message) in messages {
      let likes = children("message_like/\(group)/\(message.key)").count
      if number(message.node, "like_count") != likes { return "likes of \(message.key)" }
      var name = JSONValue.null
      if case .string(let user) = field(message.node, "from") {
        name = children("user").first { $0.key.text == user }.map { field($0.node, "name") } ?? nil
      }
      if field(message.node, "from_name") != name { return "copy in \(message.key)" }
    }
    return nil
  }
}
