/// The name of a write, by which it is carried out once however often it is sent.
///
/// A writer that cannot know whether a write was carried out (it was interrupted, or the answer was
/// lost) sends it again under the same name. The names belong to the file: they hold after it was
/// opened anew, and for every process.
///
/// A client numbers its writes from 1 upwards. What is remembered of one client: the number up to which
/// all were carried out without a gap, and the 1000 highest beyond it. A write below these that may have
/// been carried out or not is refused with `forgotten`; it is never done twice, and never left undone
/// in silence.
///
/// A write on a replica that its origin refuses, or that is given up, was not carried out: its name is
/// free, and a write of that name is a new one. While a write is pending, so is whatever bears its name.
public struct WriteID: Hashable, Sendable {
  /// The most bytes of UTF-8 in the name of a client.
  public static let clientBytesMax = 128

  /// Who writes: a name that no other writer uses, of 1 to 128 bytes of UTF-8.
  public let client: String
  /// Which of the client's writes: from 1.
  public let number: Int64

  /// Makes a name; nil if the client's is empty or too long, or the number is less than 1.
  public init?(client: String, number: Int64) {
    guard number >= 1, (1...WriteID.clientBytesMax).contains(client.utf8.count) else { return nil }
    self.client = client
    self.number = number
  }
}
