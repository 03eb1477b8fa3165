import Logging
import RunnelBase
import RunnelDatabase
import RunnelSync
import RunnelTree
import Synchronization

// MARK: Rules

extension ServedDatabase {
  /// True if there are no rules.
  nonisolated var isOpen: Bool { isOpenToAll.withLock { $0 } }

  /// The current rules.
  nonisolated var rules: RulesEngine? { currentRules.withLock { $0 } }

  static func indexes(of rules: RulesEngine) -> [IndexDefinition] {
    rules.indexes.compactMap { IndexDefinition(pattern: $0.pattern, serving: $0.order) }
  }

  /// Applies the rules in a request, after writing their file.
  func write(
    _ text: [UInt8], _ isDryRun: Bool, _ connection: Int64, _ tree: inout ServedTree,
    _ transaction: any ServedTransaction
  ) throws -> TreeTold {
    let rules: RulesEngine
    do throws(RulesError) {
      rules = try RulesEngine(parsing: text)
    } catch {
      return [(connection, .answered(.answer(.rulesRefused(error.wireText))))]
    }
    var told: TreeTold = []
    if !isDryRun {
      if let file = place.rulesFile {
        do throws(ServerError) {
          try file.write(text)
        } catch {
          return [(connection, .answered(.answer(.refused(refusal(of: error)))))]
        }
      } else {
        let now = max(calendar(), transaction.earliestTime)
        try transaction.writeRules(String(decoding: text, as: UTF8.self), now: now)
      }
      told = take(rules, &tree, transaction)
      logger.info("\(name): the rules were replaced by a request")
    }
    return told + [(connection, .answered(.answer(.rulesTaken)))]
  }

  /// What is told of rules that could not be written; the cause names files of the server, so it is only logged.
  private func refusal(of failure: ServerError) -> TreeError {
    logger.error("\(name): the old rules stay: \(failure)")
    let reason =
      failure.isOfSpace
      ? "The disk of the server has no space left" : "The file of the rules cannot be written"
    return TreeError(
      .unavailable, "\(reason), and the old rules are in force: try again later.")
  }

  /// Applies the rules of the file, which has changed; invalid rules are logged, and not applied.
  ///
  /// The file is read here, between two writes: a request may have replaced it since the change was noticed, and
  /// what was read before would bring the earlier rules back.
  func takeRules(
    _ tree: inout ServedTree, _ transaction: any ServedTransaction
  ) throws -> TreeTold {
    guard let file = place.rulesFile else { return [] }
    let found: [UInt8]?
    do throws(ServerError) {
      found = try file.bytes()
    } catch {
      logger.error("\(name): \(error)")
      return []
    }
    guard let text = found else {
      logger.error("\(name): \(place.rulesName) does not exist any more; its rules stay in force.")
      return []
    }
    if tree.rules?.source == text { return [] }
    do throws(RulesError) {
      let told = take(try RulesEngine(parsing: text), &tree, transaction)
      logger.info("\(name): \(place.rulesName) was loaded")
      return told
    } catch {
      let mistakes = error.text(file: place.rulesName)
      logger.error("\(name): the old rules stay, because the new ones have mistakes:\n\(mistakes)")
      return []
    }
  }

  func take(
    _ rules: RulesEngine, _ tree: inout ServedTree, _ transaction: any ServedTransaction
  ) -> TreeTold {
    let rules = allowance.bounded(rules)
    // The indexes are made after the transaction has ended.
    executor.submit { self.assumeIsolated { $0.declareIndexes(of: rules) } }
    var told = tree.take(rules)
    do {
      told += try tree.reviewStreams(now: calendar(), transaction)
    } catch {
      logger.error("\(name): \(error)")
    }
    return told
  }

  /// Tells other threads the rules, once the transaction that replaced them is committed.
  func publishRules() {
    guard let rules = tree.rules else { return }
    isOpenToAll.withLock { $0 = false }
    currentRules.withLock { current in
      if current?.source != rules.source { current = rules }
    }
  }

  func declareIndexes(of rules: RulesEngine) {
    if isClosed { return }
    do {
      try storage.declareIndexes(ServedDatabase.indexes(of: rules))
    } catch {
      // The other store has its own.
      if storage.isMoved(error) { return }
      if storage.isFrozen(error) { return declareIndexesLater() }
      logger.error("\(name): the indexes of the rules were not made: \(error)")
    }
  }

  /// Declares the indexes of the rules that are in force then.
  private func declareIndexesLater() {
    executor.submit(afterMilliseconds: ServedDatabase.retryMilliseconds) { [weak self] in
      self?.assumeIsolated { database in
        if let rules = database.tree.rules { database.declareIndexes(of: rules) }
      }
    }
  }

  /// Applies what others have stored beside the tree: the rules, the secrets and the service accounts.
  func takeSettings(
    _ tree: inout ServedTree, _ transaction: any ServedTransaction
  ) throws -> TreeTold {
    if let receiver = accessReceiver.withLock(\.self) {
      do {
        receiver.take(try StoredAccess(transaction, of: place.name))
      } catch let error as ServerError {
        logger.error("\(name): \(error.message)")
      }
    }
    return try takeStoredRules(&tree, transaction)
  }

  private func takeStoredRules(
    _ tree: inout ServedTree, _ transaction: any ServedTransaction
  ) throws -> TreeTold {
    guard let text = try transaction.rulesText() else { return [] }
    if tree.rules?.source == Array(text.utf8) { return [] }
    do throws(ServerError) {
      let told = take(try ServedDatabase.rules(text, of: place), &tree, transaction)
      logger.info("\(name): the rules in the store have changed, and are in force")
      return told
    } catch {
      logger.error("\(name): \(error.message)")
      return []
    }
  }

  /// The rules of a text that is stored with the database.
  static func rules(_ text: String, of place: ServedPlace) throws(ServerError) -> RulesEngine {
    do throws(RulesError) {
      return try RulesEngine(parsing: Array(text.utf8))
    } catch {
      throw ServerError(
        "The rules of \(place.name) cannot be loaded.\n\(error.text(file: place.rulesName))")
    }
  }
}
