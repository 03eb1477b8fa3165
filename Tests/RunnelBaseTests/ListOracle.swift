@testable import RunnelBase

/// The rules of a list, followed the slow and obvious way: every line laid out, every id looked up.
struct ListOracle: Equatable {
  enum Line: Equatable {
    case item(ListItem)
    case text(String)

    var item: ListItem? {
      if case .item(let item) = self { item } else { nil }
    }

    var isHeader: Bool {
      if case .item(.header) = self { true } else { false }
    }
  }

  var cursor: ListItem?
  var top = 0
  var folded: Set<String> = []
  var isFollowing = false
  var newAbove: Set<String> = []
  var newBelow: Set<String> = []

  func lines(_ content: ListContent) -> [Line] {
    content.sections.enumerated().flatMap { index, section -> [Line] in
      let header = [Line.item(.header(section.id))]
      if folded.contains(section.id) { return header }
      if section.rows.isEmpty {
        return header + (section.emptyText == nil ? [] : [.text(section.id)])
      }
      var rows = section.rows.map { Line.item(.row($0)) }
      if let divider = content.divider, divider.section == index,
        (0...rows.count).contains(divider.row)
      {
        rows.insert(.text("divider"), at: divider.row)
      }
      return header + rows
    }
  }

  /// The numbers of the lines in sight.
  func visible(_ content: ListContent, _ height: Int) -> [Int] {
    let lines = lines(content)
    return (0..<height).map { top + $0 }.filter { number in
      guard lines.indices.contains(number) else { return false }
      return !(number == top && height > 1 && !lines[number].isHeader)
    }
  }

  /// Scrolls one line at a time until the rules hold, then sorts the new rows anew.
  mutating func settle(_ content: ListContent, _ height: Int, _ candidates: Set<String>) {
    let lines = lines(content)
    while top + height > lines.count { top -= 1 }
    while top < 0 { top += 1 }
    if let cursor, let line = lines.firstIndex(of: .item(cursor)) {
      while top + height <= line { top += 1 }
      while !visible(content, height).contains(line) { top -= 1 }
    }
    let visible = visible(content, height)
    newAbove = []
    newBelow = []
    for (number, line) in lines.enumerated() {
      guard case .item(.row(let id)) = line, candidates.contains(id), !visible.contains(number)
      else { continue }
      if number <= top {
        newAbove.insert(id)
      } else {
        newBelow.insert(id)
      }
    }
  }

  mutating func settle(_ content: ListContent, _ height: Int) {
    settle(content, height, newAbove.union(newBelow))
  }

  // MARK: - Movement

  mutating func move(by count: Int, _ content: ListContent, _ height: Int) {
    let items = lines(content).compactMap(\.item)
    guard let cursor, let index = items.firstIndex(of: cursor) else { return }
    self.cursor = items[min(max(index + count, 0), items.count - 1)]
    settle(content, height)
  }

  mutating func scroll(by count: Int, _ content: ListContent, _ height: Int) {
    guard let old = cursor else { return }
    let lines = lines(content)
    top = min(max(top + count, 0), max(0, lines.count - height))
    let visible = visible(content, height)
    let number = lines.firstIndex(of: .item(old)) ?? 0
    if let first = visible.first, number < first {
      cursor = lines[first...].compactMap(\.item).first ?? lines.compactMap(\.item).last
    } else if let last = visible.last, number > last {
      cursor = lines[...last].compactMap(\.item).last
    }
    settle(content, height)
  }

  mutating func resize(_ content: ListContent, _ height: Int) {
    settle(content, height)
  }

  mutating func toggleFold(_ id: String, _ content: ListContent, _ height: Int) {
    let before = lines(content)
    let section = content.sections.first { $0.id == id }
    guard let section, let header = before.firstIndex(of: .item(.header(id))) else { return }
    let isDivided =
      before.contains(.text("divider")) && content.divider?.section == content.index(ofSection: id)
    let length = max(section.rows.count, 1) + (isDivided ? 1 : 0)
    let isSticky =
      height > 1 && header < top && header + (folded.contains(id) ? 0 : length) >= top
    let offset = header - top
    let cursorOffset = (before.firstIndex { $0.item == cursor } ?? 0) - top
    let isInside = section.rows.contains { cursor == .row($0) }
    if folded.remove(id) == nil { folded.insert(id) }
    if isInside && folded.contains(id) { cursor = .header(id) }
    let after = lines(content)
    if isSticky || (offset >= 0 && offset < height) || (isInside && folded.contains(id)) {
      top = (after.firstIndex(of: .item(.header(id))) ?? 0) - max(0, offset)
    } else {
      top = (after.firstIndex { $0.item == cursor } ?? 0) - cursorOffset
    }
    let rows = folded.contains(id) ? Set(section.rows) : []
    settle(content, height, newAbove.union(newBelow).subtracting(rows))
  }

