/// A function that is kept in a lock.
///
/// A lock of the function itself wraps it anew each time it is read, and the wrappers pile up: each later call goes
/// through all of them.
struct Receiver<Value>: Sendable {
  let take: @Sendable (Value) -> Void
}
