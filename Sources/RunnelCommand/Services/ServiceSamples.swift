import RunnelApp
import RunnelBase
import RunnelDatabase
import RunnelServices
import RunnelServicesNetwork
import RunnelServicesTree
import RunnelTree
import RunnelWorkspace

/// Some records of services that a replica does not have yet, from which columns are found.
///
/// The server has a moment to send them: without them a list shows the ids only until the next
/// start.
struct ServiceSamples {
  private static let count = 10
  private static let waitMilliseconds: Int64 = 3_000

  private let file: String

  /// Makes the samples for a replica.
  init(_ file: String) { self.file = file }

  /// Reads a few records of each service of which the replica has none.
  ///
  /// - Throws: `DatabaseError` if the replica cannot be read; a server that does not answer is no
  ///   error.
  func read(_ plan: ServicePlan) throws -> [CollectionSample] {
    let session = try DatabaseSession(file: file, isReadOnly: true, environment: .system)
    let unknown = try plan.services.filter { service in
      guard let place = ServicePlan.place(of: service) else { return false }
      let query = try Query(place).ordered(by: .key).limited(to: 1, from: .first)
      return try session.rows(query, detail: .shallow).isEmpty
    }
    try session.close()
    if unknown.isEmpty { return [] }
    var hasty = plan
    hasty.access.retriesMax = 0
    hasty.access.callMilliseconds = ServiceSamples.waitMilliseconds
    hasty.access.socket.callMilliseconds = ServiceSamples.waitMilliseconds
    hasty.access.socket.waitMilliseconds = ServiceSamples.waitMilliseconds
    hasty.access.socket.isPatient = false
    let (asked, count) = (hasty, ServiceSamples.count)
    return try AsyncWork.wait {
      let samples = await ServiceSamples.read(unknown, count, by: asked.hastyApplication())
      // The server may have no Socket.IO.
      if !samples.isEmpty { return samples }
      return await ServiceSamples.read(unknown, count, by: asked.restApplication())
    }
  }

  private static func read(
    _ services: [String], _ count: Int, by app: Feathers
  ) async -> [CollectionSample] {
    defer { app.close() }
    var samples: [CollectionSample] = []
    for service in services {
      // The workspace tells what is wrong.
      guard let result = try? await app.service(service).find(ServiceQuery().limit(count)) else {
        break
      }
      if let sample = ServiceSamples.sample(result.records, of: service) { samples.append(sample) }
    }
    return samples
  }

  private static func sample(_ records: [JSONValue], of service: String) -> CollectionSample? {
    guard let place = ServicePlan.place(of: service) else { return nil }
    var (keys, nodes): ([Key], [Node]) = ([], [])
    for record in records.prefix(count) {
      let id = ["_id", "id", "uuid"].lazy.compactMap { record[$0].flatMap { ServiceID(json: $0) } }
        .first
      guard let id, let key = try? Key(ServiceRecordCoding.key(for: id.text)),
        let stored = try? ServiceRecordCoding.encoded(record), let node = try? Node(json: stored)
      else { continue }
      keys.append(key)
      nodes.append(node)
    }
    return CollectionSample(
      path: place, keys: keys, records: nodes.map(ValueCoding.services.sampled))
  }
}
