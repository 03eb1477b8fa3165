private import Synchronization

/// An ordered, bounded queue from many producers to one consumer, which is woken when it fills.
///
/// Rules:
/// - Messages are drained in the order in which `post` took them; those of one thread keep theirs.
/// - `wake` is called by the `post` that finds the queue empty, and by no other: once for all the
///   messages up to the next `drain`. It runs on the posting thread, with no lock held, after the
///   message is in the queue. If a drain comes in between, the consumer is woken and finds no
///   message.
/// - A full queue refuses: `post` returns false and does not take the message. The consumer is not
///   woken again, since the first message woke it. The producer decides what to do: wait, merge, or
///   ask the consumer to read everything again.
public final class Inbox<Message: Sendable>: Sendable {
  /// The most messages that wait.
  public let limit: Int

  private let wake: @Sendable () -> Void
  private let messages = Mutex<[Message]>([])

  /// Makes an empty queue of at most `limit` messages, which is 1 or more.
  ///
  /// `wake` is called from any thread, must not wait for the consumer, and may post.
  public init(limit: Int, wake: @escaping @Sendable () -> Void) {
    precondition(limit > 0, "An inbox has room for a message.")
    self.limit = limit
    self.wake = wake
  }

  /// Puts a message at the end; false, and nothing happens, if the queue is full.
  ///
  /// Any thread may call it.
  public func post(_ message: Message) -> Bool { post(contentsOf: CollectionOfOne(message)) == 1 }

  /// Puts messages at the end, as many as there is room for; returns how many, the first ones.
  ///
  /// No other message comes between them, and a drain takes all of these or none.
  package func post(contentsOf new: some Collection<Message>) -> Int {
    if new.isEmpty { return 0 }
    let (countBefore, room) = messages.withLock { messages in
      let count = messages.count
      let room = min(limit - count, new.count)
      messages += new.prefix(room)
      return (count, room)
    }
    if countBefore == 0 { wake() }
    return room
  }

  /// Takes all messages out, oldest first; empty if there are none.
  ///
  /// One thread at a time, the consumer, may call it.
  public func drain() -> [Message] {
    messages.withLock { messages in
      let taken = messages
      messages = []
      return taken
    }
  }
}
