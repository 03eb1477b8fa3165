import CPostgres

/// The warnings of a connection's server, which libpq would print otherwise.
final class NoticeLog {
  private let pq: UnsafePointer<runnel_pq>
  /// The code of the last warning; nil for none.
  var warningState: String?

  init(_ pq: UnsafePointer<runnel_pq>) { self.pq = pq }

  /// Takes a notice; the context is a log that lives as long as the connection.
  static let receiver: @convention(c) (UnsafeMutableRawPointer?, OpaquePointer?) -> Void = {
    context, notice in
    guard let context, let notice else { return }
    Unmanaged<NoticeLog>.fromOpaque(context).takeUnretainedValue().take(notice)
  }

  private func take(_ notice: OpaquePointer) {
    guard let text = pq.pointee.PQresultErrorField(notice, Int32(RUNNEL_PQ_SQLSTATE)) else {
      return
    }
    let state = String(cString: text)
    if state.hasPrefix("01") { warningState = state }
  }
}
