import RunnelBase
import RunnelDatabase
import RunnelStreams
import RunnelTree

/// What it costs to create a record with two counters and an entry of the log, beside a plain write of
/// the record.
struct ResourceBenchmark {
  private static let recordCount = 1000

  let folder: TemporaryFolder

  func run(into report: inout Report) throws {
    let session = try DatabaseSession(file: folder.file("resource.db"), environment: .live)
    let registry = try ResourceBenchmark.registry()
    let group = try ResourceObject("group", key: "g", value: ["name": "Allotment"])
    let user = try ResourceObject("user", key: "zoe", value: ["name": "Zoe"])
    for object in [group, user] {
      _ = try session.perform(ResourceOperation(.create, object), in: registry)
    }
    let plain = try Path("/plain/g")
    var (ours, theirs) = (Samples(), Samples())
    for number in 0..<ResourceBenchmark.recordCount {
      let message = WriteBenchmark.message(number)
      let operation = ResourceOperation(
        .create, ResourceObject("message", value: message), in: ["group": group])
      _ = try ours.measure { try session.perform(operation, in: registry) }
      _ = try theirs.measure { try session.push(message, to: plain) }
    }
    let count = JSONValue.number(JSONNumber(Int64(ResourceBenchmark.recordCount)))
    guard try session.node(at: Path("/group/g/message_count")).json == count,
      try session.audit(registry)?.isInStep == true
    else { throw BenchmarkError("The counters are not the counts.") }
    try session.close()
    report.add(
      "a record with two counters and a log entry", Format.time(ours.median),
      baseline: Format.time(theirs.median), ratio: ours.median / theirs.median, aim: .atMost(2.5))
  }

  private static func registry() throws -> ResourceRegistry {
    var registry = ResourceRegistry()
    try registry.resource("group", path: "/group/@")
    try registry.resource("user", path: "/user/@")
    try registry.resource(
      "message", path: "/group_message/$group/@",
      schema: ResourceSchema([try FieldRule("from", .reference("user"))]))
    try registry.counter("group", name: "message_count", counting: "message")
    try registry.counter("user", name: "message_count", counting: "message")
    try registry.log(at: "/action")
    return registry
  }
}
