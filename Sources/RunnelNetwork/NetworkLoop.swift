import NIOCore

/// One of the threads on which connections are served.
///
/// A connection stays on its loop: all that it does, and all that is done with it, happens there.
public struct NetworkLoop: Hashable, Sendable {
  let eventLoop: any EventLoop

  init(_ eventLoop: any EventLoop) { self.eventLoop = eventLoop }

  /// Runs `work` on the loop, after what was given before; returns at once.
  ///
  /// Any thread may call it.
  public func run(_ work: @escaping @Sendable () -> Void) { eventLoop.execute(work) }

  /// Two are equal if they are the same thread.
  public static func == (left: NetworkLoop, right: NetworkLoop) -> Bool {
    left.eventLoop === right.eventLoop
  }

  /// Hashes the identity of the thread.
  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(eventLoop)) }
}

/// A value of one loop, which others pass around and do not touch.
public struct LoopBound<Value>: Sendable {
  /// The loop.
  public let loop: NetworkLoop
  private let bound: NIOLoopBound<Value>

  /// Binds a value to the loop that this is called on.
  public init(_ value: Value, to loop: NetworkLoop) {
    self.loop = loop
    bound = NIOLoopBound(value, eventLoop: loop.eventLoop)
  }

  /// The value; traps on any other thread than its loop.
  public var value: Value { bound.value }
}

/// The clock that never goes back, on which deadlines are.
public enum NetworkClock {
  /// Milliseconds since any moment.
  public static var uptimeMilliseconds: Int64 {
    Int64(NIODeadline.now().uptimeNanoseconds / 1_000_000)
  }
}

/// The one deadline of a connection, which may be moved.
///
/// Loop only.
final class LoopTimer {
  private let eventLoop: any EventLoop
  private var scheduled: Scheduled<Void>?
  private var scheduledTime: Int64?
  private(set) var time: Int64?
  /// What is done at the deadline; it is to set another one if there is one.
  var fire: (() -> Void)?

  init(_ eventLoop: any EventLoop) { self.eventLoop = eventLoop }

  /// Sets the deadline, in milliseconds on `NetworkClock`; nil for none.
  func set(_ time: Int64?) {
    self.time = time
    guard let time else { return }
    // One that is due earlier finds out when it is.
    if let scheduledTime, scheduledTime <= time { return }
    scheduled?.cancel()
    scheduledTime = time
    let bound = NIOLoopBound(self, eventLoop: eventLoop)
    scheduled = eventLoop.scheduleTask(
      deadline: .uptimeNanoseconds(UInt64(max(0, time)) * 1_000_000)
    ) { bound.value.look() }
  }

  /// Ends it.
  func end() {
    scheduled?.cancel()
    (scheduled, scheduledTime, time, fire) = (nil, nil, nil, nil)
  }

  private func look() {
    (scheduled, scheduledTime) = (nil, nil)
    guard let time else { return }
    if time <= NetworkClock.uptimeMilliseconds {
      self.time = nil
      fire?()
    } else {
      set(time)
    }
  }
}
