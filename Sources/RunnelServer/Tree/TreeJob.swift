import RunnelBase
import RunnelServices
import RunnelSync
import RunnelTree

/// A job for a served tree from a connection.
struct TreeJob: Sendable {
  /// The number of the connection, which is unique in the process.
  var connection: Int64
  var wish: Wish
  /// The room for the answers of a session; nil for other connections.
  var room: ReadRoom?

  enum Wish: Sendable {
    /// An operation of a session.
    case request(ServedRequest)
    /// An operation of a request over HTTP.
    case operation(RESTOperation, Caller)
    /// Put a spooled value at a place.
    case putSpooled(SpooledBody, Path, condition: String?, hashes: Bool, Caller)
    /// A call of a service.
    case service(ServiceTask)
    /// Tell the connection the events of services that a caller may see; nil: none any more.
    case attend(Caller?)
    /// End a stream.
    case endStream
    /// Load the file of the rules, which has changed.
    case takeRules
    /// No operation: take the writes of other processes.
    case look
    /// Do the disconnect requests of servers that ended without notice.
    case takeOver
    /// Write something that nobody sees, or remove it, to find out whether the disk takes it.
    case probe(isEnd: Bool)
  }

  /// True if the job only tries the disk.
  var isProbe: Bool { if case .probe = wish { true } else { false } }

  /// True if the job may write.
  var isWriting: Bool {
    switch wish {
    case .request(let request):
      switch request.operation {
      case .write, .writeIf, .compareAndSet, .keepForDisconnect, .doDisconnects, .leave: true
      case .listen, .unlisten, .get, .review: false
      }
    case .operation(let operation, _):
      switch operation {
      case .write, .push, .writeRules: true
      case .read, .readPriority, .stream, .putSpooled, .readRules: false
      }
    case .putSpooled, .takeOver, .probe: true
    case .service(let task): task.call.isWriting
    case .attend, .endStream, .takeRules, .look: false
    }
  }

  /// True if the job replaces the rules.
  var writesRules: Bool {
    if case .operation(.writeRules, _) = wish { true } else { false }
  }

  /// True if a client is told what the job reads, and the job writes nothing.
  var isReadForClient: Bool {
    switch wish {
    case .request(let request):
      switch request.operation {
      case .listen, .get: true
      default: false
      }
    case .operation, .service: !isWriting
    case .putSpooled, .attend, .endStream, .takeRules, .look, .takeOver, .probe: false
    }
  }

  /// True if the job is the end of something that was promised: it is done as soon as the storage is
  /// there again.
  var isOwed: Bool {
    guard case .request(let request) = wish else { return false }
    switch request.operation {
    case .doDisconnects, .leave: return true
    default: return false
    }
  }

  /// True if the job is the last one of a session.
  var isLeave: Bool {
    guard case .request(let request) = wish, case .leave = request.operation else { return false }
    return true
  }

  /// What people are told of a job that was not done, after which they may try again.
  ///
  /// What became of earlier attempts under the name of a write is not known while the storage does not answer.
  var nothingDone: String {
    if writesRules { return "nothing was done: the old rules are in force" }
    guard let name = writeName else { return "nothing was done" }
    return
      "this attempt did nothing. Whether an earlier one under the name \(name.client) \(name.number) was done "
      + "is not known; under that name it is done once"
  }

  /// What people are told of a job that was done before a file of the database was found to be lost.
  var doneBeforeLoss: String {
    let done =
      "This was written, and then a file of the database was found to be missing or replaced: look at the data "
      + "before it is tried again."
    return writeName.map { "\(done) Under the name \($0.client) \($0.number) it is done once." }
      ?? done
  }

  /// The name of the write that the job asks for; nil if it has none.
  private var writeName: WriteID? {
    switch wish {
    case .request(let request):
      switch request.operation {
      case .write(_, let name), .writeIf(_, _, let name), .compareAndSet(_, _, _, let name): name
      default: nil
      }
    case .operation(.write(_, _, let name, _), _), .operation(.push(_, _, let name, _), _): name
    default: nil
    }
  }

  /// True if the job is a write of a session, whose client sends it again if it was not done.
  var isSessionWrite: Bool {
    guard case .request(let request) = wish else { return false }
    switch request.operation {
    case .write, .writeIf, .compareAndSet: return true
    default: return false
    }
  }

