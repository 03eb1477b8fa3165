import RunnelStreams
import RunnelTree

// Requests to a database, carried out on the caller's thread: for programs without a thread for the
// tree, and for the thread of `Database`.

extension DatabaseSession {
  /// Carries out a request; returns the resulting messages, in order.
  ///
  /// It handles neither messages from a replica's origin nor commands for it; see `Database`.
  package func answer(_ request: DatabaseRequest) -> [DatabaseMessage] {
    let messages = messages(for: request)
    return messages + [takePendingNews(), takeRefusedNews(), takeLossNews()].compactMap(\.self)
  }

  private func messages(for request: DatabaseRequest) -> [DatabaseMessage] {  // tidy:table
    switch request {
    case .listen(let listener, let request):
      return answer(for: listener) { try listen(listener, request) }
    case .unlisten(let listener):
      unlisten(listener)
      return []
    case .extend(let listener, let count):
      return answer(for: listener) { try extend(listener, by: count) }
    case .write(let number, let write):
      return answer(number) {
        let deliveries = try self.write(write)
        return (deliveries, .written(number, key: nil, entry: context.newestEntryID))
      }
    case .push(let number, let path, let json):
      return answer(number) {
        let (key, deliveries) = try push(json, to: path)
        return (deliveries, .written(number, key: key, entry: context.newestEntryID))
      }
    case .pushAll(let number, let path, let values):
      return answer(number) {
        let deliveries = try push(all: values, to: path)
        return (deliveries, .written(number, key: nil, entry: context.newestEntryID))
      }
    case .perform(let number, let operation, let registry):
      return answer(number) { DatabaseSession.answer(number, try perform(operation, in: registry)) }
    case .undo(let number, let entry, let registry):
      return answer(number) { DatabaseSession.answer(number, try undo(entry, in: registry)) }
    case .writeIf(let number, let write, let conditions):
      return answer(number) {
        let deliveries = try self.write(write, if: conditions)
        return (deliveries, .written(number, key: nil, entry: context.newestEntryID))
      }
    case .performIf(let number, let operation, let registry, let conditions):
      return answer(number) {
        let outcome = try perform(operation, in: registry, if: conditions)
        return DatabaseSession.answer(number, outcome)
      }
    case .undoWrite(let number, let entry, let registry):
      return answer(number) {
        let undone = try undoWhatStands(entry, in: registry)
        let newest = context.newestEntryID
        guard let partial = undone.partial else {
          return (undone.deliveries, .written(number, key: nil, entry: newest))
        }
        return (undone.deliveries, .undonePartly(number, entry: newest, partial))
      }
    case .history(let number, let path, let id, let count):
      return answer(number) {
        ([], .history(number, try historyPage(of: path, before: id, count: count)))
      }
    case .dropPending(let number, let id):
      return answer(number) {
        (try dropPendingWrite(id), .written(number, key: nil, entry: nil))
      }
    case .dropRefused(let number, let id):
      return answer(number) {
        (try dropRefusedWrite(id), .written(number, key: nil, entry: nil))
      }
    case .taking(let taking, let request):
      return self.taking(taking) { messages(for: request) }
    case .get(let number, let path):
      return answer(number) { ([], .found(number, try node(at: path))) }
    case .excerpt(let number, let path, let textMax, let countMax):
      return answer(number) {
        ([], .excerpt(number, try excerpt(of: path, textMax: textMax, countMax: countMax)))
      }
    case .search(let number, let query):
      return answer(number) { ([], .rows(number, try rows(query))) }
    case .level(let number, let query):
      return answer(number) { ([], .rows(number, try rows(query, detail: .shallow))) }
    case .orders(let number, let path):
      return answer(number) { ([], .orders(number, try presentOrders(of: path))) }
    case .copyPages(let number, let file):
      return answer(number) { ([], .copying(number, try copyPages(to: file))) }
    case .endCopy(let file):
      endCopy(to: file)
      return []
    case .connectOrigin, .disconnectOrigin, .receive: return []
    }
  }

  /// The messages about writes of other processes since the last call.
  package func news() -> [DatabaseMessage] {
    let returned = [takeReturnNews()].compactMap(\.self)
    do {
      return returned + DatabaseSession.messages(try catchUp())
        + [takePendingNews(), takeRefusedNews()].compactMap(\.self)
    } catch {
      if !returned.isEmpty { return returned }
      if fileLoss != nil { return [takeLossNews()].compactMap(\.self) }
      return [.stale(DatabaseError(error, file: file))]
    }
  }

  private func answer(
    for listener: ListenerID, _ body: () throws -> [Delivery]
  ) -> [DatabaseMessage] {
    do {
      return DatabaseSession.messages(try body())
    } catch {
      return [.failed(listener, DatabaseError(error, file: file))]
    }
  }

  private func answer(
    _ number: Int, _ body: () throws -> (deliveries: [Delivery], message: DatabaseMessage)
  ) -> [DatabaseMessage] {
    do {
      let result = try body()
      return DatabaseSession.messages(result.deliveries) + [result.message]
    } catch let error as ResourceError {
      return [.resourceRefused(number, error)]
    } catch {
      return [.refused(number, DatabaseError(error, file: file))]
    }
  }

  private static func answer(
    _ number: Int, _ outcome: ResourceOutcome
  ) -> (deliveries: [Delivery], message: DatabaseMessage) {
    (outcome.deliveries, .performed(number, outcome.plan))
  }

  private static func messages(_ deliveries: [Delivery]) -> [DatabaseMessage] {
    deliveries.isEmpty ? [] : [.deliveries(deliveries)]
  }
}