  // MARK: - Batches

  mutating func apply(
    _ update: BatchUpdate, _ old: ListContent, _ new: ListContent, _ height: Int,
    _ newRows: Set<String>
  ) {
    let before = lines(old)
    let after = lines(new)
    let visible = visible(old, height)
    let unmoved = unmovedItems(update, old, new)
    let number = before.firstIndex { $0.item == cursor && cursor != nil }
    let wasAtEnd = isFollowing && cursor == before.compactMap(\.item).last
    let cursorOffset = (number ?? 0) - top
    let next = successor(of: cursor, update, old, new, unmoved)

    var anchored: Int?
    if let number {
      let order =
        [number] + visible.filter { $0 > number } + visible.filter { $0 < number }.reversed()
      for line in order {
        guard let item = before[line].item, unmoved.contains(item),
          let now = after.firstIndex(of: .item(item))
        else { continue }
        anchored = now - (line - top)
        break
      }
    }
    let wasShort = before.count < height
    let fallback = (after.firstIndex { $0.item == next && next != nil } ?? 0) - cursorOffset
    top = wasShort || after.isEmpty ? 0 : anchored ?? fallback
    cursor = wasAtEnd ? after.compactMap(\.item).last : next
    settle(new, height, newAbove.union(newBelow).union(newRows))
  }

  /// The items that the batch left in their order, whether folded or not.
  private func unmovedItems(
    _ update: BatchUpdate, _ old: ListContent, _ new: ListContent
  ) -> Set<ListItem> {
    var items: Set<ListItem> = []
    let movedSections = update.movedSections.map(\.from)
    let movedRows = update.movedRows.map(\.from)
    for (section, content) in old.sections.enumerated() where !movedSections.contains(section) {
      guard new.index(ofSection: content.id) != nil else { continue }
      items.insert(.header(content.id))
      for (row, id) in content.rows.enumerated() {
        let path = ListIndexPath(section: section, row: row)
        if movedRows.contains(path) || update.deletedRows.contains(path) { continue }
        items.insert(.row(id))
      }
    }
    return items
  }

  private func initial(_ content: ListContent) -> ListItem? {
    let items = lines(content).compactMap(\.item)
    return items.first { if case .row = $0 { true } else { false } } ?? items.first
  }

  private func successor(
    of item: ListItem?, _ update: BatchUpdate, _ old: ListContent, _ new: ListContent,
    _ unmoved: Set<ListItem>
  ) -> ListItem? {
    let after = lines(new).compactMap(\.item)
    guard let item else { return initial(new) }
    if after.contains(item) { return item }
    let index = old.sections.firstIndex { section in
      item == .header(section.id) || section.rows.contains { item == .row($0) }
    }
    guard let index else { return initial(new) }
    let section = old.sections[index]
    guard new.index(ofSection: section.id) != nil else {
      for next in old.sections[(index + 1)...] where new.index(ofSection: next.id) != nil {
        return .header(next.id)
      }
      for previous in old.sections[..<index].reversed() {
        guard let place = new.index(ofSection: previous.id) else { continue }
        let last = new.sections[place].rows.last
        return folded.contains(previous.id)
          ? .header(previous.id)
          : last.map { .row($0) } ?? .header(previous.id)
      }
      return initial(new)
    }
    return heir(of: item, in: section, update, new) ?? .header(section.id)
  }

  private func heir(
    of item: ListItem, in section: ListSection, _ update: BatchUpdate, _ new: ListContent
  ) -> ListItem? {
    guard let row = section.rows.firstIndex(where: { item == .row($0) }),
      let place = new.index(ofSection: section.id), !folded.contains(section.id)
    else { return nil }
    let left = new.sections[place].rows
    let movedHere = Set(update.movedRows.map(\.to).compactMap { new.row(at: $0) })
    let order = Array(section.rows[(row + 1)...]) + section.rows[..<row].reversed()
    let staying = order.filter { left.contains($0) && !movedHere.contains($0) }
    let shuffled = order.filter { left.contains($0) && movedHere.contains($0) }
    return (staying + shuffled).first.map { .row($0) }
  }
}
