import Foundation
public import RunnelTree
import RunnelWorkspace

/// The order in which the fields of records are columns of a table.
public struct ColumnOrder: Sendable {
  /// The order; fields that it does not name follow in the order in which records have them.
  let fields: FieldOrder

  /// The order in which records have their fields.
  public init() { fields = FieldOrder() }

  /// Finds the order of the records at a place: that of the view which shows them, in the views file beside
  /// the database; or else that of the table from which the database was made.
  ///
  /// A file that cannot be read gives no order.
  public init(ofChildrenOf path: Path, in database: String) {
    let suffix = FileState.databaseSuffix
    let hasSuffix = database.hasSuffix(suffix)
    let stem = hasSuffix ? String(database.dropLast(suffix.count)) : database
    let order = FieldOrder(
      ofRecordsIn: path, among: ColumnOrder.views(stem + Workspace.viewsSuffix))
    fields = order.isEmpty && hasSuffix ? FieldOrder(WrittenShape.columns(ofFile: stem)) : order
  }

  private static func views(_ file: String) -> [ViewDefinition] {
    guard let text = try? UserFile.text(of: file) else { return [] }
    return (try? ViewFile.reading(text, name: file, pageSize: Settings().pageSize).file.views) ?? []
  }
}

extension WrittenShape {
  /// Returns the columns of a file of separated values; none of another file, or of one that cannot be read.
  fileprivate static func columns(ofFile file: String) -> [FieldPath] {
    guard ExportFormat(fileName: file) == .csv,
      let handle = FileHandle(forReadingAtPath: file)
    else { return [] }
    // The file was only read, so an error of closing it loses nothing.
    defer { try? handle.close() }
    let bytes = (try? handle.read(upToCount: beginningBytes)) ?? Data()
    return WrittenShape(ofBeginning: String(decoding: bytes, as: UTF8.self), as: .csv).columns
  }
}
