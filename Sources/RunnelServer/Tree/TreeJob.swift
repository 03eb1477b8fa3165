import RunnelSync
import RunnelTree

/// What a connection wants of a served tree.
struct TreeJob: Sendable {
  /// The number of the connection, which no other one of the process has or had.
  var connection: Int64
  var wish: Wish

  enum Wish: Sendable {
    /// An operation of a session.
    case request(ServedRequest)
    /// What a request over HTTP wants.
    case operation(RESTOperation, Caller)
    /// What was spooled is put at a place.
    case putSpooled(SpooledBody, Path, condition: String?, hashes: Bool, Caller)
    /// A stream is told no more.
    case endStream
    /// Other rules hold from now on; nil for none.
    case takeRules([UInt8]?)
    /// Nothing: others wrote.
    case look
  }

  /// True if it may write.
  var isWriting: Bool {
    switch wish {
    case .request(let request):
      switch request.operation {
      case .write, .compareAndSet, .keepForDisconnect, .leave: true
      case .listen, .unlisten, .get, .review: false
      }
    case .operation(let operation, _):
      switch operation {
      case .write, .push: true
      case .read, .stream, .putSpooled, .readRules, .writeRules: false
      }
    case .putSpooled: true
    case .endStream, .takeRules, .look: false
    }
  }
}

/// What a served tree tells a connection.
enum TreeNews: Sendable {
  /// An answer, or a change of what a session listens to.
  case told(ServedTold)
  /// The answer to a request over HTTP.
  case answered(RESTReply)
  /// A change of what a stream shows.
  case changed(AudienceChange)
  /// The rules do not allow the stream any more.
  case revoked
  /// Other rules hold: what is listened to is to be checked again.
  case rulesChanged
}

/// The answer to a request over HTTP.
enum RESTReply: Sendable {
  case answer(RESTAnswer)
  /// What was asked for may be read, with its hash and its text.
  case content(hash: String?, text: [UInt8])
  /// What was asked for may be read, and is too much for the tree's thread: others read it.
  case large
}

/// What is told, in order.
typealias TreeTold = [(connection: Int64, news: TreeNews)]
