import RunnelServices
import RunnelServicesTree
package import RunnelTree
import RunnelWorkspace

extension ServicePlan {
  /// The place of a service in the replica; nil for a path that is too long for a key.
  package static func place(of service: String) -> Path? {
    guard let text = try? ServiceRecordCoding.key(for: service), let key = try? Key(text) else {
      return nil
    }
    return Path(unchecked: [key])
  }

  /// The places of the services in the replica.
  var places: Set<Path> { Set(services.compactMap(ServicePlan.place)) }

  /// Makes a view for each service, in their order: the one that was found in the replica, or one
  /// made from a sample.
  ///
  /// - Parameters:
  ///   - views: the views of what is in the replica.
  ///   - samples: records of services that are not in the replica.
  ///   - pageSize: the number of rows of a page.
  /// - Returns: the views.
  func views(
    found views: [ViewDefinition], _ samples: [CollectionSample], pageSize: Int
  ) -> [ViewDefinition] {
    services.compactMap { service in
      guard let place = ServicePlan.place(of: service) else { return nil }
      if var view = views.first(where: { $0.source.path == place }) {
        view.name = service
        return view
      }
      let sample =
        samples.first { $0.path == place }
        ?? CollectionSample(path: place, keys: [], records: [])
      return ViewInference.view(of: sample, named: service, pageSize: pageSize)
    }
  }
}
