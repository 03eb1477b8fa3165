// ValuesAndJSON.md shows what stands between the marks; a test holds the two equal.

// example begin
import Foundation
import Runnel

func warmest(_ json: JSONValue) -> (city: String, high: Double)? {
  guard let city = json["city"]?.string, let high = json["days"]?[0]?["high"]?.double else {
    return nil  // a step is missing, or is of another kind
  }
  return (city, high)
}

let forecast: JSONValue = ["city": "Oslo", "days": [["high": 3.5], ["high": -1]], "rain": true]
// example end

// example begin
struct Weather: Codable, Equatable, Sendable {
  var city: String
  var high: Double?
  @ServerTimestamp var seen: Date? = nil
}

func keepWeather(in database: Database) async throws -> [String] {
  let oslo = try database.reference(withPath: "weather/oslo")
  try await oslo.setValue(Weather(city: "Oslo", high: 3.5))
  let weather = try await oslo.get(as: Weather.self)
  let high = try await oslo.child("high").get().value.double  // the same without the type

  try await oslo.child("high").setValue("warm")  // whoever writes may write something else
  do {
    _ = try await oslo.get(as: Weather.self)
    return []
  } catch let error as DataCodingError {
    return [weather.city, "\(high ?? 0)", error.path]  // the place that does not fit
  }
}
// example end
