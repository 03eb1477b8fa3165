/// A member of the demo's community.
struct DemoPerson: Sendable {
  /// The key of the record, and the name that the scripts know the person by.
  var id: String
  /// The full name.
  var name: String
  /// What the others call them.
  var shortName: String
  /// The number of the plot they keep.
  var plot: Int
  /// True for those who look after the gate, the water and the lists.
  var isOrganizer = false
  /// True for those who are away at the end of the two months.
  var isAway = false
  /// On which day of the two months they joined; nil for those who were there before.
  var joinedOnDay: Int?

  /// Makes a member; `words` says what is unusual about them.
  fileprivate init(
    _ id: String, _ name: String, _ shortName: String, _ plot: Int, _ words: Word...
  ) {
    self.id = id
    self.name = name
    self.shortName = shortName
    self.plot = plot
    for word in words {
      switch word {
      case .organizer: isOrganizer = true
      case .away: isAway = true
      case .joined(let day): joinedOnDay = day
      }
    }
  }

  fileprivate enum Word {
    case organizer
    case away
    case joined(Int)
  }
}

/// The demo's community, in the order of their keys.
enum DemoPeople {
  // tidy:table
  static let all: [DemoPerson] = [
    .init("agnieszka", "Agnieszka Wójcik", "Agnieszka", 31),
    .init("aisling", "Aisling Ní Bhriain", "Aisling", 4, .organizer),
    .init("amina", "أمينة بن يوسف", "أمينة", 22),
    .init("anders", "Anders Sørensen", "Anders", 9),
    .init("ayse", "Ayşe Yıldız", "Ayşe", 17),
    .init("bjork", "Björk Guðmundsdóttir", "Björk", 38),
    .init("chen", "陳美玲", "美玲", 12),
    .init("chidi", "Chidi Okonkwo", "Chidi", 26, .organizer),
    .init("chloe", "Chloé Lefèvre", "Chloé", 15),
    .init("daniel", "Daniel Price", "Dan", 2),
    .init("dimitra", "Δήμητρα Παπαδοπούλου", "Δήμητρα", 33),
    .init("fatima", "Fátima Gonçalves", "Fátima", 28),
    .init("george", "George Whitcombe", "George", 1, .organizer),
    .init("hanna", "Hanna Müller", "Hanna", 19),
    .init("haruto", "佐藤陽翔", "陽翔", 35),
    .init("ilse", "Ilse van den Berg", "Ilse", 7, .organizer),
    .init("ivan", "Іван Шевченко", "Іван", 24),
    .init("jana", "Jana Nováková", "Jana", 11, .away),
    .init("jose", "José Hernández Núñez", "José", 20),
    .init("joyce", "Joyce Adeyemi", "Joyce", 5, .away),
    .init("kwame", "Kwame Mensah", "Kwame", 40, .joined(37)),
    .init("leila", "لیلا کریمی", "لیلا", 30),
    .init("linh", "Nguyễn Thùy Linh", "Linh", 14),
    .init("lukasz", "Łukasz Kamiński", "Łukasz", 8, .organizer),
    .init("maeve", "Maeve O’Connor", "Maeve", 13),
    .init("marisol", "Marisol Peña", "Marisol", 27),
    .init("minjun", "김민준", "민준", 36),
    .init("noor", "Noor Khan", "Noor", 16, .organizer),
    .init("olga", "Ольга Петрова", "Ольга", 21),
    .init("osei", "Osei Boateng", "Osei", 10, .away),
    .init("pekka", "Pekka Hämäläinen", "Pekka", 29),
    .init("priya", "Priya Raghunathan", "Priya", 6, .organizer),
    .init("rhys", "Rhys ap Llywelyn", "Rhys", 32),
    .init("ruth", "Ruth Abrahams", "Ruth", 3),
    .init("sofia", "Sofía Castañeda", "Sofía", 25),
    .init("stefan", "Ștefan Ionescu", "Ștefan", 34),
    .init("sunita", "सुनीता शर्मा", "सुनीता", 18),
    .init("tamar", "תמר לוי", "תמר", 37),
    .init("tom", "Tom Ashworth", "Tom", 39, .joined(23)),
    .init("zoe", "Zoë Kowalczyk", "Zoë", 23, .organizer),
  ]

  /// Finds the place of a person in `all`; the scripts name only people who exist.
  static func index(of id: String) -> Int {
    guard let index = all.firstIndex(where: { $0.id == id }) else {
      preconditionFailure("The demo's scripts name \(id), who is nobody.")
    }
    return index
  }
}
