import NIOCore

/// A thread on which connections are served.
///
/// A connection stays on its loop: all its work happens there.
public struct NetworkLoop: Hashable, Sendable {
  let eventLoop: any EventLoop

  init(_ eventLoop: any EventLoop) { self.eventLoop = eventLoop }

  /// Runs `work` on the loop, after everything submitted before; returns at once.
  ///
  /// Any thread may call it.
  public func run(_ work: @escaping @Sendable () -> Void) { eventLoop.execute(work) }

  /// True if both are the same thread.
  public static func == (left: NetworkLoop, right: NetworkLoop) -> Bool {
    left.eventLoop === right.eventLoop
  }

  /// Hashes the identity of the thread.
  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(eventLoop)) }
}

/// A value that belongs to one loop; other threads may pass it around, but not use it.
public struct LoopBound<Value>: Sendable {
  /// The loop.
  public let loop: NetworkLoop
  private let bound: NIOLoopBound<Value>

  /// Binds a value to the current loop.
  public init(_ value: Value, to loop: NetworkLoop) {
    self.loop = loop
    bound = NIOLoopBound(value, eventLoop: loop.eventLoop)
  }

  /// The value; traps on any thread other than its loop's.
  public var value: Value { bound.value }
}

/// The monotonic clock of deadlines.
public enum NetworkClock {
  /// Milliseconds since an arbitrary moment.
  public static var uptimeMilliseconds: Int64 {
    Int64(NIODeadline.now().uptimeNanoseconds / 1_000_000)
  }
}

/// The single deadline of a connection, which may be moved.
///
/// Loop only.
final class LoopTimer {
  private let eventLoop: any EventLoop
  private var scheduled: Scheduled<Void>?
  private var scheduledTime: Int64?
  private(set) var time: Int64?
  /// The function that is called at the deadline; it may set another one.
  var fire: (() -> Void)?

  init(_ eventLoop: any EventLoop) { self.eventLoop = eventLoop }

  /// Sets the deadline, in milliseconds on `NetworkClock`; nil for none.
  func set(_ time: Int64?) {
    self.time = time
    guard let time else { return }
    // An earlier timer reschedules itself when it fires.
    if let scheduledTime, scheduledTime <= time { return }
    scheduled?.cancel()
    scheduledTime = time
    let bound = NIOLoopBound(self, eventLoop: eventLoop)
    scheduled = eventLoop.scheduleTask(
      deadline: .uptimeNanoseconds(UInt64(max(0, time)) * 1_000_000)
    ) { bound.value.look() }
  }

  /// Cancels the timer.
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

/// A deadline of its own on a loop, for what outlives single connections.
///
/// Loop only.
package final class NetworkAlarm {
  private let timer: LoopTimer

  /// Makes an alarm without a deadline.
  ///
  /// - Parameters:
  ///   - loop: the loop.
  ///   - fire: called at the deadline, on the loop; it may set another one.
  package init(_ loop: NetworkLoop, fire: @escaping () -> Void) {
    timer = LoopTimer(loop.eventLoop)
    timer.fire = fire
  }

  /// Sets the deadline, in milliseconds on `NetworkClock`; nil for none.
  package func set(_ time: Int64?) { timer.set(time) }

  /// Ends the alarm, which never fires again.
  package func end() { timer.end() }
}
