import RunnelBase
import RunnelStreams
import RunnelTree

/// What names records by their places.
protocol RecordNaming {
  /// Names the records by the places to which they have moved.
  mutating func follow(_ moves: RecordMoves)
}

extension RecordNaming {
  func following(_ moves: RecordMoves) -> Self {
    var result = self
    result.follow(moves)
    return result
  }
}

extension WriteRequest: RecordNaming {
  mutating func follow(_ moves: RecordMoves) {
    switch self {
    case .set(let path, let json): self = .set(moves.place(path), json)
    case .update(let path, let members):
      self = .update(moves.place(path), WriteRequest.following(moves, members, below: path))
    case .remove(let path): self = .remove(moves.place(path))
    case .push(let path, let json): self = .push(moves.place(path), json)
    case .pushAll(let path, let values): self = .pushAll(moves.place(path), values)
    case .removeAll(let path, let keys):
      let places = keys.map { moves.place(Path(unchecked: path.keys + [$0])) }
      guard let parent = places.first?.parent, places.allSatisfy({ $0.parent == parent }) else {
        return
      }
      self = .removeAll(parent, places.compactMap(\.lastKey))
    case .guarded(let request, let conditions):
      self = .guarded(
        request.following(moves),
        conditions.map { condition in
          var condition = condition
          condition.path = moves.place(condition.path)
          return condition
        })
    case .taking(let ids, let isRequired, let request):
      self = .taking(ids, isRequired: isRequired, request.following(moves))
    // Records of services are not described by resources, and entries of the history are followed where
    // they are.
    case .operation, .append, .undo, .undoWrite: break
    }
  }

  private static func following(
    _ moves: RecordMoves, _ members: [JSONMember], below path: Path
  ) -> [JSONMember] {
    if moves.place(path) != path { return members }
    return members.map { member in
      guard let place = try? path.appending(Path(member.name)),
        case let moved = moves.place(place), moved != place, let name = moved.relative(to: path)
      else { return member }
      return JSONMember(name.text, member.value)
    }
  }
}

extension HeldWrite: RecordNaming {
  mutating func follow(_ moves: RecordMoves) {
    self = HeldWrite(
      purpose: purpose.following(moves), requests: requests.map { $0.following(moves) })
  }
}

extension FormScreen: RecordNaming {
  mutating func follow(_ moves: RecordMoves) {
    for (old, new) in moves.all where title.hasSuffix(" \(old)") {
      title = title.dropLast("\(old)".count) + "\(new)"
    }
    purpose.follow(moves)
    purposeWithoutDraft?.follow(moves)
  }
}

extension FormScreen.Purpose: RecordNaming {
  mutating func follow(_ moves: RecordMoves) {
    switch self {
    case .addChild(let path): self = .addChild(moves.place(path))
    case .addField(let path): self = .addField(moves.place(path))
    case .setLeaf(let path, let original):
      self = .setLeaf(moves.place(path), original: original)
    case .editResource(let path, let original):
      self = .editResource(moves.place(path), original: original)
    case .editField(let edited): self = .editField(edited.following(moves))
    case .addRecord, .choose, .addResource, .export, .importFile, .account, .renameDevice,
      .callMethod:
      break
    }
  }
}

extension OutsideEdit: RecordNaming {
  mutating func follow(_ moves: RecordMoves) {
    self = OutsideEdit(path: moves.place(path), original: original, refused: refused)
  }
}

extension CompareDraft: RecordNaming {
  mutating func follow(_ moves: RecordMoves) {
    path = moves.place(path)
    if let whole = record { record?.path = moves.place(whole.path) }
  }
}

extension Removal: RecordNaming {
  mutating func follow(_ moves: RecordMoves) { paths = paths.map(moves.place) }
}

extension Restoration: RecordNaming {
  mutating func follow(_ moves: RecordMoves) { places = Set(places.map(moves.place)) }
}

extension UndoHistory.Step: RecordNaming {
  mutating func follow(_ moves: RecordMoves) {
    (places, removed) = (Set(places.map(moves.place)), Set(removed.map(moves.place)))
  }
}

extension Place: RecordNaming {
  mutating func follow(_ moves: RecordMoves) {
    (list, path) = (list.map(moves.place), path.map(moves.place))
  }
}
