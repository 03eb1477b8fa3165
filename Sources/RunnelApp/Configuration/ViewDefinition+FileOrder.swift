import Foundation
import RunnelTree
import RunnelWorkspace

extension ViewDefinition {
  /// Returns the view of a data file with its columns in the order of the file, as far as that is known;
  /// the key comes first, and what the file has no column for comes last.
  ///
  /// Columns of separated values have an order; any other file leaves the view as it is. Only the
  /// beginning of the file is read. A file that cannot be read has no order.
  func ordered(asIn file: String) -> ViewDefinition {
    guard let format = ExportFormat(fileName: file), format == .csv,
      let handle = FileHandle(forReadingAtPath: file)
    else { return self }
    defer { try? handle.close() }
    let bytes = (try? handle.read(upToCount: WrittenShape.beginningBytes)) ?? Data()
    let text = String(decoding: bytes, as: UTF8.self)
    return ordered(asIn: WrittenShape(ofBeginning: text, as: format))
  }

  private func ordered(asIn shape: WrittenShape) -> ViewDefinition {
    var shape = shape
    let fields = shape.columns(for: columns.map(\.field))
    func place(_ column: ColumnDefinition) -> Int {
      column.field == .key ? -1 : fields.firstIndex(of: column.field) ?? fields.count
    }
    var view = self
    view.columns = columns.enumerated()
      .sorted { (place($0.element), $0.offset) < (place($1.element), $1.offset) }
      .map(\.element)
    return view
  }
}