  /// True if the job is a read of a session that has not taken the answers to earlier ones.
  var isWithoutRoom: Bool {
    guard let room, let request = readRequest else { return false }
    return room.isFull(for: request.id)
  }

  /// Notes the answer to a read of a session, among the messages about the job.
  func noteAnswer(in told: TreeTold) {
    guard let room, let request = readRequest else { return }
    for case (connection, .told(.answer(request.id, let answer))) in told {
      room.give(answer, to: request.id)
    }
  }

  /// The stream that the job begins; nil for other jobs.
  var streamed: (query: Query, form: TreeExport.Form, caller: Caller)? {
    guard case .operation(.stream(let query, let form), let caller) = wish else { return nil }
    return (query, form, caller)
  }

  /// The message that such a job is refused.
  func refused(_ error: TreeError) -> TreeNews {
    if let request = readRequest { return .told(.answer(request.id, .refused(error))) }
    return .answered(.answer(.refused(error)))
  }

  /// True if the job is a listen, a read or a stream that may be too large for the tree's thread.
  var isRead: Bool { readRequest != nil || streamed != nil }

  /// True if the job only takes the writes of other processes.
  var isLook: Bool { if case .look = wish { true } else { false } }

  /// What the job asks its storage for, as far as that can be told before; a query that shows all stands
  /// for its place.
  var expected: Query? {
    switch wish {
    case .request(let request):
      switch request.operation {
      case .listen(_, let query, _), .get(let query): return query
      default: break
      }
    case .operation(.read(let query, _, _, _), _), .operation(.stream(let query, _), _):
      return query
    default: break
    }
    return writtenPlace.map { Query($0) }
  }

  /// The place that the job may write; nil if it writes none, or is not known to.
  var writtenPlace: Path? {
    let write: Write
    switch wish {
    case .request(let request):
      switch request.operation {
      case .write(let asked, _), .writeIf(let asked, _, _): write = asked
      case .compareAndSet(let path, _, _, _): return path
      default: return nil
      }
    case .operation(.write(let asked, _, _, _), _): write = asked
    default: return nil
    }
    switch write {
    case .set(let path, _), .update(let path, _): return path
    case .copy, .move: return nil
    }
  }
}

/// A message of a served tree to a connection.
enum TreeNews: Sendable {
  /// An answer, or a change of a query that a session listens to.
  case told(ServedTold)
  /// A change of a query that all these members listen to; it is told to no connection by its number.
  case pushed([Audiences.Member], EncodedPush)
  /// The answer to a request over HTTP.
  case answered(RESTReply)
  /// A change of a streamed place.
  case changed(AudienceChange)
  /// The rules do not allow the stream any more.
  case revoked
  /// A write of the session was not done because the storage did not take it: the session ends, so that its
  /// client sends that write again before those that came after it.
  case writeFailed
  /// The client does not take its answers, and its listens must be checked again, which cannot wait for it.
  case unread
  /// The rules have changed: listens must be checked again.
  case rulesChanged
  /// The answer to a call of a service, by its number.
  case served(Int, Result<JSONValue, FeathersError>)
  /// The event of a service, as a message of Engine.IO.
  case serviceEvent([UInt8])
  /// Events were not told, because they were too many.
  case serviceEventsMissed
}

extension TreeNews {
  /// True if it answers the job of a connection.
  var isAnswer: Bool {
    switch self {
    case .told(.answer), .answered, .served: true
    default: false
    }
  }

  /// True if it answers that something was written.
  var saysDone: Bool {
    switch self {
    case .told(.answer(_, .done)), .answered(.answer(.written)), .answered(.answer(.pushed)),
      .answered(.answer(.rulesTaken)), .served(_, .success):
      true
    default: false
    }
  }
}

/// The answer to a request over HTTP.
enum RESTReply: Sendable {
  case answer(RESTAnswer)
  /// The read is allowed; the hash and the text.
  case content(hash: String?, text: [UInt8])
  /// The read is allowed, but too large for the tree's thread: it is read elsewhere.
  case large
}

/// Messages to connections, in order.
typealias TreeTold = [(connection: Int64, news: TreeNews)]
