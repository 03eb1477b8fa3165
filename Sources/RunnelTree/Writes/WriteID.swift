/// The name of a write, under which it is carried out once, however often it is sent.
///
/// A writer that cannot know whether a write was carried out (it was interrupted, or the answer was
/// lost) sends it again under the same name. The names are kept in the file: they hold after it is
/// reopened, and for every process.
///
/// A client numbers its writes from 1 upwards. For each client the file keeps the number up to
/// which all writes were carried out without a gap, and the 1000 highest numbers beyond it. If a
/// write with a lower number may or may not have been carried out, it is refused with `forgotten`:
/// it is never done twice, and never silently left undone.
///
/// If the origin of a replica refuses a write, or the write is given up, it was not carried out:
/// its name is free, and a write with that name is a new one. While a write is pending, another one
/// with its name is not carried out.
public struct WriteID: Hashable, Sendable {
  /// The most bytes of UTF-8 in the name of a client.
  public static let clientBytesMax = 128

  /// The client: a name that no other client uses, of 1 to 128 bytes of UTF-8.
  public let client: String
  /// The number of the write among the client's, from 1.
  public let number: Int64

  /// Makes a name; nil if the client's is empty or too long, or the number is less than 1.
  public init?(client: String, number: Int64) {
    guard number >= 1, (1...WriteID.clientBytesMax).contains(client.utf8.count) else { return nil }
    self.client = client
    self.number = number
  }
}
